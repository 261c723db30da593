//go:build torture

package torture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"antipode/internal/must"
)

// undisturbed computes all stages and returns their rows.
func (w *world) undisturbed(t *testing.T) map[string][]string {
	t.Helper()
	w.chain(t, "")
	want := map[string][]string{}
	for _, stage := range stages {
		want[stage] = w.rows(t, stage)
	}
	return want
}

// job writes an array job of all stages, of two shards.
func (w *world) job(t *testing.T) {
	t.Helper()
	w.clean(t)
	args := []string{"job", "make", "--shards", "2"}
	for _, stage := range stages {
		args = append(append(args, "--"), w.command(stage).Args[1:]...)
	}
	w.must(t, w.antipode(args...))
}

// task is the command of a shard. It writes many packs into a store.
func (w *world) task(shard int, store string) *exec.Cmd {
	return w.antipode("work", "job.json", "--shard", fmt.Sprintf("%d/2", shard), "--store", store, "--commit", "10ms",
		"--allow-exec", w.echo)
}

// empty removes all of a store but the installed command.
func empty(t *testing.T, home string) {
	t.Helper()
	entries := must.Get(os.ReadDir(home))(t)
	for _, e := range entries {
		if e.Name() == "bin" {
			continue
		}
		must.Do(t, os.RemoveAll(filepath.Join(home, e.Name())))
	}
}

// computed is the number of items that a command had to compute.
var computed = regexp.MustCompile(`(\d+) items computed`)

// found runs all stages on a store that has all of their items: rows that it lost are computed again.
func (w *world) found(t *testing.T, c *count, want map[string][]string) {
	t.Helper()
	w.clean(t)
	for _, stage := range stages {
		out, err := w.command(stage).CombinedOutput()
		m := computed.FindSubmatch(out)
		if err != nil || m == nil {
			t.Errorf("%s: %v: %s", stage, err, out)
			continue
		}
		if n, _ := strconv.Atoi(string(m[1])); n > 0 {
			c.lost += n
			t.Errorf("%s: %d items are not in the store", stage, n)
		}
		c.compare(t, stage, w.rows(t, stage), want[stage])
	}
	w.stop()
}

// killWork kills a task of an array job at a random moment, next to another task, and runs it again.
func killWork(t *testing.T, b *binaries, c *count) {
	w := b.installed(t)
	want := w.undisturbed(t)
	w.job(t)
	reader := *w
	reader.out = t.TempDir()
	began := time.Now()
	w.must(t, w.task(0, w.home))
	took := time.Since(began)
	for range c.rounds {
		w.stop()
		empty(t, w.home)
		other, task := start(t, w.task(1, w.home)), start(t, w.task(0, w.home))
		sleep(took)
		c.killed(task.kill())
		<-task.ended
		w.must(t, w.task(0, w.home))
		if err := <-other.ended; err != nil {
			t.Errorf("the task next to a killed one: %v", err)
		}
		reader.found(t, c, want)
	}
}

// parts computes an array job in two stores of its tasks.
func (w *world) parts(t *testing.T) (stores []string) {
	t.Helper()
	w.job(t)
	for shard := range 2 {
		stores = append(stores, filepath.Join(t.TempDir(), "part"))
		w.must(t, w.task(shard, stores[shard]))
	}
	return stores
}

// killMerge kills store merge at a random moment, with --remove in every second round, and runs it again.
func killMerge(t *testing.T, b *binaries, c *count) {
	w := b.installed(t)
	want := w.undisturbed(t)
	parts := w.parts(t)
	took := time.Duration(0)
	for i := range c.rounds + 1 {
		w.stop()
		empty(t, w.home)
		args := []string{"store", "merge"}
		if i%2 == 1 {
			args = append(args, "--remove")
		}
		dir := t.TempDir()
		for shard, part := range parts {
			copied := filepath.Join(dir, fmt.Sprint(shard))
			must.Do(t, os.CopyFS(copied, os.DirFS(part)))
			args = append(args, copied)
		}
		if i == 0 {
			began := time.Now()
			w.must(t, w.antipode(args...))
			took = time.Since(began)
			continue
		}
		merge := start(t, w.antipode(args...))
		sleep(took)
		c.killed(merge.kill())
		<-merge.ended
		if left, _ := os.ReadDir(dir); len(left) > 0 { // else it has removed both
			w.must(t, w.antipode(args...))
		}
		w.found(t, c, want)
		must.Do(t, os.RemoveAll(dir))
	}
}

// killCompact kills store compact at a random moment, and in every second round runs it again.
func killCompact(t *testing.T, b *binaries, c *count) {
	w := b.installed(t)
	want := w.undisturbed(t)
	parts := w.parts(t)
	took := time.Duration(0)
	for i := range c.rounds + 1 {
		w.stop()
		empty(t, w.home)
		w.must(t, w.antipode(append([]string{"store", "merge"}, parts...)...))
		compact := w.antipode("store", "compact")
		if i == 0 {
			began := time.Now()
			w.must(t, compact)
			took = time.Since(began)
			continue
		}
		killed := start(t, compact)
		sleep(took)
		c.killed(killed.kill())
		<-killed.ended
		if i%2 == 0 {
			w.must(t, w.antipode("store", "compact"))
		}
		w.found(t, c, want)
	}
}
