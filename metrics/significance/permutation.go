package significance

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Result is the result of a permutation test.
type Result struct {
	Difference   float64 // mean of a − mean of b, or the mean of the paired differences
	P            float64 // two-sided, in (0, 1]
	Permutations int     // number of permutations that were evaluated; 0 = P is computed from their distribution
	Exact        bool    // P is of all permutations; otherwise P = (hits+1)/(resamples+1)
}

// exactLimit is the largest number of permutations that are all evaluated; with more, random ones are.
const exactLimit = 20_000

// slack is the relative rounding error up to which a permutation's sum counts as equal to the observed one.
const slack = 1e-12

// Means tests whether two groups have the same mean, assuming that their values are exchangeable if they have: group
// labels are permuted in all ways if there are at most 20,000, else resamples times at random. P is the share of
// permutations whose difference is at least as large, in absolute value, as the observed one. For two values only, such
// as 0 and 1, it is exact: the number of ones in the first group has the hypergeometric distribution (Fisher's exact
// test with this definition of two-sided; the other common one adds up all tables that are no more likely).
//
// Errors: an empty group, a value that is NaN or infinite, resamples below 1 if they are needed.
func Means(a, b []float64, resamples int, seed uint64) (Result, error) {
	if err := finite(a, "the first group"); err != nil {
		return Result{}, err
	}
	if err := finite(b, "the second group"); err != nil {
		return Result{}, err
	}
	all := append(append([]float64(nil), a...), b...)
	n, m := float64(len(a)), float64(len(b))
	total, scale := 0.0, 0.0
	for _, v := range all {
		total += v
		scale += math.Abs(v)
	}
	difference := func(sum float64) float64 { return sum/n - (total-sum)/m } // sum of the first group
	r := Result{Difference: difference(sum(all[:len(a)]))}
	bound := math.Abs(r.Difference) - slack*scale*(1/n+1/m)
	hits := 0
	try := func(sum float64) {
		r.Permutations++
		if math.Abs(difference(sum)) >= bound {
			hits++
		}
	}
	if ways(len(all), len(a)) <= exactLimit {
		choose(all, len(a), 0, try)
		r.Exact, r.P = true, float64(hits)/float64(r.Permutations)
		return r, nil
	}
	if low, high, ones, two := twoValued(all); two {
		r.Exact = true
		most, chosen := min(len(a), ones), float64(len(a))
		for k := max(0, len(a)+ones-len(all)); k <= most; k++ {
			if math.Abs(difference(float64(k)*high+(chosen-float64(k))*low)) >= bound {
				r.P += math.Exp(logWays(ones, k) + logWays(len(all)-ones, len(a)-k) - logWays(len(all), len(a)))
			}
		}
		r.P = min(1, r.P)
		return r, nil
	}
	if resamples < 1 {
		return Result{}, fmt.Errorf("significance: %d resamples: a permutation test of %d values needs at least one",
			resamples, len(all))
	}
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	for range resamples {
		for i := range len(a) { // the first steps of a shuffle
			j := i + rng.IntN(len(all)-i)
			all[i], all[j] = all[j], all[i]
		}
		try(sum(all[:len(a)]))
	}
	r.P = float64(hits+1) / float64(resamples+1)
	return r, nil
}

// Paired tests whether the mean of paired differences is zero, assuming that each is as likely as its negative if it
// is: the same prompts with and without an intervention, in two languages, by two models. Signs are flipped in all
// ways if there are at most 20,000, else resamples times at random. If all differences that are not 0 have one size, as
// those of values that are 0 or 1, P is exact: their number above 0 has the binomial distribution (McNemar's exact
// test).
//
// Errors: as [Means].
func Paired(differences []float64, resamples int, seed uint64) (Result, error) {
	if err := finite(differences, "the differences"); err != nil {
		return Result{}, err
	}
	n := len(differences)
	observed, scale := sum(differences), 0.0
	for _, v := range differences {
		scale += math.Abs(v)
	}
	r := Result{Difference: observed / float64(n)}
	bound := math.Abs(observed) - slack*scale
	hits := 0
	try := func(word func(i int) bool) {
		s := 0.0
		for i, v := range differences {
			if word(i) {
				v = -v
			}
			s += v
		}
		r.Permutations++
		if math.Abs(s) >= bound {
			hits++
		}
	}
	if n < bits.Len(exactLimit) {
		for k := range 1 << n {
			try(func(i int) bool { return k>>i&1 == 1 })
		}
		r.Exact, r.P = true, float64(hits)/float64(r.Permutations)
		return r, nil
	}
	if size, changed := oneSized(differences); changed >= 0 {
		r.Exact = true
		for k := range changed + 1 {
			if math.Abs(float64(2*k-changed))*size >= bound {
				r.P += math.Exp(logWays(changed, k) - float64(changed)*math.Ln2)
			}
		}
		r.P = min(1, r.P)
		return r, nil
	}
	if resamples < 1 {
		return Result{}, fmt.Errorf("significance: %d resamples: a permutation test of %d pairs needs at least one",
			resamples, n)
	}
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	for range resamples {
		var word uint64
		try(func(i int) bool {
			if i%64 == 0 {
				word = rng.Uint64()
			}
			return word>>(i%64)&1 == 1
		})
	}
	r.P = float64(hits+1) / float64(resamples+1)
	return r, nil
}

// choose calls try with the sum of each combination of k values.
func choose(values []float64, k int, sum float64, try func(sum float64)) {
	if k == 0 {
		try(sum)
		return
	}
	for i := 0; i+k <= len(values); i++ {
		choose(values[i+1:], k-1, sum+values[i], try)
	}
}

// ways returns the binomial coefficient n over k, or a number above exactLimit.
func ways(n, k int) int {
	w := 1
	for i := range min(k, n-k) {
		if w = w * (n - i) / (i + 1); w > exactLimit {
			return w
		}
	}
	return w
}

// logWays returns the logarithm of the binomial coefficient n over k.
func logWays(n, k int) float64 {
	of := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	return of(n) - of(k) - of(n-k)
}

// twoValued returns the lowest and the highest value and the number of the latter, if there are no others.
func twoValued(values []float64) (low, high float64, ones int, two bool) {
	low, high = slices.Min(values), slices.Max(values)
	for _, v := range values {
		switch v {
		case low:
		case high:
			ones++
		default:
			return 0, 0, 0, false
		}
	}
	return low, high, ones, true
}

// oneSized returns the absolute value of the differences that are not 0, and their number: −1 if they differ.
func oneSized(differences []float64) (size float64, changed int) {
	for _, d := range differences {
		switch d = math.Abs(d); {
		case d == 0:
			continue
		case changed > 0 && d != size:
			return 0, -1
		}
		size = d
		changed++
	}
	return size, changed
}

func sum(values []float64) float64 {
	s := 0.0
	for _, v := range values {
		s += v
	}
	return s
}

func finite(values []float64, what string) error {
	if len(values) == 0 {
		return fmt.Errorf("significance: %s: no values", what)
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("significance: %s: value %d is %v; leave out missing values first", what, i+1, v)
		}
	}
	return nil
}
