package engine

import (
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

// deviceStage is the [computer] of a stage that several devices compute.
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
		if e.set, e.single = set, set == nil; set != nil {
			e.kind.Store(set.Kind())
		}
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
		if r.e.alone, err = r.e.opts.Alone(r.ctx, r.e.opts.Budget); r.e.alone != nil {
			r.e.kind.Store(r.e.alone.Kind())
		}
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

// computer returns what computes a stage's batches: this process, if there is one device, or the stage does not use it
// or needs a secret, which stays in this process.
func (v *opening) computer(s stage.Stage, args json.RawMessage, w *stage.Opened) (computer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.kind && !(v.r.req.Careful && s.Name == stage.Decodable) || v.secret {
		return &here{}, nil
	}
	set, err := v.r.devices()
	if set == nil || err != nil {
		return &here{}, err
	}
	return &deviceStage{set: set, stage: devices.Stage{Op: s.Name, Args: args, Digest: w.Digest(),
		Files: maps.Clone(v.files)}}, nil
}

func (d *deviceStage) begin(int) (room int, end func()) {
	if room = d.set.Room(); d.one {
		room = 1
	}
	return room, d.set.Use(&d.stage)
}

// compute computes a batch on the next device. A [Drain] is not asked: tasks that drain have one device.
func (d *deviceStage) compute(ctx context.Context, r *run, b *stageItems, s *batch, at []int) error {
	running := b.c.begin(len(at))
	defer running.end()
	rows, members := make([]int, len(at)), make([]int, len(at))
	for i, place := range at {
		members[i] = s.members[place]
		rows[i] = b.rowOf[members[i]]
	}
	held, release := r.e.flights.hold(ctx, b.flights(members))
	got, err := d.set.Compute(held, devices.Batch{Stage: d.stage, Job: ownerOf(ctx),
		Rows: b.in.Pick(rows), Began: running.again, Step: running.at})
	release()
	r.e.setOrigin(d.set)
	for _, n := range got.Notes {
		r.note("%s", n)
	}
	if errors.Is(err, devices.ErrRows) {
		return d.oneByOne(ctx, r, b, s, at, err)
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
	good, values := withoutBad(members, results, isBad)
	return r.finish(b, running, good, values, failed)
}

// oneByOne computes the rows of a batch that ended the processes which computed it. One that does so alone is a bad
// row.
func (d *deviceStage) oneByOne(ctx context.Context, r *run, b *stageItems, s *batch, at []int, err error) error {
	if len(at) == 1 {
		s.bad = append(s.bad, devices.BadRow{Row: at[0], Reason: err.Error()})
		return nil
	}
	for i := range at {
		if err := d.compute(ctx, r, b, s, at[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// valuesOf returns the values of a batch of n rows, nil for one without, and stores its new images.
func (r *run) valuesOf(n int, outputs []table.ColumnSpec, got devices.Result) ([][]table.Value, error) {
	out := make([][]table.Value, n)
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
		out[row] = make([]table.Value, len(outputs))
		for j, c := range f.Columns {
			v := c.Value(at)
			if img, isNew := images[v.Image.Path]; isNew {
				v.Image = img
			}
			out[row][j] = v
		}
	}
	return out, nil
}
