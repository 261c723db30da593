package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/cluster/jobs"
)

// programs is the folder of the antipode command, of this program, and of echo, a model that needs no device.
var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "antipode-beam")
	if err == nil {
		programs, err = dir, build(dir)
	}
	status := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		status = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(status)
}

func build(dir string) error {
	for out, pkg := range map[string]string{"antipode": "../../..", "beam": ".",
		"echo": "../../../docs/examples/echo_adapter"} {
		if text, err := exec.Command("go", "build", "-o", filepath.Join(dir, out), pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", pkg, err, text)
		}
	}
	return nil
}

// job makes a job of 3 shards of a command, in a new current folder with a table.
func job(t *testing.T, table, command string) *jobs.Job {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv(client.HomeVar, t.TempDir())
	t.Setenv("ANTIPODE_PLUGIN", "none")
	must.Do(t, os.WriteFile("table.csv", []byte(table), 0o600))
	words := append(strings.Fields("job make --shards 3 --"), strings.Fields(command)...)
	words = append(words, "--model", "exec:"+filepath.Join(programs, "echo"), "--out", "out.parquet")
	if out, err := exec.Command(filepath.Join(programs, "antipode"), words...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	j := must.Get(jobs.Read("job.json"))(t)
	return j
}

// function returns a function for the job's shards; the process has no worker before and after the test.
func function(t *testing.T, j *jobs.Job) *shardFn {
	t.Helper()
	t.Setenv(client.ExecVar, "")
	must.Do(t, client.AllowExec(filepath.Join(programs, "echo")))
	data, err := os.ReadFile("job.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := finish(); err != nil {
			t.Error(err)
		}
		the = nil
	})
	return &shardFn{Job: string(data), Store: j.Store, Programs: os.Getenv(client.ExecVar)}
}

const (
	prompts  = "id,prompt\na,a boat\nb,a house\nc,a tree\nd,a road\ne,a hill\n"
	generate = "generate --prompts table.csv --size 16x16"
)

// TestPrism runs a job on the runner in this process.
func TestPrism(t *testing.T) {
	beam := filepath.Join(programs, "beam")
	job(t, prompts, generate)
	for _, want := range []string{"3 of 3 shards: 5 items computed, 0 found in the store\n",
		"3 of 3 shards: 0 items computed, 5 found in the store\n"} {
		cmd := exec.Command(beam, "--allow-exec", filepath.Join(programs, "echo"), "job.json")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if out, err := cmd.Output(); err != nil || string(out) != want {
			t.Fatalf("%q, %v, want %q; %s", out, err, want, stderr.String())
		}
	}
	for name, want := range map[string]int{"missing.json": 2, "table.csv": 2} {
		if out, err := exec.Command(beam, name).CombinedOutput(); err == nil || !strings.HasPrefix(string(out),
			"antipode-beam: usage: ") || err.(*exec.ExitError).ExitCode() != want {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
}

// TestErrors distinguishes errors for which a runner tries a shard again from those that the shard's status reports.
func TestErrors(t *testing.T) {
	j := job(t, prompts, generate)
	f := function(t, j)
	must.Is(f.ProcessElement(t.Context(), 3))(t, jobs.ErrMismatch) // shard 3 of 3
	for shard := range 3 {
		if _, err := f.ProcessElement(t.Context(), shard); err != nil {
			t.Error(err)
		}
	}
	r, err := j.ReadReport(t.Context(), "", time.Now())
	must.True(t, err == nil && r.Err() == nil && r.Computed == 5, "%+v", r)
	must.Do(t, os.WriteFile("table.csv", []byte(prompts+"f,a lake\n"), 0o600))
	must.Do(t, finish())
	the = nil
	must.Is(f.ProcessElement(t.Context(), 0))(t, jobs.ErrMismatch) // a changed table
}

// TestBadRow leaves an error that will occur again to the status: the runner does not try the shard again.
func TestBadRow(t *testing.T) {
	j := job(t, "id,image\na,a.png\nb,b.png\nc,missing.png\n", "caption --in table.csv")
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))))
	for _, name := range []string{"a.png", "b.png"} {
		must.Do(t, os.WriteFile(name, b.Bytes(), 0o600))
	}
	f := function(t, j)
	for shard := range 3 {
		if _, err := f.ProcessElement(t.Context(), shard); err != nil {
			t.Error(err)
		}
	}
	r := must.Get(j.ReadReport(t.Context(), "", time.Now()))(t)
	must.True(t, errors.Is(r.Err(), jobs.ErrFailed) && r.States[jobs.Done] == 2 && len(r.Errors) == 1, "%+v", r)
}

// TestParent ends a worker whose parent has ended.
func TestParent(t *testing.T) {
	silent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t) // a runner that accepts the worker and says nothing
	defer silent.Close()
	at := silent.Addr().String()
	shell := exec.Command("sh", "-c", `"$0" "$@" >/dev/null 2>&1 & echo $!; sleep 2`, filepath.Join(programs, "beam"),
		worker, "--id=1", "--logging_endpoint="+at, "--control_endpoint="+at)
	start := time.Now()
	out, err := shell.Output()
	if err != nil {
		t.Fatal(err)
	}
	stat := filepath.Join("/proc", strings.TrimSpace(string(out)), "stat")
	running := func() bool {
		text, err := os.ReadFile(stat)
		return err == nil && !strings.Contains(string(text), ") Z ")
	}
	if !running() {
		t.Fatalf("the worker ended before its parent, within %v", time.Since(start))
	}
	for running() {
		if time.Since(start) > 20*time.Second {
			t.Fatal("the worker runs on")
		}
		time.Sleep(50 * time.Millisecond)
	}
}
