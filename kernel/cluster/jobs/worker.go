package jobs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/device"
	"antipode/internal/plaintext"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/plugin"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/store"
)

// WorkerOptions configure a [Worker].
type WorkerOptions struct {
	// Engine makes the worker's engine: all.EngineOn, which links every stage into the program.
	Engine func(*store.Store, plugin.Options, engine.Options) *engine.Engine
	// Store is the store that the worker fills, a folder or a URL.
	Store string
	// Commit is the time for which results are collected before they are written; 0 = 60 s, or 300 s where a batch
	// takes more than 10 s. All are written at the end of a shard.
	Commit time.Duration
	// Pull allows the worker to download the XLA plugin if it is missing.
	Pull bool
	// Drain ends shards early; nil = only their contexts do.
	Drain *engine.Drain
	// Say receives lines for the user; nil discards them.
	Say func(line string)
}

// Flags defines the flags of every program that computes shards.
func (o *WorkerOptions) Flags(fs *flag.FlagSet) {
	fs.DurationVar(&o.Commit, "commit", 0, "the `TIME` for which results are collected before they are written; "+
		"default 60s, or 300s where a batch takes more than 10s")
	fs.BoolVar(&o.Pull, "pull", false, "download the XLA plugin if it is missing")
	fs.Func("allow-exec", "a `PATH` of a program that the job may run as a model", client.AllowExec)
}

// Worker computes shards of one job, one at a time, with one engine: a model is loaded once for all shards. It is safe
// for concurrent use.
type Worker struct {
	job *Job
	WorkerOptions

	shard  sync.Mutex     // held while a shard is computed
	engine *engine.Engine // nil = not open
	fit    bool           // the job was compared with the tables and models of this machine

	writing sync.Mutex // held while a status is written
	mu      sync.Mutex // guards the fields below
	status  *Status
	store   *Store // the last that was opened
	first   int    // the number of its packs when the shard began
}

// NewWorker returns a worker for a job. It opens nothing yet.
func NewWorker(job *Job, o WorkerOptions) *Worker { return &Worker{job: job, WorkerOptions: o} }

// Close writes what is collected, and releases the models, the device and the store.
func (w *Worker) Close() error {
	w.shard.Lock()
	defer w.shard.Unlock()
	return errors.Join(w.close(), w.store.Release())
}

func (w *Worker) close() error {
	if w.engine == nil {
		return nil
	}
	err := w.store.Closed(w.engine.Close())
	w.engine, w.fit = nil, false
	return err
}

func (w *Worker) say(format string, args ...any) {
	if w.Say != nil {
		w.Say(fmt.Sprintf(format, args...))
	}
}

// Shard computes the rows of one shard and writes its status until the end. When it returns, everything computed is
// in the store. Where the store or the device cannot be reached it tries again, 5 times at most. The worker's drain or
// the end of ctx stops the shard early.
//
// Errors wrap [ErrMismatch] for a job, table or model that does not fit, [ErrUnreachable] after the last try, and
// [engine.ErrDrained] or the context's error if the shard was stopped early. Any other error, such as a bad row or a
// full disk, will occur again.
func (w *Worker) Shard(ctx context.Context, index int) (*client.Result, error) {
	if index < 0 || index >= w.job.Shards {
		return nil, mismatch{fmt.Errorf("shard %d of %d does not exist", index, w.job.Shards)}
	}
	w.shard.Lock()
	defer w.shard.Unlock()
	w.begin(index)
	var res *client.Result
	err := again(ctx, firstPause, w.say, func() (err error) {
		if res, err = w.compute(ctx, index); Unreachable(err) || errors.Is(err, remote.ErrUnreachable) {
			err = also(err, w.close())
		}
		return err
	})
	state := Failed
	switch {
	case err == nil:
		state = Done
	case ctx.Err() != nil:
		state, err = Stopped, ctx.Err()
	case Unreachable(err), errors.Is(err, remote.ErrUnreachable):
		err = unreached{err}
	case errors.Is(err, engine.ErrDrained):
		state = Stopped
	}
	w.finish(state, err, res)
	return res, err
}

// begin begins the status of a shard.
func (w *Worker) begin(index int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &Status{Job: w.job.ID, Shard: index, Of: w.job.Shards, Attempt: 1, Started: time.Now().UTC(),
		State: Running}
	var err error
	if s.Host, err = os.Hostname(); err != nil {
		s.Host = "unknown"
	}
	w.status = s
}

// finish writes the last status. Where no store was opened there is none to write it to.
func (w *Worker) finish(state string, err error, res *client.Result) {
	w.mu.Lock()
	w.status.State = state
	if err != nil && state == Failed {
		w.status.Error = plaintext.OneLine(err.Error())
	}
	if res != nil {
		w.status.Computed, w.status.Found = res.Computed, res.Found
		w.status.BadRows, w.status.Bad = len(res.Bad), res.Bad[:min(len(res.Bad), MaxBad)]
	}
	w.mu.Unlock()
	w.write()
}

// Reported reports whether the worker has opened its store, and so could write the status of its last shard there.
func (w *Worker) Reported() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.store != nil
}

// write writes the status, if there is a store.
func (w *Worker) write() {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	if w.store == nil {
		w.mu.Unlock()
		return
	}
	w.status.Packs = w.store.Packs()[w.first:]
	status, files := *w.status, w.store.Files
	w.mu.Unlock()
	if err := status.Write(files); err != nil {
		w.say("the status is not written: %v", err)
	}
}

