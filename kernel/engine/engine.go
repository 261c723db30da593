// Package engine evaluates plans: it reads sources, applies the verbs of tables, runs row-wise stages item by item
// against the store, and computes scores. The resident backend is an engine behind a socket; package gomlxmodels/all is one in-process.
package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/kernel/store"
	"antipode/metrics/prdc"
)

// Options configure an engine.
type Options struct {
	// OpenDevice opens the accelerator when it is first needed.
	OpenDevice func(ctx context.Context) (Device, error)
	// Budget is how many bytes loaded models may count for; 0 = half of the machine's memory.
	Budget int64
	// Build identifies the program in run records.
	Build string
}

// Device is the accelerator as the engine knows it.
type Device interface {
	Kind() string // "xla:cpu", "xla:cuda", "go"
	Handle() any  // what stages get from Env.Device
	// Neighbours finds nearest neighbours on the device, which it uses within onDevice only; nil = the slow Go way.
	Neighbours(onDevice func(context.Context, func() error) error) prdc.Neighbours
	Close()
}

// Engine evaluates plans against one store. It is safe for concurrent use.
type Engine struct {
	Store    *store.Store
	opts     Options
	queue    *queue
	pool     *pool
	deviceMu sync.Mutex
	device   Device
	computed atomic.Int64
	found    atomic.Int64
}

// New makes an engine on an open store.
func New(s *store.Store, opts Options) *Engine {
	if opts.Budget == 0 {
		opts.Budget = memoryTotal() / 2
	}
	return &Engine{Store: s, opts: opts, queue: newQueue(), pool: newPool(opts.Budget)}
}

// Counts are the items computed and found since the engine was made.
func (e *Engine) Counts() (computed, found int64) { return e.computed.Load(), e.found.Load() }

// Models lists the loaded models, and the bytes they count for of the budget.
func (e *Engine) Models() (models []client.ModelStatus, used, budget int64) { return e.pool.status() }

// DeviceKind is the kind of the open device, "" where none was needed yet.
func (e *Engine) DeviceKind() string {
	if !e.deviceMu.TryLock() {
		return "" // it is just being opened
	}
	defer e.deviceMu.Unlock()
	if e.device == nil {
		return ""
	}
	return e.device.Kind()
}

// Close ends the engine: it drops models, closes the device and flushes the store.
func (e *Engine) Close() error {
	e.pool.close()
	e.queue.close()
	e.deviceMu.Lock()
	if e.device != nil {
		e.device.Close()
		e.device = nil
	}
	e.deviceMu.Unlock()
	return e.Store.Flush()
}

// run is one evaluation of one request.
type run struct {
	e        *Engine
	ctx      context.Context
	req      client.Request
	progress func(client.Progress)
	mu       sync.Mutex
	memo     map[*client.Plan]*client.Frame
	byDigest map[string]*client.Frame
	bad      []client.BadRow
	notes    []string
	computed int
	found    int
	models   map[string]string
	uses     map[string]bool
	added    map[string]bool         // columns that stages added
	results  map[*client.Plan]string // ids of computed or found scores
	numbers  map[*client.Frame][]int // the rows' numbers in the table that was read, where bad rows were left out
	store    *store.Store
}

// Run evaluates a request. It never panics: a fault in a stage or metric is an error that carries its stack in the log.
func (e *Engine) Run(ctx context.Context, req client.Request, progress func(client.Progress)) (res *client.Result, err error) {
	return e.evaluate(ctx, req, progress, e.Store)
}

