package entigen

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"antipode/metrics/internal/tabular"
)

// Pair are the labels of one picture by people and by CLIP.
type Pair struct {
	Human, Clip Group
	Prompt      string // cluster of the bootstrap: the pictures of one prompt
}

// Definition says which pictures an agreement is over: the paper does not.
type Definition string

// The definitions.
const (
	BothDecided Definition = "both-decided" // pictures to which people and CLIP each gave a group
	ThreeWay    Definition = "three-way"    // all pictures; uncertain is a class of its own
)

// Definitions lists them.
var Definitions = []Definition{BothDecided, ThreeWay}

// Agreement is how far labels by CLIP are those by people.
type Agreement struct {
	Share, Low, High           float64   // of pictures with the same label, [0, 1]; interval by bootstrap of prompts
	Kappa, KappaLow, KappaHigh float64   // Cohen's, at most 1; NaN where chance alone agrees on everything
	Same, Used, Asked          int       // pictures with the same label, pictures counted, pairs given
	Confusion                  [3][3]int // of all pairs given: [human][clip], by [Group]
}

// AgreementOf compares labels:
//
//	share = Σᵢ [humanᵢ = clipᵢ] / n
//	kappa = (share − e) / (1 − e),    e = Σ_g p_human(g)·p_clip(g)
//
// over the pictures that the definition counts. Without one both are NaN.
func AgreementOf(pairs []Pair, d Definition, r Resampling) (Agreement, error) {
	if d != BothDecided && d != ThreeWay {
		return Agreement{}, fmt.Errorf("entigen: agreement %q; use %q or %q", d, BothDecided, ThreeWay)
	}
	nan := math.NaN()
	a := Agreement{Low: nan, High: nan, KappaLow: nan, KappaHigh: nan, Asked: len(pairs)}
	by := map[string]*[3][3]int{}
	var prompts []string
	for _, p := range pairs {
		if min(p.Human, p.Clip) < Uncertain || max(p.Human, p.Clip) > Second {
			return a, fmt.Errorf("entigen: a picture with the groups %d and %d", p.Human, p.Clip)
		}
		a.Confusion[p.Human][p.Clip]++
		if d == BothDecided && (p.Human == Uncertain || p.Clip == Uncertain) {
			continue
		}
		if by[p.Prompt] == nil {
			by[p.Prompt] = &[3][3]int{}
			prompts = append(prompts, p.Prompt)
		}
		by[p.Prompt][p.Human][p.Clip]++
	}
	slices.Sort(prompts)
	var all [3][3]int
	for _, name := range prompts {
		sumUp(&all, by[name])
	}
	a.Same, a.Used = all[0][0]+all[1][1]+all[2][2], total(all)
	a.Share, a.Kappa = agreementOf(all)
	if len(prompts) < 2 || r.Draws <= 0 {
		return a, nil
	}
	rng := r.source()
	var shares, kappas []float64
	for range r.Draws {
		var drawn [3][3]int
		for range prompts {
			sumUp(&drawn, by[prompts[rng.IntN(len(prompts))]])
		}
		share, kappa := agreementOf(drawn)
		shares = append(shares, share)
		if !math.IsNaN(kappa) {
			kappas = append(kappas, kappa)
		}
	}
	a.Low, a.High = tabular.Percentiles(shares, r.Level)
	if !math.IsNaN(a.Kappa) {
		a.KappaLow, a.KappaHigh = tabular.Percentiles(kappas, r.Level)
	}
	return a, nil
}

func sumUp(into, from *[3][3]int) {
	for i := range from {
		for j, n := range from[i] {
			into[i][j] += n
		}
	}
}

func total(c [3][3]int) (n int) {
	for _, row := range c {
		for _, v := range row {
			n += v
		}
	}
	return n
}

// agreementOf is the share of the diagonal and Cohen's kappa.
func agreementOf(c [3][3]int) (share, kappa float64) {
	n := float64(total(c))
	share = float64(c[0][0]+c[1][1]+c[2][2]) / n
	chance := 0.0
	for g := range c {
		row, column := 0, 0
		for k := range c {
			row, column = row+c[g][k], column+c[k][g]
		}
		chance += float64(row) / n * float64(column) / n
	}
	if n == 0 || chance >= 1-1e-15 {
		return share, math.NaN()
	}
	return share, (share - chance) / (1 - chance)
}

// Effect is what an intervention does to a category's pictures on one axis and model.
type Effect struct {
	Before, Now       Diversity
	Change, Low, High float64 // Now − Before, [-1, 1]; below 0 = more diverse; interval from draws of both
	// Attributes by what became of their bias, see [Change].
	Reduced, Flipped, Increased, Unchanged, NotAvailable []string
}

// EffectOf compares a prompt's counts with those of the original prompt, attribute by attribute; an attribute that only one of them has is not available.
func EffectOf(original, now []Counts, r Resampling) Effect {
	e := Effect{Before: DiversityOf(original), Now: DiversityOf(now), Low: math.NaN(), High: math.NaN()}
	e.Change = e.Now.Value - e.Before.Value
	before := map[string]float64{}
	for _, c := range original {
		before[c.Attribute] = BiasOf(c)
	}
	for _, c := range now {
		b, known := before[c.Attribute]
		if !known {
			b = math.NaN()
		}
		delete(before, c.Attribute)
		to := map[string]*[]string{"reduced": &e.Reduced, "flipped": &e.Flipped, "increased": &e.Increased, "unchanged": &e.Unchanged, "not available": &e.NotAvailable}[Change(b, BiasOf(c))]
		*to = append(*to, c.Attribute)
	}
	for a := range before {
		e.NotAvailable = append(e.NotAvailable, a)
	}
	slices.SortFunc(e.NotAvailable, func(a, b string) int { return cmp.Compare(a, b) })
	if math.IsNaN(e.Change) || r.Draws <= 0 {
		return e
	}
	rng := r.source()
	var changes []float64
	for range r.Draws {
		if v := DiversityOf(drawAll(now, rng)).Value - DiversityOf(drawAll(original, rng)).Value; !math.IsNaN(v) {
			changes = append(changes, v)
		}
	}
	e.Low, e.High = centred(e.Change, changes, r.Level, -1, 1)
	return e
}

func drawAll(counts []Counts, rng *rand.Rand) []Counts {
	out := make([]Counts, len(counts))
	for i, c := range counts {
		out[i] = c.draw(rng)
	}
	return out
}
