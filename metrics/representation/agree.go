package representation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"antipode/metrics"
	"antipode/metrics/interval"
)

// Pair are the labels of one image by people and by CLIP.
type Pair struct {
	Human, Clip PerceivedGroup
	Prompt      string // cluster of the bootstrap: the images of one prompt
}

// Methods of [ComputeClipAgreement]: the images that it counts, which the paper does not state.
const (
	BothDecided = "both-decided" // images with a group by people and by CLIP
	ThreeWay    = "three-way"    // all images; uncertain is a third class
)

// Agreement is the agreement of labels by CLIP with those by people.
type Agreement struct {
	Share             metrics.Estimate // of images with the same label, [0, 1]; interval by bootstrap of prompts
	Kappa             metrics.Estimate // Cohen's, at most 1; NaN where the expected agreement is 1
	Same, Used, Asked int              // images with the same label, images counted, pairs given
	Confusion         [3][3]int        // of all pairs given: [human][clip], by [PerceivedGroup]
}

// ComputeClipAgreement compares labels:
//
//	share = Σᵢ [humanᵢ = clipᵢ] / n
//	kappa = (share − e) / (1 − e),    e = Σ_g p_human(g)·p_clip(g)
//
// over the images that the method counts. Without one both are NaN.
func ComputeClipAgreement(pairs []Pair, method string, r Resampling) (Agreement, error) {
	if method != BothDecided && method != ThreeWay {
		return Agreement{}, fmt.Errorf("representation: method %q of agreement; use %q or %q", method, BothDecided,
			ThreeWay)
	}
	a := Agreement{Asked: len(pairs)}
	by := map[string]*[3][3]int{}
	var prompts []string
	for _, p := range pairs {
		if min(p.Human, p.Clip) < Uncertain || max(p.Human, p.Clip) > Second {
			return a, fmt.Errorf("representation: an image with the groups %d and %d", p.Human, p.Clip)
		}
		a.Confusion[p.Human][p.Clip]++
		if method == BothDecided && (p.Human == Uncertain || p.Clip == Uncertain) {
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
	share, kappa := agreementOf(all)
	a.Share, a.Kappa = metrics.Exact(share), metrics.Exact(kappa)
	boot, err := interval.NewBootstrap(r.Intervals.Bootstrap(r.Name), len(prompts))
	if err != nil {
		return a, err
	}
	var shares, kappas []float64
	for _, units := range boot.Units() {
		var sample [3][3]int
		for _, u := range units {
			sumUp(&sample, by[prompts[u]])
		}
		share, kappa := agreementOf(sample)
		shares, kappas = append(shares, share), append(kappas, kappa)
	}
	a.Share.Low, a.Share.High = boot.Ends(share, shares)
	a.Kappa.Low, a.Kappa.High = boot.Ends(kappa, kappas)
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

// agreementOf returns the share of the diagonal and Cohen's kappa.
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

// Effect is the effect of an intervention on a category's images on one axis and model.
type Effect struct {
	Before, Now DiversityScore
	Change      metrics.Estimate // Now − Before, [-1, 1]; below 0 = more diverse; interval from resamples of both
	// Attributes by what became of their bias, see [Change].
	Reduced, Flipped, Increased, Unchanged, NotAvailable []string
}

// ComputeEffect compares a prompt's counts with those of the original prompt, attribute by attribute; an attribute that
// only one of them has is not available.
func ComputeEffect(original, now []Counts, r Resampling) (Effect, error) {
	e := Effect{Before: ComputeDiversity(original), Now: ComputeDiversity(now)}
	e.Change = metrics.Exact(e.Now.Value - e.Before.Value)
	before := map[string]float64{}
	for _, c := range original {
		before[c.Attribute] = ComputeBias(c)
	}
	for _, c := range now {
		b, known := before[c.Attribute]
		if !known {
			b = math.NaN()
		}
		delete(before, c.Attribute)
		to := map[string]*[]string{"reduced": &e.Reduced, "flipped": &e.Flipped, "increased": &e.Increased,
			"unchanged": &e.Unchanged, "not available": &e.NotAvailable}[Change(b, ComputeBias(c))]
		*to = append(*to, c.Attribute)
	}
	for a := range before {
		e.NotAvailable = append(e.NotAvailable, a)
	}
	slices.SortFunc(e.NotAvailable, func(a, b string) int { return cmp.Compare(a, b) })
	options := r.options()
	options.Range = interval.Range{Min: -1, Max: 1}
	boot, err := interval.NewBootstrap(options, append(sizes(now), sizes(original)...)...)
	if err != nil {
		return e, err
	}
	images := e.Now.Asked
	e.Change.Low, e.Change.High = boot.Of(e.Change.Value, func(units []int) float64 {
		of := slices.Clone(units[images:])
		for i := range of { // numbered from the first image of the original prompt
			of[i] -= images
		}
		return ComputeDiversity(resample(now, units[:images])).Value - ComputeDiversity(resample(original, of)).Value
	})
	return e, nil
}
