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
	"antipode/kernel/store"
)

// prepared is the result of a row's preparation on the host.
type prepared struct {
	value  any
	column string
	err    error
}

// batches are the items of a stage: those of the rows with the keys unique, each with a row that has the key and, once
// it is known, its values.
type batches struct {
	w       stage.Worker
	items   *store.Items
	in      *table.Frame
	outputs []table.ColumnSpec
	c       *counter
	unique  []store.Key
	rowOf   []int
	values  [][]stage.Value
}

// item returns the item of a position in unique.
func (b *batches) item(u int) item { return item{b.items, b.unique[u]} }

// compute computes the missing items in batches, each stored before the next one starts. It waits for those that other
// jobs are computing, and computes the rest of them if they do not succeed.
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
	others, err := r.computeOwn(ctx, b, missing)
	defer r.e.flights.leave(others)
	if err != nil {
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
		b.values[u] = values
		b.c.foundLater()
	}
	return again, nil
}

// ahead is a row that is being prepared.
type ahead struct {
	u int // its position in unique
	p chan prepared
}

// computeOwn computes those of the missing items that no other job is computing, and returns the others.
func (r *run) computeOwn(ctx context.Context, b *batches, missing []int) (others map[int]*flight, err error) {
	w, in, outputs, c, rowOf, values := b.w, b.in, b.outputs, b.c, b.rowOf, b.values
	drain := drainOf(ctx)
	ctx, cancel := context.WithCancel(stage.WithSteps(ctx, c.at))
	size := w.Batch()
	if r.req.Batch > 0 {
		size = min(size, r.req.Batch)
	}
	var own []int
	others = map[int]*flight{}
	cores := runtime.GOMAXPROCS(0)
	rows := make(chan ahead, size+max(size, cores)) // in order; a small batch keeps no core from preparing
	limit := make(chan struct{}, cores)
	var failed error // of the goroutine that fills rows, which alone writes own and others
	fill := func() {
		for _, u := range missing {
			if ctx.Err() != nil {
				return
			}
			if other, mine := r.e.flights.begin(b.item(u)); !mine {
				others[u] = other
				continue
			}
			own = append(own, u)
			if b.items.Has(b.unique[u]) { // another job stored it meanwhile
				if v, _ := r.storedValues(b.items, b.unique[u:u+1], outputs); v[0] != nil {
					values[u] = v[0]
					r.e.flights.end(b.item(u), v[0])
					c.foundLater()
					continue
				}
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
				var p prepared
				if err := protect(func() (err error) {
					if p.column, err = r.fetch(ctx, in, rowOf[u]); err != nil {
						return err
					}
					p.value, p.column, err = w.Prepare(ctx, stage.Row{Frame: in, Index: rowOf[u]})
					return err
				}); err != nil {
					p.err = err
				}
				row.p <- p
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
		for _, u := range own {
			r.e.flights.end(b.item(u), nil)
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
		c.begin(len(batch))
		items := make([]item, len(members))
		for i, u := range members {
			items[i] = b.item(u)
		}
		allowed, end := drain.hold(ctx, c.left)
		held, release := r.e.flights.hold(allowed, items)
		results, failed := w.Compute(held, batch)
		release()
		end()
		failed = drain.ended(ctx, failed)
		if failed != nil && len(results) != len(batch) {
			return failed
		}
		if len(results) != len(batch) {
			return fmt.Errorf("%s returned %d results for %d rows", w.Label(), len(results), len(batch))
		}
		keys := make([]store.Key, 0, len(members))
		payloads := make([][]byte, 0, len(members))
		keeper, chooses := w.(stage.Keeper)
		for i, u := range members {
			if failed != nil && results[i] == nil {
				continue
			}
			payload, err := encodeItem(results[i], outputs)
			if err != nil {
				return fmt.Errorf("%s, row %d (id %q): %w", w.Label(), rowOf[u]+1, rowID(in, rowOf[u]), err)
			}
			if values[u] = results[i]; !chooses || keeper.Keep(results[i]) {
				keys, payloads = append(keys, b.unique[u]), append(payloads, payload)
			}
		}
		if err := b.items.Put(keys, payloads); err != nil {
			return errors.Join(failed, err)
		}
		for i := range members {
			r.e.flights.end(items[i], results[i])
		}
		if failed != nil {
			return failed
		}
		r.e.computed.Add(int64(len(batch)))
		c.finish(len(batch), samples(in, outputs, members, rowOf, values))
		batch, members = batch[:0], members[:0]
		return nil
	}
	for row := range rows {
		var p prepared
		select {
		case p = <-row.p:
		case <-ctx.Done():
			return others, ctx.Err()
		case <-drain.begun():
			return others, ErrDrained
		}
		if p.err != nil {
			if ctx.Err() != nil {
				return others, ctx.Err()
			}
			if outage(p.err) {
				return others, errors.Join(p.err, flush())
			}
			r.e.flights.end(b.item(row.u), nil)
			c.skip()
			if err := r.report(table.BadRow{Row: r.rowNumber(in, rowOf[row.u]), ID: rowID(in, rowOf[row.u]),
				Column: p.column, Reason: p.err.Error()}); err != nil {
				if keepErr := flush(); keepErr != nil { // store the good rows before it
					return others, keepErr
				}
				return others, err
			}
			continue
		}
		batch, members = append(batch, p.value), append(members, row.u)
		if len(batch) == size {
			if err := flush(); err != nil {
				return others, err
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return others, err
	}
	return others, flush()
}
