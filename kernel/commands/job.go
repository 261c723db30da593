package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/plugin"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/store"
	"antipode/kernel/cluster/jobs"
)

const jobArgs = "make --shards N [--for slurm|k8s|aws] [--store DIR|URL] -- COMMAND… | status JOB.json | " +
	"plan JOB.json | resubmit JOB.json"

func jobCommand(ctx context.Context, args []string) error {
	return subcommands{"make": makeJob, "status": jobStatus, "plan": planJob, "resubmit": resubmit}.run(ctx, "job",
		jobArgs, args)
}

// collected are the tables of commands that a job is made of. They are planned, not computed.
type collected struct {
	tables  []datasets.Table
	byOut   map[string]datasets.Table // by the absolute path that the command writes
	skipBad bool
	batch   int
	allow   []string // programs that are models
}

type collectedKey struct{}

// collecting returns the job that is being made of the commands, or nil.
func collecting(ctx context.Context) *collected {
	c, _ := ctx.Value(collectedKey{}).(*collected)
	return c
}

// madeBefore returns the table that an earlier command of the job writes to a path.
func madeBefore(ctx context.Context, path string) (datasets.Table, bool) {
	c := collecting(ctx)
	abs, err := objecturl.Resolve(path)
	if c == nil || err != nil {
		return datasets.Table{}, false
	}
	t, made := c.byOut[abs]
	return t, made
}

// add adds the table that a command writes.
func (c *collected) add(s *stageFlags, t datasets.Table) error {
	if s.retryFailed {
		return usage("--retry failed is for the command itself, on one machine, not for a job")
	}
	if s.batch != 0 && c.batch != 0 && s.batch != c.batch {
		return usage("--batch %d and --batch %d: the commands of a job have one size of batches", c.batch, s.batch)
	}
	c.skipBad, c.batch = c.skipBad || s.skipBad, max(c.batch, s.batch)
	c.tables = append(c.tables, t)
	abs, err := objecturl.Resolve(s.out)
	if err != nil {
		return err
	}
	if names := datasets.SplitColumns(s.columns); len(names) > 0 && s.columns != "all" { // what the next command reads
		if !slices.Contains(names, "id") {
			names = append([]string{"id"}, names...)
		}
		t = t.Select(names...)
	}
	c.byOut[abs] = t
	return t.Err()
}

// jobCommands are the commands that a job may be made of.
var jobCommands = []string{"generate", "segment", "embed", "tokenize", "caption", "ask", "table"}

// collectTables returns the tables of commands, which are separated by "--".
func collectTables(ctx context.Context, commands []string) (*collected, error) {
	c := &collected{byOut: map[string]datasets.Table{}}
	for len(commands) > 0 {
		one := commands
		if at := slices.Index(commands, "--"); at >= 0 {
			one, commands = commands[:at], commands[at+1:]
		} else {
			commands = nil
		}
		if len(one) == 0 || !slices.Contains(jobCommands, one[0]) {
			return nil, usage("a job is made of commands that compute rows, separated by --: %s",
				strings.Join(jobCommands, ", "))
		}
		before := len(c.tables)
		if err := dispatch(context.WithValue(ctx, collectedKey{}, c), one); err != nil {
			return nil, err
		}
		if len(c.tables) == before {
			return nil, usage("%s writes no table: give --out", one[0])
		}
		if program, named := strings.CutPrefix(peek(one, "model"), "exec:"); named {
			abs, err := filepath.Abs(program)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(c.allow, abs) {
				c.allow = append(c.allow, abs)
			}
		}
	}
	if len(c.tables) == 0 {
		return nil, usage("give the command after --: antipode job make --shards 8 -- embed …")
	}
	return c, nil
}

// makeJob runs `antipode job make`.
func makeJob(ctx context.Context, args []string) error {
	var commands []string
	if at := slices.Index(args, "--"); at >= 0 {
		args, commands = args[:at], args[at+1:]
	}
	fs := flags("job make", "--shards N [--for slurm|k8s|aws] [--store DIR|URL] [--out JOB.json] -- COMMAND…\n  "+
		"Several commands are separated by --; each may read what an earlier one writes. Nothing is computed.")
	shards := fs.Int("shards", 0, "the `NUMBER` of shards, of tasks of the array")
	scheduler := fs.String("for", "", "write the file of a `SCHEDULER` too: "+strings.Join(jobs.Schedulers, ", "))
	folder := fs.String("store", "", "the `DIR` or URL of the store that tasks fill, in which %i is the shard's "+
		"number; default JOB.store next to the job's file")
	device := fs.String("device", "", "the `KIND` of device that tasks must have: xla:cuda, xla:cpu, go; default any")
	out := fs.String("out", "job.json", "the `FILE` to write")
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if *shards < 1 || *shards > jobs.MaxShards {
		return usage("--shards %d: use a number from 1 to %d", *shards, jobs.MaxShards)
	}
	if *scheduler != "" && !slices.Contains(jobs.Schedulers, *scheduler) {
		return usage("--for %q: use one of %s", *scheduler, strings.Join(jobs.Schedulers, ", "))
	}
	c, err := collectTables(ctx, commands)
	if err != nil {
		return err
	}
	list, err := describe(ctx, c)
	if err != nil {
		return err
	}
	for _, j := range list {
		if paid := jobs.PaidModels(j.Plan); len(paid) > 0 && *shards > 1 {
			return usage("%s: each of %d shards would spend the whole budget; images of an API wait for the network, "+
				"not for a device: run the command itself, or make a job of 1 shard", strings.Join(paid, ", "), *shards)
		}
		j.Shards, j.Device, j.Command = *shards, *device, commands
		if err := writeJob(j, *out, *folder, *scheduler, c.allow); err != nil {
			return err
		}
	}
	if n := len(list); n > 1 {
		fmt.Printf("%d phases: an operation that needs the whole table is between two stages. Run the next one when "+
			"every shard of the one before is done (antipode job status); stores per task must be merged before.\n", n)
	}
	return nil
}

