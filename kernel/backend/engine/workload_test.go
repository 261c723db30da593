package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/metrics/disparity"
)

// slow is a stage that takes fifty steps for a batch.
type slow struct {
	drawing
	step  time.Duration
	batch int
}

func (slow) Label() string { return "slow" }
func (s slow) Batch() int  { return s.batch }
func (s slow) Compute(ctx context.Context, in []string) ([][]table.Value, error) {
	for step := range 50 {
		select {
		case <-time.After(s.step):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		stage.Step(ctx, step+1, 50)
	}
	out := make([][]table.Value, len(in))
	for i := range out {
		out[i] = make([]table.Value, 2)
	}
	return out, nil
}

func init() {
	register("slow", func(counted) stage.Worker[string] { return slow{step: 10 * time.Second, batch: 3} })
	register("brisk", func(counted) stage.Worker[string] { return slow{step: 200 * time.Millisecond, batch: 1} })
	stage.Register(stage.Stage{Name: gomlxmodels.EmbedOp, Version: 1,
		Open: func(context.Context, stage.Env, json.RawMessage) (*stage.Opened, error) {
			return nil, errors.New("the model is not installed; run antipode models pull it")
		}})
}

// six returns six prompts.
func six() datasets.Table {
	var rows []map[string]any
	for i := range 6 {
		rows = append(rows, map[string]any{"id": fmt.Sprint("p", i), "prompt": strings.Repeat("x", 10*(i+1)),
			"region": "north"})
	}
	return datasets.FromRows(rows)
}

func imagesOf(prompts datasets.Table) datasets.Table {
	return derive(prompts, "drawing", time.Duration(0), "note:text", "image:image")
}

// workText returns the rows of a workload without seconds, hours and gigabytes.
func workText(f *table.Frame) string {
	var b strings.Builder
	for i, stage := range f.Texts("stage") {
		fmt.Fprintf(&b, "%s %v %v %v %s\n", stage, f.Numbers("items")[i], f.Numbers("found")[i],
			f.Numbers("missing")[i], f.Texts("needs")[i])
	}
	return b.String()
}

func TestWorkload(t *testing.T) {
	e := newEngine(t)
	all := imagesOf(six())
	images := counts(all.Where("region", "==", "north"))
	scored := disparity.PrecisionCoverage(metrics.Sets{Real: images, Generated: images})
	work := func(options datasets.WorkloadOptions, tables ...datasets.Table) *table.Frame {
		return allRows(t, e, datasets.Workload(tables, options))
	}
	check := func(what string, f *table.Frame, want string) {
		t.Helper()
		diff := cmp.Diff(want, workText(f))
		must.True(t, diff == "", "%s (-want +got):\n%s", what, diff)
	}
	computed.Store(0)
	check("of nothing", work(datasets.WorkloadOptions{}, images, scored),
		"draw 6 0 6 \ncount 6 0 6 \ntotal 12 0 12 \n")
	must.Equal(t, computed.Load(), 0, "items were computed")
	allRows(t, e, counts(imagesOf(six().Head(2))))
	f := work(datasets.WorkloadOptions{Rates: map[string]float64{"drawing": 2, "counted": 4}}, images)
	check("after two", f, "draw 6 2 4 \ncount 6 2 4 \ntotal 12 4 8 \n")
	if h := f.Numbers("hours"); h[0] != 2.0/3600 || h[1] != 1.0/3600 || h[2] != h[0]+h[1] {
		t.Errorf("hours %v for four images at 2 and at 4 per second", h)
	}
	rented := work(datasets.WorkloadOptions{Rates: map[string]float64{"drawing": 2, "counted": 4},
		Device: "a100@3"}, images)
	if d := rented.Numbers("dollars"); math.Abs(d[0]-6.0/3600) > 1e-12 || d[2] != d[0]+d[1] ||
		!strings.Contains(rented.Texts("price")[0], "3.00 dollars an hour of a100") {
		t.Errorf("dollars %v, %v", d, rented.Texts("price"))
	}
	bytes := f.Numbers("gigabytes")[0] * 1e9
	must.True(t, math.Abs(bytes-4*(15+8)) <= 8*4, "%v bytes for four images of about 15 bytes", bytes)
	check("a probe", work(datasets.WorkloadOptions{Probe: 2}, images), "draw 6 4 2 \ncount 6 4 2 \ntotal 12 8 4 \n")
	allRows(t, e, images)
	f = work(datasets.WorkloadOptions{}, images)
	check("after all", f, "draw 6 6 0 \ncount 6 6 0 \ntotal 12 12 0 \n")
	must.Equal(t, f.Numbers("hours")[2], 0, "hours")
}

// TestWorkloadProbeEndsEarly: a batch of many slow steps is ended after a few, and its time is extrapolated.
func TestWorkloadProbeEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, start := newEngine(t), time.Now()
		images := derive(six(), "slow", nil, "note:text", "image:image")
		f := allRows(t, e, datasets.Workload([]datasets.Table{images}, datasets.WorkloadOptions{Probe: 2}))
		must.Equal(t, f.Numbers("seconds")[0], 250, "s for an item, want 250: a batch of two takes 50 steps of 10 s")
		if took := time.Since(start); took > 50*time.Second || f.Numbers("found")[0] != 0 {
			t.Errorf("the probe took %v; found %v", took, f.Numbers("found"))
		}
	})
}

// TestWorkloadProbeOfBatches: batches are timed one by one, each from its own first step.
func TestWorkloadProbeOfBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		images := derive(six(), "brisk", nil, "note:text", "image:image")
		f := allRows(t, newEngine(t), datasets.Workload([]datasets.Table{images}, datasets.WorkloadOptions{Probe: 3}))
		seconds, found := f.Numbers("seconds")[0], f.Numbers("found")[0]
		must.True(t, math.Abs(seconds-10) < 1e-6, "%v s for an item, want 10: it takes 50 steps of 0.2 s", seconds)
		must.Equal(t, found, 3, "found")
	})
}

func TestWorkloadNeeds(t *testing.T) {
	e := newEngine(t)
	absent := derive(imagesOf(six()), gomlxmodels.EmbedOp, map[string]any{"model": "vit"}, "full:vector")
	files := datasets.New("imported", datasets.ImportOptions{}, datasets.Columns("id:text", "image:image"))
	f := allRows(t, e, datasets.Workload([]datasets.Table{counts(absent), counts(files)}))
	want := "draw 6 0 6 \nembed vit 6 0 6 the model is not installed; run antipode models pull it\ncount 6 0 6 \n"
	if got := workText(f); !strings.HasPrefix(got, want) || !strings.Contains(got, "read imported 0 0 0 ") {
		t.Error(got)
	}
	f = allRows(t, e, datasets.Workload([]datasets.Table{datasets.Failed(errors.New("get the archive")),
		imagesOf(six())}))
	if got := workText(f); !strings.HasPrefix(got, "read 0 0 0 get the archive\ndraw 6 0 6 \n") {
		t.Error(got)
	}
	for _, bad := range []datasets.Table{datasets.Workload(nil),
		datasets.Workload([]datasets.Table{absent}, datasets.WorkloadOptions{Probe: -1}),
		datasets.Workload([]datasets.Table{absent}, datasets.WorkloadOptions{Rates: map[string]float64{"embed": 0}})} {
		must.True(t, bad.Err() != nil, "no error")
	}
	must.Fail(run1(t, e, datasets.Workload([]datasets.Table{datasets.Workload([]datasets.Table{absent})}),
		client.Request{}))(t) // a workload of a workload
}
