// Beam computes an array job of Antipode on a runner of Apache Beam, instead of the tasks of a scheduler: each element
// of its pipeline is a shard of the job, which a worker of Beam computes as `antipode work` does and commits to the
// store before the element is done. Results and progress are in the store: `antipode job status`. It is a module of its
// own, so that the antipode command does not link Beam. docs/scale.md has the commands.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	"antipode/datasets/client"
	"antipode/internal/objecturl"
	"antipode/internal/plaintext"
	_ "antipode/kernel/backend/remote/cloud" // stores and tables in object storage
	"antipode/kernel/cluster/jobs"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "antipode-beam: "+plaintext.OneLine(err.Error()))
		os.Exit(status(err))
	}
}

// errUsage is wrapped by errors in the arguments.
var errUsage = errors.New("usage: antipode-beam [--runner prism | --runner universal --endpoint HOST:PORT] [FLAGS] " +
	"JOB.json")

// status returns the exit status for an error: those of `antipode work`.
func status(err error) int {
	switch {
	case errors.Is(err, errUsage):
		return 2
	case errors.Is(err, jobs.ErrNotDone):
		return exitStopped
	}
	return 1
}

// run submits the job that the arguments name and waits for its end. In a process that a runner has started it is the
// worker instead, and does not return.
func run(ctx context.Context) error {
	var o jobs.WorkerOptions
	o.Flags(flag.CommandLine)
	store := flag.String("store", "", "the `DIR` or URL of the store, which every worker reaches; default the job's")
	if slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasPrefix(a, provision) }) {
		return boot(ctx, os.Args[1:])
	}
	flag.Parse()
	endWithParent()
	beam.Init()
	if flag.NArg() != 1 {
		return errUsage
	}
	job, err := jobs.Read(flag.Arg(0))
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if o.Store = job.Store; *store != "" {
		if o.Store, err = objecturl.Resolve(*store); err != nil {
			return err
		}
	}
	if o.Store != job.StoreOf(o.Store, 0) {
		return fmt.Errorf("%w: %s has %%i, and the workers fill one store: give --store", errUsage, o.Store)
	}
	runner, err := environment()
	if err != nil {
		return err
	}
	data, err := json.Marshal(job)
	if err != nil {
		return err
	}
	p, s := beam.NewPipelineWithRoot()
	shards := make([]int, job.Shards)
	for i := range shards {
		shards[i] = i
	}
	computed := beam.ParDo(s, &shardFn{string(data), o.Store, int64(o.Commit), o.Pull, os.Getenv(client.ExecVar)},
		beam.Reshuffle(s, beam.CreateList(s, shards)))
	beam.ParDo0(s, ignore, beam.Reshuffle(s, computed)) // Prism polls a bundle without output in a busy loop
	_, failed := beam.Run(ctx, runner, p)
	if err := errors.Join(failed, finish()); err != nil {
		return err
	}
	r, err := job.ReadReport(ctx, o.Store, time.Now())
	if err != nil {
		return fmt.Errorf("cannot read the state of the job: %w", err)
	}
	fmt.Printf("%d of %d shards: %d items computed, %d found in the store\n", r.States[jobs.Done], r.Shards, r.Computed,
		r.Found)
	for _, e := range r.Errors {
		fmt.Printf("  %d shards, for example %d on %s: %s\n", e.Count, e.Shard, e.Host, plaintext.OneLine(e.Error))
	}
	return r.Err()
}

// environment returns the name of the runner, and completes Beam's flags: the workers are this program.
func environment() (runner string, err error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	if *jobopts.WorkerBinary == "" { // else Beam compiles one without cgo, and so without XLA
		*jobopts.WorkerBinary = program
	}
	runner = cmp.Or(*runners.Runner, "prism")
	if runner == "universal" && *jobopts.EnvironmentType == "" { // see boot
		command, err := json.Marshal(map[string]string{"command": program})
		if err != nil {
			return "", err
		}
		*jobopts.EnvironmentType, *jobopts.EnvironmentConfig = "PROCESS", string(command)
	}
	return runner, nil
}