func (e *Engine) evaluate(ctx context.Context, req client.Request, progress func(client.Progress), st *store.Store) (res *client.Result, err error) {
	if progress == nil {
		progress = func(client.Progress) {}
	}
	defer func() {
		if p := recover(); p != nil {
			err = &client.Error{Code: client.CodeInternal, Message: fmt.Sprintf("a fault of Antipode's own: %v", p)}
			fmt.Fprintf(logWriter, "panic: %v\n%s\n", p, debug.Stack())
		}
	}()
	if req.Plan == nil {
		return nil, errors.New("the request has no plan")
	}
	r := &run{e: e, ctx: ctx, req: req, progress: progress, memo: map[*client.Plan]*client.Frame{}, byDigest: map[string]*client.Frame{},
		models: map[string]string{}, uses: map[string]bool{}, added: map[string]bool{}, results: map[*client.Plan]string{}, numbers: map[*client.Frame][]int{}, store: st}
	f, err := r.eval(req.Plan)
	if err != nil {
		return nil, err
	}
	res = &client.Result{Frame: f, Rows: f.Len(), Bad: r.bad, Computed: r.computed, Found: r.found, Notes: r.notes}
	if req.Save != "" {
		if res.Rows, err = r.save(f); err != nil {
			return nil, err
		}
	}
	res.Record = r.results[req.Plan]
	if req.Save != "" {
		rec, err := r.record(req.Plan, f)
		if err != nil {
			return nil, err
		}
		rec.Saved, rec.ID = req.Save, saveID(rec.ID, req.Save)
		if err := st.PutResult(nil, rec); err != nil {
			return nil, err
		}
		res.Record = rec.ID
	}
	if req.Counts {
		res.Frame = nil
	}
	return res, e.Store.Flush()
}

// eval gives a plan's rows; equal plans in one request are evaluated once.
func (r *run) eval(p *client.Plan) (*client.Frame, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	digest := p.Digest()
	if f := r.byDigest[digest]; f != nil {
		return f, nil
	}
	if p.Op == datasets.GoodOp || p.Op == datasets.BadOp {
		f, err := r.sift(p)
		if err != nil {
			return nil, err
		}
		r.byDigest[digest] = f
		return f, nil
	}
	inputs := make([]*client.Frame, len(p.Inputs))
	for i, in := range p.Inputs {
		f, err := r.eval(in)
		if err != nil {
			return nil, err
		}
		inputs[i] = f
	}
	f, err := r.apply(p, inputs)
	if err != nil {
		return nil, r.place(p, err)
	}
	if err := f.Check(); err != nil {
		return nil, r.place(p, fmt.Errorf("%s: %w", p.Op, err))
	}
	r.byDigest[digest] = f
	return f, nil
}

// placed is an error that already says which line made the table.
type placed struct{ error }

func (p placed) Unwrap() error { return p.error }

func (r *run) place(p *client.Plan, err error) error {
	var done placed
	if errors.As(err, &done) || p.Line == "" || r.ctx.Err() != nil {
		return err
	}
	return placed{fmt.Errorf("%s: %w", p.Line, err)}
}

// report takes note of a bad row: an error, or with SkipBad an entry in the list.
func (r *run) report(b client.BadRow) error {
	if !r.req.SkipBad {
		return b
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.bad, b) {
		r.bad = append(r.bad, b)
	}
	return nil
}

func (r *run) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.notes, line) {
		r.notes = append(r.notes, line)
		r.progress(client.Progress{Note: line})
	}
}

// record describes the run of a plan that gave a frame.
func (r *run) record(p *client.Plan, f *client.Frame) (*store.Record, error) {
	var inputs []string
	for _, in := range p.Inputs {
		read := r.byDigest[in.Digest()]
		if read == nil { // Good and Bad read on their own account
			read = f
		}
		d, err := store.FrameDigest(read)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, d)
	}
	result, err := store.FrameDigest(f)
	if err != nil {
		return nil, err
	}
	rec := &store.Record{ID: resultID(p, inputs), Result: result, Plan: p, Inputs: inputs, Models: r.models, Device: r.e.DeviceKind(),
		Versions: versions(r.e.opts.Build), Rows: f.Len(), Computed: r.computed, Found: r.found, Notes: r.notes, Bad: r.bad, Finished: time.Now().UTC()}
	for u := range r.uses {
		rec.Uses = append(rec.Uses, u)
	}
	slices.Sort(rec.Uses)
	return rec, nil
}

// versions are the programs a result depends on.
func versions(build string) map[string]string {
	v := map[string]string{"antipode": build, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			switch d.Path {
			case "github.com/gomlx/gomlx", "github.com/gomlx/go-xla", "github.com/gomlx/compute", "gonum.org/v1/gonum":
				v[d.Path] = d.Version
			}
		}
	}
	return v
}
