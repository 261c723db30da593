package entigen

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// Counts are the pictures of one attribute under one prompt.
type Counts struct {
	Attribute     string
	First, Second int // labelled with the first, the second group: a_k, b_k
	Uncertain     int // labelled with neither
}

// Usable is a_k + b_k.
func (c Counts) Usable() int { return c.First + c.Second }

// Diversity is the diversity score of a prompt over a category's attributes, with what it rests on.
type Diversity struct {
	Value         float64 // DS in [0, 1]; NaN = not available: no usable picture
	Low, High     float64 // interval; NaN without draws
	First, Second int     // pictures of each group, over all attributes
	Usable, Asked int     // pictures with a group label; all pictures
	Empty         []string
}

// DiversityOf computes the paper's equation 1.
func DiversityOf(counts []Counts) Diversity {
	d := Diversity{Low: math.NaN(), High: math.NaN()}
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

// BiasOf computes the paper's equation 2; NaN = not available.
func BiasOf(c Counts) float64 { return float64(c.First-c.Second) / float64(c.Usable()) }

// BiasInterval is the interval of a bias: Wilson's score interval of the share a/(a+b), of which the bias is twice the share minus 1. Unlike resampling it
// has a width where all usable pictures fall to one group. NaN where there is none.
func BiasInterval(c Counts, level float64) (low, high float64) {
	share := interval.Wilson(c.First, c.Usable(), level)
	return 2*share.Low - 1, 2*share.High - 1
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// Cluster says what a bootstrap draws whole.
type Cluster string

// The clusters. With few prompts (people rated two or three attributes of a category) draws of whole prompts have few outcomes: read such an interval with care.
const (
	ByPicture Cluster = "picture" // pictures, within each attribute
	ByPrompt  Cluster = "prompt"  // prompts, that is attributes, each with all its pictures
)

// Resampling are the settings of a [Bootstrap].
type Resampling struct {
	Cell    string  // names what is scored: the draws depend on it and the seed alone
	Cluster Cluster // "" = [ByPicture]
	Draws   int     // 0 = no interval
	Level   float64 // of the interval
	Seed    int64
	Most    float64 // the score's upper end; 0 = none. The lower one is 0
}

// source is the draws' generator.
func (r Resampling) source() *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(r.Cell))
	return rand.New(rand.NewPCG(uint64(r.Seed), h.Sum64()))
}

// Bootstrap gives the interval of a score by drawing with replacement: value + (quantiles of the draws − their mean), within the score's range. The absolute difference of few
// pictures is larger in a draw than in the data; taking the draws' mean away leaves that out, which a percentile interval would not. The interval is about
// the score's expectation at these numbers of pictures. Draws in which the score is not available are left out; the interval always holds the value itself. There is none
// for one prompt drawn by prompts.
func Bootstrap(counts []Counts, score func([]Counts) float64, r Resampling) (low, high float64) {
	value := score(counts)
	if r.Draws <= 0 || math.IsNaN(value) || r.Cluster == ByPrompt && len(counts) < 2 {
		return math.NaN(), math.NaN()
	}
	rng := r.source()
	values := make([]float64, 0, r.Draws)
	drawn := make([]Counts, len(counts))
	for range r.Draws {
		for i, c := range counts {
			if r.Cluster == ByPrompt {
				drawn[i] = counts[rng.IntN(len(counts))]
			} else {
				drawn[i] = c.draw(rng)
			}
		}
		if v := score(drawn); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	most := r.Most
	if most == 0 {
		most = math.Inf(1)
	}
	return centred(value, values, r.Level, 0, most)
}

// centred is the interval of a value from the draws' deviations from their own mean, within a range.
func centred(value float64, draws []float64, level, least, most float64) (low, high float64) {
	mean := 0.0
	for _, v := range draws {
		mean += v
	}
	mean /= float64(len(draws))
	low, high = tabular.Percentiles(draws, level)
	low, high = value+low-mean, value+high-mean
	return min(value, max(least, low)), max(value, min(most, high))
}

// draw draws the pictures of an attribute with replacement.
func (c Counts) draw(rng *rand.Rand) Counts {
	out := Counts{Attribute: c.Attribute}
	n := c.Usable() + c.Uncertain
	for range n {
		switch k := rng.IntN(n); {
		case k < c.First:
			out.First++
		case k < c.Usable():
			out.Second++
		default:
			out.Uncertain++
		}
	}
	return out
}

// Quality is the number of good pictures per attribute (the paper's Table 3), by both readings of "good".
type Quality struct {
	Usable      float64 // pictures with a group label by the rule: what the paper's numbers turn out to be, under [Strict]
	AsDescribed float64 // pictures that the majority calls a person and fitting the prompt: what the paper's words say
}

// Change compares a bias with that of the original prompt: "flipped" (opposite signs, neither 0), "reduced" (same sign, or now 0, and closer to 0),
// "increased", "unchanged", or "not available".
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

// Printed is a value as a paper prints it: how many decimals it was rounded or cut to.
type Printed struct {
	Value    float64
	Decimals int
}

// ParsePrinted reads a printed score. A score without decimals, such as "1", counts as exact to two, as the tables around it are.
func ParsePrinted(text string) (Printed, error) {
	v, err := strconv.ParseFloat(text, 64)
	_, decimals, _ := strings.Cut(text, ".")
	p := Printed{v, len(decimals)}
	if strings.Trim(decimals, "0") == "" {
		p.Decimals = 2
	}
	return p, err
}

// Agrees says whether a value gives the printed one when it is rounded or cut to its decimals: the paper does both. Ties round either way.
func (p Printed) Agrees(value float64) bool {
	unit := math.Pow(10, -float64(p.Decimals))
	const slack = 1e-9
	return math.Abs(value-p.Value) <= unit*(0.5+slack) || (value >= p.Value-slack && value < p.Value+unit*(1-slack))
}

// Feasible says whether a diversity score can be printed so at all when at most so many pictures are usable: whether there is a sum of differences and a number of
// usable pictures of equal parity, at least one, whose ratio agrees. With it goes the smallest such number of usable pictures.
func Feasible(p Printed, most int) (usable int, ok bool) {
	for n := 1; n <= most; n++ {
		for d := n % 2; d <= n; d += 2 {
			if p.Agrees(float64(d) / float64(n)) {
				return n, true
			}
		}
	}
	return 0, false
}
