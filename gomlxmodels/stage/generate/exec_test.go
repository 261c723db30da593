package generate_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/test/stagetest"
)

// echo builds the echo adapter and returns a script that starts it, the folder, and the number of starts so far.
func echo(t *testing.T) (program string, starts func() int) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "adapter")
	script := "#!/bin/sh\necho start >> " + dir + "/starts\nexec " + stagetest.Echo(t, dir) + "\n"
	must.Do(t, os.WriteFile(program, []byte(script), 0o700))
	t.Setenv(client.ExecVar, "")
	return program, func() int {
		text, _ := os.ReadFile(filepath.Join(dir, "starts"))
		return strings.Count(string(text), "start")
	}
}

// TestProgram generates images with the echo adapter: rows are resumed, the columns are those of a native model, and a
// run that finds everything does not start the program. (It lists no files, so it is asked once.)
func TestProgram(t *testing.T) {
	evaluator(t)
	program, starts := echo(t)
	must.Do(t, gomlxmodels.AllowExec(program))
	o := gomlxmodels.GenerateOptions{N: 2, Seed: 5, Width: 24, Height: 16,
		Exec: gomlxmodels.ExecOptions{Workers: 2, Args: []string{"-x"}}}
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "a house"}, {"id": "b", "prompt": "a boat"},
		{"id": "c", "prompt": ""}})
	tab := gomlxmodels.Generate("exec:"+program, prompts, o)
	f := rows(t, tab)
	for i, id := range []string{"a#1", "a#2", "b#1", "b#2", "c#1", "c#2"} {
		if f.Texts("id")[i] != id || f.Texts("outcome")[i] != "ok" || f.Texts("model")[i] != "echo" ||
			f.Texts("source")[i] != "generated" || f.Numbers("seed")[i] != float64(5+i%2) ||
			len(pixels(t, f.Images("image")[i])) != 3*24*16 {
			t.Errorf("row %d: %s %s %s", i, f.Texts("id")[i], f.Texts("outcome")[i], f.Texts("reason")[i])
		}
	}
	if apart(pixels(t, f.Images("image")[0]), pixels(t, f.Images("image")[1])) == 0 {
		t.Error("two seeds give one image")
	}
	before := starts()
	more := gomlxmodels.Generate("exec:"+program, prompts.Concat(datasets.FromRows([]map[string]any{
		{"id": "d", "prompt": "a tree"}})), o)
	res, err := more.RunE(t.Context())
	if err != nil || res.Found != 6 || res.Computed != 2 || starts() != before+2 { // it lists no files
		t.Errorf("%+v, %d starts, %v", res, starts()-before, err)
	}
	evaluator(t) // another backend and store: the program starts again
	if res, err = tab.RunE(t.Context()); err != nil || res.Computed != 6 {
		t.Errorf("%+v %v", res, err)
	}
}

