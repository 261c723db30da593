package record

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/plugin"
	"antipode/metrics"
	"antipode/metrics/disparity"
	_ "antipode/test/memdir"
)

// made is a record of a small run on the built-in world, with the engine that made it.
type made struct {
	dir, notebook, home string
	e                   *engine.Engine
	run                 Run
}

// small writes a record: shares of answers in a file, which the run also saves and reads again, and how the world's
// photographs were stored.
func small(t *testing.T) *made {
	t.Helper()
	t.Setenv(plugin.Env, "none")
	m := &made{dir: t.TempDir(), notebook: t.TempDir(), home: t.TempDir()}
	t.Setenv(client.HomeVar, m.home)
	m.e = must.Get(all.NewEngine(m.home, "test"))(t)
	before := client.Registered()
	client.Register(m.e)
	t.Cleanup(func() { client.Register(before); must.Do(t, m.e.Close()) })
	answers := "id,region,outcome,answer\n"
	for i := range 120 {
		answer := "no"
		if i%3 == 0 && i%5 > 0 || i%10 == 1 {
			answer = "yes"
		}
		answers += fmt.Sprintf("%d,%s,ok,%s\n", i, []string{"Velmora", "Tarrish", "Ilvanar"}[i%3], answer)
	}
	must.Do(t, os.WriteFile(filepath.Join(m.notebook, "answers.csv"), []byte(answers), 0o644))
	m.run = Run{Notebook: filepath.Join(m.notebook, "small.ipynb"), Store: m.e.Store,
		License: "CC0-1.0", Params: []string{"n=2"}, Started: time.Now(), Ended: time.Now(),
		Version: "test", Environment: []string{"Go=go1.26", "platform=linux/amd64"},
		Rows: func(ctx context.Context, r client.Request) (*client.Result, error) { return m.e.Run(ctx, r, nil) }}
	m.write(t, m.dir)
	return m
}

// write runs the tables and writes their record.
func (m *made) write(t *testing.T, dir string) (digest string) {
	t.Helper()
	journal := filepath.Join(t.TempDir(), "journal")
	t.Setenv(client.JournalVar, journal)
	answers := datasets.CSV(filepath.Join(m.notebook, "answers.csv"))
	few := filepath.Join(m.notebook, "few.csv")
	must.Get(answers.Where("id", "!=", "7").SaveE(t.Context(), few))(t)
	must.Get(metrics.Bounds(datasets.CSV(few), metrics.BoundsOptions{Value: "answer", Positive: "yes",
		By: metrics.By("region")}).Rows(t.Context()))(t)
	world := datasets.Archipelago(datasets.ArchipelagoOptions{Seed: 3, PerCell: 4})
	one := func(images datasets.Table) datasets.Table { return images.Where("object", "==", "boat") }
	must.Get(disparity.Acquisition(one(world.Reference()), one(world.Sampled()), disparity.AcquisitionOptions{
		By: metrics.By("region")}).Rows(t.Context()))(t)
	m.run.Journal = must.Get(ReadJournal(journal))(t)
	for _, name := range []string{"small.ipynb", "small.html"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("ran in "+m.notebook+"/\n"), 0o644))
	}
	n, digest, err := Write(t.Context(), dir, m.run)
	if err != nil || n != 3 {
		t.Fatalf("%d results, %v", n, err)
	}
	return digest
}

// verify recomputes a record with the notebook's files in a folder.
func (m *made) verify(t *testing.T, dir, files string) *Report {
	t.Helper()
	r := must.Get(Open(dir))(t)
	must.Equal(t, len(r.Problems), 0, "problems", r.Problems)
	return m.recompute(t, r, files)
}

func (m *made) recompute(t *testing.T, r *Record, files string) *Report {
	t.Helper()
	return must.Get(r.Recompute(t.Context(), Options{Engine: m.e, Files: files,
		Say: func(string) {}}))(t)
}

// readFiles returns the names and contents of a record's files.
func readFiles(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	must.Do(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			out[rel], err = os.ReadFile(path)
		}
		return err
	}))
	return out
}

// TestRecord: a record has no folder of the machine, is the same when it is made from the store, and is recomputed from
// the files of another folder; a file that is missing or another one is named.
func TestRecord(t *testing.T) {
	m := small(t)
	first := readFiles(t, m.dir)
	for name, data := range first {
		for _, dir := range []string{m.notebook, m.home, m.dir} {
			must.True(t, !bytes.Contains(data, []byte(dir)), "%s contains %s", name, dir)
		}
	}
	must.Equal(t, string(first["small.html"]), "ran in notebook:/\n", "the page")
	again := t.TempDir()
	m.write(t, again)
	for name, data := range readFiles(t, again) {
		if name != metadataFile && name != manifestFile && !bytes.Equal(data, first[name]) {
			t.Errorf("%s differs when it is recorded from the store", name)
		}
	}
	elsewhere := t.TempDir()
	check := func(want ...string) {
		t.Helper()
		found := m.verify(t, m.dir, elsewhere)
		got := append(slices.Clone(found.Results.Texts("status")), found.Reasons...)
		for i := range got {
			must.True(t, len(got) == len(want) && regexp.MustCompile("^"+want[i]+"$").MatchString(got[i]),
				"%q, want %q", got, want)
		}
	}
	check(NotVerifiable, NotVerifiable, Identical,
		`001-few: notebook:/answers.csv is not here; fix: put it at .*answers.csv .*`,
		`002-bounds: it reads notebook:/few.csv, which is not verifiable: see 001-few`)
	answers := must.Get(os.ReadFile(filepath.Join(m.notebook, "answers.csv")))(t)
	must.Do(t, os.WriteFile(filepath.Join(elsewhere, "answers.csv"), append(answers, "x,Velmora,ok,no\n"...), 0o644))
	check(NotVerifiable, NotVerifiable, Identical, `001-few: notebook:/answers.csv is missing or another file here.*`,
		`002-bounds: .*001-few`)
	must.Do(t, os.WriteFile(filepath.Join(elsewhere, "answers.csv"), answers, 0o644))
	check(Identical, Identical, Identical)
	must.Fail(Open(t.TempDir()))(t) // an empty folder is a record
}
