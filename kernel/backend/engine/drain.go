package engine

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrDrained is wrapped by the error of a run that a [Drain] has ended early: what is finished is stored.
var ErrDrained = errors.New("stopped early; all finished rows are stored")

// Drain ends runs early without loss: after Start no batch begins, and the one in progress goes on for as long as the
// grace period allows. See [Options]. Its methods other than Start do nothing on nil.
type Drain struct {
	grace    time.Duration
	once     sync.Once
	started  chan struct{}
	deadline time.Time // set before started is closed
}

// NewDrain returns a drain with a grace period.
func NewDrain(grace time.Duration) *Drain { return &Drain{grace: grace, started: make(chan struct{})} }

// Start begins to drain. Later calls do nothing.
func (d *Drain) Start() {
	d.once.Do(func() {
		d.deadline = time.Now().Add(d.grace)
		close(d.started)
	})
}

// begun returns a channel that is closed when the drain starts; nil for no drain.
func (d *Drain) begun() <-chan struct{} {
	if d == nil {
		return nil
	}
	return d.started
}

// err returns ErrDrained after the start.
func (d *Drain) err() error {
	select {
	case <-d.begun():
		return ErrDrained
	default:
		return nil
	}
}

// hold returns a context for a piece of work that has begun. After the start of the drain it is canceled at the end of
// the grace period, or at once if left says that the work takes longer. The caller calls release at the end.
func (d *Drain) hold(ctx context.Context, left func() (d time.Duration, known bool)) (held context.Context,
	release func()) {
	if d == nil {
		return ctx, func() {}
	}
	held, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-held.Done():
			return
		case <-d.started:
		}
		rest := time.Until(d.deadline)
		if need, known := left(); known && need > rest {
			cancel()
			return
		}
		select {
		case <-held.Done():
		case <-time.After(rest):
			cancel()
		}
	}()
	return held, cancel
}

// ended returns ErrDrained in place of an error of work whose held context the drain has canceled.
func (d *Drain) ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && d.err() != nil {
		return ErrDrained
	}
	return err
}
