package commands

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"antipode/datasets/table"
	"antipode/gomlxmodels/all"
	"antipode/gomlxmodels/device"
	"antipode/kernel/client"
	"antipode/kernel/engine"
	"antipode/kernel/jobs"
	"antipode/kernel/plugin"
	"antipode/kernel/store"
)

// tries is how often a task tries to reach its store and its device, and firstPause the pause after the first of them;
// later pauses are twice as long each.
const (
	tries      = 5
	firstPause = time.Second
)

// work runs `antipode work`: it computes one shard of an array job in this process, without a resident backend. Exit
// statuses: 0 every row of the shard is in the store, or listed as bad; 1 it will fail again; 2 the arguments, the job,
// a table or a model do not fit; 69 the store or the device could not be reached; 75 stopped early by TERM or USR1,
// with all finished rows stored; 130 interrupted.
func work(ctx context.Context, args []string) error {
	w := &worker{}
	fs := flags("work", "JOB.json [--shard I/N] [--grace 25s] [--commit 60s] [--store DIR]")
	shard := fs.String("shard", "", "the shard, `I/N`, I from 0; default the task's number in the variables of Slurm, "+
		"Kubernetes, AWS Batch, Google, PBS, LSF or SGE")
	grace := fs.Duration("grace", 25*time.Second, "the `TIME` that the batch in progress may take after TERM or USR1")
	commit := fs.Duration("commit", 0, "the `TIME` for which results are collected before they are written; default "+
		"60s, or 300s where a batch takes more than 10s")
	folder := fs.String("store", "", "the `DIR` of the store, in which %i is the shard's number; default the job's")
	fs.BoolVar(&w.pull, "pull", false, "download the XLA plugin if it is missing")
	fs.Func("allow-exec", "a `PATH` of a program that the job may run as a model", client.AllowExec)
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if w.job, err = readJob(rest, "work"); err != nil {
		return err
	}
	index, err := jobs.Index(*shard, w.job.Shards, os.Getenv)
	if err != nil {
		return usageError{err}
	}
	w.dir, w.commit, w.drain = w.job.StoreOf(*folder, index), *commit, engine.NewDrain(*grace)
	w.status = jobs.Status{Job: w.job.ID, Shard: index, Of: w.job.Shards, Attempt: 1, Started: time.Now().UTC(),
		State: jobs.Running}
	if w.status.Host, err = os.Hostname(); err != nil {
		w.status.Host = "unknown"
	}
	running, stop := w.listen(ctx)
	defer stop()
	return w.run(ctx, running)
}

// worker computes one shard.
type worker struct {
	job    *jobs.Job
	dir    string // of the store
	commit time.Duration
	pull   bool
	drain  *engine.Drain

	mu     sync.Mutex
	status jobs.Status
	store  *store.Store // once it is open
}

// listen begins to drain at the first TERM or USR1, and ends running at the second.
func (w *worker) listen(ctx context.Context) (running context.Context, stop func()) {
	running, cancel := context.WithCancel(engine.WithDrain(ctx, w.drain))
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGUSR1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-running.Done():
				return
			case s := <-signals:
				if n > 0 {
					cancel()
					return
				}
				say("%v: no batch begins; the one in progress is stored if it ends in time", s)
				w.drain.Start()
			}
		}
	}()
	return running, func() {
		signal.Stop(signals)
		cancel()
	}
}

// run computes the shard and writes its status until the end. ctx ends upon an interrupt, running also upon a second
// TERM or USR1.
func (w *worker) run(ctx, running context.Context) error {
	var res *client.Result
	err := again(running, firstPause, func() (err error) {
		res, err = w.compute(running)
		return err
	})
	state := jobs.Failed
	switch {
	case err == nil:
		state = jobs.Done
	case ctx.Err() != nil:
		state, err = jobs.Stopped, ctx.Err()
	case running.Err() != nil, errors.Is(err, engine.ErrDrained):
		state, err = jobs.Stopped, exitError{engine.ErrDrained, exitStopped}
	case unreachable(err):
		err = exitError{err, exitUnreachable}
	}
	w.finish(state, err, res)
	if err == nil {
		fmt.Printf("shard %d of %d: %d items computed, %d found in the store", w.status.Shard, w.status.Of,
			res.Computed, res.Found)
		if len(res.Bad) > 0 {
			fmt.Printf(", %d bad rows left out", len(res.Bad))
		}
		fmt.Println()
	}
	return err
}

// finish writes the last status. Where no store was opened there is none to write it to.
func (w *worker) finish(state string, err error, res *client.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status.State = state
	if err != nil && state == jobs.Failed {
		w.status.Error = oneLine(err)
	}
	if res != nil {
		w.status.Computed, w.status.Found = res.Computed, res.Found
		w.status.BadRows, w.status.Bad = len(res.Bad), res.Bad[:min(len(res.Bad), jobs.MaxBad)]
	}
	w.write()
}

// write writes the status, if there is a store. The caller holds the lock.
func (w *worker) write() {
	if w.store == nil {
		return
	}
	w.status.Packs = w.store.Packs()
	if err := w.status.Write(w.dir); err != nil {
		say("the status is not written: %v", err)
	}
}

