package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"

	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/fault"
	"antipode/kernel/backend/devices"
	"antipode/kernel/backend/store"
)

// prepared are the rows of a batch, prepared on the host.
type prepared struct {
	stage.Rows
	columns []string // of errs
	errs    []error
}

func newPrepared(w *stage.Opened, n int) *prepared {
	return &prepared{w.Rows(n), make([]string, n), make([]error, n)}
}

// prepare prepares a row. It may run on several goroutines at once, for different positions.
func (p *prepared) prepare(ctx context.Context, at int, row stage.Row) {
	p.errs[at] = protect(func() (err error) {
		p.columns[at], err = p.Prepare(ctx, at, row)
		return err
	})
}

// split returns the positions of the rows that can be computed, and the bad rows.
func (p *prepared) split() (ready []int, bad []devices.BadRow) {
	for i, err := range p.errs {
		if err != nil {
			bad = append(bad, devices.BadRow{Row: i, Column: p.columns[i], Reason: err.Error()})
			continue
		}
		ready = append(ready, i)
	}
	return ready, bad
}

// stageItems are the items of a stage: those of the rows with the keys unique, each with the first row that has the key
// and, once it is known, its values.
type stageItems struct {
	w        *stage.Opened
	items    store.Items
	in       *table.Frame
	outputs  []table.ColumnSpec
	c        *counter
	keys     []store.Key       // by row
	first    map[store.Key]int // key → position in unique
	unique   []store.Key
	rowOf    []int
	values   [][]table.Value
	own      []*flight // the computations that this job has begun, or nil
	computer computer
	drop     bool // see set
}

// inStore stands for values that the store has.
var inStore = []table.Value{}

// set sets the values of an item. With drop only the fact that the store has them is kept.
func (b *stageItems) set(u int, values []table.Value) {
	if b.values[u] = values; b.drop && b.items.Has(b.unique[u]) {
		b.values[u] = inStore
	}
}

func (b *stageItems) flights(members []int) []*flight {
	own := make([]*flight, len(members))
	for i, u := range members {
		own[i] = b.own[u]
	}
	return own
}

// batch is a part of the missing items of a stage, computed together. A bad row keeps its place: batches depend neither
// on which rows are bad nor on where they are computed.
type batch struct {
	members []int            // positions in stageItems.unique
	before  *batch           // nil = it is the first
	started chan struct{}    // closed when all its rows are being prepared, or it has ended
	start   sync.Once        // closes started
	done    chan struct{}    // closed when it has ended
	bad     []devices.BadRow // Row is a position in members
	err     error
}

// computer computes batches: [here] in this process, [deviceStage] in those of several devices.
type computer interface {
	// begin prepares for batches of a size. It returns the number of batches that are in work at once.
	begin(size int) (room int, end func())
	// compute computes the rows at some positions in s.members, stores their results and adds to s.bad.
	compute(ctx context.Context, r *run, b *stageItems, s *batch, at []int) error
}

// compute computes missing items in batches, each stored when it is done. It waits for the items that other jobs are
// computing, and computes those that do not succeed there.
func (r *run) compute(ctx context.Context, b *stageItems, missing []int) (err error) {
	for len(missing) > 0 && err == nil {
		missing, err = r.computeOrWait(ctx, b, missing)
	}
	return err
}

// computeOrWait returns the items whose computation by another job did not succeed.
func (r *run) computeOrWait(ctx context.Context, b *stageItems, missing []int) (again []int, err error) {
	others := map[int]*flight{}
	defer func() { // also after a panic
		for _, u := range missing {
			if b.own[u] != nil {
				r.e.flights.end(b.own[u], nil)
			}
		}
		r.e.flights.leave(others)
	}()
	if err := r.computeBatches(ctx, b, missing, others); err != nil {
		return nil, err
	}
	for _, u := range slices.Sorted(maps.Keys(others)) {
		values, err := others[u].wait(ctx)
		if err != nil {
			return nil, err
		}
		if values == nil {
			again = append(again, u)
			continue
		}
		b.set(u, values)
		b.c.foundLater()
	}
	return again, nil
}

