package operation

import (
	"reflect"
	"slices"

	"antipode/datasets/table"
)

// A score of text vectors has the column n_truncated: how many of its texts were cut before they were embedded, because
// they are longer than the encoder's context. The stage embed counts the tokens cut from each text in the column
// VECTOR_cut.
const (
	truncatedColumn = "n_truncated"
	cutSuffix       = "_cut"
)

var textVectors = []string{"text", "clip_text", "blip2_text"}

// readsTexts reports whether an operation has an option that names a text vector.
func readsTexts(options Options) bool {
	return slices.ContainsFunc(options, func(o Option) bool {
		return slices.Contains(textVectors, o.Default) && len(o.Values) == 0
	})
}

// truncated counts the cut texts of a result's rows: those of the input rows with the same values in the text columns
// that both have. It also reads them by group.
func (op *Operation) truncated(call *Call, options reflect.Value, f *table.Frame) *table.Frame {
	counts := make([]float64, f.Len())
	for _, input := range op.Inputs {
		in := call.Inputs[input.Role]
		if in == nil {
			continue
		}
		seen := map[string]bool{"": true}
		for i := range op.Options {
			o := &op.Options[i]
			vector := ""
			if o.Type == "text" {
				vector = o.text(options.FieldByIndex(o.index))
			}
			cut := in.Numbers(vector + cutSuffix)
			if seen[vector] || cut == nil || in.Vectors(vector) == nil {
				continue
			}
			seen[vector] = true
			call.Reading(table.Reading{Source: op.Name, Column: vector, What: "texts are longer than their encoder's " +
				"context and were cut (" + vector + cutSuffix + ")"}.Count(in,
				func(row int) (bool, bool) { return cut[row] > 0, cut[row] == cut[row] }))
			shared := sharedTexts(f, in)
			of := map[string]float64{}
			for row := range in.Len() {
				if cut[row] > 0 {
					of[in.Key(row, shared...)]++
				}
			}
			for row := range counts {
				counts[row] += of[f.Key(row, shared...)]
			}
		}
	}
	return f.With(table.NumberColumn(truncatedColumn, counts))
}

// sharedTexts returns the text columns that two frames have, without those that name rows.
func sharedTexts(a, b *table.Frame) (names []string) {
	for _, c := range a.Columns {
		if other := b.Column(c.Name); c.Kind == table.KindText && other != nil && other.Kind == table.KindText {
			names = append(names, c.Name)
		}
	}
	return names
}
