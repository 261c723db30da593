package engine

import (
	"context"
	"errors"
	"testing"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"

	"antipode/datasets"
)

// halting computes like counted, and stops with an error in the middle of its first batch.
type halting struct {
	counted
	halted *bool
}

func (h halting) Compute(ctx context.Context, prepared [][]byte) ([][]table.Value, error) {
	if *h.halted {
		return h.counted.Compute(ctx, prepared)
	}
	*h.halted = true
	half := len(prepared) / 2
	values, err := h.counted.Compute(ctx, prepared[:half])
	if err != nil {
		return nil, err
	}
	return append(values, make([][]table.Value, len(prepared)-half)...), errors.New("halted")
}

// TestPartialBatch: rows that a stage returns together with an error are stored, and counted.
func TestPartialBatch(t *testing.T) {
	halted := false
	register("halting", func(base counted) stage.Worker[[]byte] { return halting{base, &halted} })
	e := newEngine(t)
	_, file := images(t, 4)
	tab := derive(datasets.CSV(file), "halting", nil, "full:vector", "size:number")
	must.Fail(run1(t, e, tab, client.Request{Batch: 4}))(t, "halted")
	computed, _ := e.Counts()
	must.Equal(t, computed, 2, "computed")
	res, err := run1(t, e, tab, client.Request{Batch: 4})
	must.True(t, err == nil && res.Found != 0 && res.Found+res.Computed == 4, "%+v, %v", res, err)
}
