//go:build torture

package commands

import (
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/remote/remotetest"
	"antipode/kernel/backend/store"
	"antipode/kernel/cluster/jobs"
)

// TestWorkIsEnded ends tasks by signals, after their first pack. What they have finished is found by the next task.
func TestWorkIsEnded(t *testing.T) {
	workplace(t, 300)
	run := inProcess(t)
	_ = must.Get(run(append(strings.Fields("job make --shards 2 -- "+chain[0]), "--batch", "1")...))(t)
	program := must.Get(os.Executable())(t)
	first := regexp.MustCompile(`(\d+) items computed, (\d+) found`)
	for name, test := range map[string]struct {
		signals []os.Signal
		exit    int
		state   string
	}{
		"TERM":  {[]os.Signal{syscall.SIGTERM}, exitStopped, jobs.Stopped},
		"USR1":  {[]os.Signal{syscall.SIGUSR1}, exitStopped, jobs.Stopped},
		"twice": {[]os.Signal{syscall.SIGTERM, syscall.SIGTERM}, exitStopped, jobs.Stopped},
		"INT":   {[]os.Signal{os.Interrupt}, exitInterrupted, jobs.Stopped},
		"KILL":  {[]os.Signal{os.Kill}, -1, jobs.Running},
	} {
		t.Run(name, func(t *testing.T) {
			dir := "store-" + name
			task := exec.Command(program, "work", "job.json", "--shard", "1/2", "--allow-exec", "echo", "--store", dir,
				"--commit", "1ms")
			task.Env = append(os.Environ(), mainVar+"=1")
			task.Stderr = io.Discard
			must.Do(t, task.Start())
			defer task.Process.Kill()
			must.Within(t, 2*time.Minute, "a pack is written", func() bool {
				names, _ := filepath.Glob(filepath.Join(dir, "items", "generate-*", "*", "*.pack"))
				return len(names) > 0
			})
			for _, s := range test.signals {
				must.Do(t, task.Process.Signal(s))
			}
			_ = task.Wait()
			if code := task.ProcessState.ExitCode(); code != test.exit {
				t.Errorf("exit status %d, want %d", code, test.exit)
			}
			s := statusOf(t, dir, 1)
			if s == nil || s.State != test.state || s.Attempt != 1 || test.state == jobs.Stopped && len(s.Packs) == 0 {
				t.Errorf("status %+v, want %s", s, test.state)
			}
			printed, err := run("work", "job.json", "--shard", "1/2", "--allow-exec", "echo", "--store", dir)
			m := first.FindStringSubmatch(printed)
			must.True(t, err == nil && m != nil && m[1] != "0" && m[2] != "0",
				"again: %q, %v; want some items computed and some found", printed, err)
			if s := statusOf(t, dir, 1); s == nil || s.State != jobs.Done || s.Attempt != 2 ||
				s.Computed+s.Found != 300 {
				t.Errorf("status %+v, want done at the second attempt", s)
			}
		})
	}
}

// TestTaskIsEnded ends tasks that have committed nothing yet: what is finished is in object storage when they end, and
// another machine finds it.
func TestTaskIsEnded(t *testing.T) {
	workplace(t, 300)
	s, run := remotetest.New(t), inProcess(t)
	_ = must.Get(run(append(strings.Fields("job make --shards 2 -- "+chain[0]), "--batch", "1")...))(t)
	program := must.Get(os.Executable())(t)
	for signal, exit := range map[os.Signal]int{syscall.SIGTERM: exitStopped, os.Interrupt: exitInterrupted} {
		t.Run(signal.String(), func(t *testing.T) {
			home := t.TempDir()
			t.Setenv(client.HomeVar, home)
			args := []string{"work", "job.json", "--shard", "1/2", "--allow-exec", "echo", "--store",
				s.Object("store-" + strings.ReplaceAll(signal.String(), " ", "-"))}
			task := exec.Command(program, append(args, "--commit", "1h")...)
			task.Env = append(os.Environ(), mainVar+"=1")
			must.Do(t, task.Start())
			defer task.Process.Kill()
			must.Within(t, 2*time.Minute, "five images are made", func() bool {
				names, _ := filepath.Glob(filepath.Join(home, "tasks", "*", "blobs", "*", "*.png"))
				return len(names) >= 5
			})
			must.Do(t, task.Process.Signal(signal))
			_ = task.Wait()
			code := task.ProcessState.ExitCode()
			must.True(t, code == exit, "exit status %d, want %d", code, exit)
			left, err := filepath.Glob(filepath.Join(home, "tasks", "*"))
			must.True(t, err == nil && len(left) == 0, "%q, %v; want nothing after the task", left, err)
			printed, err := run("job", "status", "job.json", "--store", args[len(args)-1])
			must.True(t, isExit(err, exitStopped) && strings.Contains(printed, "1 stopped, 1 not started"),
				"job status: %q, %v", printed, err)
			t.Setenv(client.HomeVar, t.TempDir())
			printed, err = run(args...)
			if err != nil || !strings.Contains(printed, "items computed, ") || strings.Contains(printed, " 0 found") {
				t.Errorf("again: %q, %v; want that some items are found", printed, err)
			}
		})
	}
}

