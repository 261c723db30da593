package execmodel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"antipode/internal/must"
)

// group returns a group of the fake program, and the folder of its notes.
func group(t *testing.T, mode string, change func(*Options)) (*Group, string) {
	t.Helper()
	self := must.Get(os.Executable())(t)
	program, digest := must.Get2(Inspect(self))(t)
	dir := t.TempDir()
	o := Options{Program: program, Digest: digest, Args: []string{"child", mode, dir}, Task: Generate}
	if change != nil {
		change(&o)
	}
	g := must.Get(New(o))(t)
	g.pause, g.term = func(int) time.Duration { return time.Millisecond }, 200*time.Millisecond
	t.Cleanup(g.Close)
	return g, dir
}

// items are n items; prompts replace the first ones.
func items(n int, prompts ...string) (list []Item) {
	for i := range n {
		prompt := fmt.Sprintf("prompt %d <&>", i)
		if i < len(prompts) {
			prompt = prompts[i]
		}
		list = append(list, Item{ID: fmt.Sprintf("p%d#1", i), Prompt: prompt, Seed: uint64(i), Width: 16, Height: 8})
	}
	return list
}

// lines are those of a note.
func lines(t *testing.T, dir, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

func outcomes(answers []Answer) (list []string) {
	for _, a := range answers {
		list = append(list, a.Outcome)
	}
	return list
}

// noProcess fails the test if a process is running.
func noProcess(t *testing.T, pids []string) {
	t.Helper()
	for _, text := range pids {
		pid := must.Get(strconv.Atoi(text))(t)
		must.Fail(syscall.Kill(pid, 0))(t)
	}
}

// TestRun answers 10 items by three processes in batches of up to 4, twice.
func TestRun(t *testing.T) {
	g, dir := group(t, "ok", func(o *Options) { o.Workers = 3 })
	var share atomic.Value
	answers := must.Get(g.Run(t.Context(), items(10), func(s float64) { share.Store(s) }))(t)
	for i, a := range answers {
		if a.Outcome != OK || a.ID != fmt.Sprintf("p%d#1", i) || a.Extension != ".png" || len(a.Data) == 0 ||
			a.Meta["ms"] != 12.5 || a.Meta["note"] != "ab" {
			t.Errorf("answer %d: %v %q %q %v", i, a.Outcome, a.ID, a.Reason, a.Meta)
		}
	}
	must.Equal(t, share.Load(), 1.0, "the last share")
	again, err := g.Run(t.Context(), items(10), nil)
	if err != nil || !slices.Equal(again[7].Data, answers[7].Data) || slices.Equal(again[7].Data, again[6].Data) {
		t.Errorf("the second run: %v", err)
	}
	starts := lines(t, dir, "starts")
	if len(starts) > 3 || len(lines(t, dir, "answers")) != 20 {
		t.Errorf("%d processes, %d answers", len(starts), len(lines(t, dir, "answers")))
	}
	scratch := g.slots[0].scratch
	if files, err := os.ReadDir(scratch); err != nil || len(files) > 0 {
		t.Errorf("the scratch folder has %d files: %v", len(files), err)
	}
	g.Close()
	must.Fail(os.Stat(scratch))(t) // the scratch folder is removed
	noProcess(t, starts)
	must.Fail(g.Run(t.Context(), items(1), nil))(t) // a closed group
}

// TestFaults: every fault of a program becomes an error or failed rows, with a reason for the user.
func TestFaults(t *testing.T) {
	short := func(o *Options) { o.Timeout, o.Idle = 200*time.Millisecond, 100*time.Millisecond }
	for _, c := range []struct {
		mode   string
		change func(*Options)
		want   string // in the error or, with an outcome, in each reason
		all    string // outcome of each row
	}{
		{mode: "garbage", want: `line 2 of stdout is not JSON: "Loading pipeline components...". Fix: send prints to ` +
			`stderr`, all: Failed},
		{mode: "prints first", want: "line 1 of stdout is not JSON"},
		{mode: "long line", want: "longer than 1 MiB", all: Failed},
		{mode: "wrong id", want: `an answer to "other"`, all: Failed},
		{mode: "wrong batch", want: "while working on batch", all: Failed},
		{mode: "unknown type", want: `unknown type "pong"`, all: Failed},
		{mode: "no reason", want: "failed without a reason", all: Failed},
		{mode: "fatal", want: "no weights"},
		{mode: "symbolic link", want: "no regular file", all: Failed},
		{mode: "pipe", want: "no regular file", all: Failed},
		{mode: "outside", want: "not in the scratch folder", all: Failed},
		{mode: "no file", want: "no such file", all: Failed},
		{mode: "text", want: "neither PNG nor JPEG", all: Failed},
		{mode: "huge image", want: "20000×20000 pixels", all: Failed},
		{mode: "wrong size", want: "17×8 pixels; 16×8 were requested", all: Failed},
		{mode: "slow", change: short, want: "gave no answer within 200ms", all: Failed},
		{mode: "ignores terminate", change: short, want: "wrote nothing for 100ms", all: Failed},
		{mode: "refuses", want: "unsafe prompt", all: Refused},
		{mode: "grandchild", want: "exited while working on this row (2 times)", all: Failed},
		{mode: "resized", all: OK},
		{mode: "by name", all: OK},
		{mode: "double answer", all: OK}, // of the last row; see below
	} {
		t.Run(c.mode, func(t *testing.T) {
			t.Parallel()
			g, dir := group(t, c.mode, c.change)
			answers, err := g.Run(t.Context(), items(1), nil)
			if c.all == "" {
				must.Fail(err)(t, c.want)
			} else if err != nil || answers[0].Outcome != c.all || !strings.Contains(answers[0].Reason, c.want) {
				t.Errorf("%v, outcome %q, reason %q; want %q, %q", err, answers[0].Outcome, answers[0].Reason, c.all,
					c.want)
			}
			g.Close()
			noProcess(t, lines(t, dir, "starts"))
			for _, pid := range lines(t, dir, "grandchildren") {
				n, _ := strconv.Atoi(pid)
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		})
	}
}

// TestMasks: masks are those of the item's image, or the row is failed with a reason.
func TestMasks(t *testing.T) {
	for mode, want := range map[string]string{
		"ok":       "",
		"empty":    "",
		"no masks": `item "m" is ok without masks; where there is no object, the list is empty`,
		"large":    "the program's mask 1 cannot be used: 18×9 pixels; the image has 17×9",
		"jpeg":     "the program's mask 1 cannot be used: its file is no PNG",
		"link":     "the program's mask 1 cannot be used: it is not in the scratch folder",
		"box":      `item "m": the box of mask 1 needs a score`,
		"257":      `item "m" has 257 masks; at most 256 are allowed`,
		"runs":     "the program's mask 1 cannot be used: mask: counts end inside run 1",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			g, _ := group(t, mode, func(o *Options) { o.Task = Segment })
			item := Item{ID: "m", Image: "image.png", Text: "boat", Width: 17, Height: 9}
			list := must.Get(g.Run(t.Context(), []Item{item}, nil))(t)
			a := list[0]
			if want != "" {
				if a.Outcome != Failed || !strings.Contains(a.Reason, want) {
					t.Errorf("%s %q, want %q", a.Outcome, a.Reason, want)
				}
				return
			}
			b, err := Union(a.Masks, 17, 9)
			if n := b.Area(); err != nil || a.Outcome != OK || mode == "empty" && n+len(a.Masks) != 0 ||
				mode == "ok" && (n == 0 || n%9 != 0 || len(a.Masks) != 2 || a.Masks[0].Label != "a b") {
				t.Errorf("%+v, %d pixels, %v", a, n, err)
			}
		})
	}
}

