//go:build scale

package scale

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"antipode/internal/must"
)

// chain is the built-in world's: its generator, segmenter, encoders and captioner.
var chain = []string{
	"generate --model archipelago-diffusion --prompts prompts.csv --n 2 --steps 4 --out g.parquet",
	"segment --model archipelago-clipseg --object object --in g.parquet --out s.parquet",
	"embed --model archipelago-vit --in s.parquet --out e.parquet",
	"embed --model archipelago-clip --vector clip_image --in g.parquet --out i.parquet",
	"caption --model archipelago-blip --in g.parquet --out c.parquet",
}

// counts reads how many items a command has computed and found.
func counts(t *testing.T, printed string) (computed, found int) {
	t.Helper()
	m := regexp.MustCompile(`(\d+) items computed, (\d+) found`).FindStringSubmatch(printed)
	if m == nil {
		t.Fatalf("no counts in %q", printed)
	}
	computed, _ = strconv.Atoi(m[1])
	found, _ = strconv.Atoi(m[2])
	return computed, found
}

// size is the number of prompts of TestArray, which each have two images.
func size(t *testing.T) int {
	text := os.Getenv("ANTIPODE_SCALE_PROMPTS")
	if text == "" {
		return 40
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 8 {
		t.Fatalf("ANTIPODE_SCALE_PROMPTS is %q", text)
	}
	return n
}

// TestArray runs the chain on one machine, and as an array of 4 tasks in a shared folder and in stores of their own.
// One task is killed and one is told to stop, after their first pack, and both are run again.
func TestArray(t *testing.T) {
	d := build(t).onXLA(t)
	n := size(t)
	d.prompts(t, n)
	start := time.Now()
	for _, line := range chain {
		if computed, _ := counts(t, d.run(t, strings.Fields(line)...)); computed != 2*n {
			t.Errorf("%s: %d items computed, want %d", line, computed, 2*n)
		}
	}
	one := time.Since(start)
	want := d.tables(t)

	const shards = 4
	d.chainJob(t, shards)
	start, total := time.Now(), 0
	for i := range shards {
		task := []string{"work", "job.json", "--shard", fmt.Sprintf("%d/%d", i, shards)}
		switch i {
		case 1:
			d.end(t, task, syscall.SIGKILL, -1)
		case 2:
			d.end(t, task, syscall.SIGTERM, 75)
		}
		computed, _ := counts(t, d.run(t, task...))
		total += computed
	}
	t.Logf("%d rows, 5 stages: one machine %.1f s; 4 tasks in turn, one killed and one stopped and run again, "+
		"%.1f s; %d items computed by tasks that ended well", 2*n, one.Seconds(), time.Since(start).Seconds(), total)
	shared := *d
	shared.home = filepath.Join(d.dir, "job.store")
	for _, line := range chain {
		if computed, found := counts(t, shared.run(t, strings.Fields(line)...)); computed != 0 || found != 2*n {
			t.Errorf("%s: %d items computed, %d found; want 0 and %d", line, computed, found, 2*n)
		}
	}
	_ = shared.command("backend", "stop").Run()
	equal(t, "a shared folder", shared.tables(t), want)

	start, total = time.Now(), 0
	for i := range shards {
		computed, _ := counts(t, d.run(t, "work", "job.json", "--shard", fmt.Sprintf("%d/%d", i, shards), "--store",
			"task-%i"))
		total += computed
	}
	must.Equal(t, total, 2*n*len(chain), "items computed in stores per task")
	took := time.Since(start)
	t.Logf("4 tasks in turn: %.1f s, ratio %.2f", took.Seconds(), took.Seconds()/one.Seconds())
	merged := *d
	merged.home = t.TempDir()
	start = time.Now()
	for _, list := range [][]string{{"task-3", "task-1"}, {"task-0", "task-1", "task-2"}} {
		t.Log(strings.TrimSpace(merged.run(t, append([]string{"store", "merge"}, list...)...)))
	}
	for _, line := range chain {
		if computed, found := counts(t, merged.run(t, strings.Fields(line)...)); computed != 0 || found != 2*n {
			t.Errorf("%s: %d items computed, %d found; want 0 and %d", line, computed, found, 2*n)
		}
	}
	t.Logf("merged, and 5 tables written: %.1f s", time.Since(start).Seconds())
	_ = merged.command("backend", "stop").Run()
	equal(t, "merged stores", merged.tables(t), want)
}

// end starts a task, sends it a signal once it has written a pack, and checks its exit status.
func (d *desk) end(t *testing.T, task []string, signal syscall.Signal, exit int) {
	t.Helper()
	before := d.packs()
	cmd := d.command(append(task, "--commit", "1s")...)
	must.Do(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for d.packs() == before {
		select {
		case err := <-ended:
			t.Fatalf("the task ended before its first pack: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
	}
	must.Do(t, cmd.Process.Signal(signal))
	err := <-ended
	var status *exec.ExitError
	if code := cmd.ProcessState.ExitCode(); code != exit || exit != 0 && !errors.As(err, &status) {
		t.Errorf("%s: exit status %d, want %d", strings.Join(task, " "), code, exit)
	}

}

// packs is the number of packs in the store of the job.
func (d *desk) packs() int {
	names, _ := filepath.Glob(filepath.Join(d.dir, "job.store", "items", "*", "*", "*.pack"))
	return len(names)
}