// TestTaskIsKilled kills a task at random moments, on one machine and on others, and starts it again, until it is done.
// At each moment the bucket is a store whose items have their images, and in the end it has what one machine computes.
func TestTaskIsKilled(t *testing.T) {
	workplace(t, 40)
	s, run := remotetest.New(t), inProcess(t)
	lines := []string{chain[0], chain[2]} // generate, embed
	done := at(t, t.TempDir())
	for _, line := range lines {
		_ = must.Get(run(strings.Fields(line)...))(t)
	}
	done()
	want := tables(t)
	url := s.Object("store")
	words := append([]string{"job", "make", "--shards", "1", "--store", url, "--"}, strings.Fields(lines[0])...)
	words = append(append(words, "--"), strings.Fields(lines[1])...)
	_ = must.Get(run(append(words, "--batch", "1")...))(t)
	program := must.Get(os.Executable())(t)
	homes := []string{t.TempDir(), t.TempDir()}
	merged := func() string {
		home := t.TempDir()
		t.Setenv(client.HomeVar, home)
		printed, err := run("store", "merge", url)
		if err != nil && !strings.Contains(err.Error(), "is no store") || err == nil &&
			!strings.Contains(printed, "0 damaged files left out") {
			t.Errorf("store merge: %q, %v", printed, err)
		}
		return home
	}
	kills, before := 0, 0
	for n := 0; ; n++ {
		task := exec.Command(program, "work", "job.json", "--shard", "0/1", "--allow-exec", "echo", "--commit", "5ms")
		task.Env = append(os.Environ(), mainVar+"=1", client.HomeVar+"="+homes[n/2%2])
		must.Do(t, task.Start())
		after := time.Duration(150+rand.IntN(150*(n+1))) * time.Millisecond
		timer := time.AfterFunc(after, func() { _ = task.Process.Kill() })
		if err := task.Wait(); err == nil {
			timer.Stop()
			break
		}
		kills++
		if items, images := generated(t, merged()); items > images || items < before {
			t.Errorf("kill %d: %d items with %d images, %d before", kills, items, images, before)
		} else {
			before = items
		}
	}
	t.Logf("%d kills, the last with %d items of generate", kills, before)
	done = at(t, merged())
	for _, line := range lines {
		prints(run(strings.Fields(line)...))(t, " 0 items computed")
	}
	done()
	for name, content := range tables(t) {
		must.True(t, want[name] == content, "%s differs from that of one machine", name)
		delete(want, name)
	}
	must.True(t, len(want) == 0, "%d files are missing", len(want))
}

// generated counts the items of the stage generate in a store, and the images. No two items have the same image.
func generated(t *testing.T, home string) (items, images int) {
	t.Helper()
	st := must.Get(store.Open(home))(t)
	defer st.Close()
	contexts := must.Get(filepath.Glob(filepath.Join(home, "items", "generate-*", "*")))(t)
	for _, dir := range contexts {
		of := must.Get(st.Items(filepath.Base(filepath.Dir(dir)), filepath.Base(dir)))(t)
		items += of.(interface{ Len() int }).Len()
	}
	names := must.Get(filepath.Glob(filepath.Join(home, "blobs", "*", "*.png")))(t)
	return items, len(names)
}