// TestDoubleAnswer: a second answer to an item ends the process, and nothing is answered twice.
func TestDoubleAnswer(t *testing.T) {
	g, _ := group(t, "double answer", nil)
	must.EqualSlices(t, outcomes(must.Get(g.Run(t.Context(), items(3), nil))(t)), []string{OK, OK, OK})
	if log := g.logs[0].tail(5); len(log) > 0 {
		t.Error(log)
	}
}

// TestPoison: of 20 rows one ends the program; the others are computed once each.
func TestPoison(t *testing.T) {
	for _, workers := range []int{1, 3} {
		g, dir := group(t, "poison", func(o *Options) { o.Workers = workers })
		list := items(20)
		list[6].Prompt = "poison"
		answers := must.Get(g.Run(t.Context(), list, nil))(t)
		for i, a := range answers {
			want := OK
			if i == 6 {
				want = Failed
			}
			must.Equal(t, a.Outcome, want, "row", i, a.Reason)
		}
		if want := "the program exited while working on this row (2 times): signal: killed: cannot compute this" +
			"[31m"; answers[6].Reason != want {
			t.Errorf("reason %q, want %q", answers[6].Reason, want)
		}
		done := lines(t, dir, "answers")
		if slices.Sort(done); len(done) != 19 || len(slices.Compact(done)) != 19 {
			t.Errorf("%d workers: %d answers, %v", workers, len(done), done)
		}
	}
}

