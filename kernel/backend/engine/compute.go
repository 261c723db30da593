package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/kernel/backend/store"
)

// prepared is the result of a row's preparation on the host.
type prepared struct {
	value  any
	column string
	err    error
}

// batches are the items of a stage: those of the rows with the keys unique, each with the first row that has the key
// and, once it is known, its values.
type batches struct {
	w       stage.Worker
	items   store.Items
	in      *table.Frame
	outputs []table.ColumnSpec
	c       *counter
	keys    []store.Key       // by row
	first   map[store.Key]int // key → position in unique
	unique  []store.Key
	rowOf   []int
	values  [][]stage.Value
	devices *deviceStage // nil = this process computes them
	drop    bool         // values that are stored are replaced by inStore
}

// inStore stands for values that the store has.
var inStore = []stage.Value{}

// item returns the item of a position in unique.
func (b *batches) item(u int) item { return item{b.items, b.unique[u]} }

func (b *batches) itemsOf(members []int) []item {
	items := make([]item, len(members))
	for i, u := range members {
		items[i] = b.item(u)
	}
	return items
}

// compute computes the missing items in batches, each stored when it is done. It waits for those that other jobs are
// computing, and computes the rest of them if they do not succeed.
func (r *run) compute(ctx context.Context, b *batches, missing []int) error {
	for len(missing) > 0 {
		var err error
		if missing, err = r.computeOrWait(ctx, b, missing); err != nil {
			return err
		}
	}
	return nil
}

// computeOrWait returns the items whose computation by another job did not succeed.
func (r *run) computeOrWait(ctx context.Context, b *batches, missing []int) (again []int, err error) {
	c := &claims{others: map[int]*flight{}}
	defer func() { r.e.flights.leave(c.others) }()
	if err := r.computeClaims(ctx, b, missing, c); err != nil {
		return nil, err
	}
	for _, u := range slices.Sorted(maps.Keys(c.others)) {
		values, err := c.others[u].wait(ctx)
		if err != nil {
			return nil, err
		}
		if values == nil {
			again = append(again, u)
			continue
		}
		b.values[u] = values
		b.c.foundLater()
	}
	return again, nil
}

// computeClaims computes those of the missing items that no other job is computing.
func (r *run) computeClaims(ctx context.Context, b *batches, missing []int, c *claims) error {
	defer func() { // also after a panic
		for _, u := range c.own {
			r.e.flights.end(b.item(u), nil)
		}
	}()
	if b.devices != nil {
		return r.computeOnDevices(ctx, b, missing, c)
	}
	return r.computeOwn(ctx, b, missing, c)
}

// claims are the items that a job computes itself, and those that other jobs compute.
type claims struct {
	own    []int
	others map[int]*flight
}

// claim begins the computation of an item. It returns false if another job computes the item or has stored it
// meanwhile.
func (r *run) claim(b *batches, c *claims, u int) bool {
	other, mine := r.e.flights.begin(b.item(u))
	if !mine {
		c.others[u] = other
		return false
	}
	c.own = append(c.own, u)
	if b.items.Has(b.unique[u]) {
		if v, _ := r.storedValues(b.items, b.unique[u:u+1], b.outputs); v[0] != nil {
			b.values[u] = v[0]
			r.e.flights.end(b.item(u), v[0])
			b.c.foundLater()
			return false
		}
	}
	return true
}

// size returns the number of rows in a batch. A bad row keeps its place: batches do not depend on which rows are bad,
// nor on where they are prepared.
func (r *run) size(w stage.Worker) int {
	if r.req.Batch > 0 {
		return min(w.Batch(), r.req.Batch)
	}
	return w.Batch()
}

// ahead is a row that is being prepared.
type ahead struct {
	u int // its position in unique
	p chan prepared
}

