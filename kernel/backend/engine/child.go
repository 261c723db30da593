package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/gomlx/compute"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/stage"
	"antipode/internal/fault"
	"antipode/kernel/backend/devices"
	"antipode/kernel/backend/store"
)

// ServeChild computes batches for the engine of the parent process, on one device, until standard input ends; see
// [devices.Serve].
func ServeChild() error {
	return devices.Serve(&child{queue: newQueue(), workers: map[string]*childWorker{}})
}

// child is the [devices.Computer] of a process.
type child struct {
	queue  *queue
	setup  devices.Setup
	device *device.Device

	mu      sync.Mutex
	pool    *pool // nil = not opened yet
	workers map[string]*childWorker
}

// Open opens the device.
func (c *child) Open(setup devices.Setup) (description string, err error) {
	c.mu.Lock()
	c.setup, c.pool = setup, newPool(setup.Budget)
	c.mu.Unlock()
	err = c.queue.do(context.Background(), func() (err error) {
		c.device, err = device.Open(setup.Kind, setup.Plugin)
		return err
	})
	if err != nil {
		return "", err
	}
	return c.device.Description, nil
}

// Memory returns the use of memory and the loaded models.
func (c *child) Memory() (client.MemoryStatus, []client.ModelStatus) {
	m := client.MemoryStatus{Resident: Resident()}
	c.mu.Lock()
	p := c.pool
	c.mu.Unlock()
	if p == nil {
		return m, nil
	}
	var models []client.ModelStatus
	models, m.Models, m.Budget = p.status()
	return m, models
}

// childWorker is a stage that the parent uses.
type childWorker struct {
	mu  sync.Mutex // held while the worker is opened and while it computes
	w   *stage.Opened
	env *childEnv
}

// Release closes a stage when its batch has ended. It does not wait.
func (c *child) Release(key string) {
	c.mu.Lock()
	o := c.workers[key]
	delete(c.workers, key)
	c.mu.Unlock()
	if o != nil {
		go o.close()
	}
}

func (o *childWorker) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.w != nil {
		o.w.Close()
		o.w = nil
	}
}

// open opens the stage of a batch and loads its model, unless that was done before.
func (o *childWorker) open(ctx context.Context, c *child, b devices.Batch) (w *stage.Opened, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.w != nil {
		return o.w, nil
	}
	st, known := stage.Find(b.Stage.Op)
	if !known {
		return nil, fmt.Errorf("no operation %q: the processes of a backend must be of one build", b.Stage.Op)
	}
	o.env = &childEnv{c: c, files: b.Stage.Files, images: map[string]devices.File{}}
	if w, err = st.Open(ctx, o.env, b.Stage.Args); err != nil {
		return nil, err
	}
	err = w.Check(b.Rows.Specs())
	if err == nil && w.Digest() != b.Stage.Digest {
		err = errors.New("the model changed during the run; run it again")
	}
	if err == nil {
		err = w.Load(ctx)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	o.w = w
	return w, nil
}

// Compute prepares and computes a batch.
func (c *child) Compute(ctx context.Context, b devices.Batch) (r devices.Result, err error) {
	ctx = WithOwner(ctx, b.Job)
	c.mu.Lock()
	key := b.Stage.Key()
	o := c.workers[key]
	if o == nil {
		o = &childWorker{}
		c.workers[key] = o
	}
	c.mu.Unlock()
	w, err := o.open(ctx, c, b)
	if err != nil {
		return r, c.checked(ctx, err)
	}
	b.Began() // preparing images may end the process, too
	rows := newPrepared(w, b.Rows.Len())
	fault.Each(b.Rows.Len(), func(i int) { rows.prepare(ctx, i, stage.Row{Frame: b.Rows, Index: i}) })
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return r, err
	}
	var ready []int
	ready, r.Bad = rows.split()
	var values [][]table.Value
	outputs := w.Outputs(b.Rows.Specs())
	if len(ready) > 0 {
		b.Began()
		var bad map[int]error
		if values, bad, err = computeFinite(stage.WithSteps(ctx, b.Step), rows, ready, outputs); err != nil {
			err = c.checked(ctx, err)
		}
		for i, reason := range bad {
			r.Bad = append(r.Bad, devices.BadRow{Row: ready[i], Reason: reason.Error()})
		}
	}
	if err == nil && len(values) != len(ready) {
		err = fmt.Errorf("%s returned %d results for %d rows", w.Label(), len(values), len(ready))
	}
	var done [][]table.Value
	if len(values) == len(ready) {
		for i, v := range values {
			if v != nil {
				r.Rows, done = append(r.Rows, ready[i]), append(done, v)
			}
		}
	}
	r.Frame = &table.Frame{Columns: columnsOf(outputs, done)}
	r.Files, r.Notes = o.env.take(r.Frame)
	return r, err
}

// checked returns the error of a computation, or [devices.ErrDevice] if the device does not compute any more.
func (c *child) checked(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if broken := c.queue.do(context.Background(), c.device.Test); broken != nil {
		return fmt.Errorf("%w: %w", devices.ErrDevice, err)
	}
	return err
}

// childEnv is the [stage.Env] of a stage in a child process.
type childEnv struct {
	c     *child
	files map[string]string // digests, by path

	mu     sync.Mutex
	images map[string]devices.File // new ones, by name
	notes  []string
}

func (v *childEnv) Backend() (compute.Backend, error) { return v.c.device.Backend, nil }
func (v *childEnv) DeviceKind() (string, error)       { return v.c.device.Kind, nil }
func (v *childEnv) First(string) bool                 { return true }
func (v *childEnv) ModelDir() string                  { return v.c.setup.Models }
func (v *childEnv) NoteModel(_, _, _ string)          {}            // the parent's worker has done it
func (v *childEnv) Secret(string) string              { return "" } // stages with secrets are not sent

func (v *childEnv) OnDevice(ctx context.Context, f func() error) error { return v.c.queue.do(ctx, f) }

func (v *childEnv) Shared(key string, open func() (any, int64, func(), error)) (any, func(), error) {
	return v.c.pool.get(key, open)
}

// FileDigest returns the digest that the parent has found.
func (v *childEnv) FileDigest(path string) (string, error) {
	if digest, known := v.files[path]; known {
		return digest, nil
	}
	return store.HashFile(path)
}

// PutBlob keeps a new image for the parent, which stores it.
func (v *childEnv) PutBlob(data []byte, extension string) (table.Image, error) {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	name := digest + extension
	v.mu.Lock()
	defer v.mu.Unlock()
	v.images[name] = devices.File{Name: name, Extension: extension, Size: len(data), Data: data}
	return table.Image{SHA256: digest, Path: name}, nil
}

func (v *childEnv) Note(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.notes = append(v.notes, fmt.Sprintf(format, args...))
}

// take returns the new images of a frame, and the notes so far.
func (v *childEnv) take(f *table.Frame) (files []devices.File, notes []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, c := range f.Columns {
		for _, img := range c.Images {
			if file, isNew := v.images[img.Path]; isNew {
				files = append(files, file)
				delete(v.images, img.Path)
			}
		}
	}
	notes, v.notes = v.notes, nil
	return files, notes
}
