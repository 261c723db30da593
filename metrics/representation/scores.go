package representation

import (
	"math"
	"strconv"
	"strings"

	"antipode/metrics"
	"antipode/metrics/interval"
)

// Counts are the images of one attribute under one prompt.
type Counts struct {
	Attribute     string
	First, Second int // with the label of the first, the second group: a_k, b_k
	Uncertain     int // with neither
}

// Usable is a_k + b_k.
func (c Counts) Usable() int { return c.First + c.Second }

// DiversityScore is the diversity score of a prompt over a category's attributes, with its counts.
type DiversityScore struct {
	metrics.Estimate     // DS in [0, 1]; NaN = not available: no usable image
	First, Second    int // images of each group, over all attributes
	Usable, Asked    int // images with a group label; all images
	Empty            []string
}

// ComputeDiversity computes the paper's equation 1.
func ComputeDiversity(counts []Counts) DiversityScore {
	d := DiversityScore{Estimate: metrics.Exact(math.NaN())}
	difference := 0
	for _, c := range counts {
		difference += abs(c.First - c.Second)
		d.First, d.Second = d.First+c.First, d.Second+c.Second
		d.Asked += c.Usable() + c.Uncertain
		if c.Usable() == 0 {
			d.Empty = append(d.Empty, c.Attribute)
		}
	}
	d.Usable = d.First + d.Second
	d.Value = float64(difference) / float64(d.Usable) // NaN for 0/0
	return d
}

// EvenDiversity returns the mean of |a − b| / (a + b) over n images of an attribute, each of which is in either group
// with equal probability: the diversity score of an even prompt, which only chance moves from 0. It is NaN for n < 1.
func EvenDiversity(n int) float64 {
	if n < 1 {
		return math.NaN()
	}
	pairs := (n + 1) / 2
	mean := 2 * float64(pairs) / float64(n)
	for i := 1; i <= pairs; i++ {
		mean *= 1 - 1/(2*float64(i)) // the product is the binomial probability of a = b in 2·pairs images
	}
	return mean
}

// ComputeBias computes the paper's equation 2; NaN = not available.
func ComputeBias(c Counts) float64 { return float64(c.First-c.Second) / float64(c.Usable()) }

// BiasInterval returns a bias with its interval: Wilson's score interval of the share a/(a+b), of which the bias is
// twice the share minus 1. Unlike a bootstrap interval it has a width where all usable images are in one group.
// Without usable images all three are NaN.
func BiasInterval(c Counts, level float64) metrics.Estimate {
	share := interval.Wilson(c.First, c.Usable(), level)
	return metrics.Estimate{Value: ComputeBias(c), Low: 2*share.Low - 1, High: 2*share.High - 1}
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// What a bootstrap resamples as a whole. People rated two or three attributes of a category, so that resamples of whole
// prompts have few outcomes: use such an interval with care.
const (
	ByImage  = "image"  // images, within each attribute
	ByPrompt = "prompt" // prompts, that is attributes, each with all its images
)

// Resampling are the options of a [Bootstrap].
type Resampling struct {
	metrics.Intervals
	Name    string  // of the score: the resamples depend on it and the seed alone
	Cluster string  // "" = [ByImage]
	Most    float64 // upper end of the score's range; 0 = none. The lower end is 0
}

// options are those of a centered bootstrap: the absolute difference of few images is biased upwards in a resample, and
// subtracting the resamples' mean removes that bias.
func (r Resampling) options() interval.BootstrapOptions {
	o := r.Intervals.Bootstrap(r.Name)
	o.Centered, o.Range = true, interval.Range{Min: 0, Max: r.Most}
	if r.Most == 0 {
		o.Range.Max = math.Inf(1)
	}
	return o
}

// Bootstrap returns a score with its centered interval; see [interval.BootstrapOptions]. Resamples in which the score
// is not available are left out. One prompt resampled by prompts has no interval.
func Bootstrap(counts []Counts, score func([]Counts) float64, r Resampling) (metrics.Estimate, error) {
	e := metrics.Exact(score(counts))
	strata := []int{len(counts)}
	if r.Cluster != ByPrompt {
		strata = sizes(counts)
	}
	boot, err := interval.NewBootstrap(r.options(), strata...)
	if err != nil {
		return e, err
	}
	sample := make([]Counts, len(counts))
	e.Low, e.High = boot.Of(e.Value, func(units []int) float64 {
		if r.Cluster != ByPrompt {
			return score(resample(counts, units))
		}
		for i, u := range units {
			sample[i] = counts[u]
		}
		return score(sample)
	})
	return e, nil
}

// sizes returns the number of images of each attribute.
func sizes(counts []Counts) (out []int) {
	for _, c := range counts {
		out = append(out, c.Usable()+c.Uncertain)
	}
	return out
}

// resample returns the counts of images sampled within each attribute; units numbers the images of all attributes.
func resample(counts []Counts, units []int) []Counts {
	out, at := make([]Counts, len(counts)), 0
	for i, c := range counts {
		out[i].Attribute = c.Attribute
		n := c.Usable() + c.Uncertain
		for _, u := range units[at : at+n] {
			switch k := u - at; {
			case k < c.First:
				out[i].First++
			case k < c.Usable():
				out[i].Second++
			default:
				out[i].Uncertain++
			}
		}
		at += n
	}
	return out
}

// Change compares a bias with that of the original prompt: "flipped" (opposite signs, neither 0), "reduced" (same
// sign, or now 0, and closer to 0), "increased", "unchanged", or "not available".
func Change(original, now float64) string {
	switch {
	case math.IsNaN(original) || math.IsNaN(now):
		return "not available"
	case original*now < 0:
		return "flipped"
	case math.Abs(now) < math.Abs(original):
		return "reduced"
	case math.Abs(now) > math.Abs(original):
		return "increased"
	}
	return "unchanged"
}

// PrintedNumber is a value as a paper prints it: how many decimals it was rounded or cut to.
type PrintedNumber struct {
	Value    float64
	Decimals int
}

// ParsePrinted reads a printed score. A score without decimals, such as "1", counts as exact to two, as the tables
// around it are.
func ParsePrinted(text string) (PrintedNumber, error) {
	v, err := strconv.ParseFloat(text, 64)
	_, decimals, _ := strings.Cut(text, ".")
	p := PrintedNumber{v, len(decimals)}
	if strings.Trim(decimals, "0") == "" {
		p.Decimals = 2
	}
	return p, err
}

// Agrees reports whether a value, rounded or cut to the decimals, is the printed one: the paper does both with two
// decimals. A value with one decimal must be the rounded one: it is never cut there. Ties round either way.
func (p PrintedNumber) Agrees(value float64) bool {
	unit := math.Pow(10, -float64(p.Decimals))
	const slack = 1e-9
	cut := p.Decimals > 1 && value >= p.Value-slack && value < p.Value+unit*(1-slack)
	return cut || math.Abs(value-p.Value) <= unit*(0.5+slack)
}

// Feasible reports whether a printed diversity score is possible with at most so many usable images: whether the
// ratio of a sum of differences and a number of usable images of equal parity agrees. It returns the smallest such
// number.
func Feasible(p PrintedNumber, most int) (usable int, ok bool) {
	for n := 1; n <= most; n++ {
		for d := n % 2; d <= n; d += 2 {
			if p.Agrees(float64(d) / float64(n)) {
				return n, true
			}
		}
	}
	return 0, false
}
