package tabular

import (
	"testing"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// Copies are counted by the images' digests or, without images, by the vectors; rows without either are no copies.
func TestCopies(t *testing.T) {
	vectors := table.VectorColumn("v", [][]float32{{1, 2}, {1, 2}, {2, 1}, nil, nil})
	images := table.ImageColumn("image", []table.Image{{SHA256: "a"}, {SHA256: "b"}, {SHA256: "a"}, {SHA256: "a"}, {}})
	of := func(role string, columns ...table.Column) (copied []bool, line string) {
		call := &operation.Call{Inputs: map[string]*table.Frame{role: {Columns: columns}},
			Read: func(x table.Reading) { line = x.Line() }}
		return Copies(call, role, "v"), line
	}
	copied, line := of("in", vectors)
	must.EqualSlices(t, copied, []bool{true, true, false, false, false})
	must.Equal(t, line, "table: 2 of 3 rows have the vector of another one; intervals take them for independent rows")
	copied, line = of("generated", vectors, images)
	must.EqualSlices(t, copied, []bool{true, false, true, true, false})
	must.Equal(t, line, "generated: 3 of 4 images are copies of another one; a stuck seed or a collapsed generator? "+
		"intervals take copies for independent images")
}

// TestImages: the error about a name that occurs twice says which column holds it.
func TestImages(t *testing.T) {
	for _, column := range []string{"image_id", "id"} {
		f := &table.Frame{Columns: []table.Column{table.TextColumn(column, []string{"a", "a"}),
			table.VectorColumn("full", [][]float32{{1}, {2}})}}
		_, _, err := Images(f, "full")
		must.Err(t, err, "row 2", "column "+column)
	}
}
