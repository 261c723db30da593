package cell

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
)

// patience is how long an interrupted cell may go on before it is ended.
const patience = 2 * time.Second

// interrupted says that a SIGINT has come while a [Context] was alive.
var interrupted atomic.Bool

// exit ends the process; tests replace it.
var exit = os.Exit

// Context is a context for work that a cell waits for: an interrupt (SIGINT) cancels it. In a notebook, work that goes on
// after an interrupt is ended two seconds later, with status 130. The caller calls stop when the work is done.
func Context() (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT)
	go func() {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		interrupted.Store(true)
		cancel()
		if InNotebook() {
			time.AfterFunc(patience, func() { end("interrupted", 130) })
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel()
	}
}

// Fail ends the cell because of err: one line on standard error and status 1, or status 130 after an interrupt; never a
// trace. Outside a notebook it panics with err itself, so that a program can recover it by its type. A nil err is no failure.
func Fail(err error) {
	switch {
	case err == nil:
	case !InNotebook():
		panic(err)
	case interrupted.Load():
		end("interrupted", 130)
	default:
		end(flatten(err.Error()), 1)
	}
}

// end prints a line and ends the process after what was shown before has arrived.
func end(line string, status int) {
	arrived := make(chan struct{})
	go func() {
		gonbui.Sync()
		close(arrived)
	}()
	select {
	case <-arrived:
	case <-time.After(time.Second):
	}
	fmt.Fprintln(os.Stderr, line)
	exit(status)
}