// computeOwn is computeClaims in this process.
func (r *run) computeOwn(ctx context.Context, b *batches, missing []int, c *claims) (err error) {
	drain := drainOf(ctx)
	ctx, cancel := context.WithCancel(ctx)
	size, cores := r.size(b.w), runtime.GOMAXPROCS(0)
	rows := make(chan ahead, size+max(size, cores)) // in order; a small batch keeps no core from preparing
	limit := make(chan struct{}, cores)
	var failed error // of the goroutine that fills rows, which alone writes c
	fill := func() {
		for _, u := range missing {
			if ctx.Err() != nil {
				return
			}
			if !r.claim(b, c, u) {
				continue
			}
			row := ahead{u, make(chan prepared, 1)}
			select {
			case rows <- row:
			case <-ctx.Done():
				return
			}
			limit <- struct{}{}
			go func() {
				defer func() { <-limit }()
				row.p <- r.prepare(ctx, b, u)
			}()
		}
	}
	go func() {
		defer close(rows)
		failed = protect(func() error { fill(); return nil })
	}()
	defer func() {
		cancel()
		for range rows { // until the goroutine has ended
		}
		if failed != nil {
			err = errors.Join(err, failed)
		}
	}()
	var batch []any
	var members []int
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		if err := drain.err(); err != nil {
			return err
		}
		running := b.c.begin(len(batch))
		defer running.end()
		allowed, end := drain.hold(ctx, running.left)
		held, release := r.e.flights.hold(allowed, b.itemsOf(members))
		results, bad, failed := computeBatch(stage.WithSteps(held, running.at), b.w, batch, b.outputs)
		release()
		end()
		good, values := members, results
		if len(bad) > 0 && len(results) == len(members) {
			good, values = nil, nil
			for i, u := range members {
				if bad[i] == nil {
					good, values = append(good, u), append(values, results[i])
				}
			}
		}
		if err := r.finish(b, running, good, values, drain.ended(ctx, failed)); err != nil {
			return err
		}
		for i, u := range members {
			if bad[i] != nil {
				if err := r.isBad(b, u, "", bad[i].Error()); err != nil {
					return err
				}
			}
		}
		batch, members = batch[:0], members[:0]
		return nil
	}
	places := 0
	for row := range rows {
		var p prepared
		select {
		case p = <-row.p:
		case <-ctx.Done():
			return ctx.Err()
		case <-drain.begun():
			return ErrDrained
		}
		if p.err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if outage(p.err) {
				return errors.Join(p.err, flush())
			}
			if err := r.isBad(b, row.u, p.column, p.err.Error()); err != nil {
				if keepErr := flush(); keepErr != nil { // store the good rows before it
					return keepErr
				}
				return err
			}
		} else {
			batch, members = append(batch, p.value), append(members, row.u)
		}
		if places++; places == size {
			if err := flush(); err != nil {
				return err
			}
			places = 0
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return flush()
}

// prepare provides the images of an item's row that are objects, and prepares it.
func (r *run) prepare(ctx context.Context, b *batches, u int) (p prepared) {
	if p.err = protect(func() (err error) {
		p.column, err = r.fetch(ctx, b.in, b.rowOf[u])
		return err
	}); p.err != nil {
		return p
	}
	return prepare(ctx, b.w, stage.Row{Frame: b.in, Index: b.rowOf[u]})
}

// prepare prepares a row.
func prepare(ctx context.Context, w stage.Worker, row stage.Row) (p prepared) {
	if err := protect(func() (err error) {
		p.value, p.column, err = w.Prepare(ctx, row)
		return err
	}); err != nil {
		p.err = err
	}
	return p
}

// isBad ends the computation of an item whose row is bad, and reports the row.
func (r *run) isBad(b *batches, u int, column, reason string) error {
	r.e.flights.end(b.item(u), nil)
	b.c.skip()
	return r.report(table.BadRow{Row: b.in.RowNumber(b.rowOf[u]), ID: rowID(b.in, b.rowOf[u]), Column: column,
		Reason: reason})
}

// finish stores the results of a batch and ends the computation of its items. With the error failed, a row that is not
// done has a nil result.
func (r *run) finish(b *batches, running *running, members []int, results [][]stage.Value, failed error) error {
	if failed != nil && len(results) != len(members) {
		return failed
	}
	if len(results) != len(members) {
		return fmt.Errorf("%s returned %d results for %d rows", b.w.Label(), len(results), len(members))
	}
	keys := make([]store.Key, 0, len(members))
	payloads := make([][]byte, 0, len(members))
	var stored []int
	keeper, chooses := b.w.(stage.Keeper)
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
			keys, payloads, stored = append(keys, b.unique[u]), append(payloads, payload), append(stored, u)
		}
	}
	if err := b.items.Put(keys, payloads); err != nil {
		return errors.Join(failed, err)
	}
	for i, u := range members {
		r.e.flights.end(b.item(u), results[i])
	}
	if failed != nil {
		return failed
	}
	r.e.computed.Add(int64(len(members)))
	running.finish(len(members), samples(b.in, b.outputs, members, b.rowOf, b.values))
	if b.drop {
		for _, u := range stored {
			b.values[u] = inStore
		}
	}
	return nil
}
