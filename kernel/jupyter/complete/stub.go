// Package complete is a placeholder.
package complete

import "context"

type Options struct {
	ModuleDir, Prelude string
	Say func(string)
}
type Service struct{}
type Request struct {
	Cells  []string
	Code   string
	Cursor int
}
type Match struct{ Text, Type, Signature, Doc string }
type Completion struct {
	Matches    []Match
	Start, End int
}
type Inspection struct {
	Found           bool
	Plain, Markdown string
}

func New(o Options) *Service                                          { return &Service{} }
func (s *Service) Complete(ctx context.Context, r Request) Completion { return Completion{} }
func (s *Service) Inspect(ctx context.Context, r Request) Inspection  { return Inspection{} }
func (s *Service) Close()                                             {}
