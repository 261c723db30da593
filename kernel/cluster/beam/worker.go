package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"antipode/datasets/client"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
	"antipode/kernel/cluster/jobs"
)

func init() {
	register.DoFn2x2[context.Context, int, int, error](&shardFn{})
	register.Function1x0(ignore)
}

func ignore(int) {}

// exitStopped is the exit status of a worker that ended early, with all finished rows stored.
const exitStopped = 75

// worker is the flag with which Beam marks a worker.
const worker = "--worker=true"

// grace is the time for the batch in progress of a worker that is told to end.
const grace = 25 * time.Second

// shardFn computes shards of a job. Its fields are sent to the workers.
type shardFn struct {
	Job      string // the content of its file
	Store    string // see [jobs.WorkerOptions], as Commit and Pull
	Commit   int64  // nanoseconds
	Pull     bool
	Programs string // the value of [client.ExecVar]
}

// ProcessElement computes one shard and returns its number. An error that will occur again, such as a bad row, is left
// to the status of the shard, which the submitting program reports; others are returned, so that the runner tries the
// shard again.
func (f *shardFn) ProcessElement(ctx context.Context, shard int) (int, error) {
	w, err := open(f)
	if err != nil {
		return 0, err
	}
	_, err = w.Shard(ctx, shard)
	again := []error{jobs.ErrUnreachable, jobs.ErrMismatch, engine.ErrDrained, context.Canceled}
	if err == nil || w.Reported() && !slices.ContainsFunc(again, func(e error) bool { return errors.Is(err, e) }) {
		return shard, nil
	}
	return 0, fmt.Errorf("shard %d: %w", shard, err)
}

// The worker of this process: instances of shardFn share it, since a process has one device and Beam makes several of
// them and does not tear them down.
var (
	mu    sync.Mutex
	the   *jobs.Worker
	drain = engine.NewDrain(grace)
)

func open(f *shardFn) (*jobs.Worker, error) {
	mu.Lock()
	defer mu.Unlock()
	if the != nil {
		return the, nil
	}
	job, err := jobs.Decode([]byte(f.Job))
	if err != nil {
		return nil, err
	}
	if err := os.Setenv(client.ExecVar, f.Programs); err != nil {
		return nil, err
	}
	the = jobs.NewWorker(job, jobs.WorkerOptions{Engine: all.EngineOn, Store: f.Store, Commit: time.Duration(f.Commit),
		Pull: f.Pull, Drain: drain, Say: func(line string) { fmt.Fprintln(os.Stderr, line) }})
	return the, nil
}

// finish writes what the worker of this process has computed and closes it.
func finish() error {
	mu.Lock()
	defer mu.Unlock()
	if the == nil {
		return nil
	}
	return the.Close()
}

// endWithParent ends this process in order, after a signal and, in a worker, when the process that started it ends:
// runners leave workers behind, with their models in memory.
func endWithParent() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	parent := os.Getppid()
	isWorker := slices.Contains(os.Args[1:], worker)
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for ended := false; !ended; {
			select {
			case <-signals:
				ended = true
			case <-tick.C:
				ended = isWorker && os.Getppid() != parent
			}
		}
		drain.Start()
		if err := finish(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(exitStopped)
	}()
}
