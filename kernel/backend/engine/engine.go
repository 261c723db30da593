// Package engine evaluates plans: it reads sources, applies the verbs of tables, runs row-wise stages item by item
// against the store, and computes scores. The resident backend is an engine behind a socket; package kernel/backend/all
// is one in-process.
package engine

import (
	"cmp"
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
	"antipode/datasets/client"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/fault"
	"antipode/kernel/backend/devices"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/store"
	"antipode/metrics/prdc"

	"github.com/gomlx/compute"
)

// Options configure an engine.
type Options struct {
	// OpenDevice opens the accelerator when it is first needed.
	OpenDevice func(ctx context.Context) (Device, error)
	// Devices returns the devices if stages run on several, and nil if they run on the one that OpenDevice opens. It is
	// called when a device is first needed, with the budget; nil = one device.
	Devices func(ctx context.Context, budget int64) (*devices.Set, error)
	// Alone returns one device in a process of its own, for careful requests where Devices returns nil; nil = there is
	// none. See client.Request.Careful.
	Alone func(ctx context.Context, budget int64) (*devices.Set, error)
	// Budget is the maximal size of the loaded models in bytes; 0 = half of the machine's memory.
	Budget int64
	// Build identifies the program in run records.
	Build string
	// Home is the folder of models and data sets; "" = the store's.
	Home string
	// Drain ends runs early, with [ErrDrained]; nil = only their contexts do.
	Drain *Drain
}

// Device is the accelerator.
type Device interface {
	Kind() string             // "xla:cpu", "xla:cuda", "go"
	Backend() compute.Backend // the backend of stages
	// Neighbors returns a nearest-neighbor search that uses the device within onDevice only; nil = the slower search in
	// Go. It may also make gonum multiply there.
	Neighbors(onDevice func(context.Context, func() error) error) prdc.Neighbors
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
	set      *devices.Set // nil = one device, if single, or else not known
	single   bool
	alone    *devices.Set // of careful requests; nil = not started
	kind     atomic.Value // see DeviceKind
	computed atomic.Int64
	found    atomic.Int64
	flights  flights
	objects  *remote.Cache
}

// New returns an engine on an open store.
func New(s *store.Store, opts Options) *Engine {
	if opts.Budget == 0 {
		opts.Budget = memoryTotal() / 2
	}
	e := &Engine{Store: s, opts: opts, queue: newQueue(), pool: newPool(opts.Budget)}
	e.objects = remote.NewCache(e.home())
	return e
}

// home returns the folder of models and data sets.
func (e *Engine) home() string { return cmp.Or(e.opts.Home, e.Store.Dir()) }

// Counts returns the numbers of items computed and found in the store since New.
func (e *Engine) Counts() (computed, found int64) { return e.computed.Load(), e.found.Load() }

// Models returns the loaded models, their size and the budget in bytes.
func (e *Engine) Models() (models []client.ModelStatus, used, budget int64) { return e.pool.status() }

// DeviceKind returns the kind of the devices, "" if none was needed yet.
func (e *Engine) DeviceKind() string {
	kind, _ := e.kind.Load().(string)
	return kind
}

// Close releases the models, closes the devices and flushes the store.
func (e *Engine) Close() error {
	e.deviceMu.Lock()
	for _, set := range []*devices.Set{e.set, e.alone} {
		if set != nil {
			set.Close()
		}
	}
	e.deviceMu.Unlock()
	e.pool.close()
	e.queue.close()
	e.deviceMu.Lock()
	if e.device != nil {
		e.device.Close()
		e.device = nil
	}
	e.deviceMu.Unlock()
	e.objects.Close()
	return e.Store.Close()
}

// run is an evaluation of a request's plans, or of a part that has frames of its own; see [run.child].
type run struct {
	e        *Engine
	ctx      context.Context
	req      client.Request
	progress func(table.Progress)
	store    *store.Store
	frames   map[string]*table.Frame // by the digest of a plan
	bad      *badRows
	filler   filler // decides what becomes of the items that the store lacks
	at       evaluation
	*history
}

