//go:build torture

package torture

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// TestTorture runs every scenario and prints the table.
func TestTorture(t *testing.T) {
	b := build(t)
	table := newTable(t)
	for _, stage := range []string{"generate", "segment", "embed", "caption", "ask", "table", "score"} {
		table.run("kill -9 in "+stage, rounds(t), func(t *testing.T, c *count) { killStage(t, b, c, stage) })
	}
	table.run("kill -9 in store gc", rounds(t), func(t *testing.T, c *count) { killCollect(t, b, c) })
	table.run("kill -9 in work", rounds(t), func(t *testing.T, c *count) { killWork(t, b, c) })
	table.run("kill -9 in store merge", rounds(t), func(t *testing.T, c *count) { killMerge(t, b, c) })
	table.run("kill -9 in store compact", rounds(t), func(t *testing.T, c *count) { killCompact(t, b, c) })
	for part, pattern := range map[string]string{"shards": "items/*/*/*", "blobs": "blobs/*/*",
		"index": "files.idx", "records": "results/*"} {
		table.run("flipped bits in "+part, rounds(t), func(t *testing.T, c *count) { flip(t, b, c, pattern) })
	}
	table.run("kill -9 of a notebook", fewer(t), func(t *testing.T, c *count) { killNotebook(t, b, c) })
	table.run("disk full", fewer(t), func(t *testing.T, c *count) {
		full(t, b, c, func(used int64) string { return fmt.Sprintf("size=%d", used+96<<10+rand.Int64N(700<<10)) })
	})
	table.run("inodes full", fewer(t), func(t *testing.T, c *count) {
		full(t, b, c, func(int64) string { return fmt.Sprintf("nr_inodes=%d", 30+rand.IntN(400)) })
	})
	table.run("clock jumps", fewer(t), func(t *testing.T, c *count) { jump(t, b, c) })
	table.run("read-only store", fewer(t), func(t *testing.T, c *count) { readOnly(t, b, c) })
	table.run("two runtime folders, gc next to them", fewer(t), func(t *testing.T, c *count) { twoBackends(t, b, c) })
	table.run("8 clients, backend killed", fewer(t), func(t *testing.T, c *count) { clients(t, b, c) })
	table.run("clients of two builds", fewer(t), func(t *testing.T, c *count) { twoBuilds(t, b, c) })
	table.run("frozen backend", fewer(t), func(t *testing.T, c *count) { freeze(t, b, c) })
	table.run("requests to one backend", requests, func(t *testing.T, c *count) { soak(t, b, c) })
}

// killStage kills the backend, the client or both at a random moment of a stage that computes all of its rows.
func killStage(t *testing.T, b *binaries, c *count, stage string) {
	w := b.installed(t)
	w.chain(t, stage) // the tables that the stage reads
	began := time.Now()
	w.must(t, w.command(stage))
	took := time.Since(began)
	want := w.rows(t, stage)
	for range c.rounds {
		w.forget(t, stage)
		cmd := start(t, w.command(stage))
		sleep(took)
		what := rand.IntN(3)
		ran := what != 0 && w.killBackend()
		ran = what != 1 && cmd.kill() || ran
		c.killed(ran)
		err := <-cmd.ended
		must.True(t, what != 1 || err == nil, "%s, whose backend was killed: %v", stage, err)
		w.must(t, w.command(stage))
		c.compare(t, stage, w.rows(t, stage), want)
	}
}

// killCollect kills store gc at a random moment, without a backend, and computes everything again.
func killCollect(t *testing.T, b *binaries, c *count) {
	w := b.installed(t)
	w.chain(t, "")
	want := w.rows(t, "embed")
	for range c.rounds {
		w.stop()
		cmd := start(t, w.antipode("store", "gc", "--keep", "0s"))
		sleep(150 * time.Millisecond)
		c.killed(cmd.kill())
		<-cmd.ended
		w.chain(t, "")
		c.compare(t, "embed", w.rows(t, "embed"), want)
	}
}

