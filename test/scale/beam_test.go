//go:build scale

package scale

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"antipode/internal/must"
	"antipode/test/testbackend"
)

// TestBeam runs the chain on one machine, on Beam's runner Prism, and on Flink with two workers, each of which is
// killed once: the tables and images are the same, byte for byte.
func TestBeam(t *testing.T) {
	d := build(t).onXLA(t)
	beam := filepath.Join(d.dir, "antipode-beam")
	cmd := exec.Command("go", "build", "-trimpath", "-o", beam, ".")
	cmd.Dir = "../../kernel/cluster/beam"
	if text, err := cmd.CombinedOutput(); err != nil {
		testbackend.Missing(t, "beam", fmt.Sprintf("%v: %s", err, text))
	}
	n := size(t)
	d.prompts(t, n)
	start := time.Now()
	for _, line := range chain {
		d.run(t, strings.Fields(line)...)
	}
	one := time.Since(start)
	t.Logf("%d rows, %d stages: one machine %.1f s", 2*n, len(chain), one.Seconds())
	want := d.tables(t)
	_ = d.command("backend", "stop").Run()

	const shards = 16
	d.chainJob(t, shards)
	submit := func(store string, args ...string) *exec.Cmd {
		cmd := d.command()
		cmd.Path, cmd.Args = beam, append([]string{beam, "--store", filepath.Join(d.dir, store)}, args...)
		cmd.Args = append(cmd.Args, "job.json")
		return cmd
	}
	finish := func(name, store string, start time.Time, out []byte, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
		took := time.Since(start)
		t.Logf("%s: %.1f s, ratio %.2f: %s", name, took.Seconds(), took.Seconds()/one.Seconds(), out)
		d := *d
		d.home = filepath.Join(d.dir, store)
		for _, line := range chain {
			if computed, found := counts(t, d.run(t, strings.Fields(line)...)); computed != 0 || found != 2*n {
				t.Errorf("%s: %s: %d items computed, %d found; want 0 and %d", name, line, computed, found, 2*n)
			}
		}
		_ = d.command("backend", "stop").Run()
		equal(t, name, d.tables(t), want)
	}

	start = time.Now()
	out, err := submit("prism.store").Output()
	finish("Prism", "prism.store", start, out, err)

	endpoint := startFlink(t, d.command().Env)
	start = time.Now()
	flink := submit("flink.store", "--runner", "universal", "--endpoint", endpoint, "--parallelism", "2",
		"--commit", "2s")
	ended := make(chan struct{})
	go func() {
		out, err = flink.Output()
		close(ended)
	}()
	killed := 0
	for packs, victims := 0, map[int]bool{}; killed < 2; {
		select {
		case <-ended:
			t.Fatalf("Flink ended before two workers were killed: %v: %s", err, out)
		case <-time.After(50 * time.Millisecond):
		}
		names, _ := filepath.Glob(filepath.Join(d.dir, "flink.store", "items", "*", "*", "*.pack"))
		workers := slices.DeleteFunc(beamWorkers(t, beam), func(pid int) bool { return victims[pid] })
		if len(names) < packs+2 || len(workers) < 2 {
			continue
		}
		if err := syscall.Kill(workers[0], syscall.SIGKILL); err == nil {
			killed, packs, victims[workers[0]] = killed+1, len(names), true
		}
	}
	<-ended
	finish("Flink, two workers killed", "flink.store", start, out, err)
}

// beamWorkers lists the workers that a runner has started.
func beamWorkers(t *testing.T, program string) (pids []int) {
	t.Helper()
	list := must.Get(filepath.Glob("/proc/[0-9]*/cmdline"))(t)
	for _, name := range list {
		text, _ := os.ReadFile(name) // the process may have ended
		words := strings.Split(string(text), "\x00")
		if words[0] == program && slices.Contains(words, "--worker=true") {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
