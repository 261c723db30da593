//go:build torture

package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/gomlxmodels"
	"antipode/internal/must"
)

// cells are those of a notebook that computes two stages and saves a table with the name of the first.
var cells = []string{
	"import (\n\t\"antipode/datasets\"\n\tmodels \"antipode/gomlxmodels\"\n)",
	"var images = datasets.CSV(\"generate.csv\")\nvar embedded = models.Embed(\"exec:ECHO\", images)\n%%\n" +
		"embedded.Run()",
	"var captioned = models.Caption(\"exec:ECHO\", embedded)\n%%\ncaptioned.Save(\"embed.csv\")",
}

// killNotebook kills the program that runs a notebook, its kernel or the backend at a random moment and runs it again.
// No process of a killed one stays.
func killNotebook(t *testing.T, b *binaries, c *count) {
	w := b.world(t)
	w.chain(t, "segment")
	type object map[string]any
	var list []object
	for _, source := range cells {
		list = append(list, object{"cell_type": "code", "metadata": object{}, "outputs": []any{},
			"execution_count": nil, "source": strings.ReplaceAll(source, "ECHO", w.echo)})
	}
	text := must.Get(json.Marshal(object{"nbformat": 4, "nbformat_minor": 4, "metadata": object{}, "cells": list}))(t)
	must.Do(t, os.WriteFile(filepath.Join(w.out, "n.ipynb"), text, 0o600))
	module := must.Get(filepath.Abs("../.."))(t)
	build := must.Get(os.ReadFile(filepath.Join(w.home, "bin", "current")))(t)
	bin := filepath.Join(w.home, "bin", strings.TrimSpace(string(build)))
	must.Do(t, os.CopyFS(bin+"-simd", os.DirFS(bin))) // else it is built
	run := func() *exec.Cmd {
		cmd := w.antipode("run", "n.ipynb", "--allow-exec", w.echo)
		cmd.Env = append(cmd.Env, client.ModuleVar+"="+module)
		return cmd
	}
	w.must(t, run()) // builds GoNB
	began := time.Now()
	w.forget(t, "embed")
	w.forget(t, "caption")
	w.must(t, run())
	took := time.Since(began)
	want := w.rows(t, "embed")
	for i := range c.rounds {
		w.forget(t, "embed")
		w.forget(t, "caption")
		cmd := run()
		must.Do(t, cmd.Start())
		sleep(took)
		switch i % 3 {
		case 0:
			c.killed(cmd.Process.Kill() == nil)
		case 1:
			kernels := w.processes(func(parent int, line string) bool { return parent == cmd.Process.Pid })
			for _, pid := range kernels {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			c.killed(len(kernels) > 0)
		default:
			c.killed(w.killBackend())
		}
		err := cmd.Wait()
		must.True(t, i%3 != 2 || err == nil, "a notebook whose backend was killed: %v", err)
		notebook := func(parent int, line string) bool { return !serves(parent, line) }
		must.Within(t, 20*time.Second, "the processes of a killed notebook end", func() bool {
			return len(w.processes(notebook)) == 0
		})
		w.must(t, run())
		c.compare(t, "embed", w.rows(t, "embed"), want)
	}
}

// processes returns those that use the store and have a parent and a command line that is accepted.
func (w *world) processes(accept func(parent int, line string) bool) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		dir := filepath.Join("/proc", e.Name())
		env, _ := os.ReadFile(filepath.Join(dir, "environ"))
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		var state string
		var parent int
		_, _ = fmt.Sscan(rest, &state, &parent)
		if err == nil && bytes.Contains(env, []byte(client.HomeVar+"="+w.home+"\x00")) && accept(parent, string(line)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// jump gives all files the times of another decade, as after a change of the clock, and exchanges the bytes of two
// images without a change of their times: their rows follow the bytes.
func jump(t *testing.T, b *binaries, c *count) {
	w := b.world(t)
	w.chain(t, "")
	want := map[string][]string{}
	for _, stage := range stages {
		want[stage] = w.rows(t, stage)
	}
	images, err := filepath.Glob(filepath.Join(w.out, "generate.images", "*"))
	if err != nil || len(images) < 2 {
		t.Fatal(images, err)
	}
	for i := range c.rounds {
		w.stop()
		at := time.Now().AddDate(10-20*(i%2), 0, 0)
		for _, dir := range []string{w.home, w.out} {
			must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				_ = os.Chtimes(path, at, at)
				return err
			}))
		}
		for range 2 {
			w.chain(t, "")
			for _, stage := range stages {
				c.compare(t, stage, w.rows(t, stage), want[stage])
			}
			w.must(t, w.antipode("store", "gc", "--keep", "30d"))
		}
		a, z := images[rand.IntN(len(images)/2)], images[len(images)/2+rand.IntN(len(images)/2)]
		exchange(t, a, z)
		w.must(t, w.command("embed"))
		fresh := b.world(t)
		must.Do(t, os.CopyFS(fresh.out, os.DirFS(w.out)))
		fresh.must(t, fresh.command("embed"))
		c.compare(t, "embed", w.rows(t, "embed"), fresh.rows(t, "embed"))
		fresh.stop()
		exchange(t, a, z)
	}
}

