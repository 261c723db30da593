package visage

import (
	"fmt"
	"math"
	"slices"

	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// Rule says when an attribute counts as visual, from three scores between 1 (Strongly Disagree) and 5 (Strongly Agree).
type Rule string

// The rules. A score that is missing satisfies none of them.
const (
	AllAgree      Rule = "all"      // every score at least the threshold: the paper's rule, with threshold 4
	MajorityAgree Rule = "majority" // two of three
	AnyAgrees     Rule = "any"      // one of three
	MeanAgrees    Rule = "mean"     // the mean of the three
)

// Rules lists the rules.
var Rules = []string{string(AllAgree), string(MajorityAgree), string(AnyAgrees), string(MeanAgrees)}

// Visual is visual(a): whether the attribute can be seen in a picture, by the rule and the least score that counts as agreement. With
// [AllAgree] and 4 the released ratings give 518 distinct attributes; the paper prints 385, which no rule tried gives.
func Visual(scores [3]float64, rule Rule, atLeast float64) (bool, error) {
	n, sum := 0, 0.0
	for _, s := range scores {
		if s >= atLeast {
			n++
		}
		sum += s
	}
	switch rule {
	case AllAgree:
		return n == 3, nil
	case MajorityAgree:
		return n >= 2, nil
	case AnyAgrees:
		return n >= 1, nil
	case MeanAgrees:
		return sum/3 >= atLeast, nil
	}
	return false, fmt.Errorf("visage: no rule %q; known: %v", rule, Rules)
}

// Labels are the answers of the rating task by score, 1 to 5.
var Labels = [6]string{1: "Strongly Disagree", 2: "Disagree", 3: "Unsure", 4: "Agree", 5: "Strongly Agree"}

// Consensus is a bar of the paper's Figure 6: how many attributes got one label from at least two of three annotators.
type Consensus struct {
	Label string
	Count int     // attributes
	Of    int     // attributes rated
	Share float64 // percent, 100·Count/Of
	Low   float64 // interval; NaN without draws
	High  float64
}

// ConsensusOf counts the labels that at least two of three annotators gave, from Strongly Agree down to Strongly Disagree; Unsure comes last, as in
// the figure. What is missing to 100 % are attributes with three different labels. Intervals: bootstrap of attributes.
func ConsensusOf(scores [][3]float64, draws int, seed int64) ([]Consensus, error) {
	var count [6]int
	for i, s := range scores {
		for _, v := range s {
			if v != math.Trunc(v) || v < 1 || v > 5 {
				return nil, fmt.Errorf("visage: rating %d holds the score %g; scores are whole numbers from 1 to 5", i+1, v)
			}
		}
		switch {
		case s[0] == s[1] || s[0] == s[2]:
			count[int(s[0])]++
		case s[1] == s[2]:
			count[int(s[1])]++
		}
	}
	var out []Consensus
	for _, label := range []int{5, 4, 2, 1, 3} {
		c := Consensus{Labels[label], count[label], len(scores), 100 * float64(count[label]) / float64(len(scores)), math.NaN(), math.NaN()}
		if draws > 0 && len(scores) > 1 {
			hits := make([]float64, len(scores))
			for i := range c.Count {
				hits[i] = 1
			}
			iv, err := interval.BootstrapMean(hits, nil, interval.Bootstrap{Seed: uint64(seed), Count: draws, Range: interval.Share})
			if err != nil {
				return nil, fmt.Errorf("visage: %w", err)
			}
			c.Low, c.High = 100*iv.Low, 100*iv.High
		}
		out = append(out, c)
	}
	return out, nil
}

// Aggregate is one way to put all identities' likelihoods into the paper's "thrice as likely".
type Aggregate struct {
	Name  string
	About string
	Bounded
	N int // identities that entered it
}

// Overall computes the aggregations by name: the paper does not say which it used, and more than one rounds to three. Intervals: percentile bootstrap of identities;
// draws in which an aggregation is not available are left out.
func Overall(ts []Tendency, draws int, seed int64) []Aggregate {
	out := aggregates(ts)
	if len(ts) < 2 || draws <= 0 {
		return out
	}
	rng := seeded(seed, "overall")
	values := make([][]float64, len(out))
	drawn := make([]Tendency, len(ts))
	for range draws {
		for i := range drawn {
			drawn[i] = ts[rng.IntN(len(ts))]
		}
		for k, a := range aggregates(drawn) {
			if !math.IsInf(a.Value, 0) {
				values[k] = keep(values[k], a.Value)
			}
		}
	}
	for k := range out {
		out[k].bound(values[k], 0.95)
	}
	return out
}

func aggregates(ts []Tendency) []Aggregate {
	var stereo, other, thetas []float64
	for _, t := range ts {
		if math.IsNaN(t.Stereo) || math.IsNaN(t.Other) {
			continue
		}
		stereo, other = append(stereo, t.Stereo), append(other, t.Other)
		if !math.IsNaN(t.Theta) {
			thetas = append(thetas, t.Theta)
		}
	}
	slices.Sort(thetas)
	return []Aggregate{
		{"ratio-of-means", "mean L(stereo) over mean L(random), identities weigh the same", Bounded{mean(stereo) / mean(other), math.NaN(), math.NaN()}, len(stereo)},
		{"mean-of-theta", "mean of theta where it is defined", Bounded{mean(thetas), math.NaN(), math.NaN()}, len(thetas)},
		{"median-of-theta", "median of theta where it is defined", Bounded{tabular.Quantile(thetas, 0.5), math.NaN(), math.NaN()}, len(thetas)},
	}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values)) // NaN for none
}
