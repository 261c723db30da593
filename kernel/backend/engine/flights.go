package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"antipode/datasets/table"
	"antipode/kernel/backend/store"
)

// item is an item of a context.
type item struct {
	items store.Items
	key   store.Key
}

// flight is the computation of an item by one job. Other jobs that need the item wait for it.
type flight struct {
	item   item
	done   chan struct{} // closed when the computation has ended
	values []table.Value // nil = it failed, or its job was canceled
	needed int           // jobs that wait for it, or will
}

// flights are the items that are being computed: an item that several jobs need is computed, and paid for, once.
type flights struct {
	mu sync.Mutex
	of map[item]*flight
}

// begin returns the computation of an item, and whether it is the caller's own, who must [flights.end] it. Of another
// job's the caller may wait for the result, and must [flights.leave] it.
func (f *flights) begin(k item) (*flight, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.of[k]; other != nil {
		other.needed++
		return other, false
	}
	if f.of == nil {
		f.of = map[item]*flight{}
	}
	f.of[k] = &flight{item: k, done: make(chan struct{})}
	return f.of[k], true
}

// end ends a computation of the caller's, once; values are nil if there is no result.
func (f *flights) end(own *flight, values []table.Value) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[own.item] == own {
		own.values = values
		close(own.done)
		delete(f.of, own.item)
	}
}

// wait returns the result of another job's computation, nil if it has none.
func (f *flight) wait(ctx context.Context) ([]table.Value, error) {
	select {
	case <-f.done:
		return f.values, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// leave records that a job needs the results of other jobs' computations no more.
func (f *flights) leave(others map[int]*flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, other := range others {
		other.needed--
	}
}

// lookAgain is the interval at which a canceled job's batch looks for other jobs that need its items.
const lookAgain = 100 * time.Millisecond

// hold returns a context for own computations: when ctx is canceled while other jobs need one of them, it goes on,
// because they would request it again, and pay again. The caller calls release at the end.
func (f *flights) hold(ctx context.Context, own []*flight) (held context.Context, release func()) {
	held, cancel := context.WithCancel(context.WithoutCancel(ctx))
	inNeed := func(own *flight) bool { return own.needed > 0 }
	stop := context.AfterFunc(ctx, func() {
		for {
			f.mu.Lock()
			needed := slices.ContainsFunc(own, inNeed)
			f.mu.Unlock()
			if !needed {
				cancel()
				return
			}
			select {
			case <-held.Done():
				return
			case <-time.After(lookAgain):
			}
		}
	})
	return held, func() {
		stop()
		cancel()
	}
}
