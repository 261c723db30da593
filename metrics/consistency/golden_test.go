package consistency

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"antipode/datasets/indictti"
	"antipode/internal/must"
	"antipode/internal/near"
)

// decode reads rows of little-endian float32; a row that starts with NaN is nil.
func decode(t *testing.T, text string, width int) (rows [][]float32) {
	t.Helper()
	raw := must.Get(base64.StdEncoding.DecodeString(text))(t)
	for ; len(raw) > 0; raw = raw[4*width:] {
		v := make([]float32, width)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		if math.IsNaN(float64(v[0])) {
			v = nil
		}
		rows = append(rows, v)
	}
	return rows
}

// TestGolden: every variant of every score equals the value of numpy and scipy, from testdata/golden.py.
func TestGolden(t *testing.T) {
	text := must.Get(os.ReadFile("testdata/golden.json"))(t)
	var cases []struct {
		Name                string
		Shape               [4]int
		Vectors, References string
		Correctness         []float64
		Scal                map[PairNormalizer][][]float64
		Overall             map[OverallNormalizer]float64
		Dwl                 map[DWLImages][]float64
	}
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) != 3 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			rows := decode(t, c.Vectors, c.Shape[3])
			p := named(c.Shape[0], c.Shape[1])
			for l := range p.Vectors {
				for k := range p.Vectors[l] {
					p.Vectors[l][k], rows = rows[:c.Shape[2]], rows[c.Shape[2]:]
				}
			}
			compare := func(what string, got []Score, err error, want []float64) {
				t.Helper()
				if err == nil {
					err = near.Compare(valuesOf(got), want, 1e-12, 1e-12)
				}
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			got, err := ComputeCorrectness(p, decode(t, c.References, c.Shape[3]))
			compare("correctness", got, err, c.Correctness)
			for n, want := range c.Scal {
				pairs, err := ComputeSCAL(p, n)
				if err != nil || len(want) != len(pairs) {
					t.Fatal(n, err)
				}
				var values [][]float64
				for a := range pairs {
					compare(fmt.Sprintf("SCAL, %s, %d", n, a), pairs[a], nil, want[a])
					values = append(values, valuesOf(pairs[a]))
				}
				if n != MeanUnequal {
					continue
				}
				for o, want := range c.Overall {
					must.Near(t, must.Get(ComputeSCALOverall(values, o))(t), want, 1e-12, "overall", o)
				}
				var diagonal []float64
				for a := range values {
					diagonal = append(diagonal, values[a][a])
				}
				within, err := ComputeSCWL(p, Mean)
				compare("SCWL", within, err, diagonal)
				for a := range diagonal {
					diagonal[a] *= 2
				}
				within, err = ComputeSCWL(p, Literal)
				compare("SCWL, literal", within, err, diagonal)
			}
			for images, want := range c.Dwl {
				got, err := ComputeDWL(p, images, Mean)
				compare("DWL, "+string(images), got, err, want)
				for l := range want {
					want[l] = 1 - 2*(1-want[l])
				}
				got, err = ComputeDWL(p, images, Literal)
				compare("DWL, literal, "+string(images), got, err, want)
			}
			if len(c.Dwl) != 4 || len(c.Scal) != 4 || len(c.Overall) != 3 {
				t.Error("variants are missing")
			}
		})
	}
}

// TestDropsOfTable7: Table 7 of the paper gives the drops that its text quotes: 27.74, 21.53, 26.32 and 8.70 points.
func TestDropsOfTable7(t *testing.T) {
	cells, err := indictti.PrintedTable(7)
	if err != nil || len(cells) != 5*31 {
		t.Fatal(len(cells), err)
	}
	english, others := map[string]float64{}, map[string][]float64{}
	for _, c := range cells {
		if c.Language == indictti.English {
			english[c.Model] = c.Value
		} else {
			others[c.Model] = append(others[c.Model], c.Value)
		}
	}
	for model, want := range map[string]float64{"Stable Diffusion": 27.74, "Alt Diffusion": 21.53, "Midjourney": 26.32,
		"Dalle3": 8.70} {
		if d, n := ComputeDrop(english[model], others[model]); math.Abs(d-want) > 0.005+1e-9 || n != 30 {
			t.Errorf("%s: %v over %d languages, the paper has %v", model, d, n, want)
		}
	}
}
