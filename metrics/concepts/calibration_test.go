package concepts

import (
	"fmt"
	"math"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
	"antipode/metrics/internal/tabulartest"
)

// TestCalibrationOfConcepts samples data sets of one concept with 10 images per language and counts how often nominal
// 95 % intervals cover the expected score, estimated by the mean over all data sets (its error is a twentieth of an
// interval).
func TestCalibrationOfConcepts(t *testing.T) {
	rng := near.Rand(t, 5)
	const trials, width = 400, 16
	center, other := vector(rng, nil, 1, width), vector(rng, nil, 1, width)
	names := []string{"Sc", "Xc", "Wc", "Dt"}
	values := make([][]metrics.Estimate, len(names))
	fixed := Image{ID: "0", Vector: other}
	for trial := range trials {
		set := Set{Model: "m", Images: map[Cell][]Image{{"es", "b"}: {fixed}},
			Words: map[Cell][]float32{{"en", "a"}: center}}
		for _, l := range []string{"en", "es"} {
			for i := range 10 {
				set.Images[Cell{l, "a"}] = append(set.Images[Cell{l, "a"}],
					Image{ID: fmt.Sprint(i), Vector: vector(rng, center, 0.8, width),
						Joint: vector(rng, center, 0.8, width)})
			}
		}
		scores := must.Get(ComputeConceptScores(set, Options{Intervals: metrics.Intervals{Resamples: 300,
			Seed: int64(trial)}}))(t)
		for _, s := range scores {
			if s.Cell == (Cell{"es", "a"}) {
				for k, v := range []metrics.Estimate{s.Sc, s.Xc, s.Wc, s.Dt} {
					values[k] = append(values[k], v)
				}
			}
		}
	}
	for k, name := range names {
		if held := tabulartest.Coverage(values[k]); held < 0.92 || held > 0.99 {
			t.Errorf("%s: intervals of 10 images covered the true value in %.3f of data sets", name, held)
		} else {
			t.Logf("%s: %.3f", name, held)
		}
	}
}

// TestCalibrationOfMeans does the same for means, shares, their averages over languages and models, and correlations,
// over 60 concepts whose scores correlate between languages and models: the intervals must resample concepts, not
// cells.
func TestCalibrationOfMeans(t *testing.T) {
	rng := near.Rand(t, 5)
	const trials, concepts = 400, 60
	values := map[string][]metrics.Estimate{}
	for trial := range trials {
		var rows []Scored
		for k := range concepts {
			common := rng.NormFloat64()
			for _, m := range []string{"A", "B"} {
				for _, l := range []string{"en", "es", "he"} {
					x := 0.5 + 0.1*common + 0.05*rng.NormFloat64()
					r := Scored{Model: m, Cell: Cell{l, fmt.Sprint(k)}, Dt: x, Sc: x, Xc: x, Wc: 100 * x, Possessed: No}
					if x > 0.5 {
						r.Possessed = Yes
					}
					if rng.IntN(12) == 0 {
						r.Xc = math.NaN()
					}
					rows = append(rows, r)
				}
			}
		}
		i := metrics.Intervals{Resamples: 300, Seed: int64(trial)}
		means := must.Get(ComputeLanguageMeans(rows, LeaveOut, i))(t)
		for _, m := range means {
			switch m.Model + m.Language {
			case "Aen", "AAvg", "Avgen":
				values["Xc "+m.Model+" "+m.Language] = append(values["Xc "+m.Model+" "+m.Language], m.Xc)
				values["share "+m.Model+" "+m.Language] = append(values["share "+m.Model+" "+m.Language], m.Possessed)
			}
		}
		r := must.Get(ComputeLanguageCorrelations(rows, func(s Scored) float64 { return s.Xc }, true, i))(t)
		values["r"] = append(values["r"], r[0].R)
	}
	must.Equal(t, len(values), 7, "kinds")
	for name, v := range values {
		if held := tabulartest.Coverage(v); held < 0.91 || held > 0.985 {
			t.Errorf("%s: intervals covered the true value in %.3f of data sets", name, held)
		} else {
			t.Logf("%s: %.3f", name, held)
		}
	}
}
