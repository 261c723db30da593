package engine

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"antipode/internal/must"
)

func TestPoolKeepsWithinItsBudget(t *testing.T) {
	p := newPool(100)
	closed := map[string]int{}
	get := func(key string, bytes int64) func() {
		t.Helper()
		v, release, err := p.get(key, func() (any, int64, func(), error) {
			return key, bytes, func() { closed[key]++ },
				nil
		})
		if err != nil || v != key {
			t.Fatal(v, err)
		}
		return release
	}
	a, b := get("a", 60), get("b", 60)
	must.Equal(t, len(closed), 0, "values in use were closed")
	a()
	must.Equal(t, closed["a"], 1, "over budget, the unused value must go")
	a()
	b()
	must.Equal(t, closed["b"], 0, "within budget, an unused value stays")
	get("b", 60)()
	get("c", 30)()
	get("d", 30)()
	must.Equal(t, closed["b"], 1, "the longest unused goes first")
	must.Equal(t, closed["c"], 0, "the longest unused goes first")
	if models, used, budget := p.status(); len(models) != 2 || used != 60 || budget != 100 {
		t.Errorf("status: %v %d %d", models, used, budget)
	}
	p.close()
	must.Equal(t, closed["c"], 1, "closing the pool")
	must.Equal(t, closed["d"], 1, "closing the pool")
}

func TestPoolOpensOnce(t *testing.T) {
	p := newPool(100)
	var opened atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, release, err := p.get("m", func() (any, int64, func(), error) {
				opened.Add(1)
				wg.Go(func() { p.status() }) // for the race detector
				runtime.Gosched()
				return 1, 1, nil, nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			release()
		})
	}
	wg.Wait()
	must.Equal(t, opened.Load(), 1, "opened", "times")
	fails := func() error {
		_, _, err := p.get("bad", func() (any, int64, func(), error) { return nil, 0, nil, errors.New("no") })
		return err
	}
	for range 2 {
		must.True(t, fails() != nil, "a value that does not open must fail, each time")
	}
}

// TestPoolAnswersWhileItCloses: closing a value may wait for the device, and nothing else waits for that.
func TestPoolAnswersWhileItCloses(t *testing.T) {
	p, closing, answered := newPool(1), make(chan bool), make(chan bool)
	end := func() { closing <- true; <-closing }
	_, release := must.Get2(p.get("m", func() (any, int64, func(), error) { return 1, 2, end, nil }))(t)
	go release()
	<-closing
	go func() { p.status(); close(answered) }()
	select {
	case <-answered:
	case <-time.After(time.Second):
		t.Error("no answer within a second")
	}
	closing <- true
}

// TestClosedPool: a value that is being opened when the pool is closed is closed, too.
func TestClosedPool(t *testing.T) {
	p, ends := newPool(100), 0
	_, _, err := p.get("m", func() (any, int64, func(), error) {
		p.close()
		return 1, 1, func() { ends++ }, nil
	})
	must.Is(err)(t, errClosed)
	must.Equal(t, ends, 1, "closed", "times")
}

// TestClosedQueue: what a queue runs has ended when it is closed.
func TestClosedQueue(t *testing.T) {
	q, begun := newQueue(), make(chan bool)
	var ended atomic.Bool
	go q.do(t.Context(), func() error {
		close(begun)
		time.Sleep(10 * time.Millisecond)
		ended.Store(true)
		return nil
	})
	<-begun
	q.close()
	must.True(t, ended.Load(), "a task still runs")
}
