package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/kernel/client"
	"antipode/kernel/devices"
)

// remote is a stage that several devices compute.
type remote struct {
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

// remote returns what the devices need to compute a stage's batches, or nil if this process computes them: there is one
// device, the stage does not use it, or it needs a secret, which stays in this process.
func (v *opening) remote(s stage.Stage, args json.RawMessage, w stage.Worker) (*remote, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.kind || v.secret {
		return nil, nil
	}
	set, err := v.r.e.devices(v.r.ctx)
	if set == nil || err != nil {
		return nil, err
	}
	return &remote{set: set, stage: devices.Stage{Op: s.Name, Args: args, Digest: w.Digest(),
		Files: maps.Clone(v.files)}}, nil
}

// sent is a batch that a device computes.
type sent struct {
	members []int
	done    chan struct{} // closed when its results are stored
	bad     []devices.BadRow
	err     error
}

// computeRemote is computeClaims on several devices, with batches of the same rows. Each is stored when it is done; bad
// rows and errors are reported in the order of the batches.
func (r *run) computeRemote(given context.Context, b *batches, missing []int, c *claims) error {
	ctx, cancel := context.WithCancel(given)
	defer cancel()
	defer b.remote.set.Use(&b.remote.stage)()
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
	room := b.remote.set.Room()
	if b.remote.one {
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

// onDevice computes a batch on the next device and stores its results.
func (r *run) onDevice(ctx context.Context, b *batches, s *sent) error {
	running := b.c.begin(len(s.members))
	defer running.end()
	rows := make([]int, len(s.members))
	for i, u := range s.members {
		rows[i] = b.rowOf[u]
	}
	held, release := r.e.flights.hold(ctx, b.itemsOf(s.members))
	got, err := b.remote.set.Compute(held, devices.Batch{Stage: b.remote.stage, Job: ownerOf(ctx),
		Rows: b.in.Pick(rows), Began: running.again, Step: running.at})
	release()
	for _, n := range got.Notes {
		r.note("%s", n)
	}
	if err != nil {
		return err
	}
	var failed error
	if got.Err != nil {
		if failed = got.Err; ctx.Err() != nil {
			failed = ctx.Err()
		}
	}
	results, err := r.valuesOf(len(s.members), b.outputs, got)
	if err != nil {
		return fmt.Errorf("%s: %w", b.w.Label(), err)
	}
	good := make([]int, 0, len(s.members)) // positions in members
	for i := range s.members {
		if !slices.ContainsFunc(got.Bad, func(bad devices.BadRow) bool { return bad.Row == i }) {
			good = append(good, i)
		}
	}
	members, values := make([]int, len(good)), make([][]stage.Value, len(good))
	for k, i := range good {
		members[k], values[k] = s.members[i], results[i]
	}
	s.bad = got.Bad
	return r.finish(b, running, members, values, failed)
}

// load loads the model of a stage that this process computes.
func (r *run) load(b *batches) error {
	if b.remote != nil {
		return nil
	}
	return b.w.Load(r.ctx)
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