// open opens the store and the engine.
func (w *Worker) open(ctx context.Context, index int) error {
	home, err := client.Home()
	if err != nil {
		return err
	}
	from := plugin.Options{Home: home, Offline: !w.Pull}
	if c := plugin.Current(home); c.Kind == device.Go && !w.Pull && !plugin.Decided() {
		return mismatch{fmt.Errorf("no XLA plugin is installed in %s, and tasks download nothing; run `antipode "+
			"doctor` once, or give --pull (%s=none computes in Go)", home, plugin.Env)}
	}
	build, err := Build()
	if err != nil {
		return err
	}
	s, err := OpenStore(ctx, w.Store, fmt.Sprintf("%s-%d", w.job.ID, index), store.WorkerOptions{Commit: w.Commit,
		Origin: store.Origin{Build: build, Job: w.job.ID}})
	if err != nil {
		return err
	}
	w.engine = w.Engine(s.Store, from, engine.Options{Build: build, Drain: w.Drain})
	w.mu.Lock()
	before := w.store
	w.store, w.first = s, 0
	w.mu.Unlock()
	return before.Release()
}

// compute evaluates the shard's plan.
func (w *Worker) compute(ctx context.Context, index int) (*client.Result, error) {
	if w.engine == nil {
		if err := w.open(ctx, index); err != nil {
			return nil, err
		}
	}
	origin := w.store.Origin()
	origin.Shard = fmt.Sprintf("%d/%d", index, w.job.Shards)
	w.store.SetOrigin(origin)
	old, err := ReadStatus(w.store.Files, w.job.ID, index)
	if err != nil {
		return nil, fmt.Errorf("cannot read the store: %w", err)
	}
	w.mu.Lock()
	w.first = len(w.store.Packs())
	if old != nil && !old.Started.Equal(w.status.Started) { // of another attempt
		w.status.Attempt = old.Attempt + 1
	}
	w.say("job %s, shard %d of %d, attempt %d", w.job.ID, index, w.job.Shards, w.status.Attempt)
	w.mu.Unlock()
	w.write()
	defer w.keepReporting()()
	if !w.fit {
		if err := w.fits(ctx); err != nil {
			return nil, err
		}
		w.fit = true
	}
	plan, err := Shard(w.job.Plan, w.job.Phase, engine.ShardArgs{Index: index, Shards: w.job.Shards})
	if err != nil {
		return nil, mismatch{err}
	}
	res, err := w.engine.Run(ctx, client.Request{Plan: plan, SkipBad: w.job.SkipBad, Batch: w.job.Batch, Counts: true},
		w.progress)
	w.mu.Lock()
	w.status.Device = w.engine.DeviceKind()
	w.mu.Unlock()
	return res, also(err, w.store.Commit())
}

// fits reports a table, a model, a stage or a device that is not the job's.
func (w *Worker) fits(ctx context.Context) error {
	home, err := client.Home()
	if err != nil {
		return err
	}
	objects := remote.NewCache(home)
	defer objects.Close()
	if err := w.job.Verify(ctx, objects); err != nil {
		if Unreachable(err) || errors.Is(err, remote.ErrUnreachable) || errors.Is(err, remote.ErrDenied) {
			return err
		}
		return mismatch{err}
	}
	d, err := w.engine.Describe(ctx, w.job.Plan, StageOps)
	if err != nil {
		return err
	}
	for name, digest := range w.job.Models {
		if now := d.Models[name]; now != digest {
			return mismatch{fmt.Errorf("the model %s is not the one that the job was made with (SHA-256 %.12s…, the "+
				"job says %.12s…); make the job again", name, now, digest)}
		}
	}
	for name, version := range w.job.Stages {
		if now := d.Stages[name]; now != version {
			return mismatch{fmt.Errorf("this build computes version %d of the stage %s, the job's version is %d; use "+
				"the build that made the job, or make it again", now, name, version)}
		}
	}
	if kind := w.engine.DeviceKind(); w.job.Device != "" && kind != "" && kind != w.job.Device {
		return unreached{fmt.Errorf("the device is %s, and the job needs %s; another machine may have one", kind,
			w.job.Device)}
	}
	if build := w.store.Origin().Build; build != w.job.Build {
		w.say("warning: this is build %s, the job was made by %s; the versions of its stages are the same", build,
			w.job.Build)
	}
	return nil
}

// keepReporting writes the status at intervals until stop is called.
func (w *Worker) keepReporting() (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(Period(w.Store))
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				w.write()
				w.mu.Lock()
				w.say("%s: %d of %d", w.status.Stage, w.status.Done, w.status.Total)
				w.mu.Unlock()
			}
		}
	}()
	return func() {
		close(ended)
		<-done
	}
}

// progress records the progress of a stage.
func (w *Worker) progress(p table.Progress) {
	if p.Note != "" {
		w.say("%s", p.Note)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.status
	s.Stage, s.Done, s.Total, s.Rate, s.Computed, s.Found = p.Stage, p.Done, p.Total, p.Rate, p.Computed, p.Found
}

// Build returns the id of this program's build, a prefix of its SHA-256.
func Build() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	sum, err := store.HashFile(program)
	return BuildOf(sum), err
}

// BuildOf returns the build id of a program by its SHA-256.
func BuildOf(sum string) string { return fmt.Sprintf("%.12s", sum) }
