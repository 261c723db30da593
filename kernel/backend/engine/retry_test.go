package engine

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// moody computes an outcome for each row: failed where the set has its id.
type moody struct {
	counted
	fails map[string]bool
}

func (moody) Outputs([]table.ColumnSpec) []table.ColumnSpec { return datasets.Columns("outcome:text") }
func (moody) Key(r stage.Row) string                        { return r.Text("id") }
func (moody) Prepare(_ context.Context, r stage.Row) (string, string, error) {
	return r.Text("id"), "", nil
}

func (m moody) Compute(_ context.Context, in []string) ([][]table.Value, error) {
	out := make([][]table.Value, len(in))
	for i, id := range in {
		outcome := "ok"
		if m.fails[id] {
			outcome = "failed"
		}
		out[i] = []table.Value{{Text: outcome}}
	}
	return out, nil
}

// TestRetryFailed: rows that failed are found as such, until a retry is requested; what it computes replaces them, also
// for an engine that opens the store anew.
func TestRetryFailed(t *testing.T) {
	fails := map[string]bool{"i1": true, "i3": true}
	stage.Register(stage.Stage{Name: "moody", Version: 1,
		Open: func(_ context.Context, env stage.Env, _ json.RawMessage) (*stage.Opened, error) {
			return stage.Of(moody{counted{env}, fails}), nil
		}})
	e := newEngine(t)
	_, file := images(t, 6)
	tab := datasets.Extend(datasets.CSV(file)).Derive("moody", nil, datasets.Columns("outcome:text")...).Table
	check := func(e *Engine, req client.Request, computed int, want ...string) {
		t.Helper()
		res := must.Get(run1(t, e, tab, req))(t)
		if res.Computed != computed || res.Found != 6-computed || !slices.Equal(res.Frame.Texts("outcome"), want) {
			t.Errorf("%d computed, %d found, %q; want %d, %q", res.Computed, res.Found, res.Frame.Texts("outcome"),
				computed, want)
		}
	}
	check(e, client.Request{Batch: 2}, 6, "ok", "failed", "ok", "failed", "ok", "ok")
	delete(fails, "i1")
	check(e, client.Request{Batch: 2}, 0, "ok", "failed", "ok", "failed", "ok", "ok")
	check(e, client.Request{RetryFailed: true}, 2, "ok", "ok", "ok", "failed", "ok", "ok")
	check(e, client.Request{}, 0, "ok", "ok", "ok", "failed", "ok", "ok")
	reopened := must.Get(store.Open(e.Store.Dir()))(t)
	again := New(reopened, Options{Build: "test"})
	defer again.Close()
	check(again, client.Request{}, 0, "ok", "ok", "ok", "failed", "ok", "ok")
}