// TestProgramErrors: what is wrong with a program or its options is an error before any work.
func TestProgramErrors(t *testing.T) {
	evaluator(t)
	program, starts := echo(t)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "a house", "model": "exec:" + program}})
	run := func(o gomlxmodels.GenerateOptions) error {
		_, err := gomlxmodels.Generate("exec:"+program, prompts, o).RunE(t.Context())
		return err
	}
	err := run(gomlxmodels.GenerateOptions{})
	if err == nil || !strings.Contains(err.Error(), "is not approved. Fix:") || starts() != 0 {
		t.Errorf("a program that is not approved: %v, %d starts", err, starts())
	}
	must.Do(t, gomlxmodels.AllowExec(program))
	for _, c := range []struct {
		o     gomlxmodels.GenerateOptions
		want  string
		usage bool
	}{
		{gomlxmodels.GenerateOptions{Steps: 3}, "does not support the option steps. Fix: leave it out", true},
		{gomlxmodels.GenerateOptions{Guidance: 3}, "the option guidance", true},
		{gomlxmodels.GenerateOptions{Scheduler: "ddim"}, "the option scheduler", true},
		{gomlxmodels.GenerateOptions{API: gomlxmodels.APIOptions{Budget: 3}}, "the option budget", true},
		{gomlxmodels.GenerateOptions{Precision: "float32"}, "a program takes arguments of its own (Exec.Args", false},
		{gomlxmodels.GenerateOptions{Exec: gomlxmodels.ExecOptions{Workers: 65}},
			"Exec.Workers is 65; it must be at least -1 and at most 64", false},
		{gomlxmodels.GenerateOptions{Exec: gomlxmodels.ExecOptions{Env: []string{"A=b"}}}, "its name alone", false},
	} {
		err := run(c.o)
		var coded *table.Error
		usage := errors.As(err, &coded) && coded.Code == table.CodeUsage
		if err == nil || !strings.Contains(err.Error(), c.want) || usage != c.usage {
			t.Errorf("%v, usage %v; want %q", err, usage, c.want)
		}
	}
	must.Do(t, os.WriteFile(program, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	must.Fail(run(gomlxmodels.GenerateOptions{}))(t, "changed since") // a program that changed
	native := gomlxmodels.Generate(folder("bare"), prompts,
		gomlxmodels.GenerateOptions{Exec: gomlxmodels.ExecOptions{Workers: 2}})
	// options of a program for another model
	must.Fail(native.Plan())(t, "Exec.Workers is for a program (exec:PATH), not for")
}

// TestProgramBudget: each image of a paid program is stored at once, and the budget ends the run.
func TestProgramBudget(t *testing.T) {
	evaluator(t)
	program, _ := echo(t)
	script := "#!/bin/sh\n" + filepath.Join(filepath.Dir(program), "echo") +
		` | sed -u 's/"type":"ready"/"paid":true,&/; s/"outcome":"ok"/"cost":0.04,&/'` + "\n"
	must.Do(t, os.WriteFile(program, []byte(script), 0o700))
	must.Do(t, gomlxmodels.AllowExec(program))
	generate := func(budget float64) datasets.Table {
		prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "a house"}})
		return gomlxmodels.Generate("exec:"+program, prompts, gomlxmodels.GenerateOptions{N: 6,
			API: gomlxmodels.APIOptions{Budget: budget}})
	}
	must.Fail(generate(0.1).RunE(t.Context()))(t, "the budget is exhausted: $0.120 of $0.10 are spent")
	res := must.Get(generate(1).RunE(t.Context()))(t)
	must.Equal(t, res.Found, 3)
	must.Equal(t, res.Computed, 3)
	if cost := rows(t, generate(1)).Numbers("cost"); len(cost) != 6 || cost[5] != 0.04 {
		t.Errorf("costs %v", cost)
	}
}

// TestProgramFiles: a program that lists its files is asked again in another process only if one of them changed.
func TestProgramFiles(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	program, starts := echo(t)
	dir, home := filepath.Dir(program), t.TempDir()
	weights := filepath.Join(dir, "weights")
	script := "#!/bin/sh\necho start >> " + dir + "/starts\n" + dir + `/echo | sed -u 's|"digest":"none"|&,"files":[{` +
		`"path":"` + weights + `","size":3}]|'` + "\n"
	must.Do(t, errors.Join(os.WriteFile(program, []byte(script), 0o700), os.WriteFile(weights, []byte("abc"), 0o600),
		gomlxmodels.AllowExec(program)))
	tab := gomlxmodels.Generate("exec:"+program, datasets.FromRows([]map[string]any{{"id": "a", "prompt": "a house"}}))
	run := func(wantStarts int) error {
		t.Helper()
		must.Do(t, all.Use(home)) // another engine, as in another backend
		_, err := tab.RunE(t.Context())
		must.Equal(t, starts(), wantStarts, "starts")
		return err
	}
	for i, want := range []int{1, 1, 2} {
		if i == 2 {
			must.Do(t, os.Chtimes(weights, time.Time{}, time.Now().Add(time.Hour)))
		}
		must.Do(t, run(want))
	}
	must.Do(t, os.WriteFile(weights, []byte("abcd"), 0o600))
	must.Fail(run(3))(t, "with 3 bytes; it has 4")
}
