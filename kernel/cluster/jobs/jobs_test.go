package jobs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/kernel/backend/engine"
)

func plan(t *testing.T, tab datasets.Table) *table.Plan {
	t.Helper()
	return must.Get(tab.Plan())(t)
}

// ops writes a plan as the names of its operations: embed(where(csv)).
func ops(p *table.Plan) string {
	var in []string
	for _, i := range p.Inputs {
		in = append(in, ops(i))
	}
	if len(in) == 0 {
		return p.Op
	}
	return p.Op + "(" + strings.Join(in, " ") + ")"
}

// TestPhases cuts plans where a whole table is needed between two stages, and adds the choice of rows to each phase.
func TestPhases(t *testing.T) {
	both := datasets.JoinOptions{Suffix: "_2"}
	images := datasets.CSV(must.Write(t, filepath.Join(t.TempDir(), "t.csv"), "id,image,prompt,object\na,a.png,x,y\n"))
	embed := func(in datasets.Table) datasets.Table { return gomlxmodels.Embed("archipelago-vit", in) }
	generate := func(in datasets.Table) datasets.Table { return gomlxmodels.Generate("archipelago-diffusion", in) }
	masked := gomlxmodels.Segment("archipelago-clipseg", generate(images))
	for _, test := range []struct {
		tables []datasets.Table
		phases []string
	}{
		{[]datasets.Table{embed(images)}, []string{"embed(shard(csv))"}},
		{[]datasets.Table{embed(images.Sort("id").Head(5)).Sort("id").Head(1)},
			[]string{"embed(shard(head(sort(csv))))"}},
		{[]datasets.Table{embed(images.MasksFrom("masks").GrowMasks(2).Good())},
			[]string{"embed(good(grow-masks(masks(shard(csv)))))"}},
		{[]datasets.Table{embed(masked.Where("outcome", "==", "ok"))},
			[]string{"embed(where(segment(generate(shard(repeat(csv))))))"}},
		{[]datasets.Table{embed(generate(images).Sample(3, "", 1))},
			[]string{"generate(shard(repeat(csv)))", "embed(shard(sample(generate(repeat(csv)))))"}},
		{[]datasets.Table{embed(images.Join(embed(images), "id", both))},
			[]string{"embed(shard(csv))", "embed(shard(join(csv embed(csv))))"}},
		{[]datasets.Table{embed(embed(images).Join(images.Rename("prompt", "p"), "id", both))},
			[]string{"embed(join(embed(shard(csv)) rename(csv)))"}},
		{[]datasets.Table{embed(images.Concat(generate(images)))},
			[]string{"embed(concat(shard(csv) generate(shard(repeat(csv)))))"}},
		// Two tables of the same images, one of them read by the other.
		{[]datasets.Table{generate(images), masked, embed(generate(images))}, []string{
			"each(segment(generate(shard(repeat(csv)))) embed(generate(shard(repeat(csv)))))"}},
	} {
		var plans []*table.Plan
		for _, tab := range test.tables {
			plans = append(plans, plan(t, tab))
		}
		phases, err := Phases(plans...)
		if err != nil {
			t.Errorf("%s: %v", test.phases, err)
			continue
		}
		var got []string
		for i, p := range phases {
			s := must.Get(Shard(p, i+1, engine.ShardArgs{Index: 1, Shards: 3}))(t)
			got = append(got, ops(s))
		}
		must.True(t, fmt.Sprintf("%q", got) == fmt.Sprintf("%q", test.phases), "phases\n%q, want\n%q", got, test.phases)
	}
	must.Fail(Phases(plan(t, images.Sort("id"))))(t) // a plan without stages is a job
	must.Fail(Phases(&table.Plan{Op: "embed", Inputs: []*table.Plan{{Op: "new-operation",
		Inputs: []*table.Plan{{Op: "csv"}}}}}))(t, "new-operation") // an operation that is not known
}