// describe returns the jobs of the phases, without the numbers of shards.
func describe(ctx context.Context, c *collected) ([]*jobs.Job, error) {
	var plans []*table.Plan
	for _, t := range c.tables {
		plan, err := t.Plan()
		if err != nil {
			return nil, err
		}
		plans = append(plans, plan)
	}
	phases, err := jobs.Phases(plans...)
	if err != nil {
		return nil, usageError{err}
	}
	e, build, objects, err := ownEngine()
	if err != nil {
		return nil, err
	}
	defer e.Close()
	defer objects.Close()
	var list []*jobs.Job
	for i, plan := range phases {
		j := &jobs.Job{Protocol: jobs.Protocol, Plan: plan, Phase: i + 1, Of: len(phases), SkipBad: c.skipBad,
			Batch: c.batch, Build: build}
		if j.Tables, err = jobs.Tables(ctx, plan, objects); err != nil {
			return nil, err
		}
		d, err := e.Describe(ctx, plan, jobs.StageOps)
		if err != nil {
			return nil, err
		}
		j.Models, j.Stages = d.Models, d.Stages
		list = append(list, j)
	}
	return list, nil
}

// ownEngine returns an engine of this process on the user's store, the id of this build, and the user's cache of
// objects. Models and the plugin are those of the user's store.
func ownEngine() (*engine.Engine, string, *remote.Cache, error) {
	home, err := client.Home()
	if err != nil {
		return nil, "", nil, err
	}
	build, err := jobs.Build()
	if err != nil {
		return nil, "", nil, err
	}
	s, err := store.Open(home)
	if err != nil {
		return nil, "", nil, err
	}
	return all.EngineOn(s, plugin.Options{Home: home}, engine.Options{Build: build}), build, remote.NewCache(home), nil
}

// writeJob writes a job's file and those of its scheduler.
func writeJob(j *jobs.Job, out, folder, scheduler string, allow []string) error {
	base := strings.TrimSuffix(out, filepath.Ext(out))
	folder = cmp.Or(folder, base+".store")
	if j.Of > 1 {
		base = fmt.Sprintf("%s-%d", base, j.Phase)
		out = base + filepath.Ext(out)
	}
	path, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if j.Store, err = objecturl.Resolve(folder); err != nil {
		return usageError{err}
	}
	j.ID = j.Digest()
	if err := j.Write(path); err != nil {
		return err
	}
	rows := 0
	for _, t := range j.Tables {
		rows += t.Rows
	}
	fmt.Printf("%s: job %s, phase %d of %d, %d shards", out, j.ID, j.Phase, j.Of, j.Shards)
	if rows > 0 {
		fmt.Printf(" of tables with %d rows", rows)
	}
	fmt.Printf(", store %s\n", folder)
	if scheduler == "" {
		fmt.Printf("  run every shard: antipode work %s --shard I/%d, I from 0\n", shownName(out), j.Shards)
		return nil
	}
	files, err := jobs.Script(scheduler, j, jobs.ScriptOptions{Job: path, Store: j.Store, Allow: allow})
	if err != nil {
		return usageError{err}
	}
	for _, f := range files {
		if err := writeNew(base+f.Suffix, f.Text); err != nil {
			return err
		}
		fmt.Printf("  submit: "+f.Submit+"\n", shownName(base+f.Suffix))
	}
	return nil
}

func shownName(path string) string { return oneLine(errors.New(path)) }

// writeNew writes a file for a scheduler unless there is one: users edit them.
func writeNew(path, text string) error {
	old, err := os.ReadFile(path)
	switch {
	case err == nil && string(old) == text:
		return nil
	case err == nil:
		fmt.Printf("  %s exists and stays as it is\n", path)
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// readJob returns the job of a command's only argument, a file or a URL.
func readJob(ctx context.Context, fs *flag.FlagSet, args []string) (*jobs.Job, error) {
	rest, err := parseN(fs, args, 1, "antipode "+fs.Name()+" JOB.json")
	if err != nil {
		return nil, err
	}
	path, err := objecturl.Local(rest[0])
	if err != nil {
		return nil, usageError{err}
	}
	if objecturl.IsRemote(path) {
		if path, err = copyOf(ctx, path); err != nil {
			return nil, err
		}
	}
	j, err := jobs.Read(path)
	if err != nil {
		return nil, usageError{err}
	}
	return j, nil
}

// copyOf returns a copy of an object in the user's cache.
func copyOf(ctx context.Context, at string) (string, error) {
	u, err := objecturl.Parse(at)
	if err != nil {
		return "", usageError{err}
	}
	home, err := client.Home()
	if err != nil {
		return "", err
	}
	objects := remote.NewCache(home)
	defer objects.Close()
	path, _, err := objects.Fetch(ctx, u)
	switch {
	case errors.Is(err, remote.ErrUnreachable):
		err = exitError{err, exitUnreachable}
	case errors.Is(err, fs.ErrNotExist):
		err = usageError{err}
	}
	return path, err
}

func printJSON(v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err == nil {
		fmt.Println(string(data))
	}
	return err
}
