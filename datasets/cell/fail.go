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

// patience is the time after which an interrupted cell is ended.
const patience = 2 * time.Second

// interrupted is true after a SIGINT during the lifetime of a [Context].
var interrupted atomic.Bool

// Context returns a context that an interrupt (SIGINT) cancels. In a notebook the process ends with status 130 if the
// work continues for two seconds after the interrupt. Call stop when the work is done.
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

// Fail ends the cell with one line on standard error and status 1, or status 130 after an interrupt. Outside a
// notebook it panics with err. If err is nil it does nothing.
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

// Stopped starts the line of a cell that [Stop] ended.
const Stopped = "stopped: "

// Stop ends the notebook's run after this cell, with one line that gives the reason: what a cell does after it has
// shown a plan that the user wants to read before the work starts. To Jupyter the cell failed, so that "Run All" does
// not go on; `antipode run` writes the notebook as far as it ran and succeeds. Outside a notebook it ends the program
// with status 0.
func Stop(reason string) {
	if !InNotebook() {
		Say(reason)
		os.Exit(0)
	}
	end(Stopped+flatten(reason), 1)
}

// end waits until earlier output has been received, prints a line and ends the process.
func end(line string, status int) {
	flush(time.Second)
	fmt.Fprintln(os.Stderr, defuse(line))
	os.Exit(status)
}

// defuse keeps a position "…/main.go:15: …" at the start of the line, which GoNB replaces by the cell's number and
// line, and changes every other one: GoNB 0.11.4 panics if a colon precedes main.go and a line number.
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
