package complete

import (
	"context"

	"antipode/kernel/jupyter/notebook"
)

// Options are the options of a service.
type Options struct {
	ModuleDir string       // folder of the go.mod of module antipode: cells import its packages
	Prelude   string       // the hidden first cell; its imports apply to every cell
	Say       func(string) // receives the reason if there is no completion; may be nil
}

// Request is a request of a front end.
type Request struct {
	Cells  []string // the source of the cells executed without an error, oldest first
	Code   string   // the current cell
	Cursor int      // a position in Code, in Unicode code points

	Columns map[string][]string // the columns of the notebook's tables, by variable
}

// Completion lists the possible replacements of the text from Start to End (in code points), the best first.
type Completion struct {
	Matches    []Match
	Start, End int
}

// Inspection describes a name: its declaration and its documentation, as plain text and as Markdown.
type Inspection struct {
	Found           bool
	Plain, Markdown string
}

// Service answers the requests of one notebook. It is safe for concurrent use.
type Service struct {
	opts   Options
	turn   chan struct{} // contains a value while the loader is free
	loader *loader       // nil after an error
}

// New returns at once. It reads the packages that the prelude imports in the background, which takes about a second.
func New(opts Options) *Service {
	s := &Service{opts: opts, turn: make(chan struct{}, 1)}
	go func() {
		defer func() { s.turn <- struct{}{} }()
		l, err := newLoader(opts.ModuleDir)
		if err != nil {
			if opts.Say != nil {
				opts.Say("no completion in notebooks: " + err.Error())
			}
			return
		}
		s.loader = l
		im := imports{}
		parsePieces(notebook.SplitCode(opts.Prelude).Declarations(), im)
		for _, path := range im {
			_, _ = l.Import(path) // a missing package has no completions
		}
	}()
	return s
}

// Complete completes the name before the cursor, in a string the name of a column. It returns no matches if nothing
// fits, in comments and commands, and if ctx ends first.
func (s *Service) Complete(ctx context.Context, r Request) Completion {
	return answer(ctx, s, r, (*loader).complete)
}

// Inspect describes the name at or before the cursor, or the function whose arguments contain the cursor. Found is
// false if there is none, and if ctx ends first.
func (s *Service) Inspect(ctx context.Context, r Request) Inspection {
	return answer(ctx, s, r, (*loader).inspect)
}

// answer runs f with the loader and waits for it until ctx ends. A panic of go/types gives no answer.
func answer[A any](ctx context.Context, s *Service, r Request, f func(*loader, Request) A) (none A) {
	select {
	case <-s.turn:
	case <-ctx.Done():
		return none
	}
	done := make(chan A, 1)
	go func() {
		var a A
		defer func() {
			_ = recover()
			s.turn <- struct{}{}
			done <- a
		}()
		if s.loader != nil {
			r.Cells = append([]string{s.opts.Prelude}, r.Cells...)
			a = f(s.loader, r)
		}
	}()
	select {
	case a := <-done:
		return a
	case <-ctx.Done():
		return none
	}
}
