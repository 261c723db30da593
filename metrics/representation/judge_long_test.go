//go:build calibration

package representation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/interval"
)

// TestCalibrationOfHiddenRatings hides 80 to 95 % of the released ratings: one rater of an image is the judge, another
// one the label, and the mean of all labels of a model's images is what intervals should contain. Run with:
//
//	go test -tags calibration -run HiddenRatings -v ./metrics/representation
func TestCalibrationOfHiddenRatings(t *testing.T) {
	f := released(t)
	type pair struct{ judge, label float64 }
	models, first, seen := map[string][]pair{}, map[string]float64{}, map[string]int{}
	for row, v := range f.Numbers("as_described") {
		if math.IsNaN(v) {
			continue
		}
		image := f.Texts("image_id")[row]
		if seen[image]++; seen[image] == 1 {
			first[image] = v
		} else if seen[image] == 2 {
			model := f.Texts("model")[row]
			models[model] = append(models[model], pair{first[image], v})
		}
	}
	rng := rand.New(rand.NewPCG(near.Seed(t), 1))
	for _, hidden := range []float64{0.8, 0.9, 0.95} {
		for model, pairs := range models {
			truth, agree := 0.0, 0.0
			for _, p := range pairs {
				truth += p.label / float64(len(pairs))
				if p.judge == p.label {
					agree += 1 / float64(len(pairs))
				}
			}
			n, covered, width, saved := int(math.Round((1-hidden)*float64(len(pairs)))), 0.0, 0.0, 0.0
			for range 200 {
				rng.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
				var labels, judged, rest []float64
				for i, p := range pairs {
					if i < n {
						labels, judged = append(labels, p.label), append(judged, p.judge)
					} else {
						rest = append(rest, p.judge)
					}
				}
				p := must.Get(interval.PredictionPowered(labels, judged, rest, false))(t)
				alone := must.Get(interval.PredictionPowered(labels, make([]float64, n), nil, false))(t)
				low, high := p.Interval(0.95)
				l, h := alone.Interval(0.95)
				if low <= truth && truth <= high {
					covered += 1.0 / 200
				}
				width, saved = width+(high-low)/(h-l)/200, saved+(alone.Variance()/p.Variance()-1)*float64(n)/200
			}
			t.Log(fmt.Sprintf("%s: %d of %d labels, rate %.2f, raters agree on %.2f: coverage %.3f, width %.2f, "+
				"%.0f labels saved", model, n, len(pairs), truth, agree, covered, width, saved))
			if covered < 0.92 {
				t.Errorf("%s, %g hidden: coverage %v", model, hidden, covered)
			}
		}
	}
}
