package metrics

import "antipode/kernel/client"

// rows builds a result row by row: text columns first, number columns in the order of their first value.
type rows struct {
	names   []string
	texts   [][]string
	numbers []client.Column
}

func newRows(textColumns []string) *rows {
	return &rows{names: textColumns, texts: make([][]string, len(textColumns))}
}

// text starts a row with its text values.
func (r *rows) text(values ...string) {
	for i, v := range values {
		r.texts[i] = append(r.texts[i], v)
	}
}

func (r *rows) number(name string, v float64) {
	for i := range r.numbers {
		if r.numbers[i].Name == name {
			r.numbers[i].Numbers = append(r.numbers[i].Numbers, v)
			return
		}
	}
	r.numbers = append(r.numbers, client.NumberColumn(name, []float64{v}))
}

func (r *rows) frame() *client.Frame {
	f := &client.Frame{}
	for i, n := range r.names {
		f.Columns = append(f.Columns, client.TextColumn(n, r.texts[i]))
	}
	f.Columns = append(f.Columns, r.numbers...)
	return f
}
