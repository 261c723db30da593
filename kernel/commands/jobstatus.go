package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/plugin"
	"antipode/kernel/backend/store"
	"antipode/kernel/cluster/jobs"
)

// watchInterval is that of job status --watch.
const watchInterval = 5 * time.Second

// jobStatus runs `antipode job status`. Its exit status is 0 if all shards are done, 1 if some failed, and 75 if work
// is left.
func jobStatus(ctx context.Context, args []string) error {
	fs := flags("job status", "JOB.json [--store DIR|URL] [--json] [--watch]")
	at := fs.String("store", "", "the `DIR` or URL of the store; default the job's")
	asJSON := fs.Bool("json", false, "print JSON")
	watch := fs.Bool("watch", false, "print again every 5 seconds until no shard is running")
	j, err := readJob(ctx, fs, args)
	if err != nil {
		return err
	}
	for {
		r, err := readReport(ctx, j, *at)
		if err != nil {
			return err
		}
		if *asJSON {
			if err := printJSON(r); err != nil {
				return err
			}
		} else {
			printReport(r)
		}
		if !*watch || r.States[jobs.Running] == 0 && (r.States[jobs.Waiting] == 0 || len(r.List) > 0) {
			return reportError(r)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(watchInterval):
		}
	}
}

// readReport reads the state of a job from a store, "" = the job's.
func readReport(ctx context.Context, j *jobs.Job, at string) (*jobs.Report, error) {
	at, err := objecturl.Local(at)
	if err == nil && objecturl.IsRemote(at) {
		_, err = objecturl.Parse(at)
	}
	if err != nil {
		return nil, usageError{err}
	}
	r, err := j.ReadReport(ctx, at, time.Now())
	if err != nil {
		return nil, fmt.Errorf("cannot read the state of the job: %w", err)
	}
	return r, nil
}

// reportError returns the error that a job's state means, with its exit status.
func reportError(r *jobs.Report) error {
	err := r.Err()
	if errors.Is(err, jobs.ErrNotDone) {
		return exitError{err, exitStopped}
	}
	return err
}

func printReport(r *jobs.Report) {
	fmt.Printf("job %s, phase %d of %d, %d shards:", r.ID, r.Phase, r.Of, r.Shards)
	separator := " "
	for _, state := range []string{jobs.Done, jobs.Running, jobs.Silent, jobs.Stopped, jobs.Failed, jobs.Waiting} {
		if n := r.States[state]; n > 0 {
			fmt.Printf("%s%d %s", separator, n, state)
			separator = ", "
		}
	}
	fmt.Printf("\nitems: %d computed, %d found in the store", r.Computed, r.Found)
	if r.Packs > 0 {
		fmt.Printf("; %d packs, %.1f MB", r.Packs, float64(r.Bytes)/1e6)
	}
	if r.Rate > 0 {
		fmt.Printf("; %.1f rows/s", r.Rate)
	}
	if r.Left > 0 {
		fmt.Printf(", about %s left in the present stages", r.Left.Round(time.Second))
	}
	fmt.Println()
	if r.Bad > 0 {
		fmt.Printf("bad rows: %d left out\n", r.Bad)
	}
	for _, e := range r.Errors {
		fmt.Printf("%d × %s (shard %d on %s)\n", e.Count, shownName(e.Error), e.Shard, shownName(e.Host))
	}
	if r.Again != "" {
		fmt.Printf("to submit again: --array=%s\n", r.Again)
	}
}

// resubmit prints the shards that are not done as sbatch takes them.
func resubmit(ctx context.Context, args []string) error {
	fs := flags("job resubmit", "JOB.json [--store DIR|URL]")
	at := fs.String("store", "", "the `DIR` or URL of the store; default the job's")
	j, err := readJob(ctx, fs, args)
	if err != nil {
		return err
	}
	r, err := readReport(ctx, j, *at)
	if err == nil && r.Again != "" {
		fmt.Printf("--array=%s\n", r.Again)
	}
	return err
}

