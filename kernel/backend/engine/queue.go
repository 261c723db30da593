package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"antipode/internal/fair"
	"antipode/internal/fault"
)

var logWriter io.Writer = os.Stderr

// owner is the context key of the job's name.
type owner struct{}

// WithOwner returns a context with the name of the job that its work belongs to. Jobs use the device in turn.
func WithOwner(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, owner{}, name)
}

// ownerOf returns the name that [WithOwner] set, or "".
func ownerOf(ctx context.Context) string {
	name, _ := ctx.Value(owner{}).(string)
	return name
}

// queue runs functions on one goroutine, which is locked to its thread. It takes one task of each waiting job in turn,
// so that a long job delays another by at most one batch.
type queue struct {
	mu     sync.Mutex
	wake   *sync.Cond
	tasks  fair.Queue[*task]
	closed bool
	ended  chan struct{} // closed when the goroutine has ended
}

type task struct {
	ctx  context.Context
	f    func() error
	done chan error
}

var errClosed = errors.New("the backend is ending")

func newQueue() *queue {
	q := &queue{ended: make(chan struct{})}
	q.wake = sync.NewCond(&q.mu)
	go q.loop()
	return q
}

// do runs f in the queue and waits for it. A task whose context ends before its turn is dropped.
func (q *queue) do(ctx context.Context, f func() error) error {
	t := &task{ctx: ctx, f: f, done: make(chan error, 1)}
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return errClosed
	}
	q.tasks.Push(ownerOf(ctx), t)
	q.wake.Signal()
	q.mu.Unlock()
	return <-t.done
}

func (q *queue) loop() {
	runtime.LockOSThread()
	defer close(q.ended)
	for {
		q.mu.Lock()
		t, ok := q.tasks.Pop()
		for !ok && !q.closed {
			q.wake.Wait()
			t, ok = q.tasks.Pop()
		}
		q.mu.Unlock()
		if !ok {
			return
		}
		if err := t.ctx.Err(); err != nil {
			t.done <- err
			continue
		}
		t.done <- protect(t.f)
	}
}

// protect returns a panic of f as an error and logs its stack; one that f returns as an error was logged before.
func protect(f func() error) error {
	var returned error
	err := fault.Catch(func() error {
		returned = f()
		return returned
	})
	var panicked *fault.Error
	if returned == nil && errors.As(err, &panicked) {
		fmt.Fprintf(logWriter, "panic: %v\n%s\n", panicked.Value, panicked.Stack)
	}
	return err
}

// close ends the queue and waits for the tasks in it.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.wake.Broadcast()
	q.mu.Unlock()
	<-q.ended
}
