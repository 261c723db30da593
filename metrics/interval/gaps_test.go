package interval

import (
	"math"
	"math/rand/v2"
	"testing"

	"antipode/internal/must"
)

func scored(r *rand.Rand, name string, value, sd float64) Scored {
	s := Scored{name, value, make([]float64, 4000)}
	for b := range s.Samples {
		s.Samples[b] = value - 0.1 + sd*r.NormFloat64() // the bias cancels
	}
	return s
}

// Independent scores: a gap's interval is √2 as wide; the simultaneous one is wider; a wide gap is found, a narrow
// one is not.
func TestGaps(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 1))
	regions := []Scored{scored(r, "a", 0.5, 0.02), scored(r, "b", 0.52, 0.02), scored(r, "c", 0.8, 0.02)}
	gaps, err := Gaps(regions, 0.95)
	if err != nil || len(gaps) != 3 {
		t.Fatalf("%+v, %v", gaps, err)
	}
	for i, want := range [][2]string{{"a", "b"}, {"a", "c"}, {"b", "c"}} {
		g := gaps[i]
		must.Equal(t, g.A, want[0], i)
		must.Equal(t, g.B, want[1], i)
		must.Near(t, (g.Single.High-g.Single.Low)/(2*1.96*0.02*math.Sqrt2), 1, 0.08, g.A, "−", g.B)
		if g.Simultaneous.High-g.Simultaneous.Low <= 1.1*(g.Single.High-g.Single.Low) {
			t.Errorf("%s − %s: %+v", g.A, g.B, g)
		}
		must.Equal(t, g.Simultaneous.Excludes(0), i > 0, g.A, "−", g.B, "found")
	}
	// unequal numbers of half-samples
	must.Fail(Gaps([]Scored{{"a", 1, []float64{1, 2}}, {"b", 1, []float64{1}}}, 0.95))(t)
}

func TestGapsToMean(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 1))
	regions := []Scored{scored(r, "low", 0.3, 0.02), scored(r, "x", 0.5, 0.02), scored(r, "y", 0.52, 0.02),
		scored(r, "z", 0.54, 0.02)}
	gaps, err := GapsToMean(regions, []string{"x", "y", "z"}, 0.95)
	if err != nil || len(gaps) != 4 {
		t.Fatalf("%+v, %v", gaps, err)
	}
	for i, want := range []float64{0.3 - 0.52, 0.5 - 0.53, 0, 0.54 - 0.51} {
		if g := gaps[i]; math.Abs(g.Single.Value-want) > 1e-12 || g.Simultaneous.Excludes(0) != (i == 0) {
			t.Errorf("%+v, want %v", g, want)
		}
	}
	must.Equal(t, len(must.Get(GapsToMean(regions, []string{"x"}, 0.95))(t)), 3)
	must.Fail(GapsToMean(regions, []string{"w"}, 0.95))(t) // unknown reference
}
