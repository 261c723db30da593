package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/kernel/backend/devices"
)

// deviceStage is a stage that several devices compute.
type deviceStage struct {
	set   *devices.Set
	stage devices.Stage
	one   bool // compute one batch at a time, to measure its time
}

// devices returns the devices of the engine if there are several, or else nil.
func (e *Engine) devices(ctx context.Context) (*devices.Set, error) {
	e.deviceMu.Lock()
	defer e.deviceMu.Unlock()
	if e.set == nil && e.opts.Devices != nil && !e.single {
		set, err := e.opts.Devices(ctx, e.opts.Budget)
		if err != nil {
			return nil, err
		}
		e.set, e.single = set, set == nil
	}
	return e.set, nil
}

// devices returns the devices that the run's stages use if they are in processes of their own, or else nil.
func (r *run) devices() (*devices.Set, error) {
	set, err := r.e.devices(r.ctx)
	if set != nil || err != nil || !r.req.Careful || r.e.opts.Alone == nil {
		return set, err
	}
	r.e.deviceMu.Lock()
	defer r.e.deviceMu.Unlock()
	if r.e.alone == nil {
		r.e.alone, err = r.e.opts.Alone(r.ctx, r.e.opts.Budget)
	}
	return r.e.alone, err
}

// Devices returns the state of the devices if there are several.
func (e *Engine) Devices() []client.DeviceStatus {
	if !e.deviceMu.TryLock() {
		return nil // they are being found
	}
	defer e.deviceMu.Unlock()
	if e.set == nil {
		return nil
	}
	return e.set.Status()
}

// onDevices returns what the devices need to compute a stage's batches, or nil if this process computes them: there is
// one device, the stage does not use it, or it needs a secret, which stays in this process.
func (v *opening) onDevices(s stage.Stage, args json.RawMessage, w stage.Worker) (*deviceStage,
	error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.kind && !(v.r.req.Careful && s.Name == stage.Decodable) || v.secret {
		return nil, nil
	}
	set, err := v.r.devices()
	if set == nil || err != nil {
		return nil, err
	}
	return &deviceStage{set: set, stage: devices.Stage{Op: s.Name, Args: args, Digest: w.Digest(),
		Files: maps.Clone(v.files)}}, nil
}

// sent is a batch that a device computes.
type sent struct {
	members []int
	done    chan struct{} // closed when its results are stored
	bad     []devices.BadRow
	err     error
}

