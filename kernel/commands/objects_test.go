package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/remote/remotetest"
	"antipode/kernel/backend/store"
)

// TestChainOfObjects: stages and table operations read and write tables under URLs, with the results of files.
func TestChainOfObjects(t *testing.T) {
	s := remotetest.New(t)
	run := inProcess(t)
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("prompts.csv", []byte("id,prompt\na,boat\nb,house\n"), 0o644))
	for _, line := range []string{
		"table --in prompts.csv --out URL/prompts.csv",
		"generate --model archipelago-diffusion --prompts URL/prompts.csv --steps 1 --size 32x32 --out URL/g.parquet",
		"generate --model archipelago-diffusion --prompts prompts.csv --steps 1 --size 32x32 --out g.csv",
		"embed --model archipelago-vit --in URL/g.parquet --out URL/e.parquet",
		"embed --model archipelago-vit --in g.csv --out e.parquet",
		"table --in URL/e.parquet --join URL/prompts.csv --on id --suffix _2 --out URL/j.csv",
	} {
		args := strings.Fields(line)
		for i, a := range args {
			if name, is := strings.CutPrefix(a, "URL/"); is {
				args[i] = s.Object("run/" + name)
			}
		}
		if printed, err := run(args...); err != nil || !strings.HasSuffix(printed, "\n") {
			t.Fatalf("antipode %s: %q, %v", line, printed, err)
		}
	}
	far := must.Get(datasets.Parquet(s.Object("run/e.parquet")).Rows(t.Context()))(t)
	near := must.Get(datasets.Parquet("e.parquet").Rows(t.Context()))(t)
	if far.Len() != 2 || near.Len() != 2 {
		t.Fatalf("%d and %d rows", far.Len(), near.Len())
	}
	for i, v := range near.Column("full").Vectors {
		for j, x := range v {
			if far.Column("full").Vectors[i][j] != x {
				t.Fatalf("row %d: the vectors differ", i)
			}
		}
	}
}

// TestURLUsage: a URL that cannot be used is one line, a usage error, and repeats no password.
func TestURLUsage(t *testing.T) {
	run := inProcess(t)
	t.Chdir(t.TempDir())
	for _, args := range [][]string{
		{"table", "--in", "s3://KEY:topsecret@b/t.csv", "--out", "x.csv"},
		{"table", "--in", "x.csv", "--out", "s3://KEY:topsecret@b/t.csv"},
		{"table", "--in", "archipelago-photos", "--out", "s3://b/t.csv?sig=topsecret"},
		{"table", "--in", "archipelago-photos", "--out", "https://b/t.csv"},
		{"table", "--in", "archipelago-photos", "--out", "s3://b/t.xlsx"},
		{"table", "--in", "s3://b/t.xlsx", "--out", "x.csv"},
		{"table", "--in", "s3://b/folder", "--out", "x.csv"},
	} {
		misused(run(args...))(t)
	}
	must.Equal(t, len(must.Get(os.ReadDir("."))(t)), 0)
}

// TestFileURLs reads and writes tables and stores under file:// URLs, which are paths: they need no object storage.
func TestFileURLs(t *testing.T) {
	run, dir := inProcess(t), t.TempDir()
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("a b.csv", []byte("id,prompt\na,boat\nb,house\n"), 0o644))
	u := "file://" + filepath.ToSlash(dir)
	must.Do(t, must.Get(store.Open(filepath.Join(dir, "first")))(t).Close())
	for _, args := range [][]string{
		{"table", "--in", "a b.csv", "--out", u + "/x%20y.parquet"},
		{"table", "--in", u + "/x%20y.parquet", "--head", "1", "--out", u + "/one.csv"},
		{"store", "merge", "--into", u + "/second", u + "/first"},
	} {
		prints(run(args...))(t)
	}
	must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, "one.csv")))(t)), "id,prompt\na,boat\n")
	for _, name := range []string{"x y.parquet", "second/items"} {
		must.Get(os.Stat(filepath.Join(dir, name)))(t)
	}
}

// TestMergeOfObjects copies a store into object storage and from there into an empty one, which finds every item.
func TestMergeOfObjects(t *testing.T) {
	s := remotetest.New(t)
	run, home := inProcess(t), t.TempDir()
	t.Chdir(t.TempDir())
	must.Do(t, os.WriteFile("prompts.csv", []byte("id,prompt\na,boat\nb,house\n"), 0o644))
	generate := strings.Fields("generate --model archipelago-diffusion --prompts prompts.csv --steps 1 --size 32x32 " +
		"--out g.parquet")
	first := must.Get(all.NewEngine(home, "test"))(t)
	client.Register(first)
	prints(run(generate...))(t, "2 items computed, 0 found")
	must.Do(t, first.Close())
	at := s.Object("store")
	prints(run("store", "merge", "--into", at, home))(t, "5 files copied")
	project := t.TempDir()
	must.Fail(run("store", "merge", "--into", at, project))(t, "is no store")
	must.Equal(t, len(must.Get(os.ReadDir(project))(t)), 0, "files in a folder that is no store")
	other := t.TempDir()
	prints(run("store", "merge", "--into", other, at))(t, "2 items")
	must.Equal(t, len(must.Get(filepath.Glob(filepath.Join(other, ".tmp-*")))(t)), 0)
	second := must.Get(all.NewEngine(other, "test"))(t)
	t.Cleanup(func() { second.Close() })
	client.Register(second)
	prints(run(generate...))(t, "0 items computed, 2 found")
	for _, args := range [][]string{{"--into", at, "--remove", home}, {"--remove", at}, {"--into", at, at},
		{"--into", "s3://KEY:topsecret@b/s", home}} {
		misused(run(append([]string{"store", "merge"}, args...)...))(t)
	}
}
