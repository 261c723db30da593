package commands

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/remote/remotetest"
)

// TestJobOfFolder computes a job of the images below a prefix, which no task but that of their shard reads.
func TestJobOfFolder(t *testing.T) {
	workplace(t, 1)
	s, run := remotetest.New(t), inProcess(t)
	b := must.Get(remote.Open(t.Context(), s.Parse(t, "")))(t)
	defer b.Close()
	for n := range 5 {
		must.Do(t, b.Put(t.Context(), fmt.Sprintf("photos/%d.png", n), []byte(pngOf(t, n+2))))
	}
	prints(run("job", "make", "--shards", "2", "--store", s.Object("store"), "--", "embed", "--model",
		"exec:./echo", "--in", s.Object("photos/"), "--out", "e.parquet"))(t, "2 shards of tables with 5 rows")
	for i, want := range []int{3, 2} {
		t.Setenv(client.HomeVar, t.TempDir())
		var read atomic.Int64
		s.Faults(func(_ int64, r *http.Request) remotetest.Fault {
			if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/lab/photos/") {
				read.Add(1)
			}
			return remotetest.None
		})
		printed := must.Get(run("work", "job.json", "--allow-exec", "echo", "--shard", fmt.Sprintf("%d/2", i)))(t)
		must.Has(t, printed, fmt.Sprintf("%d items computed", want))
		must.Equal(t, read.Load(), int64(want), want)
	}
	job := must.Get(os.ReadFile("job.json"))(t)
	must.Do(t, b.Put(t.Context(), "job.json", job))
	must.Do(t, os.Remove("job.json"))
	prints(run("job", "status", s.Object("job.json")))(t, "2 shards: 2 done")
	must.Do(t, b.Put(t.Context(), "photos/6.png", []byte("another")))
	far := []string{"work", s.Object("job.json"), "--allow-exec", "echo", "--shard", "0/2"}
	misused(run(far...))(t, "has changed since the job was made") // a further image
	s.Faults(func(int64, *http.Request) remotetest.Fault { return remotetest.Broken })
	if _, err := run(far...); !isExit(err, exitUnreachable) {
		t.Errorf("%v, want exit status %d", err, exitUnreachable)
	}
	s.Faults(nil)
	far[1] = s.Object("none.json")
	misused(run(far...))(t, "no such object")
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
	must.Has(t, printed, "1 failed, 1 not started", "no usable answer")
	s.Faults(nil)
	must.Has(t, must.Get(work())(t), "0 items computed, 4 found")
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
		misused(run(args...))(t)
	}
}
