package view

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	_ "antipode/metrics/disparity" // hyperspheres
)

// TestReference: the balls that the large view finds are those of disparity.Hyperspheres, in all and by group; a row
// without a vector has none.
func TestReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	images := func(prefix string, n int, scale float64) *table.Frame {
		f := &table.Frame{Columns: []table.Column{table.TextColumn("id", nil), table.TextColumn("region", nil),
			table.ImageColumn("image", make([]table.Image, n)), table.VectorColumn("full", nil)}}
		for i := range n {
			f.Columns[0].Texts = append(f.Columns[0].Texts, fmt.Sprint(prefix, i))
			f.Columns[1].Texts = append(f.Columns[1].Texts, []string{"north", "south"}[i%2])
			f.Columns[3].Vectors = append(f.Columns[3].Vectors, []float32{float32(scale * rng.NormFloat64()),
				float32(scale * rng.NormFloat64())})
		}
		return f
	}
	real, rows := images("r", 60, 1), images("g", 41, 1.5)
	rows.Columns[3].Vectors[40] = nil
	for _, by := range []string{"", "region"} {
		op := operation.Find("hyperspheres")
		given := map[string]string{"unmasked": "drop"}
		o := Options{Real: real, Vector: "full"}
		if by != "" {
			given["by"], o.By = by, []string{by}
		}
		args := must.Get(must.Get(op.Parse(given))(t).Args([]string{"real", "generated"}))(t)
		var err error
		o.Spheres, err = op.Evaluate(t.Context(), operation.Call{}, must.Get(json.Marshal(args))(t),
			[]*table.Frame{real, rows})
		must.Do(t, err)
		g := must.Get(New(rows, o))(t)
		contained := 0
		for row := range 40 {
			near := g.nearReference(row, 100)
			inside, alone := 0, 0
			for i, n := range near.Nearest {
				if n.Inside {
					inside++
				}
				if n.Inside && g.real.inside[n.Row] == 1 {
					alone++
				}
				if i > 0 && n.Distance < near.Nearest[i-1].Distance || by != "" &&
					real.Texts(by)[n.Row] != rows.Texts(by)[row] {
					t.Errorf("by %q, row %d: %+v", by, row, near.Nearest)
				}
			}
			must.True(t, inside == near.Inside && alone == near.Alone && near.Of == len(near.Nearest),
				"by %q, row %d: %d inside, %d alone of %+v", by, row, inside, alone, near)
			contained += near.Inside
		}
		if contained == 0 || contained == 40 || g.nearReference(40, 8) != nil || g.nearReference(-1, 8) != nil ||
			g.nearReference(99, 8) != nil {
			t.Errorf("by %q: %d contained", by, contained)
		}
	}
}
