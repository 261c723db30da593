package table

// Key returns the values of a row in some columns ([Column.Exact]), each followed by a zero byte; that of a column that
// is missing is empty.
func (f *Frame) Key(row int, columns ...string) string {
	key := ""
	for _, name := range columns {
		if c := f.Column(name); c != nil {
			key += c.Exact(row)
		}
		key += "\x00"
	}
	return key
}

// Group is the rows that have equal values in the grouping columns.
type Group struct {
	By   []string // the values, in the order of the columns
	Rows []int
}

// Groups groups a frame's rows by text columns, in order of appearance. Without columns all rows are one group, and a
// frame without rows is one group too.
func Groups(f *Frame, by []string) ([]Group, error) {
	columns := make([][]string, len(by))
	for i, name := range by {
		c, err := f.Need(name, KindText)
		if err != nil {
			return nil, err
		}
		columns[i] = c.Texts
	}
	var out []Group
	if len(by) == 0 {
		out = []Group{{}}
	}
	at := map[string]int{"": 0}
	for row := range f.Len() {
		key := ""
		for _, texts := range columns {
			key += texts[row] + "\x00"
		}
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			var g Group
			for _, texts := range columns {
				g.By = append(g.By, texts[row])
			}
			out = append(out, g)
		}
		out[i].Rows = append(out[i].Rows, row)
	}
	return out, nil
}
