package tabulartest

import (
	"fmt"
	"testing"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// Ask names an operation with its options, as flags take them.
type Ask struct {
	Metric  string
	By      []string
	Options map[string]string
}

// Answer computes an operation on frames, in the order of its inputs, without a backend, and returns its notes.
func Answer(t *testing.T, a Ask, inputs ...*table.Frame) (*table.Frame, []string, error) {
	t.Helper()
	op := operation.Find(a.Metric)
	if op == nil {
		t.Fatal(a.Metric)
	}
	in := map[string]*table.Frame{}
	for i, f := range inputs {
		in[op.Inputs[i].Role] = f
	}
	var notes []string
	f, err := run(op, operation.Call{
		Note: func(format string, a ...any) { notes = append(notes, fmt.Sprintf(format, a...)) },
		Read: func(x table.Reading) {
			if x.Noted() {
				notes = append(notes, x.Line())
			}
		}}, in, a.Options, a.By...)
	return f, notes, err
}

// Options are the options of the given names and values.
func Options(pairs ...string) map[string]string {
	o := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		o[pairs[i]] = pairs[i+1]
	}
	return o
}

// Images returns n images with a vector, half of them in each of two regions; those of the south are shifted.
func Images(n int, shift float32) datasets.Table {
	f := &table.Frame{}
	var id, region []string
	var vectors [][]float32
	for i := range n {
		id, region = append(id, fmt.Sprint("i", i)), append(region, []string{"north", "south"}[i%2])
		vectors = append(vectors, []float32{float32(i / 2 % 5), float32(i/10) + shift*float32(i%2)})
	}
	f.Columns = []table.Column{table.TextColumn("id", id), table.TextColumn("region", region),
		table.VectorColumn("full", vectors), table.VectorColumn("object_only", vectors),
		table.VectorColumn("background_only", vectors), table.ImageColumn("image", make([]table.Image, n))}
	return datasets.FromFrame(f)
}