// TestKilled kills the process from outside twice, between answers.
func TestKilled(t *testing.T) {
	g, dir := group(t, "canceled", nil) // 0.1 s per item
	done := make(chan []Answer)
	go func() {
		answers := must.Get(g.Run(t.Context(), items(8), nil))(t)
		done <- answers
	}()
	for kills := 1; kills <= 2; kills++ {
		for len(lines(t, dir, "starts")) < kills || len(lines(t, dir, "answers")) < 2*kills {
			time.Sleep(5 * time.Millisecond)
		}
		pids := lines(t, dir, "starts")
		pid, _ := strconv.Atoi(pids[len(pids)-1])
		syscall.Kill(pid, syscall.SIGKILL)
	}
	answers := <-done
	if slices.ContainsFunc(answers, func(a Answer) bool { return a.Outcome != OK }) {
		t.Errorf("%v", outcomes(answers))
	}
	must.Equal(t, len(lines(t, dir, "starts")), 3, "processes")
}

// TestStops: a program that never answers stops the run after three restarts, with the end of standard error.
func TestStops(t *testing.T) {
	g, dir := group(t, "poison", nil)
	list := items(5, "poison", "poison", "poison", "poison", "poison")
	answers, err := g.Run(t.Context(), list, nil)
	if err == nil || !strings.Contains(err.Error(), "exited (signal: killed: cannot compute this") ||
		!strings.Contains(err.Error(), "standard error ends with:\ncannot compute this") {
		t.Errorf("error %v", err)
	}
	must.Equal(t, [2]int{len(lines(t, dir, "starts")), len(answers)}, [2]int{4, 5}, "processes answers")
}

// TestRestart: the unanswered items of a batch are sent again, one at a time.
func TestRestart(t *testing.T) {
	g, dir := group(t, "exit in batch", nil)
	answers, err := g.Run(t.Context(), items(6), nil)
	if err != nil || slices.ContainsFunc(answers, func(a Answer) bool { return a.Outcome != OK }) {
		t.Fatal(outcomes(answers), err)
	}
	must.EqualSlices(t, lines(t, dir, "batches"), []string{"4", "2", "1", "1", "1"}, "batches", "items")
}

// TestCancel: after a cancellation, programs that support it finish their items within the grace; the process of
// another is ended.
func TestCancel(t *testing.T) {
	for mode, reuse := range map[string]bool{"canceled": true, "deaf": false} {
		g, dir := group(t, mode, nil)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(250*time.Millisecond, cancel)
		start := time.Now()
		answers, err := g.Run(ctx, items(9), nil)
		if !errors.Is(err, context.Canceled) || time.Since(start) > 3*time.Second {
			t.Errorf("%s: %v after %s", mode, err, time.Since(start))
		}
		if reuse && !slices.Equal(outcomes(answers), []string{OK, OK, OK, OK, "", "", "", "", ""}) {
			t.Errorf("outcomes %q", outcomes(answers))
		}
		must.Equal(t, g.slots[0] != nil, reuse, mode, "the process is running")
		if !reuse {
			noProcess(t, lines(t, dir, "starts"))
		}
	}
}

