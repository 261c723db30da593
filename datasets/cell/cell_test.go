package cell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"antipode/datasets/table"
	"antipode/internal/must"
	_ "antipode/test/waiting"
)

// TestMain lets the test's own program be a cell: $CELL_TEST names what it does. There is no GoNB behind its pipe, so
// nothing is displayed.
func TestMain(m *testing.M) {
	switch os.Getenv("CELL_TEST") {
	case "fail":
		Fail(nil)
		Fail(errors.New("photos.csv, row 7:\n  no such file\r\nfix the path"))
	case "obedient":
		ctx, stop := Context()
		defer stop()
		os.Stdout.WriteString("waiting\n")
		<-ctx.Done()
		Fail(ctx.Err())
	case "stubborn":
		_, stop := Context()
		defer stop()
		os.Stdout.WriteString("waiting\n")
		time.Sleep(time.Minute)
	case "stopped": // after stop an interrupt is nobody's: it ends the process
		_, stop := Context()
		stop()
		os.Stdout.WriteString("waiting\n")
		time.Sleep(time.Minute)
	default:
		os.Exit(m.Run())
	}
	os.Exit(3)
}

// asCell runs the test's program as a cell that does something, interrupts it once it waits, and gives its standard
// error, exit status and how long it took after that.
func asCell(t *testing.T, what string) (stderr string, status int, took time.Duration) {
	t.Helper()
	program := must.Get(os.Executable())(t)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "CELL_TEST="+what, protocol.GONB_PIPE_ENV+"=/nonexistent/pipe")
	var errors strings.Builder
	cmd.Stderr = &errors
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	start := time.Now()
	if n, _ := io.ReadFull(out, make([]byte, len("waiting\n"))); n > 0 {
		start = time.Now()
		must.Do(t, cmd.Process.Signal(os.Interrupt))
	}
	_ = cmd.Wait() // its status is what is tested
	return errors.String(), cmd.ProcessState.ExitCode(), time.Since(start)
}

func TestFailInNotebook(t *testing.T) {
	t.Parallel()
	stderr, status, _ := asCell(t, "fail")
	if want := "photos.csv, row 7: · no such file · fix the path\n"; !strings.HasSuffix(stderr, want) || status != 1 {
		t.Errorf("status %d, standard error %q, want 1 and %q", status, stderr, want)
	}
	must.True(t, !strings.Contains(stderr, "goroutine"), "standard error holds a trace: %q", stderr)
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]struct {
		status      int
		says        string
		least, most time.Duration
	}{
		"obedient": {130, "interrupted\n", 0, patience},
		"stubborn": {130, "interrupted\n", patience - 100*time.Millisecond, patience + 1500*time.Millisecond},
		"stopped":  {-1, "", 0, time.Second}, // by the signal
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			stderr, status, took := asCell(t, what)
			if status != want.status || !strings.HasSuffix(stderr, want.says) || took < want.least || took > want.most {
				t.Errorf("status %d after %v, standard error %q, want %+v", status, took, stderr, want)
			}
		})
	}
}

// In a program a failure panics with the error itself, and an interrupt cancels the context.
func TestOutsideNotebook(t *testing.T) {
	if InNotebook() {
		t.Fatal("a test is no notebook")
	}
	want := &table.Error{Code: table.CodeFailed, Message: "x"}
	func() {
		defer func() {
			must.Equal(t, recover(), any(want), "panicked with")
		}()
		Fail(want)
	}()
	Fail(nil)
	ctx, stop := Context()
	defer stop()
	must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
		t.Error("an interrupt does not cancel the context")
	}
	interrupted.Store(false)
	must.Equal(t, ctx.Err(), context.Canceled, "error")
}

func TestImage(t *testing.T) {
	got := Image("image/svg+xml", []byte(`<svg onload="alert(1)"/>`), `a "caption" <script>`)
	want := `<img alt="a &#34;caption&#34; &lt;script&gt;" src="data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+">`
	must.Equal(t, got, want)
}

// recorder is a Progress that notes what is drawn.
type recorder struct {
	mu    sync.Mutex
	drawn []string
}

func (r *recorder) add(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drawn = append(r.drawn, s)
}

func (r *recorder) progress() *Progress {
	return newProgress(func(p table.Progress) { r.add(progressText(p)) }, func() { r.add("cleared") })
}

// Progress shorter than a second is never seen; longer, it shows the latest state, changes in place and is gone at
// the end.
func TestProgress(t *testing.T) { synctest.Test(t, testProgress) }

func testProgress(t *testing.T) {
	var short recorder
	p := short.progress()
	p.Update(table.Progress{Stage: "a", Done: 1, Total: 2})
	time.Sleep(appear / 4)
	p.Close()
	p.Close()
	p.Update(table.Progress{Stage: "late"})

	var idle recorder // with -race: its timer ticks without an update
	p = idle.progress()
	time.Sleep(2 * appear)
	p.Close()
	must.Equal(t, len(idle.drawn), 0, "drew", idle.drawn, "without an update")

	var long recorder
	p = long.progress()
	p.Update(table.Progress{Stage: "a", Done: 1, Total: 9})
	p.Update(table.Progress{Stage: "a", Done: 2, Total: 9})
	time.Sleep(appear + interval/2)
	for i := range 20 {
		p.Update(table.Progress{Stage: "b", Done: i, Total: 20})
	}
	time.Sleep(2 * interval)
	p.Close()
	time.Sleep(2 * interval)
	if got, want := long.drawn, []string{"a: 2 of 9", "b: 19 of 20", "cleared"}; !slices.Equal(got, want) {
		t.Errorf("drew %q, want %q", got, want)
	}
	must.Equal(t, len(short.drawn), 0, "drew", short.drawn, "within a second")
}

