package complete

import "context"

// Options says what a service works with.
type Options struct {
	ModuleDir string       // folder of the go.mod of module antipode: cells import its packages
	Prelude   string       // the hidden first cell, whose imports every cell has
	Say       func(string) // told in one line why there is no completion; nil = nobody
}

// Request is what a front end asks.
type Request struct {
	Cells  []string // the cells that were executed without an error so far, the oldest first, as they were written
	Code   string   // the current cell
	Cursor int      // a position in Code, in Unicode code points
}

// Completion is what could replace the text from Start to End, in code points; the best match comes first.
type Completion struct {
	Matches    []Match
	Start, End int
}

// Inspection describes a name: its declaration and its documentation, as plain text and as Markdown.
type Inspection struct {
	Found           bool
	Plain, Markdown string
}

// Service answers the requests of one notebook. Its methods may be called at the same time.
type Service struct {
	opts   Options
	turn   chan struct{} // holds one value while nobody uses the loader
	loader *loader       // nil where there is none
}

// New returns at once. The packages that the prelude imports are read in the background, which takes about a second.
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
		parsePieces(splitCell(opts.Prelude).head, im)
		for _, path := range im {
			_, _ = l.Import(path) // one that is missing completes to nothing
		}
	}()
	return s
}

// Complete completes the name before the cursor. It has no matches where nothing fits, in comments, strings and lines
// that are not Go, and when ctx ends first.
func (s *Service) Complete(ctx context.Context, r Request) Completion {
	return answer(ctx, s, r, (*loader).complete)
}

// Inspect describes the name that the cursor is in or after; among the arguments of a call, the function. Found is
// false where there is none, and when ctx ends first.
func (s *Service) Inspect(ctx context.Context, r Request) Inspection {
	return answer(ctx, s, r, (*loader).inspect)
}

// answer runs f when its turn comes, and waits for it until ctx ends. What go/types cannot stand has no answer.
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
