package tabular

import (
	"encoding/binary"
	"math"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// Copies reports how many images of a table are copies of another one: files with the same digest or, in a table
// without images, equal vectors. It returns the rows.
func Copies(call *operation.Call, role, vector string) []bool {
	f := call.Inputs[role]
	images, vectors := f.Images("image"), f.Vectors(vector)
	content := func(row int) string {
		switch {
		case Outcome(f, row) != "":
		case images != nil:
			return images[row].SHA256
		case vectors != nil:
			var b []byte
			for _, x := range vectors[row] {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			return string(b)
		}
		return ""
	}
	seen, copied := map[string]int{}, make([]bool, f.Len())
	for row := range copied {
		c := content(row)
		if first, twice := seen[c]; twice && c != "" {
			copied[row], copied[first] = true, true
		} else {
			seen[c] = row
		}
	}
	x := table.Reading{Source: role, Column: "image", What: "images are copies of another one",
		Fix: "a stuck seed or a collapsed generator? intervals take copies for independent images"}
	if images == nil {
		x.Column, x.What = vector, "rows have the vector of another one"
		x.Fix = "intervals take them for independent rows"
	}
	if role == "in" { // the only table
		x.Source = "table"
	}
	call.Reading(x.Count(f, func(row int) (bool, bool) { return copied[row], content(row) != "" }))
	return copied
}