// history is what a run did, for its result and record.
type history struct {
	mu        sync.Mutex // of notes, readings, models, origins, once, originals and files
	notes     []string
	readings  []table.Reading
	computed  int
	found     int
	models    map[string]string // digests
	origins   map[string]string // of models that come from a repository
	uses      map[string]bool
	added     map[string]bool        // columns that stages added
	results   map[*table.Plan]string // ids of computed or found scores
	once      map[string]bool        // keys of [stage.Env.First]
	retried   map[item]bool          // items that were computed again; see client.Request.RetryFailed
	originals map[string]string      // the paths of images by those of their converted forms
	sources   []*source              // whose files are read when they are needed
	files     map[string]string      // digests of the files that tables and images were read from, if they are traced
}

// badRows are the bad rows that a run leaves out.
type badRows struct {
	mu   sync.Mutex
	rows []table.BadRow
}

func (e *Engine) newRun(ctx context.Context, req client.Request, progress func(table.Progress),
	st *store.Store) *run {
	return &run{e: e, ctx: ctx, req: req, progress: progress, store: st, frames: map[string]*table.Frame{},
		bad: &badRows{}, filler: computing{}, history: &history{models: map[string]string{},
			origins: map[string]string{}, uses: map[string]bool{}, added: map[string]bool{},
			results: map[*table.Plan]string{}, once: map[string]bool{}, retried: map[item]bool{},
			originals: map[string]string{}, files: map[string]string{}}}
}

// child returns a run whose frames are not those of r, for plans that are evaluated in another way: what it does is
// part of the history of r.
func (r *run) child() *run {
	c := *r
	c.frames = map[string]*table.Frame{}
	return &c
}

// Run evaluates a request. A panic in a stage or metric becomes an error; its stack is in the log.
func (e *Engine) Run(ctx context.Context, req client.Request, progress func(table.Progress)) (res *client.Result,
	err error) {
	return e.evaluate(ctx, req, progress, e.Store)
}

func (e *Engine) evaluate(ctx context.Context, req client.Request, progress func(table.Progress),
	st *store.Store) (res *client.Result, err error) {
	err = protect(func() (err error) {
		res, err = e.evaluateIn(ctx, req, progress, st)
		return err
	})
	var panicked *fault.Error
	if errors.As(err, &panicked) {
		err = &table.Error{Code: table.CodeInternal, Message: err.Error()}
	}
	return res, err
}

func (e *Engine) evaluateIn(ctx context.Context, req client.Request, progress func(table.Progress),
	st *store.Store) (*client.Result, error) {
	if progress == nil {
		progress = func(table.Progress) {}
	}
	if req.Plan == nil {
		return nil, errors.New("the request has no plan")
	}
	if err := req.Plan.Check(); err != nil {
		return nil, &table.Error{Code: table.CodeUsage, Message: err.Error()}
	}
	defer e.Store.Use()()
	r := e.newRun(ctx, req, progress, st)
	var f *table.Frame
	var saved savedTable
	var err error
	if s := r.streamed(); s != nil {
		saved, err = s.save()
	} else if f, err = r.rows(req.Plan); err == nil {
		saved.rows = f.Len()
		if req.Save != "" {
			saved, err = r.save(f)
		}
	}
	r.noteReadings()
	if err != nil {
		return nil, err
	}
	res := &client.Result{Rows: saved.rows, Bad: r.bad.rows, Computed: r.computed, Found: r.found}
	res.Record = r.results[req.Plan]
	if req.Save != "" {
		rec := r.record(req.Plan, saved)
		rec.Saved, rec.ID = req.Save, saveID(rec.ID, req.Save)
		r.keepResult(nil, rec)
		res.Record = rec.ID
	}
	if !req.Counts {
		res.Frame = f
		r.show(f)
	}
	res.Notes = r.notes
	if req.Trace {
		res.Trace = r.trace()
	}
	if err := e.Store.Flush(); err != nil {
		fmt.Fprintf(logWriter, "the index of file digests is not stored: %v\n", err) // it saves time only
	}
	return res, nil
}

// keepResult stores a result and its record. Where the store cannot be written, as on a full disk, the result is
// returned all the same, and a note says so.
func (r *run) keepResult(f *table.Frame, rec *store.Record) {
	if err := r.store.PutResult(f, rec); err != nil {
		r.note("store %s: %v", r.store.Dir(), err)
	}
}

