package engine

import (
	"context"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// outcomes is a stage whose answers are outcomes.
type outcomes struct{ answering }

func (outcomes) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return datasets.Columns("outcome:text")
}

// TestRetryFailed: rows that failed are found as such, until a retry is requested; what it computes replaces them, also
// for an engine that opens the store anew.
func TestRetryFailed(t *testing.T) {
	fails := map[string]bool{"i1": true, "i3": true}
	register("moody", func(base counted) stage.Worker[string] {
		answer := func(_ context.Context, ids []string) (out []string, err error) {
			for _, id := range ids {
				out = append(out, map[bool]string{false: "ok", true: "failed"}[fails[id]])
			}
			return out, nil
		}
		return outcomes{answering{counted: base, answer: answer}}
	})
	e := newEngine(t)
	_, file := images(t, 6)
	tab := derive(datasets.CSV(file), "moody", nil, "outcome:text")
	check := func(e *Engine, req client.Request, computed int, want ...string) {
		t.Helper()
		res := must.Get(run1(t, e, tab, req))(t)
		must.Equal(t, res.Computed, computed)
		must.Equal(t, res.Found, 6-computed)
		must.EqualSlices(t, res.Frame.Texts("outcome"), want)
	}
	check(e, client.Request{Batch: 2}, 6, "ok", "failed", "ok", "failed", "ok", "ok")
	delete(fails, "i1")
	check(e, client.Request{Batch: 2}, 0, "ok", "failed", "ok", "failed", "ok", "ok")
	work := must.Get(run1(t, e, datasets.Workload([]datasets.Table{tab}, datasets.WorkloadOptions{Probe: 1}),
		client.Request{RetryFailed: true}))(t).Frame
	must.Equal(t, work.Texts("rate")[0], "", "rate of rows that the store has")
	check(e, client.Request{RetryFailed: true}, 2, "ok", "ok", "ok", "failed", "ok", "ok")
	check(e, client.Request{}, 0, "ok", "ok", "ok", "failed", "ok", "ok")
	reopened := must.Get(store.Open(e.Store.Dir()))(t)
	again := New(reopened, Options{Build: "test"})
	defer again.Close()
	check(again, client.Request{}, 0, "ok", "ok", "ok", "failed", "ok", "ok")
}
