package tabular

import (
	"strings"

	"antipode/kernel/client"
)

// Group is the rows that agree in the columns a table is grouped by.
type Group struct {
	By   []string // their values, in the order of the columns
	Rows []int
}

// Cells is the group's values as the first cells of a result's row.
func (g Group) Cells() []any {
	out := make([]any, len(g.By))
	for i, v := range g.By {
		out[i] = v
	}
	return out
}

// Groups groups a frame's rows by text columns, in order of appearance. Without columns all rows are one group, and a frame
// without rows is one group too.
func Groups(f *client.Frame, by []string) ([]Group, error) {
	columns := make([][]string, len(by))
	for i, name := range by {
		c, err := f.Need(name, client.Text)
		if err != nil {
			return nil, err
		}
		columns[i] = c.Texts
	}
	if len(by) == 0 {
		rows := make([]int, f.Len())
		for i := range rows {
			rows[i] = i
		}
		return []Group{{Rows: rows}}, nil
	}
	var out []Group
	at := map[string]int{}
	for row := range f.Len() {
		values := make([]string, len(by))
		for i := range by {
			values[i] = columns[i][row]
		}
		key := strings.Join(values, "\x00")
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, Group{By: values})
		}
		out[i].Rows = append(out[i].Rows, row)
	}
	return out, nil
}
