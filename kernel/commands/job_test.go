package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/plugin"
	"antipode/kernel/cluster/jobs"
	_ "antipode/test/memdir"
	"antipode/test/stagetest"
)

// mainVar makes the test program the antipode command.
const mainVar = "ANTIPODE_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(mainVar) != "" {
		os.Exit(Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// at makes commands use the store in a folder, and evaluate their plans in this process.
func at(t *testing.T, home string) (done func()) {
	t.Helper()
	t.Setenv(client.HomeVar, home)
	e := must.Get(all.NewEngine(home, "test"))(t)
	client.Register(e)
	return func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// chain is a chain of commands, which a program that needs no device computes.
var chain = []string{
	"generate --model exec:./echo --prompts prompts.csv --size 16x16 --n 2 --out g.parquet",
	"segment --model exec:./echo --object object --in g.parquet --out s.parquet",
	"embed --model exec:./echo --in g.parquet --out e.parquet",
	"caption --model exec:./echo --in s.parquet --out c.parquet",
}

// workplace is a new current folder with a table of prompts and a program for models, and a store for the user.
func workplace(t *testing.T, prompts int) {
	t.Helper()
	t.Setenv(plugin.Env, "none")
	t.Setenv(client.HomeVar, t.TempDir())
	dir := t.TempDir()
	stagetest.Echo(t, dir)
	t.Chdir(dir)
	var b strings.Builder
	b.WriteString("id,prompt,object\n")
	for i := range prompts {
		fmt.Fprintf(&b, "p%d,a boat and %d houses,boat\n", i, i)
	}
	must.Do(t, os.WriteFile("prompts.csv", []byte(b.String()), 0o644))
}

// tables returns the contents of the tables and images in the current folder.
func tables(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pattern := range []string{"*.parquet", "*.images/*"} {
		names := must.Get(filepath.Glob(pattern))(t)
		for _, name := range names {
			data := must.Get(os.ReadFile(name))(t)
			out[name] = string(data)
			must.Do(t, os.Remove(name))
		}
	}
	return out
}

// TestArrayJob computes a chain of commands in the shards of a job. The commands then find every item, in the store
// that the tasks share and in one that their stores are merged into, and write the bytes of one machine.
func TestArrayJob(t *testing.T) {
	workplace(t, 3)
	run := inProcess(t)
	done := at(t, t.TempDir())
	for _, line := range chain {
		prints(run(strings.Fields(line)...))(t)
	}
	done()
	want := tables(t)
	if len(want) != 4+6 {
		t.Fatalf("%d files, want 4 tables and 6 images", len(want))
	}

	const shards = 3
	done = at(t, t.TempDir()) // of models
	words := []string{"job", "make", "--shards", fmt.Sprint(shards), "--for", "slurm"}
	for _, line := range chain {
		words = append(append(words, "--"), strings.Fields(line)...)
	}
	prints(run(words...))(t, "3 shards of tables with 3 rows, store job.store", "sbatch job.sbatch")
	must.Equal(t, len(tables(t)), 0, "job make has written a table")
	// One task too many, for a shard that is done, and one shard twice.
	for n, i := range []int{2, 0, 1, 0} {
		want := "8 items computed, 0 found"
		if n == 3 {
			want = "0 items computed, 8 found"
		}
		prints(run("work", "job.json", "--allow-exec", "echo", "--shard", fmt.Sprintf("%d/%d", i, shards)))(t, want)
	}
	prints(run("job", "status", "job.json"))(t, "3 shards: 3 done\n")
	must.Equal(t, prints(run("job", "resubmit", "job.json"))(t), "", "job resubmit printed")
	for i := range shards {
		prints(run("work", "job.json", "--allow-exec", "echo", "--shard", fmt.Sprintf("%d/%d", i, shards), "--store",
			"task-%i"))(t)
	}
	done()
	merged := t.TempDir()
	t.Setenv(client.HomeVar, merged)
	prints(run("store", "merge", "task-2", "task-0", "task-1"))(t)
	for _, home := range []string{"job.store", merged} {
		done = at(t, must.Get(filepath.Abs(home))(t))
		for _, line := range chain {
			prints(run(strings.Fields(line)...))(t, " 0 items computed, 6 found")
		}
		done()
		got := tables(t)
		for name := range want {
			must.True(t, got[name] == want[name], "%s: %s differs from that of one machine", filepath.Base(home), name)
		}
	}
}

// TestJobMake refuses what no array of tasks should compute, and cuts a job into phases.
func TestJobMake(t *testing.T) {
	workplace(t, 3)
	t.Setenv("OPENAI_API_KEY", "secret-of-mine")
	run := inProcess(t)
	for args, want := range map[string]string{
		"--shards 0 -- " + chain[0]:                     "--shards 0: use a number from 1 to 100000",
		"--shards 2":                                    "give the command after --",
		"--shards 2 -- score --metric x":                "a job is made of commands that compute rows",
		"--shards 2 -- table --in prompts.csv":          "a job is made of commands that write a table with --out",
		"--shards 2 --for pbs -- x":                     `--for "pbs": use one of slurm, k8s, aws`,
		"--shards 2 -- " + chain[0] + " --retry failed": "--retry failed is for the command itself",
		"--shards 2 -- table --in prompts.csv --out x.csv": "the commands compute no rows with a model, so there " +
			"is nothing for tasks to do",
		"--shards 2 -- generate --model api:gpt-image-2 --prompts prompts.csv --out x.csv": "api:gpt-image-2: each " +
			"of 2 shards would spend the whole budget",
		"--shards 1 --for aws -- " + chain[0]: "arrays of AWS Batch have 2 to 10,000 tasks, not 1",
	} {
		misused(run(append([]string{"job", "make"}, strings.Fields(args)...)...))(t, want)
	}
	os.Remove("job.json") // of the array for AWS, which was written before its files
	phased := "job make --shards 2 --out j.json -- " + chain[0] + " -- table --in g.parquet --head 3 --out h.parquet " +
		"-- embed --model exec:./echo --in h.parquet --out e.parquet"
	prints(run(strings.Fields(phased)...))(t, "j-1.json: job", "j-2.json: job", "2 phases")
	for phase, op := range []string{"generate", "embed"} {
		j := must.Get(jobs.Read(fmt.Sprintf("j-%d.json", phase+1)))(t)
		if j.Plan.Op != op || j.Phase != phase+1 || j.Of != 2 || filepath.Base(j.Store) != "j.store" ||
			len(j.Models) == 0 || j.Stages["generate"] == 0 {
			t.Errorf("phase %d: %+v", phase+1, j)
		}
		data, err := os.ReadFile(fmt.Sprintf("j-%d.json", phase+1))
		must.True(t, err == nil && !strings.Contains(string(data), "secret-of-mine"),
			"the job's file holds a secret: %v", err)
	}
	again := strings.Replace(phased, "--head 3", "--head 2", 1)
	must.Fail(run(strings.Fields(again)...))(t, "is another job")
	if _, err := run("job", "make", "--shards", "1", "--out", "paid.json", "--", "generate", "--model",
		"api:gpt-image-2", "--prompts", "prompts.csv", "--out", "x.csv"); err != nil {
		t.Errorf("an API with one shard: %v", err)
	}
	if data, err := os.ReadFile("paid.json"); err != nil || strings.Contains(string(data), "secret-of-mine") {
		t.Errorf("the job's file holds a secret: %v", err)
	}
}

// TestWorkRefuses refuses a job that does not fit.
func TestWorkRefuses(t *testing.T) {
	workplace(t, 3)
	run := inProcess(t)
	if _, err := run(strings.Fields("job make --shards 2 --device xla:cuda -- generate --model archipelago-diffusion " +
		"--size 16x16 --prompts prompts.csv --out g.parquet")...); err != nil {
		t.Fatal(err)
	}
	job, err := os.ReadFile("job.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, replace := range map[string][2]string{
		"protocol": {`"protocol": 1`, `"protocol": 2`},
		"edited":   {`"width": 16`, `"width": 32`},
		"model":    {`"models": {`, `"models": {"another": "0",`},
		"no plan":  {`"plan"`, `"plans"`},
		"no job":   {`{`, ``},
	} {
		changed := strings.Replace(string(job), replace[0], replace[1], 1)
		if changed == string(job) {
			t.Fatalf("%s: nothing to change", name)
		}
		must.Do(t, os.WriteFile(name+".json", []byte(changed), 0o600))
		misused(run("work", name+".json", "--allow-exec", "echo", "--shard", "0/2"))(t)
	}
	for args, want := range map[string]string{
		"work job.json --shard 2/2":      "--shard 2/2: shards are numbered from 0 to 1",
		"work job.json --shard 0/3":      "--shard 0/3: the job has 2 shards",
		"work job.json":                  "no scheduler's variable has the number of this task",
		"work":                           "antipode work JOB.json",
		"work missing.json --shard 0/2":  "cannot read the job",
		"job status missing.json":        "cannot read the job",
		"job plan job.json --rate x=1":   "job plan: invalid value",
		"job plan job.json --price -1/h": "job plan: invalid value",
	} {
		misused(run(strings.Fields(args)...))(t, want)
	}
	var exit exitError
	_, err = run("work", "job.json", "--allow-exec", "echo", "--shard", "0/2")
	must.True(t, errors.As(err, &exit) && exit.status == exitUnreachable,
		"another device: %v, want exit status 69", err)
	if s := statusOf(t, "job.store", 0); s == nil || s.State != jobs.Failed ||
		!strings.Contains(s.Error, "the device is go") {
		t.Errorf("status %+v", s)
	}
	must.Do(t, os.WriteFile("prompts.csv", []byte("id,prompt\np0,other\n"), 0o600))
	misused(run(strings.Fields("work job.json --allow-exec echo --shard 0/2")...))(t,
		"has changed since the job was made")
	printed, err := run("job", "status", "job.json")
	if err == nil || !strings.Contains(printed, "1 failed, 1 not started") ||
		!strings.Contains(printed, "to submit again: --array=0-1") {
		t.Errorf("job status: %q, %v", printed, err)
	}
}

func jobID(t *testing.T) string {
	t.Helper()
	j := must.Get(jobs.Read("job.json"))(t)
	return j.ID
}

// statusOf returns the status of a shard of job.json in a store.
func statusOf(t *testing.T, dir string, shard int) *jobs.Status {
	t.Helper()
	s := must.Get(jobs.ReadStatus(jobs.Folder(dir), jobID(t), shard))(t)
	return s
}

// TestJobPlan states hours, disk and dollars from rates.
func TestJobPlan(t *testing.T) {
	workplace(t, 3)
	run := inProcess(t)
	if _, err := run(append([]string{"job", "make", "--shards", "2", "--"}, strings.Fields(chain[0]+" -- "+
		chain[2][:strings.Index(chain[2], "--in")]+"--in g.parquet --out e.parquet")...)...); err != nil {
		t.Fatal(err)
	}
	prints(run("job", "plan", "job.json"))(t, "2 shards, 12 items to compute, at most 3 of a stage in a shard; "+
		"hours are not known")
	prints(run("job", "plan", "job.json", "--rate", "generate=0.001", "--rate", "embed=0.01", "--price", "2/h"))(t,
		"; 1.83 hours of one device, 0.917 hours a task with one device each, "+
			"without loading models; ", "3.67 US dollars at 2 an hour")
}
