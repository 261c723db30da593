package commands

import (
	"math"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// TestDifferent compares tables whose differences are known. The interval is scipy.stats.t.interval(0.95, 2, 1, 1/√3)
// of the differences 0, 1, 2, and
// stats.t.interval(0.95, 2, 2/3, 2/3) of 0, 2, 0.
func TestDifferent(t *testing.T) {
	nan := math.NaN()
	frame := func(ids []string, score []float64, sum string, vector []float32) *table.Frame {
		images, vectors := make([]table.Image, len(ids)), make([][]float32, len(ids))
		for i := range ids {
			images[i], vectors[i] = table.Image{SHA256: "same", Path: ids[i]}, []float32{1}
		}
		images[0].SHA256, vectors[0] = sum, vector
		return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.NumberColumn("score", score),
			table.ImageColumn("image", images), table.VectorColumn("full", vectors)}}
	}
	a := frame([]string{"a", "b", "c", "x"}, []float64{1, 1, 1, 0}, "1", []float32{1})
	for name, c := range map[string]struct {
		b    *table.Frame
		want string // the summary, and the rows
	}{
		"equal": {a, "4 rows in both, by id; 0 only in the first, 0 only in the second"},
		"numbers and rows": {frame([]string{"c", "a", "b", "y"}, []float64{3, 1, 2, 0}, "same", []float32{1}),
			"3 rows in both, by id; 1 only in the first (x), 1 only in the second (y)\n" +
				"score 2 3 1 -1.48414 3.48414 2\nimage 1 3"},
		"image and vector": {frame([]string{"a", "b", "c", "x"}, []float64{1, 1, 1, 0}, "2", []float32{2}),
			"4 rows in both, by id; 0 only in the first, 0 only in the second\nimage 1 4\nfull 1 4"},
		"a number that is missing": {frame([]string{"a", "b", "c", "x"}, []float64{nan, 1, 3, 0}, "1", []float32{1}),
			"4 rows in both, by id; 0 only in the first, 0 only in the second\nscore 2 4 0.666667 -2.20177 3.5351 2"},
		"columns": {a.With(table.TextColumn("more", make([]string, 4))),
			"4 rows in both, by id; 0 only in the first, 0 only in the second; column more only in the second"},
	} {
		pairs, by, err := table.Match(a, c.b, nil)
		must.Do(t, err)
		d := different(a, c.b, pairs, by)
		got := d.summary
		lines := strings.Split(strings.TrimSpace(datasets.Format(d.columns, 0)), "\n")
		for i := range d.columns.Len() {
			got += "\n" + strings.Join(strings.Fields(lines[i+1]), " ")
		}
		must.True(t, got == c.want && d.equal == (name == "equal"),
			"%s: equal %v\n%s\nwant\n%s", name, d.equal, got, c.want)
	}
	for want, on := range map[string][]string{`the second table has no column "region"`: {"region"},
		"rows 1 and 2 of the second table have the same score, 1; name columns": {"score"}} {
		must.Fail(table.Match(a, a, on))(t, want)
	}
}