// TestIndex finds the number of a task in the variables of schedulers.
func TestIndex(t *testing.T) {
	for _, test := range []struct {
		text, environment string
		want              int // −1 = an error
	}{
		{"3/8", "", 3}, {"0/8", "SLURM_ARRAY_TASK_ID=5", 0}, {"8/8", "", -1}, {"-1/8", "", -1}, {"3/9", "", -1},
		{"3", "", -1}, {"x/8", "", -1},
		{"", "", -1}, {"", "SLURM_ARRAY_TASK_ID=3", 3}, {"", "JOB_COMPLETION_INDEX=7", 7},
		{"", "AWS_BATCH_JOB_ARRAY_INDEX=1", 1}, {"", "BATCH_TASK_INDEX=2", 2}, {"", "CLOUD_RUN_TASK_INDEX=0", 0},
		{"", "PBS_ARRAY_INDEX=4", 4}, {"", "LSB_JOBINDEX=1", 0}, {"", "SGE_TASK_ID=8", 7}, {"", "LSB_JOBINDEX=0", -1},
		{"", "SGE_TASK_ID=undefined SLURM_ARRAY_TASK_ID=2", 2},
		{"", "SLURM_ARRAY_TASK_ID=2 PBS_ARRAY_INDEX=2", 2}, {"", "SLURM_ARRAY_TASK_ID=2 PBS_ARRAY_INDEX=3", -1},
		{"", "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MAX=3", 3}, // sbatch --array=1,3
		{"", "SLURM_ARRAY_TASK_ID=8", -1},
	} {
		getenv := func(name string) string {
			for _, v := range strings.Fields(test.environment) {
				if value, ok := strings.CutPrefix(v, name+"="); ok {
					return value
				}
			}
			return ""
		}
		got, err := Index(test.text, 8, getenv)
		if err != nil {
			got = -1
		}
		must.Equal(t, got, test.want, test.text, test.environment)
	}
}

// job returns a job of a table in a folder.
func job(t *testing.T, dir string) *Job {
	t.Helper()
	p := plan(t, gomlxmodels.Embed("archipelago-vit",
		datasets.CSV(must.Write(t, filepath.Join(dir, "t.csv"), "id,image\na,a.png\nb,b.png\n"))))
	tables := must.Get(Tables(t.Context(), p, nil))(t)
	j := &Job{Protocol: Protocol, Shards: 3, Plan: p, Phase: 1, Of: 1, Store: filepath.Join(dir, "%i"), Tables: tables,
		Models: map[string]string{"archipelago-vit": "00aa"}, Stages: map[string]int{"embed": 1}, Build: "b",
		Command: []string{"embed"}}
	j.ID = j.Digest()
	return j
}

// TestJobID depends on content, not on folders.
func TestJobID(t *testing.T) {
	one, other := job(t, t.TempDir()), job(t, t.TempDir())
	must.Equal(t, one.ID, other.ID)
	must.Equal(t, len(one.ID), 16)
	must.Equal(t, one.Tables[0].Rows, 2, "tables")
	path := filepath.Join(t.TempDir(), "j.json")
	must.Do(t, one.Write(path))
	read := must.Get(Read(path))(t)
	must.Equal(t, read.ID, one.ID)
	must.Equal(t, read.Plan.Digest(), one.Plan.Digest())
	must.Do(t, read.Verify(t.Context(), nil))
	must.Write(t, one.Tables[0].Path, "id,image\na,a.png\n")
	must.Err(t, read.Verify(t.Context(), nil), "has changed")
	other.Shards++
	must.True(t, other.Digest() != one.ID, "the id does not depend on the number of shards")
}