// planJob runs `antipode job plan`: what is left to compute, in hours, disk and dollars.
func planJob(ctx context.Context, args []string) error {
	fs := flags("job plan", "JOB.json [--rate STAGE=PER_SECOND]… [--probe N] [--price DOLLARS/h] [--store DIR|URL] "+
		"[--json]")
	at := fs.String("store", "", "the `DIR` or URL of the store; default the job's")
	probe := fs.Int("probe", 0, "compute `N` items of each stage, and store them, to measure its speed on this machine")
	asJSON := fs.Bool("json", false, "print JSON")
	rates, price := map[string]float64{}, 0.0
	fs.Func("rate", "items per second of a stage on one device, `STAGE=RATE`, for example embed=120; repeatable",
		func(s string) error {
			name, text, _ := strings.Cut(s, "=")
			rate, err := strconv.ParseFloat(text, 64)
			if err != nil || !(rate > 0) || !slices.Contains(jobs.StageOps, name) {
				return fmt.Errorf("write STAGE=RATE, STAGE one of %s", strings.Join(jobs.StageOps, ", "))
			}
			rates[name] = rate
			return nil
		})
	fs.Func("price", "US dollars for an hour of one task, `2.5/h`", func(s string) (err error) {
		if price, err = strconv.ParseFloat(strings.TrimSuffix(s, "/h"), 64); err != nil || !(price >= 0) {
			return errors.New("write dollars an hour, for example 2.5/h")
		}
		return nil
	})
	j, err := readJob(ctx, fs, args)
	if err != nil {
		return err
	}
	if j.Shards > 1 && j.StoreOf(*at, 0) != j.StoreOf(*at, 1) {
		say("job plan: each task has its own store, of which only the first is read; merge them, then give --store")
	}
	f, err := workload(ctx, j, j.StoreOf(*at, 0), datasets.WorkloadOptions{Probe: *probe, Rates: rates})
	if err != nil {
		return err
	}
	last := f.Len() - 1
	p := jobPlan{Job: j.ID, Shards: j.Shards, Hours: number(f.Numbers("hours")[last]),
		Gigabytes: number(f.Numbers("gigabytes")[last])}
	for _, missing := range f.Numbers("missing")[:last] {
		p.Missing += int(missing)
		p.MostRows = max(p.MostRows, (int(missing)+j.Shards-1)/j.Shards)
	}
	if p.Hours != nil {
		p.HoursATask = new(*p.Hours / float64(j.Shards))
		if price > 0 {
			p.Dollars = new(*p.Hours * price)
		}
	}
	if *asJSON {
		return printJSON(p)
	}
	fmt.Print(datasets.Format(f, 0))
	fmt.Println(p.line(price))
	return nil
}

// jobPlan is what is left of a job. Values that are not known are null.
type jobPlan struct {
	Job        string   `json:"job"`
	Shards     int      `json:"shards"`
	Missing    int      `json:"missing"`      // items of all stages
	MostRows   int      `json:"most_rows"`    // items of a stage in a shard, at most
	Hours      *float64 `json:"hours"`        // of one device
	HoursATask *float64 `json:"hours_a_task"` // with a device for each shard
	Gigabytes  *float64 `json:"gigabytes"`    // of disk
	Dollars    *float64 `json:"dollars"`      // by --price
}

func number(x float64) *float64 {
	if x != x {
		return nil
	}
	return &x
}

func (p jobPlan) line(price float64) string {
	text := fmt.Sprintf("%d shards, %d items to compute, at most %d of a stage in a shard", p.Shards, p.Missing,
		p.MostRows)
	if p.Hours == nil {
		return text + "; hours are not known: give --rate STAGE=PER_SECOND, or --probe 20 on a machine like those of " +
			"the tasks"
	}
	text += fmt.Sprintf("; %.3g hours of one device, %.3g hours a task with one device each, without loading models",
		*p.Hours, *p.HoursATask)
	if p.Gigabytes != nil {
		text += fmt.Sprintf("; %.3g GB of disk", *p.Gigabytes)
	}
	if p.Dollars != nil {
		text += fmt.Sprintf("; %.2f US dollars at %g an hour", *p.Dollars, price)
	}
	return text
}

// workload evaluates the workload of a job in this process, with the items of a store.
func workload(ctx context.Context, j *jobs.Job, at string, o datasets.WorkloadOptions) (f *table.Frame, err error) {
	if at, err = objecturl.Local(at); err != nil {
		return nil, usageError{err}
	}
	home, err := client.Home()
	if err != nil {
		return nil, err
	}
	build, err := jobs.Build()
	if err != nil {
		return nil, err
	}
	s, err := jobs.OpenStore(ctx, at, j.ID+"-plan", store.WorkerOptions{Origin: store.Origin{Build: build}})
	if err != nil {
		return nil, err
	}
	e := all.EngineOn(s.Store, plugin.Options{Home: home}, engine.Options{Build: build})
	defer func() { err = errors.Join(err, s.Closed(e.Close()), s.Release()) }()
	args, err := json.Marshal(datasets.WorkloadArgs{WorkloadOptions: o})
	if err != nil {
		return nil, err
	}
	inputs := []*table.Plan{j.Plan}
	if !slices.Contains(jobs.StageOps, j.Plan.Op) { // several stages
		inputs = j.Plan.Inputs
	}
	secrets := map[string]string{client.ExecVar: os.Getenv(client.ExecVar)}
	res, err := e.Run(ctx, client.Request{Secrets: secrets,
		Plan: &table.Plan{Op: datasets.WorkloadOp, Args: args, Inputs: inputs}}, nil)
	if err != nil {
		return nil, err
	}
	return res.Frame, nil
}