// computeOnDevices is computeClaims on several devices, with batches of the same rows. Each is stored when it is done;
// bad rows and errors are reported in the order of the batches. A [Drain] is not asked: tasks that drain have one
// device.
func (r *run) computeOnDevices(given context.Context, b *batches, missing []int, c *claims) error {
	ctx, cancel := context.WithCancel(given)
	defer cancel()
	defer b.devices.set.Use(&b.devices.stage)()
	size := r.size(b.w)
	all := make(chan *sent, len(missing)/size+1) // in order
	var failed error                             // of the goroutine that fills all, which alone writes c
	go func() {
		defer close(all)
		failed = protect(func() error { r.send(ctx, b, missing, c, size, all); return nil })
	}()
	var first error
	for s := range all {
		<-s.done
		if first != nil {
			continue // what is done is stored
		}
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
	switch {
	case first == nil && given.Err() != nil:
		return given.Err()
	case failed != nil:
		return errors.Join(first, failed)
	}
	return first
}

// send claims items and gives them to the devices, as many batches at once as these have room for.
func (r *run) send(ctx context.Context, b *batches, missing []int, c *claims, size int, all chan<- *sent) {
	room := b.devices.set.Room()
	if b.devices.one {
		room = 1
	}
	free := make(chan struct{}, room)
	var members []int
	flush := func() {
		if len(members) == 0 {
			return
		}
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		s := &sent{members: members, done: make(chan struct{})}
		members = nil
		all <- s
		go func() {
			defer close(s.done)
			defer func() { <-free }()
			s.err = protect(func() error { return r.onDevice(ctx, b, s) })
		}()
	}
	for _, u := range missing {
		if ctx.Err() != nil {
			return
		}
		if r.claim(b, c, u) {
			if members = append(members, u); len(members) == size {
				flush()
			}
		}
	}
	flush()
}

// fetched provides the images of a batch that are objects. It returns the positions in members of the rows whose images
// are there: if the storage cannot be reached, those before the first row without, and the error.
func (r *run) fetched(ctx context.Context, b *batches, s *sent) (at []int, err error) {
	columns, errs := make([]string, len(s.members)), make([]error, len(s.members))
	var down broken
	spread(len(s.members), requests, func(i int) {
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

// onDevice computes a batch on the next device and stores its results.
func (r *run) onDevice(ctx context.Context, b *batches, s *sent) error {
	at, down := r.fetched(ctx, b, s)
	if len(at) == 0 {
		return down
	}
	running := b.c.begin(len(at))
	defer running.end()
	rows, members := make([]int, len(at)), make([]int, len(at))
	for i, place := range at {
		members[i] = s.members[place]
		rows[i] = b.rowOf[members[i]]
	}
	held, release := r.e.flights.hold(ctx, b.itemsOf(members))
	got, err := b.devices.set.Compute(held, devices.Batch{Stage: b.devices.stage, Job: ownerOf(ctx),
		Rows: b.in.Pick(rows), Began: running.again, Step: running.at})
	release()
	r.e.setOrigin(b.devices.set)
	for _, n := range got.Notes {
		r.note("%s", n)
	}
	if errors.Is(err, devices.ErrRows) {
		return errors.Join(down, r.oneByOne(ctx, b, s, at, err))
	}
	if err != nil {
		return errors.Join(down, err)
	}
	var failed error
	if got.Err != nil {
		if failed = got.Err; ctx.Err() != nil {
			failed = ctx.Err()
		}
	}
	results, err := r.valuesOf(len(at), b.outputs, got)
	if err != nil {
		return fmt.Errorf("%s: %w", b.w.Label(), err)
	}
	isBad := map[int]bool{}
	for _, bad := range got.Bad {
		if bad.Row < 0 || bad.Row >= len(at) {
			return fmt.Errorf("%s: a device returned row %d of %d", b.w.Label(), bad.Row+1, len(at))
		}
		isBad[bad.Row] = true
		bad.Row = at[bad.Row]
		s.bad = append(s.bad, bad)
	}
	slices.SortFunc(s.bad, func(x, y devices.BadRow) int { return cmp.Compare(x.Row, y.Row) })
	var good []int
	var values [][]stage.Value
	for i, u := range members {
		if !isBad[i] {
			good, values = append(good, u), append(values, results[i])
		}
	}
	return errors.Join(down, r.finish(b, running, good, values, failed))
}

// oneByOne computes the rows of a batch that ended the processes which computed it. One that does so alone is a bad
// row.
func (r *run) oneByOne(ctx context.Context, b *batches, s *sent, at []int, err error) error {
	if len(at) == 1 {
		s.bad = append(s.bad, devices.BadRow{Row: at[0], Reason: err.Error()})
		return nil
	}
	for _, i := range at {
		one := &sent{members: s.members[i : i+1]}
		if err := r.onDevice(ctx, b, one); err != nil {
			return err
		}
		for _, bad := range one.bad {
			bad.Row = i
			s.bad = append(s.bad, bad)
		}
	}
	return nil
}

// valuesOf returns the values of a batch of n rows, nil for one without, and stores its new images.
func (r *run) valuesOf(n int, outputs []table.ColumnSpec, got devices.Result) ([][]stage.Value, error) {
	out := make([][]stage.Value, n)
	if got.Frame == nil {
		return out, nil
	}
	f := got.Frame
	if !slices.Equal(f.Specs(), outputs) || f.Len() != len(got.Rows) {
		return nil, fmt.Errorf("a device returned %d rows with the columns %s for %d rows with %s", f.Len(),
			table.NameList(f.Specs()), len(got.Rows), table.NameList(outputs))
	}
	images := map[string]table.Image{}
	for _, file := range got.Files {
		img, err := r.store.PutBlob(file.Data, file.Extension)
		if err != nil {
			return nil, err
		}
		images[file.Name] = img
	}
	for at, row := range got.Rows {
		if row < 0 || row >= n {
			return nil, fmt.Errorf("a device returned row %d of %d", row+1, n)
		}
		out[row] = make([]stage.Value, len(outputs))
		for j, c := range f.Columns {
			switch v := &out[row][j]; c.Kind {
			case table.KindText:
				v.Text = c.Texts[at]
			case table.KindNumber:
				v.Number = c.Numbers[at]
			case table.KindImage:
				v.Image = c.Images[at]
				if img, isNew := images[v.Image.Path]; isNew {
					v.Image = img
				}
			case table.KindMask:
				v.Mask = c.Masks[at]
			default:
				v.Vector = c.Vectors[at]
			}
		}
	}
	return out, nil
}