// compute opens the store and evaluates the shard's plan.
func (w *worker) compute(ctx context.Context) (res *client.Result, err error) {
	home, err := client.Home()
	if err != nil {
		return nil, err
	}
	from := plugin.Options{Home: home, Offline: !w.pull}
	if c := plugin.Current(home); c.Kind == device.Go && !w.pull && os.Getenv(plugin.Env) == "" {
		return nil, usage("no XLA plugin is installed in %s, and tasks download nothing; run `antipode doctor` once, "+
			"or give --pull (%s=none computes in Go)", home, plugin.Env)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	build, err := buildID(program)
	if err != nil {
		return nil, err
	}
	s, err := store.OpenWorker(w.dir, store.WorkerOptions{Commit: w.commit, Origin: store.Origin{Build: build,
		Job: w.job.ID, Shard: fmt.Sprintf("%d/%d", w.status.Shard, w.status.Of)}})
	if err != nil {
		return nil, err
	}
	e := all.EngineOn(s, from, build)
	defer func() { err = errors.Join(err, e.Close()) }()
	w.open(s)
	defer w.keepReporting()()
	if err := w.fits(ctx, e, build); err != nil {
		return nil, err
	}
	plan, err := jobs.Shard(w.job.Plan, w.job.Phase, engine.ShardArgs{Index: w.status.Shard, Shards: w.job.Shards})
	if err != nil {
		return nil, usageError{err}
	}
	res, err = e.Run(ctx, client.Request{Plan: plan, SkipBad: w.job.SkipBad, Batch: w.job.Batch, Counts: true},
		w.progress)
	w.mu.Lock()
	w.status.Device = e.DeviceKind()
	w.mu.Unlock()
	return res, errors.Join(err, s.Commit())
}

// fits reports a table, a model, a stage or a device that is not the job's.
func (w *worker) fits(ctx context.Context, e *engine.Engine, build string) error {
	if err := w.job.Verify(); err != nil {
		if unreachable(err) {
			return err
		}
		return usageError{err}
	}
	d, err := e.Describe(ctx, w.job.Plan, jobs.StageOps)
	if err != nil {
		return err
	}
	for name, digest := range w.job.Models {
		if now := d.Models[name]; now != digest {
			return usage("the model %s is not the one that the job was made with (SHA-256 %.12s…, the job says "+
				"%.12s…); make the job again", name, now, digest)
		}
	}
	for name, version := range w.job.Stages {
		if now := d.Stages[name]; now != version {
			return usage("this build computes version %d of the stage %s, the job's version is %d; use the build that "+
				"made the job, or make it again", now, name, version)
		}
	}
	if kind := e.DeviceKind(); w.job.Device != "" && kind != "" && kind != w.job.Device {
		return exitError{fmt.Errorf("the device is %s, and the job needs %s; another machine may have one", kind,
			w.job.Device), exitUnreachable}
	}
	if build != w.job.Build {
		say("warning: this is build %s, the job was made by %s; the versions of its stages are the same", build,
			w.job.Build)
	}
	return nil
}

// open records that the store is open, and writes the first status.
func (w *worker) open(s *store.Store) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := jobs.ReadStatus(w.dir, w.job.ID, w.status.Shard); old != nil && w.store == nil {
		w.status.Attempt = old.Attempt + 1
	}
	w.store = s
	w.write()
	say("job %s, shard %d of %d, attempt %d", w.job.ID, w.status.Shard, w.status.Of, w.status.Attempt)
}

// keepReporting writes the status at intervals until stop is called.
func (w *worker) keepReporting() (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(jobs.Period)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				w.mu.Lock()
				w.write()
				say("%s: %d of %d", w.status.Stage, w.status.Done, w.status.Total)
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
func (w *worker) progress(p table.Progress) {
	if p.Note != "" {
		say("%s", p.Note)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status.Stage, w.status.Done, w.status.Total, w.status.Rate = p.Stage, p.Done, p.Total, p.Rate
	w.status.Computed, w.status.Found = p.Computed, p.Found
}

// again calls f until it reaches what it needs, a few times at most, with a pause after the first call and longer ones
// after the others.
func again(ctx context.Context, pause time.Duration, f func() error) error {
	for n := 1; ; n++ {
		err := f()
		if err == nil || n == tries || !unreachable(err) || ctx.Err() != nil {
			return err
		}
		say("try %d of %d: %s", n, tries, oneLine(err))
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause *= 2
	}
}

// unreachable reports whether an error says that the file system of a store or a table, or the device, cannot be
// reached.
func unreachable(err error) bool {
	if errors.Is(err, engine.ErrDevice) {
		return true
	}
	return slices.ContainsFunc([]error{syscall.EIO, syscall.ESTALE, syscall.ENOTCONN, syscall.ETIMEDOUT,
		syscall.EHOSTDOWN, syscall.EHOSTUNREACH, syscall.ENETDOWN, syscall.ENETUNREACH, syscall.ECONNREFUSED,
		syscall.ECONNRESET, syscall.ENODEV, syscall.ENXIO}, func(e error) bool { return errors.Is(err, e) })
}