// exchange exchanges the bytes of two files and keeps their times.
func exchange(t *testing.T, a, z string) {
	t.Helper()
	var data [2][]byte
	var times [2]time.Time
	for i, name := range []string{a, z} {
		info := must.Get(os.Stat(name))(t)
		times[i] = info.ModTime()
		data[i] = must.Get(os.ReadFile(name))(t)
	}
	for i, name := range []string{a, z} {
		must.Do(t, os.WriteFile(name, data[1-i], 0o600))
		must.Do(t, os.Chtimes(name, times[i], times[i]))
	}
}

// twoBuilds runs clients of two builds on one store at the same time.
func twoBuilds(t *testing.T, b *binaries, c *count) {
	other := *b
	other.antipode = filepath.Join(t.TempDir(), "antipode")
	if text, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", other.antipode,
		"../..").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	w := b.world(t)
	w.chain(t, "")
	want := w.rows(t, "embed")
	for range c.rounds {
		w.forget(t, "embed")
		var wait sync.WaitGroup
		results := make([][]string, 4)
		for i := range results {
			wait.Go(func() {
				own := *w
				own.out = t.TempDir()
				if i%2 == 1 {
					own.binaries = &other
				}
				own.chain(t, "")
				results[i] = own.rows(t, "embed")
			})
		}
		wait.Wait()
		for _, got := range results {
			c.compare(t, "embed", got, want)
		}
	}
}

// freeze stops the backend's process in the middle of a stage: the client and the state say so, stop ends it, and the
// stage finishes on a new one.
func freeze(t *testing.T, b *binaries, c *count) {
	w := b.world(t)
	w.chain(t, "embed")
	began := time.Now()
	w.must(t, w.command("embed"))
	took := time.Since(began)
	want := w.rows(t, "embed")
	for range c.rounds {
		w.forget(t, "embed")
		embed := w.command("embed")
		var said bytes.Buffer
		embed.Stdout, embed.Stderr = &said, &said
		cmd := start(t, embed)
		pid := 0
		for limit := time.Now().Add(10 * time.Second); pid == 0 && time.Now().Before(limit); {
			pid = w.backend()
		}
		sleep(took)
		if pid == 0 || syscall.Kill(pid, syscall.SIGSTOP) != nil {
			t.Fatal("no backend runs")
		}
		running := len(cmd.ended) == 0
		asked := time.Now()
		out, err := w.antipode("backend", "status").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "has not answered") || time.Since(asked) > 20*time.Second {
			t.Errorf("the state of a frozen backend after %v: %v, %s", time.Since(asked), err, out)
		}
		out, err = w.antipode("backend", "stop").CombinedOutput()
		must.True(t, err == nil && strings.Contains(string(out), "was killed"),
			"stopping a frozen backend: %v, %s", err, out)
		if err := <-cmd.ended; err != nil || running && !strings.Contains(said.String(), "has not answered") {
			t.Errorf("embed, whose backend froze: %v, %s", err, said.String())
		}
		c.compare(t, "embed", w.rows(t, "embed"), want)
	}
}

// requests is the number of requests of soak.
const requests = 10_000

// soak sends small requests to one backend, four at a time. Its memory stays as it is after the first fifth.
func soak(t *testing.T, b *binaries, c *count) {
	w := b.world(t)
	w.chain(t, "")
	t.Setenv(client.HomeVar, w.home)
	t.Setenv("XDG_RUNTIME_DIR", w.run)
	t.Setenv(client.ExecVar, "")
	must.Do(t, client.AllowExec(w.echo))
	backend := must.Get(client.ConnectTo(w.home))(t)
	table := gomlxmodels.Embed("exec:"+w.echo, datasets.CSV(filepath.Join(w.out, "generate.csv")))
	var mu sync.Mutex
	send := func(n int) {
		var wait sync.WaitGroup
		for worker := range 4 {
			wait.Go(func() {
				for i := worker; i < n; i += 4 {
					rows := 1 + i%200
					plan, err := table.Head(rows).Plan()
					if err != nil {
						t.Error(err)
						return
					}
					res, err := backend.Run(context.Background(), client.Request{Plan: plan}, nil)
					mu.Lock()
					if err != nil {
						t.Error(err)
						c.lost += rows
					} else if c.lost += max(0, rows-res.Rows); res.Computed > 0 {
						c.doubled += res.Computed
					}
					mu.Unlock()
				}
			})
		}
		wait.Wait()
	}
	state := func() (resident, files int64) {
		s := must.Get(backend.Status(t.Context()))(t)
		open := must.Get(os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.PID)))(t)
		return s.Memory.Resident, int64(len(open))
	}
	send(c.rounds / 5)
	before, filesBefore := state()
	send(c.rounds - c.rounds/5)
	after, filesAfter := state()
	if after > before+before/4 || filesAfter > filesBefore+8 || c.lost+c.doubled > 0 {
		t.Errorf("memory %d MiB after a fifth, %d MiB at the end; %d and %d open files; %d rows lost, %d computed "+
			"again", before>>20, after>>20, filesBefore, filesAfter, c.lost, c.doubled)
	}
	c.note = fmt.Sprintf("(memory %d MiB after %d requests, %d MiB at the end; %d and %d open files)", before>>20,
		c.rounds/5, after>>20, filesBefore, filesAfter)
}