// TestDisagree: two processes that report different models are an error.
func TestDisagree(t *testing.T) {
	g, _ := group(t, "other", func(o *Options) { o.Workers = 2 })
	must.Fail(g.Run(t.Context(), items(40), nil))(t, "different models")
}

// TestStderr: a flood of standard error neither blocks the program nor fills memory or disk, and secrets are replaced.
func TestStderr(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	g, _ := group(t, "floods stderr", func(o *Options) { o.Log = log })
	_ = must.Get(g.Run(t.Context(), items(20), nil))(t)
	g.Close()
	info, err := os.Stat(log + "-0.log")
	if err != nil || info.Size() > logSize || info.Size() < logSize/2 {
		t.Errorf("the log: %v, %v", info, err)
	}
	if g.logs[0].size > tailSize {
		t.Errorf("%d bytes in memory", g.logs[0].size)
	}

	t.Setenv("OTHER_TOKEN", "hidden")
	t.Setenv("PLAIN", "visible")
	g, _ = group(t, "secret", func(o *Options) { o.Secrets = map[string]string{"FAKE_TOKEN": "s3cret"} })
	_ = must.Get(g.Run(t.Context(), items(1), nil))(t)
	g.Close()
	if got := g.logs[0].last(); got != "token *** visible" && got != "token ***  visible" {
		t.Errorf("standard error is %q", got)
	}
}

// TestTooLong: a row whose text does not fit in a line is failed; the others are computed.
func TestTooLong(t *testing.T) {
	g, _ := group(t, "ok", nil)
	answers, err := g.Run(t.Context(), items(4, "a", strings.Repeat("x", maxLine), strings.Repeat("y", maxLine/4)), nil)
	if err != nil || !slices.Equal(outcomes(answers), []string{OK, Failed, OK, OK}) ||
		!strings.Contains(answers[1].Reason, "longer than the protocol allows") {
		t.Errorf("%v %v", outcomes(answers), err)
	}
}

// TestSilent: a program without a ready message is ended.
func TestSilent(t *testing.T) {
	g, dir := group(t, "silent", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	must.Fail(g.Ready(ctx))(t)
	noProcess(t, lines(t, dir, "starts"))
	p := must.Get(g.start(0))(t)
	defer p.kill(0)
	must.Fail(p.handshake(t.Context(), helloMessage{Type: "hello", Task: Generate}, 50*time.Millisecond))(t,
		"sent no ready within 50ms")
}

// TestExpect: a program that reports another model than in an earlier run is an error once, and forgotten.
func TestExpect(t *testing.T) {
	g, _ := group(t, "ok", nil)
	forgotten := 0
	g.Expect(&Ready{Name: "fake", Version: "0"}, func() { forgotten++ })
	must.Fail(g.Run(t.Context(), items(1), nil))(t, "in an earlier run")
	must.Equal(t, must.Get(g.Run(t.Context(), items(1), nil))(t)[0].Outcome, OK)
	must.Equal(t, forgotten, 1)
}

// TestSharedIDs: rows with one id in a batch have their own answers.
func TestSharedIDs(t *testing.T) {
	g, _ := group(t, "ok", nil)
	list := items(4)
	alone := must.Get(g.Run(t.Context(), list, nil))(t)
	for i := range list {
		list[i].ID = "p#1"
	}
	for i, a := range must.Get(g.Run(t.Context(), list, nil))(t) {
		if a.Outcome != OK || a.ID != "p#1" || !slices.Equal(a.Data, alone[i].Data) {
			t.Errorf("answer %d: %s %s %q", i, a.Outcome, a.ID, a.Reason)
		}
	}
}

// TestPaidOneEach: of items that cost money each process has one.
func TestPaidOneEach(t *testing.T) {
	g, dir := group(t, "paid", func(o *Options) { o.Workers = 2 })
	for i, a := range must.Get(g.Run(t.Context(), items(2), nil))(t) {
		must.Equal(t, a.Outcome, OK, "answer", i, a.Reason)
	}
	must.EqualSlices(t, lines(t, dir, "batches"), []string{"1", "1"}, "items of batches")
}
