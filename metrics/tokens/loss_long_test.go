//go:build calibration

package tokens

import (
	"math/rand/v2"
	"testing"
)

// TestCalibrationOfSimulatedLosses divides the losses of 200 simulated languages for each row: 40 or 200 prompts with 4
// images each, scores that vary by prompt (standard deviation 0.15, in both languages) and image (0.1). docs/trust.md
// has the table. Run with:
//
//	go test -tags calibration -run CalibrationOfSimulatedLosses -v ./metrics/tokens
func TestCalibrationOfSimulatedLosses(t *testing.T) {
	const draws = 200
	t.Log("| prompts | damaged | costs | generator | rare | repaired | damage named | generator named | loss | share |")
	for _, c := range []struct {
		prompts        int
		damaged, costs float64 // share of prompts, loss of each
		fails          float64 // share of prompts that the generator fails, each by 0.4
		rare           bool    // of the damaged prompts only
		repaired       bool
	}{
		{40, 0, 0, 0, false, false}, {40, 0.5, 0, 0, false, false}, {40, 0.5, 0.4, 0, false, false},
		{40, 0.2, 0.4, 0, false, false}, {40, 0, 0, 0.4, false, false}, {40, 0.5, 0, 0.4, false, false},
		{40, 0.5, 0.3, 0.4, false, false}, {200, 0.5, 0.3, 0.4, false, false}, {40, 0.5, 0.3, 0.4, false, true},
		{40, 0.5, 0, 0.4, true, false}, {40, 0.5, 0, 0.4, true, true},
	} {
		n := map[string]float64{}
		for draw := range draws {
			rng := rand.New(rand.NewPCG(uint64(draw), 7))
			images := func(mean float64) (out []float64) {
				for range 4 {
					out = append(out, mean+0.1*rng.NormFloat64())
				}
				return out
			}
			var prompts []Prompt
			cut, lost := 0.0, 0.0 // of the list: its damaged prompts, and what the generator loses
			for range c.prompts {
				concept := 0.6 + 0.15*rng.NormFloat64()
				p := Prompt{Reference: images(concept)}
				if rng.Float64() < c.damaged {
					p.Causes, cut = "cut", cut+1/float64(c.prompts)
				}
				fails := c.fails
				if c.rare {
					fails = 2 * c.fails
					if p.Causes == "" {
						fails = 0
					}
				}
				left := concept
				if rng.Float64() < fails {
					left, lost = left-0.4, lost+0.4/float64(c.prompts)
				}
				p.Scores = images(left)
				if p.Causes != "" {
					p.Scores = images(left - c.costs)
				}
				if c.repaired && p.Causes != "" {
					p.Repaired = images(left)
				}
				prompts = append(prompts, p)
			}
			for _, p := range Attribute(prompts, AttributeOptions{Level: 0.95, Family: 1 - 0.05/3, AtLeast: 0.02}) {
				whole := cut*c.costs + lost
				truth := map[string]float64{"cut": cut * c.costs, Generator: lost, All: whole}[p.Cause]
				if p.Flagged {
					n[p.Cause]++
				}
				if p.Loss.Low <= truth && truth <= p.Loss.High {
					n["in loss"]++
				}
				n["losses"]++
				if p.Share.Low == p.Share.Low && p.Share.High == p.Share.High && whole > 0 {
					if n["shares"]++; p.Share.Low <= truth/whole && truth/whole <= p.Share.High {
						n["in share"]++
					}
				}
			}
		}
		t.Logf("| %d | %.0f %% | %.1f | %.0f %% | %v | %v | %.1f | %.1f | %.1f | %.1f of %.0f |", c.prompts,
			100*c.damaged, c.costs, 100*c.fails, c.rare, c.repaired, n["cut"]/2, n[Generator]/2,
			100*n["in loss"]/n["losses"], 100*n["in share"]/n["shares"], n["shares"])
		if !c.rare && (n["in loss"] < 0.95*n["losses"] || n["in share"] < 0.92*n["shares"]) {
			t.Error("the intervals contain the truth too rarely")
		}
	}
}