// flip flips a bit of each of a few files and reads everything again: the tables are as they were.
func flip(t *testing.T, b *binaries, c *count, pattern string) {
	w := b.world(t)
	w.chain(t, "")
	want := map[string][]string{}
	for _, stage := range stages {
		want[stage] = w.rows(t, stage)
	}
	for i := range c.rounds {
		files, err := filepath.Glob(filepath.Join(w.home, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		if i%2 == 0 {
			w.stop()
		}
		for range 5 {
			name := files[rand.IntN(len(files))]
			data, err := os.ReadFile(name)
			if err != nil || len(data) == 0 {
				continue
			}
			data[rand.IntN(len(data))] ^= 1 << rand.IntN(8)
			must.Do(t, os.WriteFile(name, data, 0o600))
		}
		w.clean(t)
		w.chain(t, "")
		for _, stage := range stages {
			c.compare(t, stage, w.rows(t, stage), want[stage])
		}
	}
}

// full runs on a disk that is too small, by options of tmpfs that depend on the space for the copy of the program: an
// error of one line; after more space is there, everything is computed.
func full(t *testing.T, b *binaries, c *count, options func(used int64) string) {
	plain := b.world(t)
	plain.chain(t, "")
	want := plain.rows(t, "embed")
	for range c.rounds {
		w := b.world(t)
		copied := must.Get(os.Stat(b.antipode))(t)
		limit := options(copied.Size())
		mount(t, w.home, "tmpfs", 0, limit+",mode=700") // a store that others may write to is refused
		failed := false
		for _, stage := range stages {
			out, err := w.command(stage).CombinedOutput()
			must.True(t, err == nil || strings.Count(strings.TrimSpace(string(out)), "\n") <= 3, "disk full: %s", out)
			if failed = failed || err != nil; failed {
				break
			}
		}
		if !failed {
			t.Logf("%s was enough", limit)
		}
		must.Do(t, syscall.Mount("tmpfs", w.home, "tmpfs", syscall.MS_REMOUNT, "size=1g,nr_inodes=100000"))
		w.chain(t, "")
		c.compare(t, "embed", w.rows(t, "embed"), want)
		w.stop()
	}
}

// readOnly reads cached results from a store that cannot be written, and computes others: an error that names it.
func readOnly(t *testing.T, b *binaries, c *count) {
	w := b.world(t)
	w.chain(t, "")
	want := w.rows(t, "embed")
	for i := range c.rounds {
		w.stop()
		mount(t, w.home, w.home, syscall.MS_BIND, "")
		must.Do(t, syscall.Mount("", w.home, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		w.clean(t)
		w.chain(t, "")
		c.compare(t, "embed", w.rows(t, "embed"), want)
		out, err := w.command("generate", "--seed", fmt.Sprint(1000+i)).CombinedOutput()
		must.True(t, err != nil && strings.Contains(string(out), w.home),
			"computing in a store that cannot be written: %v, %s", err, out)
		w.stop()
		must.Do(t, syscall.Unmount(w.home, syscall.MNT_DETACH)) // the backend may be ending still
	}
}

// twoBackends runs clients with different runtime folders on one store while store gc runs again and again.
func twoBackends(t *testing.T, b *binaries, c *count) {
	w := b.world(t)
	w.chain(t, "")
	want := w.rows(t, "embed")
	for range c.rounds {
		w.stop()
		done := make(chan bool)
		var collects sync.WaitGroup
		collects.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(50 * time.Millisecond):
					out, err := w.antipode("store", "gc", "--keep", "0s").CombinedOutput()
					if err != nil && !strings.Contains(string(out), store.ErrInUse.Error()[:20]) {
						t.Errorf("store gc: %s", out)
					}
				}
			}
		})
		var wait sync.WaitGroup
		results := make([][]string, 4)
		for i := range results {
			wait.Go(func() {
				own := *w
				own.out = t.TempDir()
				own.run = shortDir(t)
				own.chain(t, "")
				results[i] = own.rows(t, "embed")
			})
		}
		wait.Wait()
		close(done)
		collects.Wait()
		w.stop() // as long as its runtime folder is there
		for _, got := range results {
			c.compare(t, "embed", got, want)
		}
	}
}

// clients are 8 of one table at the same time, whose backend is killed in between.
func clients(t *testing.T, b *binaries, c *count) {
	w := b.installed(t)
	w.chain(t, "generate")
	began := time.Now()
	w.must(t, w.command("generate"))
	took := time.Since(began)
	want := w.rows(t, "generate")
	for range c.rounds {
		w.forget(t, "generate")
		var wait sync.WaitGroup
		results := make([][]string, 8)
		for i := range results {
			wait.Go(func() {
				own := *w
				own.out = t.TempDir()
				own.must(t, own.command("generate"))
				results[i] = own.rows(t, "generate")
			})
		}
		sleep(2 * took) // eight clients are slower than one
		c.killed(w.killBackend())
		wait.Wait()
		for _, got := range results {
			c.compare(t, "generate", got, want)
		}
	}
}

// mount mounts a file system until the test ends, or skips the test.
func mount(t *testing.T, at, source string, flags uintptr, data string) {
	t.Helper()
	kind := ""
	if source == "tmpfs" {
		kind = source
	}
	if err := syscall.Mount(source, at, kind, flags, data); err != nil {
		t.Skipf("mounting at %s: %v", at, err)
	}
	t.Cleanup(func() {
		for syscall.Unmount(at, syscall.MNT_DETACH) == nil { // all layers
		}
	})
}
