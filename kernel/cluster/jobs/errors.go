package jobs

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"antipode/internal/plaintext"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/remote"
)

// ErrMismatch is wrapped by errors of a job, a table, a model or an installation that do not fit: the task will fail
// on every machine. ErrUnreachable is wrapped by errors of a store or a device that could not be reached: another
// machine may reach it.
var (
	ErrMismatch    = errors.New("the job does not fit")
	ErrUnreachable = errors.New("unreachable")
)

type mismatch struct{ error }

func (m mismatch) Unwrap() []error { return []error{m.error, ErrMismatch} }

type unreached struct{ error }

func (u unreached) Unwrap() []error { return []error{u.error, ErrUnreachable} }

// tries is how often a task tries to reach its store and its device, and firstPause the pause after the first of them;
// later pauses are twice as long each.
const (
	tries      = 5
	firstPause = time.Second
)

// again calls f until it reaches what it needs, a few times at most, with a pause after the first call and longer ones
// after the others.
func again(ctx context.Context, pause time.Duration, say func(string, ...any), f func() error) error {
	for n := 1; ; n++ {
		err := f()
		if err == nil || n == tries || !Unreachable(err) || ctx.Err() != nil {
			return err
		}
		say("try %d of %d: %s", n, tries, plaintext.OneLine(err.Error()))
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause *= 2
	}
}

// also adds an error to err, unless both say that object storage cannot be reached.
func also(err, other error) error {
	if errors.Is(err, remote.ErrUnreachable) && errors.Is(other, remote.ErrUnreachable) {
		return err
	}
	return errors.Join(err, other)
}

// Unreachable reports whether an error says that the file system of a store or a table, or the device, cannot be
// reached. Object storage that cannot be reached has another error: it was tried five times.
func Unreachable(err error) bool {
	if errors.Is(err, engine.ErrDevice) {
		return true
	}
	return slices.ContainsFunc([]error{syscall.EIO, syscall.ESTALE, syscall.ENOTCONN, syscall.ETIMEDOUT,
		syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENETDOWN, syscall.ENETUNREACH, syscall.ECONNREFUSED,
		syscall.ECONNRESET, syscall.ENODEV, syscall.ENXIO}, func(e error) bool { return errors.Is(err, e) })
}