// computeBatches computes those of the missing items that no other job is computing, and adds the others' computations
// to others. Bad rows and errors are reported in the order of the batches.
func (r *run) computeBatches(given context.Context, b *stageItems, missing []int, others map[int]*flight) error {
	ctx, cancel := context.WithCancel(given)
	defer cancel()
	size := r.size(b.w)
	room, end := b.computer.begin(size)
	defer end()
	all := make(chan *batch, len(missing)/size+1) // in order
	var failed error                              // of the goroutine that fills all and others
	go func() {
		defer close(all)
		failed = protect(func() error { r.startBatches(ctx, b, missing, others, size, room, all); return nil })
	}()
	var first error
	for s := range all {
		<-s.done
		if first != nil {
			continue // what is done is stored
		}
		slices.SortFunc(s.bad, func(x, y devices.BadRow) int { return cmp.Compare(x.Row, y.Row) })
		for _, bad := range s.bad {
			if err := r.isBad(b, s.members[bad.Row], bad.Column, bad.Reason); err != nil && first == nil {
				first = err
			}
		}
		if first == nil {
			first = s.err
		}
		if first != nil {
			cancel()
		}
	}
	if first == nil && given.Err() != nil {
		return given.Err()
	}
	return errors.Join(first, failed)
}

// startBatches claims items and starts their batches, as many at once as there is room for.
func (r *run) startBatches(ctx context.Context, b *stageItems, missing []int, others map[int]*flight, size, room int,
	all chan<- *batch) {
	free := make(chan struct{}, room)
	var members []int
	var before *batch
	start := func() {
		if len(members) == 0 {
			return
		}
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		s := &batch{members: members, before: before, started: make(chan struct{}), done: make(chan struct{})}
		members, before = nil, s
		all <- s
		go func() {
			defer close(s.done)
			defer s.hasStarted()
			defer func() { <-free }()
			s.err = protect(func() error { return r.computeBatch(ctx, b, s) })
		}()
	}
	for _, u := range missing {
		if ctx.Err() != nil {
			return
		}
		if r.claim(b, others, u) {
			if members = append(members, u); len(members) == size {
				start()
			}
		}
	}
	start()
}

// hasStarted lets the next batch prepare its rows.
func (s *batch) hasStarted() { s.start.Do(func() { close(s.started) }) }

// computeBatch provides the images of a batch that are objects, computes it and stores its results.
func (r *run) computeBatch(ctx context.Context, b *stageItems, s *batch) error {
	at, down := r.fetched(ctx, b, s)
	if len(at) == 0 {
		return down
	}
	return errors.Join(down, b.computer.compute(ctx, r, b, s, at))
}

// fetched provides the images of a batch that are objects. It returns the positions in members of the rows whose images
// are there: if the storage cannot be reached, those before the first row without, and the error.
func (r *run) fetched(ctx context.Context, b *stageItems, s *batch) (at []int, err error) {
	columns, errs := make([]string, len(s.members)), make([]error, len(s.members))
	var down broken
	fault.Spread(len(s.members), store.Requests, func(i int) {
		if down.is() {
			errs[i] = down.err
			return
		}
		columns[i], errs[i] = r.fetch(ctx, b.in, b.rowOf[s.members[i]])
		down.set(errs[i])
	})
	for i, err := range errs {
		switch {
		case err == nil:
			at = append(at, i)
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case outage(err):
			return at, err
		default:
			s.bad = append(s.bad, devices.BadRow{Row: i, Column: columns[i], Reason: err.Error()})
		}
	}
	return at, nil
}

// here computes batches in this process, one after the other; the rows of the next ones are prepared meanwhile.
type here struct{ preparing chan struct{} }

// begin keeps every core preparing, also for small batches.
func (h *here) begin(size int) (room int, end func()) {
	cores := runtime.GOMAXPROCS(0)
	h.preparing = make(chan struct{}, cores)
	return 1 + max(1, (cores+size-1)/size), func() {}
}

