package backend

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// TestFrozen stops the backend's process in the middle of a run: its clients say so, the state is reported as it is,
// Stop ends the process, and the run finishes on a new backend.
func TestFrozen(t *testing.T) {
	t.Parallel()
	b := connect(t)
	b.Patience = 3 * client.Beat / 2
	var mu sync.Mutex
	var said []string
	b.Say = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, line)
	}
	heard := func(part string) bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(strings.Join(said, "\n"), part)
	}
	ctx := t.Context()
	done := make(chan error, 1)
	started := make(chan struct{})
	var once sync.Once
	go func() {
		_, err := b.Run(ctx, client.Request{Plan: plan(t, 20, 50)}, func(p table.Progress) {
			if p.Computed > 0 {
				once.Do(func() { close(started) })
			}
		})
		done <- err
	}()
	<-started
	h := must.Get(b.Hello(ctx))(t)
	must.Do(t, syscall.Kill(h.PID, syscall.SIGSTOP))
	defer syscall.Kill(h.PID, syscall.SIGKILL)
	var frozen *client.Frozen
	var err error
	must.Within(t, time.Minute, "the backend stops answering", func() bool { // the signal takes a moment
		_, err = b.Status(ctx)
		return err != nil
	})
	must.True(t, errors.As(err, &frozen) && frozen.PID == h.PID,
		"the state of a frozen backend (process %d): %v", h.PID, err)
	must.Within(t, time.Minute, "the client says so", func() bool { return heard("has not answered") })
	if err := b.Stop(ctx, false); err != nil {
		t.Fatalf("stop: %v", err)
	}
	if err := <-done; err != nil {
		t.Errorf("the run: %v", err)
	}
	must.True(t, heard("was killed") && heard("restarted"), "the client said %q", said)
}

// TestBeat: a run that takes longer than the client's patience without news is not reported as frozen.
func TestBeat(t *testing.T) {
	t.Parallel()
	b := connect(t)
	b.Patience = 3 * client.Beat / 2
	b.Say = func(line string) { t.Errorf("the client said %q", line) }
	_ = must.Get(b.Run(context.Background(), client.Request{Plan: plan(t, 1, 2000)}, nil))(t)
}
