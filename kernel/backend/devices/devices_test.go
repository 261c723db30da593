package devices

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/must"
	_ "antipode/test/waiting"
)

// The environment of the children that these tests start.
const (
	childVar = "ANTIPODE_TEST_CHILD" // the device's name
	startVar = "ANTIPODE_TEST_START" // what happens at the start: "die" or ""
	logVar   = "ANTIPODE_TEST_LOG"   // a file: a line for each start and each row
)

func TestMain(m *testing.M) {
	if os.Getenv(childVar) == "" {
		os.Exit(m.Run())
	}
	noteLine("start " + os.Getenv(childVar))
	if os.Getenv(startVar) == "die" {
		fmt.Fprintln(os.Stderr, "the driver is too old")
		os.Exit(3)
	}
	if err := Serve(words{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func noteLine(line string) {
	f, err := os.OpenFile(os.Getenv(logVar), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		fmt.Fprintln(f, line)
		f.Close()
	}
}

// words is a computer whose rows say what happens to them.
type words struct{}

func (words) Open(Setup) (string, error) { return "words", nil }
func (words) Release(key string)         { noteLine("release " + key) }
func (words) Memory() (client.MemoryStatus, []client.ModelStatus) {
	return client.MemoryStatus{Resident: 7}, nil
}

func (words) Compute(ctx context.Context, b Batch) (r Result, err error) {
	b.Began()
	fmt.Println("a library writes to standard output")
	var out []string
	for i, word := range b.Rows.Texts("word") {
		noteLine("row " + word)
		switch kind, _, _ := strings.Cut(word, " "); kind {
		case "wait":
			select {
			case <-time.After(300 * time.Millisecond):
			case <-ctx.Done():
				return r, ctx.Err()
			}
		case "exit":
			os.Exit(4)
		case "sick":
			if os.Getenv(childVar) == "a" {
				return r, fmt.Errorf("%w: too hot", ErrDevice)
			}
		case "panic":
			panic("of a stage")
		case "wrong":
			return r, errors.New("wrong word")
		case "bad":
			r.Bad = append(r.Bad, BadRow{i, "word", "is bad"})
			continue
		}
		b.Step(i+1, b.Rows.Len())
		r.Rows, out = append(r.Rows, i), append(out, word+" on "+os.Getenv(childVar))
	}
	r.Frame = &table.Frame{Columns: []table.Column{table.TextColumn("out", out)}}
	r.Files = []File{{Name: "f", Extension: ".x", Size: 3, Data: []byte("\n\x00\n")}}
	return r, nil
}

// newSet returns a set of devices, whose children have env in addition, and the path of their log.
func newSet(t *testing.T, patience time.Duration, names ...string) (s *Set, log string) {
	t.Parallel() // they wait most of the time
	log = filepath.Join(t.TempDir(), "log")
	o := Options{Log: os.Stderr, Patience: patience, Command: func() *exec.Cmd {
		return exec.Command(os.Args[0])
	}}
	for _, name := range names {
		name, dies := strings.CutSuffix(name, " dies")
		env := []string{childVar + "=" + name, logVar + "=" + log}
		if dies {
			env = append(env, startVar+"=die")
		}
		o.Devices = append(o.Devices, Device{Name: name, Env: env})
	}
	s = New(o)
	t.Cleanup(s.Close)
	return s, log
}

func wordBatch(job string, words ...string) Batch {
	return Batch{Job: job, Rows: &table.Frame{Columns: []table.Column{table.TextColumn("word", words)}}}
}

// all computes batches at once, and returns the results without the devices' names.
func all(t *testing.T, s *Set, batches ...Batch) (results []Result) {
	t.Helper()
	results = make([]Result, len(batches))
	var wait sync.WaitGroup
	for i, b := range batches {
		wait.Go(func() {
			var err error
			if results[i], err = s.Compute(t.Context(), b); err != nil {
				t.Errorf("batch %d: %v", i, err)
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return results
}

func lines(t *testing.T, log, prefix string) (n int) {
	t.Helper()
	data := must.Get(os.ReadFile(log))(t)
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// alive returns the processes of a set.
func alive(s *Set) (pids []int) {
	for _, d := range s.Status() {
		if d.PID > 0 {
			pids = append(pids, d.PID)
		}
	}
	return pids
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// TestBatches: several devices share the batches, results are complete, and what a stage writes to standard output does
// no harm. Devices start only when they are needed.
func TestBatches(t *testing.T) {
	s, log := newSet(t, 0, "a", "b", "c")
	if got := all(t, s, wordBatch("one", "first", "bad", "third")); len(got[0].Bad) != 1 || got[0].Bad[0].Row != 1 ||
		!slices.Equal(got[0].Rows, []int{0, 2}) || !bytes.Equal(got[0].Files[0].Data, []byte("\n\x00\n")) ||
		got[0].Frame.Texts("out")[1] != "third on a" {
		t.Errorf("got %+v", got)
	}
	must.Equal(t, lines(t, log, "start"), 1, "devices were started for one batch")
	used := map[string]int{}
	for i, r := range all(t, s, slices.Repeat([]Batch{wordBatch("one", "wait", "x")}, 12)...) {
		word, device, _ := strings.Cut(r.Frame.Texts("out")[1], " on ")
		if used[device]++; word != "x" {
			t.Errorf("batch %d: %q", i, r.Frame.Texts("out"))
		}
	}
	must.Equal(t, len(used), 3, "the devices computed")
	items := int64(0)
	for _, d := range s.Status() {
		if items += d.Computed; d.Rate <= 0 || d.State != "idle" || d.Memory.Resident != 7 || d.Description != "words" {
			t.Errorf("status %+v", d)
		}
	}
	must.Equal(t, items, 2+24, "items computed")
}

// TestErrors: the errors of a batch are those of its stage, and leave the process as it is.
func TestErrors(t *testing.T) {
	s, log := newSet(t, 0, "a")
	got := all(t, s, wordBatch("", "wrong"), wordBatch("", "panic"), wordBatch("", "fine"))
	if e := got[0].Err; e == nil || e.Code != table.CodeFailed || e.Message != "wrong word" {
		t.Errorf("a wrong word: %+v", e)
	}
	if e := got[1].Err; e == nil || e.Code != table.CodeInternal || !strings.Contains(e.Message, "of a stage") {
		t.Errorf("a panic: %+v", e)
	}
	must.True(t, got[2].Err == nil && lines(t, log, "start") == 1, "then: %+v", got[2])
}

// TestKilled kills one of two processes while it computes: its batches are computed by others, each row of the result
// once, and the device is used again.
func TestKilled(t *testing.T) {
	s, log := newSet(t, 0, "a", "b")
	all(t, s, wordBatch("", "wait 1"), wordBatch("", "wait 2"))
	before := alive(s)
	time.AfterFunc(200*time.Millisecond, func() { syscall.Kill(before[0], syscall.SIGKILL) })
	var batches []Batch
	for i := range 8 {
		batches = append(batches, wordBatch("", fmt.Sprint("wait row ", i)))
	}
	for i, r := range all(t, s, batches...) {
		out, want := r.Frame.Texts("out"), fmt.Sprintf("wait row %d on", i)
		must.True(t, len(out) == 1 && strings.HasPrefix(out[0], want), "batch %d: %q", i, out)
	}
	if len(before) != 2 || lines(t, log, "start") != 3 || slices.Contains(alive(s), before[0]) {
		t.Errorf("processes %v, then %v; %d starts", before, alive(s), lines(t, log, "start"))
	}
	must.Has(t, s.Status()[0].Reason, "killed") // the reason of the failure
}

// TestDiesAtStart: a device that fails three times is taken out with one line; the other one computes its batches.
func TestDiesAtStart(t *testing.T) {
	s, log := newSet(t, 0, "a dies", "b")
	var notes []string
	for i, r := range all(t, s, slices.Repeat([]Batch{wordBatch("", "wait")}, 12)...) {
		if notes = append(notes, r.Notes...); r.Frame.Texts("out")[0] != "wait on b" {
			t.Errorf("batch %d: %q", i, r.Frame.Texts("out"))
		}
	}
	slices.Sort(notes)
	if notes = slices.Compact(notes); len(notes) != 1 || !strings.Contains(notes[0],
		"device a failed 3 times without a result and is not used any more: exit status 3: the driver is too old") {
		t.Errorf("notes %q", notes)
	}
	if d := s.Status()[0]; d.State != "out" || s.Len() != 1 || lines(t, log, "start a") != 3 {
		t.Errorf("status %+v, %d starts", d, lines(t, log, "start a"))
	}
}

// TestLastDevice: when the last device fails, the batches fail; the next job tries all devices again.
func TestLastDevice(t *testing.T) {
	s, log := newSet(t, 0, "a dies", "b dies")
	for job := range 2 {
		_, err := s.Compute(t.Context(), wordBatch(fmt.Sprint(job), "word"))
		const want = "no device is left: a: exit status 3: the driver is too old; b: "
		must.Err(t, err, want)
	}
	must.Equal(t, lines(t, log, "start"), 12, "starts")
}

// TestFatalRows: rows that end every process are an error, and the batches of other jobs are computed.
func TestFatalRows(t *testing.T) {
	s, _ := newSet(t, 0, "a", "b", "c")
	failed := make(chan error, 1)
	go func() {
		_, err := s.Compute(t.Context(), wordBatch("fatal", "exit"))
		failed <- err
	}()
	all(t, s, slices.Repeat([]Batch{wordBatch("other", "wait")}, 12)...)
	must.Err(t, <-failed, "the process that computed this ended 3 times")
	must.Equal(t, s.Len(), 3, "devices are left")
}

// TestSick: a device that does not compute any more ends its process, and the batch goes to the other.
func TestSick(t *testing.T) {
	s, log := newSet(t, 0, "a", "b")
	all(t, s, wordBatch("", "wait"), wordBatch("", "wait"))
	for _, r := range all(t, s, wordBatch("", "sick"), wordBatch("", "sick")) {
		must.Equal(t, r.Frame.Texts("out")[0], "sick on b")
	}
	if d := s.Status()[0]; !strings.Contains(d.Reason, "too hot") || lines(t, log, "row sick") < 3 {
		t.Errorf("the reason is %q, %d rows were computed", d.Reason, lines(t, log, "row sick"))
	}
}

// TestOtherDevice: a batch that ended a process goes to another one, which is started for it.
func TestOtherDevice(t *testing.T) {
	s, _ := newSet(t, 0, "a", "b")
	must.Equal(t, all(t, s, wordBatch("", "sick"))[0].Frame.Texts("out")[0], "sick on b")
}

// TestFrozen: a process that does not answer is killed, and its batch is computed by another.
func TestFrozen(t *testing.T) {
	s, _ := newSet(t, 2*client.Beat, "a")
	all(t, s, wordBatch("", "wait"))
	frozen := alive(s)[0]
	must.Do(t, syscall.Kill(frozen, syscall.SIGSTOP))
	must.Equal(t, all(t, s, wordBatch("", "wait"))[0].Frame.Texts("out")[0], "wait on a")
	if d := s.Status()[0]; !gone(frozen) || !strings.Contains(d.Reason, "did not answer for 2s") {
		t.Errorf("process %d, status %+v", frozen, d)
	}
}

// TestCancel: canceled batches end, whether they wait or are computed, and the process goes on.
func TestCancel(t *testing.T) {
	s, log := newSet(t, 0, "a")
	all(t, s, wordBatch("", "word"))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	for range 5 {
		go func() {
			r, err := s.Compute(ctx, wordBatch("", slices.Repeat([]string{"wait"}, 100)...))
			if err == nil && r.Err != nil {
				err = r.Err
			}
			ended <- err
		}()
	}
	must.Within(t, time.Minute, "the first batch", func() bool { return lines(t, log, "row wait") > 0 })
	cancel()
	for range 5 {
		must.Err(t, <-ended, context.Canceled.Error())
	}
	n := lines(t, log, "row wait")
	must.True(t, n <= 10, "%d rows were computed", n)
	all(t, s, wordBatch("", "word"))
	must.Equal(t, lines(t, log, "start"), 1, "starts")
}

// TestTurns: a job with one batch does not wait for all batches of another.
func TestTurns(t *testing.T) {
	s, log := newSet(t, 0, "a")
	done := make(chan bool)
	go func() {
		all(t, s, slices.Repeat([]Batch{wordBatch("long", "wait")}, 10)...)
		close(done)
	}()
	must.Within(t, time.Minute, "the long job's begin", func() bool {
		_, err := os.Stat(log)
		return err == nil && lines(t, log, "row") > 0
	})
	all(t, s, wordBatch("short", "word"))
	n := lines(t, log, "row wait")
	must.True(t, n <= 5, "the short job waited for %d batches", n)
	<-done
}

// TestUse: the children close a stage when its last user has left.
func TestUse(t *testing.T) {
	s, log := newSet(t, 0, "a")
	stage := Stage{Op: "op"}
	one, two := s.Use(&stage), s.Use(&stage)
	all(t, s, wordBatch("", "word"))
	one()
	all(t, s, wordBatch("", "word"))
	must.Equal(t, lines(t, log, "release"), 0, "stages were closed that a job uses")
	two()
	must.Within(t, time.Minute, "the end of the stage", func() bool {
		return lines(t, log, "release "+stage.Key()) == 1
	})
}

// TestClose: the processes end, the one that computes too, and batches that are not done fail.
func TestClose(t *testing.T) {
	s, log := newSet(t, 0, "a", "b")
	ended := make(chan error)
	for range 6 {
		go func() {
			_, err := s.Compute(t.Context(), wordBatch("", slices.Repeat([]string{"wait"}, 100)...))
			ended <- err
		}()
	}
	must.Within(t, time.Minute, "two processes", func() bool {
		_, err := os.Stat(log)
		return err == nil && lines(t, log, "row") > 1 && len(alive(s)) == 2
	})
	pids := alive(s)
	start := time.Now()
	s.Close()
	took := time.Since(start)
	must.True(t, took <= leaveTime, "it took %v", took)
	for range 6 {
		must.Is(<-ended)(t, ErrClosed) // a batch
	}
	for _, pid := range pids {
		must.True(t, gone(pid), "process %d goes on", pid)
	}
	must.Is(s.Compute(t.Context(), wordBatch("", "word")))(t, ErrClosed) // a batch after the end
}

// TestOrphan: a child ends with its parent.
func TestOrphan(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=a", logVar+"="+filepath.Join(t.TempDir(), "log"))
	stdin := must.Get(cmd.StdinPipe())(t)
	must.Do(t, cmd.Start())
	stdin.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("it goes on without its parent")
		cmd.Process.Kill()
	}
}

func reader(data []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(data)) }

// TestTruncated: a message that is cut off anywhere is an error, and so is what is no message.
func TestTruncated(t *testing.T) {
	var b bytes.Buffer
	m := message{Type: doneType, Batch: 3, Rows: []int{0}, Files: []File{{Name: "f", Size: 2, Data: []byte("ab")}},
		frame: wordBatch("", "word").Rows}
	must.Do(t, newWriter(&b).send(m))
	data := b.Bytes()
	for n := range len(data) {
		if _, err := receive(reader(data[:n])); err == nil {
			t.Fatalf("%d of %d bytes are a message", n, len(data))
		}
	}
	got := must.Get(receive(reader(data)))(t)
	must.Equal(t, string(got.Files[0].Data), "ab")
	must.Equal(t, got.frame.Texts("word")[0], "word")
	for _, text := range []string{"no JSON", `{"files":[{"size":-1}]}`, `{"files":[{"size":9999999999}]}`} {
		must.Fail(receive(reader([]byte(text + "\n"))))(t)
	}
}

// releasing is a computer that tells each batch whether the stage was released before.
type releasing struct {
	words
	released atomic.Bool
	batches  chan bool
}

func (r *releasing) Release(string) {
	time.Sleep(10 * time.Millisecond)
	r.released.Store(true)
}

func (r *releasing) Compute(context.Context, Batch) (Result, error) {
	r.batches <- r.released.Load()
	return Result{}, nil
}

// TestReleasedBeforeTheNextBatch: a batch that follows the end of its stage does not get the worker that is closed.
func TestReleasedBeforeTheNextBatch(t *testing.T) {
	var in bytes.Buffer
	w := newWriter(&in)
	must.Do(t, w.send(message{Type: closeType, Key: "k"}))
	must.Do(t, w.send(message{Type: batchType, Batch: 1, Stage: &Stage{}, frame: &table.Frame{}}))
	r := &releasing{batches: make(chan bool, 1)}
	must.Do(t, serve(r, &in, io.Discard))
	must.True(t, <-r.batches, "the batch came before the release")
}