func TestReport(t *testing.T) {
	j := job(t, t.TempDir())
	j.Shards, j.ID = 8, "x"
	now := time.Now()
	for i, state := range []string{Done, Running, Stopped, Failed, Failed, Running} {
		s := Status{Job: j.ID, Shard: i, State: state, Done: 5, Total: 10, Computed: 4, Rate: 0.5, Host: "h"}
		if state == Failed {
			s.Error = "no space left"
		}
		must.Do(t, s.Write(Folder(j.StoreOf("", i))))
	}
	silent := must.Get(ReadStatus(Folder(j.StoreOf("", 5)), j.ID, 5))(t)
	silent.Updated = now.Add(-6 * Period(j.Store))
	data := must.Get(json.Marshal(silent))(t)
	must.Write(t, filepath.Join(j.StoreOf("", 5), statusFile(j.ID, 5)), string(data))
	must.Write(t, filepath.Join(j.StoreOf("", 0), statusFile(j.ID, 7)), "damaged")
	r := must.Get(j.ReadReport(t.Context(), "", now))(t)
	must.Equal(t, fmt.Sprint(r.States), "map[done:1 failed:2 not started:2 running:1 silent:1 stopped:1]", "states")
	must.True(t, r.Again == "2-7" && r.Computed == 24 && r.Rate == 0.5 && r.Left.Round(time.Second) == 10*time.Second,
		"%+v", r)
	if len(r.Errors) != 2 || r.Errors[0].Count != 2 || r.Errors[0].Error != "no space left" || r.Errors[0].Shard != 3 {
		t.Errorf("errors %+v", r.Errors)
	}
	must.Is(r.Err())(t, ErrFailed)
	r.States = map[string]int{Done: 7}
	must.Is(r.Err())(t, ErrNotDone)
	r.States = map[string]int{Done: 8}
	must.Do(t, r.Err())
	must.Equal(t, ranges([]int{3, 17, 18, 19, 21}), "3,17-19,21")
}

// TestScripts checks the files for schedulers, and that docs/scale.md shows them.
func TestScripts(t *testing.T) {
	j := &Job{ID: "9f31c02d5b7a6e84", Shards: 64}
	page := must.Get(os.ReadFile(filepath.Join("..", "..", "..", "docs", "scale.md")))(t)
	for _, scheduler := range Schedulers {
		files := must.Get(Script(scheduler, j, ScriptOptions{Job: "/shared/job.json", Store: "/shared/job.store"}))(t)
		for _, f := range files {
			must.True(t, strings.Contains(string(page), f.Text), "docs/scale.md does not show this file:\n%s", f.Text)
		}
	}
	odd := ScriptOptions{Job: "/a b/it's.json", Store: "/$HOME/x", Allow: []string{"/p;q"}}
	files := must.Get(Script("slurm", j, odd))(t)
	// The shell gives the command the very same words.
	script := strings.Replace(files[0].Text, "\nantipode ", "\nprintf '%s|' ", 1)
	script = script[:strings.Index(script, " & child")]
	printed, err := exec.Command("bash", "-c", script).CombinedOutput()
	want := "work|/a b/it's.json|--store|/$HOME/x|--allow-exec|/p;q|"
	must.True(t, err == nil && string(printed) == want, "%s, %v, want %s", printed, err, want)
	// a path with a line break is written into a script
	must.Fail(Script("slurm", j, ScriptOptions{Job: "a\nscancel x"}))(t)
	j.Shards = 1
	must.Fail(Script("aws", j, odd))(t) // an array of 1 task
}

func FuzzJob(f *testing.F) {
	f.Add([]byte(`{"protocol":1,"shards":2,"phase":1,"of":1,"plan":{"op":"embed","inputs":[{"op":"csv"}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		j, err := Decode(data)
		if err != nil {
			return
		}
		_, err = Shard(j.Plan, j.Phase, engine.ShardArgs{Index: 0, Shards: j.Shards})
		must.True(t, err != nil || j.Digest() == j.ID, "the id differs after the choice of rows")
	})
}

func FuzzStatus(f *testing.F) {
	f.Add([]byte(`{"job":"x","shard":0,"state":"running","updated":"2026-01-02T03:04:05Z","rate":-1,"done":3}`))
	dir := f.TempDir()
	must.Do(f, (&Status{Job: "x"}).Write(Folder(dir)))
	f.Fuzz(func(t *testing.T, data []byte) {
		must.Write(t, filepath.Join(dir, statusFile("x", 0)), string(data))
		j := &Job{ID: "x", Shards: 1, Store: dir}
		r := must.Get(j.ReadReport(t.Context(), "", time.Now()))(t)
		n := 0
		for _, of := range r.States {
			n += of
		}
		must.Equal(t, n, 1, "shards in states", r.States)
	})
}
