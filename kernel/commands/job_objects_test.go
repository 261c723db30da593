package commands

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/remote/remotetest"
	"antipode/kernel/backend/store"
	"antipode/kernel/backend/store/storetest"
)

// TestArrayJobOfObjects computes the shards of a job whose table and store are in object storage, each on a machine of
// its own, while requests fail. Another machine then merges the store and writes the bytes of one machine.
func TestArrayJobOfObjects(t *testing.T) {
	workplace(t, 3)
	s, run := remotetest.New(t), inProcess(t)
	must := func(want string, args ...string) string {
		t.Helper()
		printed, err := run(args...)
		if err != nil || !strings.Contains(printed, want) {
			t.Fatalf("antipode %s: %q, %v, want %q", strings.Join(args, " "), printed, err, want)
		}
		return printed
	}
	lines := append([]string(nil), chain...)
	done := at(t, storetest.Dir(t))
	must("3 rows", "table", "--in", "prompts.csv", "--out", s.Object("run/prompts.csv"))
	for i := range lines {
		lines[i] = strings.Replace(lines[i], "prompts.csv", s.Object("run/prompts.csv"), 1)
		must("6 items computed", strings.Fields(lines[i])...)
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
	must("3 shards of tables with 3 rows, store s3://lab/job/store?", words...)
	if text, err := os.ReadFile("job.sbatch"); err != nil || !strings.Contains(string(text), "--store '"+url+"'") {
		t.Errorf("%s, %v; want the store", text, err)
	}
	work := func(i int, more ...string) (string, error) {
		t.Setenv(client.HomeVar, storetest.Dir(t))
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
		if printed, err := work(i); err != nil || !strings.Contains(printed, want) {
			t.Errorf("shard %d: %q, %v, want %s", i, printed, err, want)
		}
		if n == 0 {
			printed, err := run("job", "status", "job.json")
			if !isExit(err, exitStopped) || !strings.Contains(printed, "1 done, 2 not started") ||
				!strings.Contains(printed, "to submit again: --array=0-1") {
				t.Errorf("job status: %q, %v", printed, err)
			}
			must("--array=0-1\n", "job", "resubmit", "job.json")
			must("3 shards, 16 items to compute", "job", "plan", "job.json")
		}
		if left, err := filepath.Glob(filepath.Join(os.Getenv(client.HomeVar), "tasks", "*")); err != nil ||
			len(left) > 0 {
			t.Errorf("%q, %v; want nothing after the task", left, err)
		}
	}
	s.Faults(nil)
	if faults.Load() < 20 {
		t.Errorf("%d faults", faults.Load())
	}
	must("3 shards: 3 done\n", "job", "status", "job.json")
	must("3 shards, 0 items to compute", "job", "plan", "job.json")
	for i := range shards {
		if printed, err := work(i, "--store", s.Object("tasks/%i")); err != nil ||
			!strings.Contains(printed, "8 items computed") {
			t.Errorf("%q, %v", printed, err)
		}
	}
	must("3 shards: 3 done\n", "job", "status", "job.json", "--store", s.Object("tasks/%i"))

	for _, stores := range [][]string{{url}, {s.Object("tasks/1"), s.Object("tasks/0"), s.Object("tasks/2")}} {
		home := storetest.Dir(t)
		t.Setenv(client.HomeVar, home)
		must("0 damaged", append([]string{"store", "merge"}, stores...)...)
		done = at(t, home)
		for _, line := range lines {
			must(" 0 items computed, 6 found", strings.Fields(line)...)
		}
		done()
		got := tables(t)
		for name := range want {
			if got[name] != want[name] {
				t.Errorf("%s differs from that of one machine", name)
			}
		}
	}
}

// TestJobOfFolder computes a job of the images below a prefix, which no task but that of their shard reads.
func TestJobOfFolder(t *testing.T) {
	workplace(t, 1)
	s, run := remotetest.New(t), inProcess(t)
	b := must.Get(remote.Open(t.Context(), s.Parse(t, "")))(t)
	defer b.Close()
	for n := range 5 {
		must.Do(t, b.Put(t.Context(), fmt.Sprintf("photos/%d.png", n), []byte(pngOf(t, n+2))))
	}
	printed, err := run("job", "make", "--shards", "2", "--store", s.Object("store"), "--", "embed", "--model",
		"exec:./echo", "--in", s.Object("photos/"), "--out", "e.parquet")
	if err != nil || !strings.Contains(printed, "2 shards of tables with 5 rows") {
		t.Fatalf("%q, %v", printed, err)
	}
	for i, want := range []int{3, 2} {
		t.Setenv(client.HomeVar, storetest.Dir(t))
		var read atomic.Int64
		s.Faults(func(_ int64, r *http.Request) remotetest.Fault {
			if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/lab/photos/") {
				read.Add(1)
			}
			return remotetest.None
		})
		printed, err := run("work", "job.json", "--allow-exec", "echo", "--shard", fmt.Sprintf("%d/2", i))
		if err != nil || !strings.Contains(printed, fmt.Sprintf("%d items computed", want)) ||
			read.Load() != int64(want) {
			t.Errorf("%q, %v after %d images were read, want %d", printed, err, read.Load(), want)
		}
	}
	job := must.Get(os.ReadFile("job.json"))(t)
	must.Do(t, b.Put(t.Context(), "job.json", job))
	must.Do(t, os.Remove("job.json"))
	if printed, err := run("job", "status", s.Object("job.json")); err != nil ||
		!strings.Contains(printed, "2 shards: 2 done") {
		t.Errorf("%q, %v", printed, err)
	}
	must.Do(t, b.Put(t.Context(), "photos/6.png", []byte("another")))
	far := []string{"work", s.Object("job.json"), "--allow-exec", "echo", "--shard", "0/2"}
	if _, err := run(far...); !errors.As(err, new(usageError)) ||
		!strings.Contains(err.Error(), "has changed since the job was made") {
		t.Errorf("a further image: %v", err)
	}
	s.Faults(func(int64, *http.Request) remotetest.Fault { return remotetest.Broken })
	if _, err := run(far...); !isExit(err, exitUnreachable) {
		t.Errorf("%v, want exit status %d", err, exitUnreachable)
	}
	s.Faults(nil)
	far[1] = s.Object("none.json")
	if _, err := run(far...); !errors.As(err, new(usageError)) || !strings.Contains(err.Error(), "no such object") {
		t.Errorf("no job: %v", err)
	}
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

func isExit(err error, status int) bool {
	var exit exitError
	return errors.As(err, &exit) && exit.status == status
}

// TestWorkWithoutStorage ends a task whose storage fails with exit status 69, also for a moment, and goes on with what
// is on its disk.
func TestWorkWithoutStorage(t *testing.T) {
	workplace(t, 4)
	s, run := remotetest.New(t), inProcess(t)
	if printed, err := run(append([]string{"job", "make", "--shards", "2", "--store", s.Object("store"), "--"},
		strings.Fields(chain[0])...)...); err != nil {
		t.Fatalf("%q, %v", printed, err)
	}
	work := func() (string, error) { return run("work", "job.json", "--allow-exec", "echo", "--shard", "1/2") }
	s.Faults(func(int64, *http.Request) remotetest.Fault { return remotetest.Broken })
	_, err := work()
	if !isExit(err, exitUnreachable) || strings.Count(err.Error(), "no usable answer") != 1 {
		t.Errorf("%v, want exit status %d", err, exitUnreachable)
	}
	if _, err := run("job", "status", "job.json"); err == nil || isExit(err, exitStopped) ||
		!strings.Contains(err.Error(), "cannot read the state of the job") {
		t.Errorf("job status: %v", err)
	}
	s.Faults(func(_ int64, r *http.Request) remotetest.Fault {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/items/") {
			return remotetest.Unavailable
		}
		return remotetest.None
	})
	_, err = work()
	if !isExit(err, exitUnreachable) || strings.Count(err.Error(), "no usable answer") != 1 {
		t.Errorf("%v, want exit status %d", err, exitUnreachable)
	}
	printed, err := run("job", "status", "job.json")
	if !strings.Contains(printed, "1 failed, 1 not started") || !strings.Contains(printed, "no usable answer") {
		t.Errorf("job status: %q, %v", printed, err)
	}
	s.Faults(nil)
	if printed, err := work(); err != nil || !strings.Contains(printed, "0 items computed, 4 found") {
		t.Errorf("%q, %v; want that the items on the disk are found", printed, err)
	}
	s.Faults(func(int64, *http.Request) remotetest.Fault { return remotetest.Denied })
	if _, err = work(); err == nil || isExit(err, exitUnreachable) || !strings.Contains(err.Error(), "access denied") {
		t.Errorf("wrong credentials: %v", err)
	}
	for _, args := range [][]string{{"job", "make", "--shards", "2", "--out", "x.json", "--store",
		"s3://KEY:topsecret@b/s", "--", "generate"}, {"work", "job.json", "--shard", "1/2", "--store",
		"s3://KEY:topsecret@b/s"}, {"job", "status", "job.json", "--store", "s3://KEY:topsecret@b/s"}} {
		if args[1] == "make" {
			args = append(args, strings.Fields(chain[0])[1:]...)
		}
		if _, err := run(args...); !errors.As(err, new(usageError)) || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
