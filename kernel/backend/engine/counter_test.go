package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
)

// drawing is a stage that makes images in three steps a batch; a prompt "no" is refused.
type drawing struct {
	counted
	wait time.Duration
}

func (drawing) Label() string          { return "draw" }
func (drawing) Batch() int             { return 3 }
func (drawing) Key(r stage.Row) string { return r.Text("id") }
func (drawing) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns("note:text", "image:image")
}

func (drawing) Prepare(_ context.Context, r stage.Row) (string, string, error) {
	return r.Text("prompt"), "", nil
}

func (d drawing) Compute(ctx context.Context, in []string) ([][]table.Value, error) {
	stage.Step(ctx, 1, 0) // of no steps: says nothing
	for step := range 3 {
		time.Sleep(d.wait)
		stage.Step(ctx, step+1, 3)
	}
	go stage.Step(ctx, 1, 3) // late, and from elsewhere
	out := make([][]table.Value, len(in))
	for i, p := range in {
		if out[i] = make([]table.Value, 2); p == "no" {
			continue
		}
		blob, err := d.env.PutBlob([]byte(p), ".png")
		if err != nil {
			return nil, err
		}
		out[i][1].Image = blob
	}
	return out, nil
}

func init() {
	stage.Register(stage.Stage{Name: "drawing", Version: 1,
		Open: func(_ context.Context, env stage.Env, args json.RawMessage) (*stage.Opened, error) {
			d := drawing{counted: counted{env}}
			err := json.Unmarshal(args, &d.wait)
			return stage.Of(d), err
		}})
}

// drawn runs the stage on n prompts and gives its reports.
func drawn(t *testing.T, e *Engine, n int, wait time.Duration) []table.Progress {
	t.Helper()
	f := table.NewFrame(datasets.Columns("id:text", "prompt:text"))
	for i := range n {
		f.Add([]string{fmt.Sprint(i), []string{"a house " + fmt.Sprint(i), "", "no", strings.Repeat("घ", 500)}[i%4]})
	}
	plan := must.Get(derive(datasets.FromFrame(f), "drawing", wait, "note:text", "image:image").Plan())(t)
	var reports []table.Progress
	_ = must.Get(e.Run(t.Context(), client.Request{Plan: plan},
		func(p table.Progress) { reports = append(reports, p) }))(t)
	return reports
}

// TestSamples: reports bring the images made last, under prompt or id, without the refused ones; what was found is
// not among them.
func TestSamples(t *testing.T) {
	e := newEngine(t)
	var got [][]string
	for _, p := range drawn(t, e, 16, 0) {
		var captions []string
		for _, s := range p.Samples {
			must.True(t, s.Image.Path != "" && s.Thumb == nil, "sample %+v", s)
			captions = append(captions, s.Caption)
		}
		got = append(got, captions)
	}
	long := strings.Repeat("घ", maxCaption-1) + "…"
	if want := []string{"a house 0", "1"}; len(got) != 7 || got[0] != nil || !slices.Equal(got[1], want) {
		t.Errorf("reports %q, want none, then %q, … 7 in all", got, want)
	}
	if last, want := got[len(got)-1], []string{"5", long, "a house 8", "9", long, "a house 12", "13",
		long}; !slices.Equal(last, want) {
		t.Errorf("at the end %q, want %q", last, want)
	}
	for _, p := range drawn(t, e, 16, 0) {
		must.True(t, p.Samples == nil && p.Found == 16, "found again: %+v", p)
	}
}

// TestSteps: a long batch reports its steps. Its rate counts them, from the first on, and is told when it has
// settled; a stage that says nothing has none.
func TestSteps(t *testing.T) { synctest.Test(t, testSteps) }

func testSteps(t *testing.T) {
	const wait = stepInterval + 20*time.Millisecond
	var lines []string
	for _, p := range drawn(t, newEngine(t), 6, wait) {
		lines = append(lines, fmt.Sprintf("%d of %d, step %d of %d, part %.0f, rate %v", p.Done, p.Total, p.Step,
			p.Steps, p.Part, p.Rate > 0))
		if p.Rate > 0 { // an item takes wait, as three of them go together
			want := time.Duration(6-float64(p.Done)-p.Part) * wait
			if left := p.Left(); left < want*9/10 || left > want*11/10 {
				t.Errorf("%s: %v left, want about %v", lines[len(lines)-1], left, want)
			}
		}
	}
	want := []string{"0 of 6, step 0 of 0, part 0, rate false", "0 of 6, step 1 of 3, part 1, rate false",
		"0 of 6, step 2 of 3, part 2, rate false", "0 of 6, step 3 of 3, part 3, rate true",
		"3 of 6, step 0 of 0, part 0, rate true", "3 of 6, step 1 of 3, part 1, rate true",
		"3 of 6, step 2 of 3, part 2, rate true", "3 of 6, step 3 of 3, part 3, rate true",
		"6 of 6, step 0 of 0, part 0, rate true"}
	must.EqualSlices(t, lines, want, "reports")
	must.Equal(t, len(drawn(t, newEngine(t), 3, time.Millisecond)), 2, "quick steps are reported", "reports")
	stage.Step(t.Context(), 1, 2) // nobody listens
}
