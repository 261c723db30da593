//go:build torture

package commands

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/remote/remotetest"
)

// TestArrayJobOfObjects computes the shards of a job whose table and store are in object storage, each on a machine of
// its own, while requests fail. Another machine then merges the store and writes the bytes of one machine.
func TestArrayJobOfObjects(t *testing.T) {
	workplace(t, 3)
	s, run := remotetest.New(t), inProcess(t)
	says := func(want string, args ...string) string {
		t.Helper()
		return prints(run(args...))(t, want)
	}
	lines := append([]string(nil), chain...)
	done := at(t, t.TempDir())
	says("3 rows", "table", "--in", "prompts.csv", "--out", s.Object("run/prompts.csv"))
	for i := range lines {
		lines[i] = strings.Replace(lines[i], "prompts.csv", s.Object("run/prompts.csv"), 1)
		says("6 items computed", strings.Fields(lines[i])...)
	}
	done()
	want := tables(t)
	if len(want) != 4+6 {
		t.Fatalf("%d files, want 4 tables and 6 images", len(want))
	}

	const shards = 3
	url := s.Object("job/store")
	words := []string{"job", "make", "--shards", fmt.Sprint(shards), "--for", "slurm", "--store", url}
	for _, line := range lines {
		words = append(append(words, "--"), strings.Fields(line)...)
	}
	says("3 shards of tables with 3 rows, store s3://lab/job/store?", words...)
	must.Has(t, string(must.Get(os.ReadFile("job.sbatch"))(t)), "--store '"+url+"'")
	work := func(i int, more ...string) (string, error) {
		t.Setenv(client.HomeVar, t.TempDir())
		return run(append([]string{"work", "job.json", "--allow-exec", "echo", "--shard",
			fmt.Sprintf("%d/%d", i, shards)}, more...)...)
	}
	if _, err := run("job", "status", "job.json"); !isExit(err, exitStopped) {
		t.Errorf("job status of a job that has not begun: %v", err)
	}
	var faults atomic.Int64
	s.Faults(func(n int64, r *http.Request) remotetest.Fault {
		if n%4 != 0 {
			return remotetest.None
		}
		faults.Add(1)
		if r.Method == http.MethodGet {
			return remotetest.Cut
		}
		return []remotetest.Fault{remotetest.Unavailable, remotetest.Broken}[n/4%2]
	})
	for n, i := range []int{2, 0, 0, 1} { // one of them twice
		want := "8 items computed, 0 found"
		if n == 2 {
			want = "0 items computed, 8 found"
		}
		must.Has(t, must.Get(work(i))(t), want)
		if n == 0 {
			printed, err := run("job", "status", "job.json")
			if !isExit(err, exitStopped) || !strings.Contains(printed, "1 done, 2 not started") ||
				!strings.Contains(printed, "to submit again: --array=0-1") {
				t.Errorf("job status: %q, %v", printed, err)
			}
			says("--array=0-1\n", "job", "resubmit", "job.json")
			says("3 shards, 16 items to compute", "job", "plan", "job.json")
		}
		must.Equal(t, len(must.Get(filepath.Glob(filepath.Join(os.Getenv(client.HomeVar), "tasks", "*")))(t)), 0,
			"nothing after the task")
	}
	s.Faults(nil)
	if faults.Load() < 20 {
		t.Errorf("%d faults", faults.Load())
	}
	says("3 shards: 3 done\n", "job", "status", "job.json")
	says("3 shards, 0 items to compute", "job", "plan", "job.json")
	for i := range shards {
		must.Has(t, must.Get(work(i, "--store", s.Object("tasks/%i")))(t), "8 items computed")
	}
	says("3 shards: 3 done\n", "job", "status", "job.json", "--store", s.Object("tasks/%i"))

	for _, stores := range [][]string{{url}, {s.Object("tasks/1"), s.Object("tasks/0"), s.Object("tasks/2")}} {
		home := t.TempDir()
		t.Setenv(client.HomeVar, home)
		says("0 damaged", append([]string{"store", "merge"}, stores...)...)
		done = at(t, home)
		for _, line := range lines {
			says(" 0 items computed, 6 found", strings.Fields(line)...)
		}
		done()
		got := tables(t)
		for name := range want {
			must.True(t, got[name] == want[name], "%s differs from that of one machine", name)
		}
	}
}
