package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/stage"
)

// computeFinite computes the rows at some positions, of which some may give NaN or infinity: their result is the
// outcome failed with the reason, if the stage has these columns, else nil, with the reason in bad. The rows of a batch
// that fails for that are computed one at a time.
func computeFinite(ctx context.Context, rows stage.Rows, at []int, outputs []table.ColumnSpec) (
	results [][]table.Value, bad map[int]error, err error) {
	bad = map[int]error{}
	results, err = rows.Compute(ctx, at)
	if errors.Is(err, runner.ErrNotFinite) {
		results = make([][]table.Value, len(at))
		for i := range at {
			one, failed := rows.Compute(ctx, at[i:i+1])
			switch {
			case errors.Is(failed, runner.ErrNotFinite):
				bad[i] = failed
			case failed != nil:
				return results, bad, failed
			case len(one) == 1:
				results[i] = one[0]
			}
		}
		err = nil
	}
	for i, values := range results {
		if k := slices.IndexFunc(values, func(v table.Value) bool {
			return slices.ContainsFunc(v.Vector, notFinite)
		}); k >= 0 {
			bad[i] = fmt.Errorf("column %s: the model returned a vector with NaN or infinity", outputs[k].Name)
		}
		if bad[i] != nil {
			if results[i] = failedRow(outputs, bad[i]); results[i] != nil {
				delete(bad, i)
			}
		}
	}
	return results, bad, err
}

// failedRow returns the values of a row whose outcome is failed, nil for a stage without outcomes.
func failedRow(outputs []table.ColumnSpec, reason error) []table.Value {
	values, named := make([]table.Value, len(outputs)), 0
	for i, o := range outputs {
		switch {
		case o.Kind == table.KindNumber:
			values[i].Number = math.NaN()
		case o.Kind == table.KindText && strings.HasSuffix(o.Name, "outcome"):
			values[i].Text = "failed"
			named++
		case o.Kind == table.KindText && strings.HasSuffix(o.Name, "reason"):
			values[i].Text = reason.Error()
			named++
		}
	}
	if named < 2 {
		return nil
	}
	return values
}
