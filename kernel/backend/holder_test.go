package backend

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/filelock"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// TestOneBackend: clients with different runtime folders have one backend; none of them is disturbed, and gc goes
// through it.
func TestOneBackend(t *testing.T) {
	b := connect(t)
	clients := []*client.Backend{b}
	for range 3 {
		short := must.Get(os.MkdirTemp("", "apr"))(t) // socket paths are short
		t.Cleanup(func() { os.RemoveAll(short) })
		t.Setenv("XDG_RUNTIME_DIR", short)
		c := must.Get(client.ConnectTo(b.Home))(t)
		clients = append(clients, c)
	}
	var wait sync.WaitGroup
	pids := make([]int, len(clients))
	for i, c := range clients {
		wait.Go(func() {
			res, err := c.Run(context.Background(), client.Request{Plan: plan(t, items, 5)}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			must.Equal(t, res.Rows, items, "rows")
			h, err := c.Hello(context.Background())
			if err != nil {
				t.Error(err)
			}
			pids[i] = h.PID
		})
	}
	wait.Wait()
	for _, pid := range pids {
		must.Equal(t, pid, pids[0], "the store has several backends", pids)
	}
	removed, _, err := Collect(context.Background(), b.Home, store.GC{})
	if err != nil || len(removed) == 0 {
		t.Fatalf("gc: %v, %v", removed, err)
	}
	must.Equal(t, must.Get(clients[1].Run(context.Background(), client.Request{Plan: plan(t, items, 0)},
		nil))(t).Computed, items, "after gc")
}

// TestCollectDuringRun: gc refuses while the backend runs a job, and the job succeeds.
func TestCollectDuringRun(t *testing.T) {
	t.Parallel()
	b := connect(t)
	done := make(chan error, 1)
	go func() {
		_, err := b.Run(context.Background(), client.Request{Plan: plan(t, items, 30)}, nil)
		done <- err
	}()
	must.Within(t, time.Minute, "the job runs", func() bool {
		s, err := b.Status(context.Background())
		return err == nil && len(s.Jobs) == 1
	})
	if _, _, err := Collect(context.Background(), b.Home, store.GC{}); err == nil ||
		err.Error() != store.ErrInUse.Error() {
		t.Errorf("gc during a run: %v", err)
	}
	must.Do(t, <-done)
}

// TestStopWaits: when Stop returns, the backend has made its last write and released the store.
func TestStopWaits(t *testing.T) {
	t.Parallel()
	for range 3 {
		b := connect(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		started := make(chan struct{})
		var once sync.Once
		go b.Run(ctx, client.Request{Plan: plan(t, 1000, 20)}, func(p table.Progress) {
			if p.Computed > 0 {
				once.Do(func() { close(started) })
			}
		})
		<-started
		cancel()
		must.Do(t, b.Stop(context.Background(), false))
		if f, err := filelock.Open(client.HolderPath(b.Home)); f == nil || err != nil {
			t.Fatalf("the store is in use after Stop: %v", err)
		} else {
			f.Close()
		}
	}
}

// TestStopDuringRun: a run whose backend is stopped goes on with another one, and counts what both computed.
func TestStopDuringRun(t *testing.T) {
	t.Parallel()
	b := connect(t)
	started := make(chan struct{})
	var once sync.Once
	stopped := make(chan error, 1)
	go func() {
		<-started
		stopped <- b.Stop(t.Context(), false)
	}()
	res, err := b.Run(t.Context(), client.Request{Plan: plan(t, items, 20)}, func(p table.Progress) {
		if p.Computed > 0 {
			once.Do(func() { close(started) })
		}
	})
	must.True(t, err == nil && res.Computed+res.Found == items && res.Computed >= items-1, "%+v, %v", res, err)
	must.Do(t, <-stopped)
}

// TestStopIsNotForOthers: Stop does not wait for the backend that another client starts at once.
func TestStopIsNotForOthers(t *testing.T) {
	t.Parallel()
	b := connect(t)
	ctx, cancel := context.WithCancel(t.Context())
	runs, ended := make(chan error, 1000), make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			_, err := b.Run(ctx, client.Request{Plan: plan(t, 1, 0)}, nil)
			select {
			case runs <- err:
			default:
			}
		}
	}()
	for range 3 {
		must.Do(t, <-runs)
		within, cancel := context.WithTimeout(ctx, 20*time.Second)
		err := b.Stop(within, true)
		must.True(t, err == nil || errors.Is(err, client.ErrNoBackend), "stop: %v", err)
		cancel()
	}
	cancel()
	<-ended
	// a backend that was being started is ready then, and is stopped when the test ends
	must.Get(b.Run(t.Context(), client.Request{Plan: plan(t, 1, 0)}, nil))(t)
}

// TestOwnSocket: a backend that ends leaves the socket of another one.
func TestOwnSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "socket")
	first := must.Get(listen(path))(t)
	second := must.Get(listen(path))(t)
	must.Do(t, first.Close())
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the socket of the second backend: %v", err)
	}
	must.Do(t, second.Close())
	must.Is(os.Stat(path))(t, os.ErrNotExist) // the socket is removed
}