func (h *here) compute(ctx context.Context, r *run, b *stageItems, s *batch, at []int) error {
	drain := r.e.opts.Drain
	rows := newPrepared(b.w, len(at))
	if s.before != nil { // rows are prepared in order
		<-s.before.started
	}
	var preparing fault.Group
	for i, place := range at {
		h.preparing <- struct{}{}
		preparing.Go(func() {
			defer func() { <-h.preparing }()
			if rows.errs[i] = cmp.Or(ctx.Err(), drain.err()); rows.errs[i] == nil {
				rows.prepare(ctx, i, stage.Row{Frame: b.in, Index: b.rowOf[s.members[place]]})
			}
		})
	}
	s.hasStarted()
	preparing.Wait()
	if s.before != nil {
		select {
		case <-s.before.done:
			if s.before.err != nil || len(s.before.bad) > 0 && !r.req.SkipBad {
				return errors.New("a batch before it has failed") // with whose error the run ends
			}
		case <-ctx.Done():
		case <-drain.begun():
		}
	}
	if err := cmp.Or(ctx.Err(), drain.err()); err != nil {
		return err
	}
	ready, bad := rows.split()
	for i := range bad {
		bad[i].Row = at[bad[i].Row]
	}
	if s.bad = append(s.bad, bad...); len(ready) == 0 {
		return nil
	}
	members := make([]int, len(ready))
	for i, k := range ready {
		members[i] = s.members[at[k]]
	}
	running := b.c.begin(len(ready))
	defer running.end()
	needed, release := r.e.flights.hold(ctx, b.flights(members))
	held, end := drain.hold(needed, running.left)
	results, failing, failed := computeFinite(stage.WithSteps(held, running.at), rows, ready, b.outputs)
	end()
	release()
	for i, reason := range failing {
		s.bad = append(s.bad, devices.BadRow{Row: at[ready[i]], Reason: reason.Error()})
	}
	good, values := withoutBad(members, results, failing)
	return r.finish(b, running, good, values, drain.ended(ctx, failed))
}

// withoutBad returns the members of a batch and their results but for the bad ones, by position. Results of another
// number are returned as they are, for [run.finish] to report.
func withoutBad[V any](members []int, results [][]table.Value, bad map[int]V) (good []int, values [][]table.Value) {
	if len(bad) == 0 || len(results) != len(members) {
		return members, results
	}
	for i, u := range members {
		if _, isBad := bad[i]; !isBad {
			good, values = append(good, u), append(values, results[i])
		}
	}
	return good, values
}

// claim begins the computation of an item. It returns false if another job computes the item, which it adds to others,
// or has stored it meanwhile.
func (r *run) claim(b *stageItems, others map[int]*flight, u int) bool {
	begun, mine := r.e.flights.begin(item{b.items, b.unique[u]})
	if !mine {
		others[u] = begun
		return false
	}
	b.own[u] = begun
	if b.items.Has(b.unique[u]) {
		if v, _, _ := r.storedValues(b.items, b.unique[u:u+1], b.outputs); v[0] != nil {
			b.set(u, v[0])
			r.e.flights.end(begun, v[0])
			b.c.foundLater()
			return false
		}
	}
	return true
}

// size returns the number of rows in a batch.
func (r *run) size(w *stage.Opened) int {
	if r.req.Batch > 0 {
		return min(w.Batch(), r.req.Batch)
	}
	return w.Batch()
}

// isBad ends the computation of an item whose row is bad, and reports the row.
func (r *run) isBad(b *stageItems, u int, column, reason string) error {
	r.e.flights.end(b.own[u], nil)
	b.c.skip()
	return r.report(table.BadRow{Row: b.in.RowNumber(b.rowOf[u]), ID: rowID(b.in, b.rowOf[u]), Column: column,
		Reason: reason})
}

// finish stores the results of a batch and ends the computation of its items. With the error failed, a row that is not
// done has a nil result.
func (r *run) finish(b *stageItems, running *running, members []int, results [][]table.Value, failed error) error {
	if failed != nil && len(results) != len(members) {
		return failed
	}
	if len(results) != len(members) {
		return fmt.Errorf("%s returned %d results for %d rows", b.w.Label(), len(results), len(members))
	}
	keys := make([]store.Key, 0, len(members))
	payloads := make([][]byte, 0, len(members))
	keeper, chooses := b.w.Common.(stage.Keeper)
	for i, u := range members {
		if failed != nil && results[i] == nil {
			continue
		}
		payload, err := encodeItem(results[i], b.outputs)
		if err != nil {
			return fmt.Errorf("%s, row %d (id %q): %w", b.w.Label(), b.in.RowNumber(b.rowOf[u]),
				rowID(b.in, b.rowOf[u]), err)
		}
		if b.values[u] = results[i]; !chooses || keeper.Keep(results[i]) {
			keys, payloads = append(keys, b.unique[u]), append(payloads, payload)
		}
	}
	if err := b.items.Put(keys, payloads); err != nil {
		return errors.Join(failed, err)
	}
	for i, u := range members {
		r.e.flights.end(b.own[u], results[i])
	}
	done := slices.DeleteFunc(slices.Clone(members), func(u int) bool { return b.values[u] == nil })
	if failed == nil || len(done) > 0 {
		r.e.computed.Add(int64(len(done)))
		running.finish(len(done), samples(b.in, b.outputs, done, b.rowOf, b.values))
	}
	for _, u := range done {
		b.set(u, b.values[u])
	}
	return failed
}
