// Package fault turns panics of goroutines, which end the process, into errors of the work that they were started for.
package fault

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Error is a panic.
type Error struct {
	Value any
	Stack []byte
}

// Error is part of error: one line, without the stack.
func (e *Error) Error() string { return fmt.Sprintf("a fault of Antipode's own: %v", e.Value) }

// Of returns the Error of a recovered value, which is one already where it comes from [Group.Wait].
func Of(recovered any) *Error {
	if err, is := recovered.(error); is {
		var e *Error
		if errors.As(err, &e) {
			return e
		}
	}
	return &Error{recovered, debug.Stack()}
}

// Catch returns f's error; a panic of f is an [*Error].
func Catch(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Of(p)
		}
	}()
	return f()
}

// Group is a [sync.WaitGroup] whose Wait panics with the first panic of the goroutines, as an [*Error]: in the
// goroutine that waits, where it can be recovered.
type Group struct {
	wait  sync.WaitGroup
	mu    sync.Mutex
	first error
}

// Go calls f in a goroutine.
func (g *Group) Go(f func()) {
	g.wait.Go(func() {
		if err := Catch(func() error { f(); return nil }); err != nil {
			g.mu.Lock()
			defer g.mu.Unlock()
			if g.first == nil {
				g.first = err
			}
		}
	})
}

// Wait waits for the goroutines.
func (g *Group) Wait() {
	g.wait.Wait()
	if g.first != nil {
		panic(g.first)
	}
}

// Each calls f(0) … f(n-1), GOMAXPROCS of them at a time, and panics as [Group.Wait] does.
func Each(n int, f func(i int)) { Spread(n, runtime.GOMAXPROCS(0), f) }

// Spread is [Each] with another number of calls at a time.
func Spread(n, workers int, f func(i int)) { Pieces(n, 1, workers, func(_, i, _ int) { f(i) }) }

// Pieces calls do for the numbers 0 … n-1 in pieces from … to-1, in goroutines with the numbers 0 … workers-1, of which
// each takes the next piece when it is done with one. It panics as [Group.Wait] does.
func Pieces(n, piece, workers int, do func(worker, from, to int)) {
	var next atomic.Int64
	var wait Group
	for w := range min(workers, (n+piece-1)/piece) {
		wait.Go(func() {
			for {
				from := int(next.Add(int64(piece))) - piece
				if from >= n {
					return
				}
				do(w, from, min(from+piece, n))
			}
		})
	}
	wait.Wait()
}

// Until is [Each] for calls that can fail: after an error, which it returns, or when the context ends, no call begins,
// and the context of those that run has ended.
func Until(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	Each(n, func(i int) {
		if ctx.Err() == nil {
			if err := f(ctx, i); err != nil {
				stop(err)
			}
		}
	})
	return context.Cause(ctx)
}
