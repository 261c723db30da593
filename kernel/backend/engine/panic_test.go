package engine

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/fault"
	"antipode/internal/must"
)

// faulty is counted with a fault in a goroutine.
type faulty struct {
	counted
	in string
}

func (f faulty) Prepare(ctx context.Context, r stage.Row) ([]byte, string, error) {
	if f.in == "Prepare" && r.Text("id") == "i2" {
		var none []int
		_ = none[len(r.Text("id"))]
	}
	return f.counted.Prepare(ctx, r)
}

func (f faulty) Compute(ctx context.Context, in [][]byte) ([][]table.Value, error) {
	if f.in == "Compute" {
		var g fault.Group
		g.Go(func() { panic("of a worker") })
		g.Wait()
	}
	return f.counted.Compute(ctx, in)
}

// TestPanics: a panic in a goroutine ends the row or the job with an error of one line, and nothing else.
func TestPanics(t *testing.T) {
	for _, in := range []string{"Prepare", "Compute", "parallel"} {
		name := "faulty " + in
		register(name, func(base counted) stage.Worker[[]byte] {
			if in == "parallel" {
				fault.Each(3, func(i int) { panic("of a row") })
			}
			return faulty{base, in}
		})
		e := newEngine(t)
		_, file := images(t, 4)
		tab := derive(datasets.CSV(file), name, nil, "full:vector", "size:number")
		var log bytes.Buffer
		logWriter = &log
		_, err := run1(t, e, tab, client.Request{})
		logWriter = os.Stderr
		must.Err(t, err, "a fault of Antipode's own")
		must.Equal(t, strings.Count(log.String(), "panic: "), 1, in, "stacks in the log")
		res, err := run1(t, e, tab, client.Request{SkipBad: true})
		if in == "Prepare" {
			must.True(t, err == nil && len(res.Bad) == 1 && res.Bad[0].ID == "i2", "%s: %+v, %v", in, res, err)
		} else if err == nil {
			t.Errorf("%s: no error", in)
		}
		must.Equal(t, allRows(t, e, counts(datasets.CSV(file))).Len(), 4, in, "the engine computes", "rows afterwards")
	}
}
