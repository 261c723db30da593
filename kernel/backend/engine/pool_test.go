package engine

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
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
	if len(closed) != 0 {
		t.Errorf("values in use were closed: %v", closed)
	}
	a()
	if closed["a"] != 1 {
		t.Error("over budget, the unused value must go")
	}
	a()
	b()
	if closed["b"] != 0 {
		t.Error("within budget, an unused value stays")
	}
	get("b", 60)()
	get("c", 30)()
	get("d", 30)()
	if closed["b"] != 1 || closed["c"] != 0 {
		t.Errorf("the longest unused goes first: %v", closed)
	}
	if models, used, budget := p.status(); len(models) != 2 || used != 60 || budget != 100 {
		t.Errorf("status: %v %d %d", models, used, budget)
	}
	p.close()
	if closed["c"] != 1 || closed["d"] != 1 {
		t.Errorf("closing the pool: %v", closed)
	}
}

func TestPoolOpensOnce(t *testing.T) {
	p := newPool(100)
	var opened atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, release, err := p.get("m", func() (any, int64, func(), error) { opened.Add(1); return 1, 1, nil, nil })
			if err != nil {
				t.Error(err)
				return
			}
			release()
		})
	}
	wg.Wait()
	if opened.Load() != 1 {
		t.Errorf("opened %d times", opened.Load())
	}
	fails := func() error {
		_, _, err := p.get("bad", func() (any, int64, func(), error) { return nil, 0, nil, errors.New("no") })
		return err
	}
	for range 2 {
		if fails() == nil {
			t.Error("a value that does not open must fail, each time")
		}
	}
}