func TestProgressText(t *testing.T) {
	for _, test := range []struct {
		p    table.Progress
		want string
	}{
		{table.Progress{Stage: "load"}, "load"},
		{table.Progress{Stage: "embed\nvit", Done: 3}, "embed · vit: 3"},
		{table.Progress{Stage: "embed", Done: 120, Total: 400, Rate: 17.5}, "embed: 120 of 400, 17.5/s, 16 s left"},
		{table.Progress{Stage: "embed", Total: 4000, Rate: 4}, "embed: 0 of 4000, 4/s, 17 min left"},
		{table.Progress{Stage: "embed", Total: 40000, Rate: 4}, "embed: 0 of 40000, 4/s, 2.8 h left"},
		{table.Progress{Stage: "embed", Done: 4, Total: 4, Rate: 4}, "embed: 4 of 4, 4/s"},
		{table.Progress{Stage: "generate", Total: 1, Step: 40, Steps: 50, Part: 0.8, Rate: 0.01},
			"generate: 0 of 1, step 40 of 50, 0.01/s, 20 s left"},
	} {
		must.Equal(t, progressText(test.p), test.want)
	}
	got := progressHTML(table.Progress{Stage: "<script>", Done: 1, Total: 2})
	must.True(t, !strings.Contains(got, "<script>") && strings.Contains(got, `max="2" value="1"`), "HTML is %s", got)
}

// TestProgressSamples: the strip stays while the stage reports nothing newer, is bounded, escapes its captions, and
// goes with its stage.
func TestProgressSamples(t *testing.T) {
	var last table.Progress
	p := newProgress(func(v table.Progress) { last = v }, func() {})
	defer p.Close()
	draw := func(v table.Progress) string {
		p.Update(v)
		p.tick()
		return progressHTML(last)
	}
	var many []table.Sample
	for i := range table.MaxSamples + 3 {
		many = append(many, table.Sample{Caption: string(rune('a' + i)), Thumb: []byte{byte(i)}})
	}
	many = append(many, table.Sample{Caption: "no image"})
	many[len(many)-2].Caption = `"><script>alert(1)</script>` + "\nnext"
	for i, v := range []table.Progress{{Stage: "draw", Done: 1, Total: 9, Samples: many},
		{Stage: "draw", Done: 2, Total: 9, Step: 3, Steps: 4}, {Note: "a note"}} {
		got := draw(v)
		if n := strings.Count(got, "<img "); n != table.MaxSamples-1 || strings.Contains(got, "no image") {
			t.Errorf("report %d shows %d images, want %d: %s", i+1, n, table.MaxSamples-1, got)
		}
		if strings.Contains(got, "<script") || strings.Contains(got, `alt=""`) ||
			!strings.Contains(got, "&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt; · next</figcaption>") {
			t.Errorf("captions: %s", got)
		}
	}
	must.Has(t, progressHTML(last), "draw: 2 of 9, step 3 of 4") // a note changes nothing in the line
	if got := draw(table.Progress{Stage: "embed", Total: 9}); strings.Contains(got, "<img") {
		t.Errorf("the next stage shows the last one's images: %s", got)
	}
	must.Equal(t, progressText(table.Progress{Stage: "draw", Samples: many}), "draw", "on a terminal")
}

// TestNotes: each note once; of those that differ in names and numbers alone the first, then how many more.
func TestNotes(t *testing.T) {
	r, w := must.Get2(os.Pipe())(t)
	stderr := os.Stderr
	os.Stderr = w
	t.Cleanup(func() { os.Stderr = stderr })
	p := newProgress(func(table.Progress) {}, func() {})
	for i, region := range []string{"north", "south", "south", "east", "west"} {
		p.Update(table.Progress{Note: fmt.Sprintf("group %q: %d of 16 have no mask", region, 3+min(i, 2))})
	}
	p.Update(table.Progress{Note: "another kind"})
	p.Close()
	again := newProgress(func(table.Progress) {}, func() {})
	again.Update(table.Progress{Note: "another kind"})
	again.Close()
	os.Stderr = stderr
	w.Close()
	text := must.Get(io.ReadAll(r))(t)
	want := "group \"north\": 3 of 16 have no mask\nanother kind\nand 4 more like: group \"north\": 3 of 16 " +
		"have no mask\n"
	must.True(t, string(text) == want, "told:\n%swant:\n%s", text, want)
}

// TestBundleData: each form that is there has its type, and an empty one none.
func TestBundleData(t *testing.T) {
	all := Bundle{HTML: "<b>x</b>", SVG: "<svg/>", PNG: []byte("png"), Text: "x\n"}
	want := map[protocol.MIMEType]any{"text/html": "<b>x</b>", "image/svg+xml": "<svg/>", "image/png": []byte("png"),
		"text/plain": "x"}
	got := all.data()
	must.True(t, reflect.DeepEqual(got, want), "got %v, want %v", got, want)
	must.Equal(t, len((Bundle{Text: "\n"}).data()), 0, "an empty bundle")
}

func TestPlain(t *testing.T) {
	source := `<style>p { color: red }</style><p>a &lt;b&gt;</p><table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table><!-- no --><img src="data:x" alt="a &quot;plot&quot;">`
	if got, want := plain(source), "a <b>\n1 2\n3\na \"plot\""; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
