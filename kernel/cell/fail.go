package cell

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long an interrupted cell may go on before it is ended.
const patience = 2 * time.Second

// interrupted says that a SIGINT has come while a [Context] was alive.
var interrupted atomic.Bool

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
	flush(time.Second)
	fmt.Fprintln(os.Stderr, defuse(line))
	os.Exit(status)
}

// defuse keeps the place of an error, "…/main.go:15: …", at the start of the line, where GoNB turns it into the cell's number and
// line, and breaks every other: GoNB 0.11.4 ends with a panic where a colon comes before main.go and a line number.
func defuse(line string) string {
	const program = "main.go:"
	at := strings.Index(line, program)
	if at < 0 {
		return line
	}
	keep := 0
	if !strings.ContainsAny(line[:at], ": ") {
		keep = at + len(program)
	}
	return line[:keep] + strings.ReplaceAll(line[keep:], program, "main.go, line ")
}
