package distribution

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// golden is testdata/golden.json, made by golden.py with the reference libraries.
type golden struct {
	Sets []struct {
		Name, Real, Generated   string
		Width, Same             int
		Frechet, Kid, Cmmd, Isc float64
		IscSplits               float64 `json:"isc_splits"`
		Vendi                   map[string]float64
	}
	Abundances []struct {
		Counts Abundances
		At     []struct {
			M        int
			Hill     map[string]float64
			Coverage float64
		}
		Infinity map[string]*float64
		Observed map[string]float64
		Chao1    float64
	}
	Retrieval []struct {
		K, N, Total             int
		Level, Value, Low, High float64
	}
}

func readGolden(t *testing.T) (g golden) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/golden.json"))(t), &g))
	if len(g.Sets) != 7 || len(g.Abundances) != 7 || len(g.Retrieval) != 7 {
		t.Fatal("the golden file is not complete")
	}
	return g
}

func decode(t *testing.T, text string, width int) (rows [][]float32) {
	t.Helper()
	b := must.Get(base64.StdEncoding.DecodeString(text))(t)
	for at := 0; at < len(b); at += 4 * width {
		row := make([]float32, width)
		for i := range row {
			row[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[at+4*i:]))
		}
		rows = append(rows, row)
	}
	return rows
}

// TestVectorScores compares with torch-fidelity, cmmd-pytorch's formula and vendi-score.
func TestVectorScores(t *testing.T) {
	for _, c := range readGolden(t).Sets {
		v := Vectors{decode(t, c.Real, c.Width), decode(t, c.Generated, c.Width)}
		same := Vectors{v.Real[:c.Same], v.Generated[:c.Same]}
		got := []float64{must.Get(Frechet(v))(t), must.Get(MMD(same, Polynomial, Unbiased))(t),
			must.Get(MMD(v, Gaussian, Biased))(t), must.Get(Inception(v.Generated, 1))(t),
			must.Get(Inception(v.Generated, 4))(t)}
		want := []float64{c.Frechet, c.Kid, c.Cmmd, c.Isc, c.IscSplits}
		for i, name := range []string{"frechet", "kid", "cmmd", "isc", "isc, 4 splits"} {
			absolute := 0.0
			if name == "cmmd" { // 1000 times differences of numbers near 1
				absolute = 1e-10
			}
			near.Check(t, c.Name+", "+name, got[i:i+1], want[i:i+1], 1e-7, absolute)
		}
		for order, want := range c.Vendi {
			near.Check(t, c.Name+", vendi of order "+order,
				[]float64{must.Get(Vendi(v.Generated, order))(t)}, []float64{want}, 1e-7, 0)
		}
	}
}

// TestAbundances compares with scikit-bio and with the formulas of iNEXT.
func TestAbundances(t *testing.T) {
	for _, c := range readGolden(t).Abundances {
		for _, order := range []string{"0", "1", "2"} {
			name := fmt.Sprintf("%v, order %s", c.Counts, order)
			near.Check(t, name, []float64{c.Counts.Observed(order)}, []float64{c.Observed[order]}, 1e-10, 0)
			infinity := c.Counts.Infinity(order)
			if want := c.Infinity[order]; want != nil {
				near.Check(t, name+", infinity", []float64{infinity}, []float64{*want}, 1e-8, 0)
			} else if !math.IsInf(infinity, 1) {
				t.Errorf("%s: %v for infinitely many images", name, infinity)
			}
			for _, at := range c.At {
				near.Check(t, fmt.Sprintf("%s, %d images", name, at.M), []float64{c.Counts.At(order, at.M)},
					[]float64{at.Hill[order]}, 1e-8, 0)
				coverage := c.Counts.Coverage(at.M)
				near.Check(t, fmt.Sprintf("%s, coverage of %d", name, at.M), []float64{coverage},
					[]float64{at.Coverage}, 1e-9, 1e-12)
				if at.M == 1 || at.M > 2*c.Counts.Size() || coverage-c.Counts.Coverage(at.M-1) < 1e-9 {
					continue // the coverage of several numbers of images
				}
				if hill, size := c.Counts.AtCoverage(order, coverage); math.Abs(size-float64(at.M)) > 1e-6 ||
					math.Abs(hill-at.Hill[order]) > 1e-6 {
					t.Errorf("%s: %v of %v images at the coverage of %d", name, hill, size, at.M)
				}
			}
		}
		categories, n := float64(len(c.Counts)), float64(c.Counts.Size()) // scikit-bio has no factor (n − 1)/n
		near.Check(t, "chao1", []float64{c.Counts.Infinity("0")}, []float64{categories + (n-1)/n*(c.Chao1-categories)},
			1e-12, 0)
	}
}

// TestRetrievalLimit compares with exact Stirling numbers.
func TestRetrievalLimit(t *testing.T) {
	for _, c := range readGolden(t).Retrieval {
		got := must.Get(RetrievalLimit(c.K, c.N, c.Total, c.Level))(t)
		near.Check(t, fmt.Sprintf("%d of %d by %d", c.K, c.Total, c.N), []float64{got.Value, got.Low, got.High},
			[]float64{c.Value, c.Low, c.High}, 1e-12, 0)
	}
	for _, k := range []int{0, 11} {
		must.Fail(RetrievalLimit(k, 10, 20, 0.95))(t)
	}
}
