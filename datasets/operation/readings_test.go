package operation_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
)

type textOptions struct {
	By   []string `json:"by,omitempty" help:"grouping columns"`
	Text string   `json:"text,omitempty" default:"clip_text" help:"vector column of the texts"`
}

type textRow struct {
	Group operation.Group
	N     int `column:"n" unit:"rows"`
}

var texts = operation.Define(operation.Definition[textOptions, textRow]{
	Name: "test-texts", Title: "a test", Version: 1, Inputs: []operation.Input{{Role: "in"}},
	Compute: func(_ context.Context, call *operation.Call, o textOptions) (rows []textRow, err error) {
		seen := map[string]int{}
		for _, name := range call.Inputs["in"].Texts(o.By[0]) {
			if at, known := seen[name]; known {
				rows[at].N++
				continue
			}
			seen[name] = len(rows)
			rows = append(rows, textRow{operation.Group{name}, 1})
		}
		return rows, nil
	},
}, true)

// TestTruncated: a score of text vectors counts the texts that were cut, by its groups; spellings of a group are one.
func TestTruncated(t *testing.T) {
	in := &table.Frame{Columns: []table.Column{table.TextColumn("language", []string{"hi", "hi ", "en", "hi", "EN"}),
		table.VectorColumn("clip_text", [][]float32{{1}, {1}, {1}, nil, {1}}),
		table.NumberColumn("clip_text_cut", []float64{3, 1, 0, 0, 0})}}
	raw := must.Get(json.Marshal(operation.Args{Version: 1, Roles: []string{"in"},
		Options: json.RawMessage(`{"by":["language"]}`)}))(t)
	var lines []string
	f := must.Get(texts.Evaluate(context.Background(), operation.Call{Read: func(x table.Reading) {
		if x.N > 0 {
			lines = append(lines, x.Line())
		}
	}}, raw, []*table.Frame{in}))(t)
	must.EqualSlices(t, f.Texts("language"), []string{"hi", "en", "EN"})
	must.EqualSlices(t, f.Numbers("n"), []float64{3, 1, 1})
	must.EqualSlices(t, f.Numbers("n_truncated"), []float64{2, 0, 0})
	for _, want := range []string{"column language: 1 of 5 values are other spellings of a group (blanks, invisible " +
		"characters, another Unicode form, or another form of a number) and count as it (language: hi 1 of 3)",
		"column language: 2 of 5 values belong to groups that differ from another one only in case: EN and en " +
			"(language: en " +
			"1 of 1, EN 1 of 1); they are compared as separate groups",
		"test-texts: 2 of 5 texts are longer than their encoder's context and were cut (clip_text_cut) (language: hi " +
			"2 of 3)",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, strings.Join(lines, "\n"))
		}
	}
}
