package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"antipode/internal/objecturl"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
	"antipode/kernel/cluster/jobs"
)

// work runs `antipode work`: it computes one shard of an array job in this process, without a resident backend. Exit
// statuses: 0 every row of the shard is in the store, or listed as bad; 1 it will fail again; 2 the arguments, the job,
// a table or a model do not fit; 69 the store or the device could not be reached; 75 stopped early by TERM or USR1,
// with all finished rows stored; 130 interrupted.
func work(ctx context.Context, args []string) (err error) {
	fs := flags("work", "")
	shard := fs.String("shard", "", "the shard, `I/N`, I from 0; default the task's number in the variables of Slurm, "+
		"Kubernetes, AWS Batch, Google, PBS, LSF or SGE")
	grace := fs.Duration("grace", 25*time.Second, "the `TIME` that the batch in progress may take after TERM or USR1")
	at := fs.String("store", "", "the `DIR` or URL of the store, in which %i is the shard's number; default the job's")
	o := jobs.WorkerOptions{Engine: all.EngineOn}
	o.Flags(fs)
	job, err := readJob(ctx, fs, args)
	if err != nil {
		return err
	}
	index, err := jobs.Index(*shard, job.Shards, os.Getenv)
	if err != nil {
		return usageError{err}
	}
	if o.Store, err = objecturl.Local(job.StoreOf(*at, index)); err != nil {
		return usageError{err}
	}
	o.Say = func(line string) { say("%s", line) }
	o.Drain = engine.NewDrain(*grace)
	w := jobs.NewWorker(job, o)
	running, stop := listen(ctx, o.Drain)
	defer stop() // after Close, which a signal would end
	defer func() { err = errors.Join(err, w.Close()) }()
	res, err := w.Shard(running, index)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, jobs.ErrUnreachable):
		return exitError{err, exitUnreachable}
	case err != nil && running.Err() != nil, errors.Is(err, engine.ErrDrained):
		return exitError{engine.ErrDrained, exitStopped}
	case errors.Is(err, jobs.ErrMismatch):
		return usageError{err}
	case err != nil:
		return err
	}
	fmt.Printf("shard %d of %d: %d items computed, %d found in the store", index, job.Shards, res.Computed, res.Found)
	if len(res.Bad) > 0 {
		fmt.Printf(", %d bad rows left out", len(res.Bad))
	}
	fmt.Println()
	return nil
}

// listen begins to drain at the first TERM or USR1, and ends running at the second.
func listen(ctx context.Context, drain *engine.Drain) (running context.Context, stop func()) {
	running, cancel := context.WithCancel(ctx)
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
				drain.Start()
			}
		}
	}()
	return running, func() {
		signal.Stop(signals)
		cancel()
	}
}
