package commands

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"antipode/internal/must"
	"antipode/kernel/client"
	"antipode/kernel/remote"
	"antipode/kernel/remote/remotetest"
	"antipode/kernel/store"
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
	done := at(t, t.TempDir())
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
		home := t.TempDir()
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
		t.Setenv(client.HomeVar, t.TempDir())
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

// TestTaskIsEnded ends tasks that have committed nothing yet: what is finished is in object storage when they end, and
// another machine finds it.
func TestTaskIsEnded(t *testing.T) {
	workplace(t, 300)
	s, run := remotetest.New(t), inProcess(t)
	if _, err := run(append(strings.Fields("job make --shards 2 -- "+chain[0]), "--batch", "1")...); err != nil {
		t.Fatal(err)
	}
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
			images := func() int {
				names, _ := filepath.Glob(filepath.Join(home, "tasks", "*", "blobs", "*", "*.png"))
				return len(names)
			}
			for deadline := time.Now().Add(2 * time.Minute); images() < 5; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					_ = task.Process.Kill()
					t.Fatal("no images within two minutes")
				}
			}
			must.Do(t, task.Process.Signal(signal))
			_ = task.Wait()
			if code := task.ProcessState.ExitCode(); code != exit {
				t.Errorf("exit status %d, want %d", code, exit)
			}
			if left, err := filepath.Glob(filepath.Join(home, "tasks", "*")); err != nil || len(left) > 0 {
				t.Errorf("%q, %v; want nothing after the task", left, err)
			}
			printed, err := run("job", "status", "job.json", "--store", args[len(args)-1])
			if !isExit(err, exitStopped) || !strings.Contains(printed, "1 stopped, 1 not started") {
				t.Errorf("job status: %q, %v", printed, err)
			}
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
		if _, err := run(strings.Fields(line)...); err != nil {
			t.Fatal(err)
		}
	}
	done()
	want := tables(t)
	url := s.Object("store")
	words := append([]string{"job", "make", "--shards", "1", "--store", url, "--"}, strings.Fields(lines[0])...)
	words = append(append(words, "--"), strings.Fields(lines[1])...)
	if _, err := run(append(words, "--batch", "1")...); err != nil {
		t.Fatal(err)
	}
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
		if printed, err := run(strings.Fields(line)...); err != nil || !strings.Contains(printed, " 0 items computed") {
			t.Errorf("%s: %q, %v", line, printed, err)
		}
	}
	done()
	for name, content := range tables(t) {
		if want[name] != content {
			t.Errorf("%s differs from that of one machine", name)
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("%d files are missing", len(want))
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
		items += of.Len()
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
