package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
)

// overflows is a stage whose result is not finite for some files: a vector of NaN, or an error of the whole batch as
// the encoders return it.
type overflows struct {
	counted
	outcomes bool
}

func (w overflows) Digest() string { return fmt.Sprint("overflows ", w.outcomes) }

func (w overflows) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	if w.outcomes {
		return datasets.Columns("full:vector", "outcome:text", "reason:text")
	}
	return datasets.Columns("full:vector")
}

func (w overflows) Compute(_ context.Context, in [][]byte) ([][]table.Value, error) {
	out := make([][]table.Value, len(in))
	for i, p := range in {
		x := float32(len(p))
		switch string(p) {
		case "nan":
			x = float32(math.NaN())
		case "error":
			return nil, fmt.Errorf("the network gave NaN: %w", runner.ErrNotFinite)
		}
		if out[i] = []table.Value{{Vector: []float32{x}}}; w.outcomes {
			out[i] = append(out[i], table.Value{Text: "ok"}, table.Value{})
		}
	}
	return out, nil
}

func init() {
	stage.Register(stage.Stage{Name: "overflows", Version: 1,
		Open: func(_ context.Context, env stage.Env, args json.RawMessage) (*stage.Opened, error) {
			return stage.Of(overflows{counted{env}, string(args) == "true"}), nil
		}})
}

// TestNotFinite: an image whose result is NaN or infinite is a failed or bad row, and the others are computed.
func TestNotFinite(t *testing.T) {
	dir, tab := images(t, 9)
	must.Write(t, filepath.Join(dir, "img", "2.png"), "nan")
	must.Write(t, filepath.Join(dir, "img", "5.png"), "error")
	of := func(outcomes bool) datasets.Table {
		columns := []string{"full:vector"}
		if outcomes {
			columns = append(columns, "outcome:text", "reason:text")
		}
		return derive(datasets.CSV(tab), "overflows", outcomes, columns...)
	}
	f := allRows(t, newEngine(t), of(true))
	for row, outcome := range f.Texts("outcome") {
		failed := row == 2 || row == 5
		if (outcome == "failed") != failed || (f.Vectors("full")[row] == nil) != failed ||
			strings.Contains(f.Texts("reason")[row], "NaN") != failed {
			t.Errorf("row %d: %s %q %v", row, outcome, f.Texts("reason")[row], f.Vectors("full")[row])
		}
	}
	e := newEngine(t)
	_, err := run1(t, e, of(false), client.Request{})
	must.Err(t, err, `row 3 (id "i2")`, "NaN")
	res, err := run1(t, e, of(false), client.Request{SkipBad: true})
	if err != nil || !slices.Equal(res.Frame.Texts("id"), []string{"i0", "i1", "i3", "i4", "i6", "i7", "i8"}) ||
		len(res.Bad) != 2 {
		t.Fatal(err, res)
	}
	must.True(t, res.Found != 0, "the rows of the batch that failed were not stored")
}