// whole returns the evaluation of an operation that evaluates its input plans in another way than the rest of the
// request, and nil for all others.
func (r *run) whole(op string) func(p *table.Plan) (*table.Frame, error) {
	switch op {
	case datasets.GoodOp, datasets.BadOp:
		return r.sift
	case datasets.WorkloadOp:
		return r.workload
	}
	return nil
}

// eval returns a plan's rows, whose images and masks may be unread; see [run.rows]. Equal plans in one request are
// evaluated once.
func (r *run) eval(p *table.Plan) (*table.Frame, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	digest := p.Digest()
	if f := r.frames[digest]; f != nil {
		return f, nil
	}
	if whole := r.whole(p.Op); whole != nil {
		f, err := whole(p)
		if err != nil {
			return nil, err
		}
		r.frames[digest] = f
		return f, nil
	}
	inputs := make([]*table.Frame, len(p.Inputs))
	for i, in := range p.Inputs {
		evaluate := r.eval
		if needsFiles(p, i) {
			evaluate = r.rows
		}
		f, err := evaluate(in)
		if err != nil {
			return nil, err
		}
		inputs[i] = f
	}
	planned, err := r.filler.admit(p)
	if err != nil {
		return nil, err
	}
	defer r.begin(digest)()
	var f *table.Frame
	if planned {
		f, err = operation.EvaluatorOf(p.Op)(r.ctx, operation.Call{Planned: true}, p.Args, inputs)
	} else {
		f, err = r.apply(p, inputs)
	}
	if err != nil {
		return nil, r.place(p, r.filler.failed(r.ctx, p, err))
	}
	if err := f.Check(); err != nil {
		return nil, r.place(p, fmt.Errorf("%s: %w", p.Op, err))
	}
	f = numbered(f)
	r.frames[digest] = f
	return f, nil
}

// placed is an error whose message starts with the line that created the table.
type placed struct{ error }

func (p placed) Unwrap() error { return p.error }

// place adds to an error the line that created the table or, for a plan of the command line and an unknown column, the
// files that it read. It adds nothing when the run is canceled.
func (r *run) place(p *table.Plan, err error) error {
	var done placed
	switch {
	case errors.As(err, &done) || r.ctx.Err() != nil:
		return err
	case p.Line != "":
		return placed{fmt.Errorf("%s: %w", p.Line, err)}
	case errors.Is(err, table.ErrNoColumn):
		return placed{p.InFiles(err)}
	}
	return err
}

// report handles a bad row: an error, or with SkipBad an entry of the list.
func (r *run) report(b table.BadRow) error {
	if !r.req.SkipBad {
		return b
	}
	r.bad.mu.Lock()
	defer r.bad.mu.Unlock()
	if !slices.Contains(r.bad.rows, b) {
		r.bad.rows = append(r.bad.rows, b)
	}
	return nil
}

func (r *run) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.notes, line) {
		r.notes = append(r.notes, line)
		r.progress(table.Progress{Note: line})
	}
}

// digests returns the digests of a plan's rows and of those that its operation reads, without the files of images and
// masks that it does not need; none of these for an operation of [run.whole].
func (r *run) digests(p *table.Plan, f *table.Frame) (inputs []string, result string, err error) {
	for i, in := range p.Inputs {
		if r.whole(p.Op) != nil {
			break
		}
		evaluate := r.eval
		if needsFiles(p, i) {
			evaluate = r.rows
		}
		read, err := evaluate(in)
		if err != nil {
			return nil, "", err
		}
		d, err := store.FrameDigest(read)
		if err != nil {
			return nil, "", err
		}
		inputs = append(inputs, d)
	}
	result, err = store.FrameDigest(f)
	return inputs, result, err
}

// record describes the run of a plan and its result.
func (r *run) record(p *table.Plan, t savedTable) *store.Record {
	rec := &store.Record{ID: ResultID(p, t.inputs), Result: t.result, Plan: p, Inputs: t.inputs, Models: r.models,
		Sources: r.origins, Device: r.e.DeviceKind(),
		Versions: versions(r.e.opts.Build), Rows: t.rows, Computed: r.computed, Found: r.found, Notes: r.notes,
		Readings: found(r.readings), Bad: r.bad.rows, Finished: time.Now().UTC()}
	for u := range r.uses {
		rec.Uses = append(rec.Uses, u)
	}
	slices.Sort(rec.Uses)
	return rec
}

// versions returns the versions of the programs that a result depends on.
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
