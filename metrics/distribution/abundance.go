package distribution

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// Abundances are the numbers of images of each category of a sample, all above 0. Its methods are the estimators of
// Chao and Jost (Ecology 93, 2012; Methods in Ecology and Evolution 6, 2015), as in their program iNEXT. Orders are
// "0", "1" and "2".
type Abundances []int

// Size returns the number of images n.
func (a Abundances) Size() (n int) {
	for _, x := range a {
		n += x
	}
	return n
}

// rare returns the number of categories with one image, the estimated number of those without any (Chao 1984, a lower
// bound), and the factor by which the share of these falls with each further image.
func (a Abundances) rare() (one, unseen, tail float64) {
	n, two := float64(a.Size()), 0.0
	for _, x := range a {
		switch x {
		case 1:
			one++
		case 2:
			two++
		}
	}
	unseen = (n - 1) / n * one * (one - 1) / 2
	if two > 0 {
		unseen = (n - 1) / n * one * one / (2 * two)
	}
	if unseen > 0 {
		tail = n * unseen / (n*unseen + one)
	}
	return one, unseen, tail
}

// choose is the logarithm of a binomial coefficient, -Inf where it is 0.
func choose(n, k int) float64 {
	if k > n {
		return math.Inf(-1)
	}
	gamma := func(n int) float64 { x, _ := math.Lgamma(float64(n + 1)); return x }
	return gamma(n) - gamma(k) - gamma(n-k)
}

// Coverage returns the estimated share of the population whose category is among m images, in [0, 1]: for m below n by
// rarefaction, else by extrapolation.
func (a Abundances) Coverage(m int) float64 {
	n := a.Size()
	if m >= n {
		one, _, tail := a.rare()
		return 1 - one/float64(n)*math.Pow(tail, float64(m-n+1))
	}
	missed := 0.0
	for _, x := range a {
		missed += float64(x) / float64(n) * math.Exp(choose(n-x, m)-choose(n-1, m))
	}
	return 1 - missed
}

// Observed returns the Hill number of the sample itself, which grows with n.
func (a Abundances) Observed(order string) float64 { return a.and(0, order) }

// and returns the Hill number of the sample and one more category with a share of the population, if it is above 0.
func (a Abundances) and(share float64, order string) float64 {
	var p []float64
	for _, x := range a {
		p = append(p, (1-share)*float64(x)/float64(a.Size()))
	}
	if share > 0 {
		p = append(p, share)
	}
	return effective(p, order)
}

// concentration is the unbiased estimate of Σ p².
func (a Abundances) concentration() (sum float64) {
	n := float64(a.Size())
	for _, x := range a {
		sum += float64(x) * float64(x-1) / (n * (n - 1))
	}
	return sum
}

// At returns the expected Hill number of m images: for m up to n that of samples without replacement, exactly of the
// expected numbers of categories with k images; above extrapolated, reliably up to 2n.
func (a Abundances) At(order string, m int) float64 {
	n, size := a.Size(), float64(m)
	switch {
	case m == n:
		return a.Observed(order)
	case order == "2":
		return 1 / (1/size + (1-1/size)*a.concentration())
	case m < n:
		categories, uncertain := 0.0, 0.0
		for _, x := range a {
			categories += 1 - math.Exp(choose(n-x, m)-choose(n, m))
			for k := max(1, m-n+x); k <= min(x, m); k++ { // hypergeometric
				p := math.Exp(choose(x, k) + choose(n-x, m-k) - choose(n, m))
				uncertain -= p * float64(k) / size * math.Log(float64(k)/size)
			}
		}
		if order == "0" {
			return categories
		}
		return math.Exp(uncertain)
	}
	_, _, tail := a.rare()
	observed := a.Observed(order)
	return observed + (a.Infinity(order)-observed)*(1-math.Pow(tail, float64(m-n)))
}

// Infinity returns the Hill number estimated for infinitely many images: of order 0 Chao's lower bound, of order 1
// that of the entropy of Chao, Wang and Jost 2013, of order 2 that of the unbiased Σ p². It is +Inf for order 2 if
// no two images share a category.
func (a Abundances) Infinity(order string) float64 {
	n := a.Size()
	one, unseen, tail := a.rare()
	switch order {
	case "0":
		return float64(len(a)) + unseen
	case "2":
		return 1 / a.concentration()
	}
	h := 0.0
	for _, x := range a {
		h += float64(x) / float64(n) * (mathext.Digamma(float64(n)) - mathext.Digamma(float64(x)))
	}
	rest, power := 0.0, tail // Σ_{r ≥ n} tail^(r−n+1) / r, the slowly converging one by the sum of all terms
	if tail > 0 && (1-tail)*float64(n) < 5 {
		rest = -math.Log(1 - tail)
		for r := 1; r < n; r, power = r+1, power*tail {
			rest -= power / float64(r)
		}
		rest *= math.Pow(tail, float64(1-n))
	} else {
		for r := n; power > 1e-18; r, power = r+1, power*tail {
			rest += power / float64(r)
		}
	}
	return math.Exp(h + one/float64(n)*rest)
}

// AtCoverage returns the Hill number at an estimated coverage of the population, between those of the two nearest
// numbers of images, and this number, at most 2n.
func (a Abundances) AtCoverage(order string, coverage float64) (hill, size float64) {
	m := 1 + sort.Search(2*a.Size()-1, func(i int) bool { return a.Coverage(i+1) >= coverage })
	hill, size = a.At(order, m), float64(m)
	if above := a.Coverage(m); m > 1 && above > coverage {
		share := (above - coverage) / (above - a.Coverage(m-1))
		hill, size = hill-share*(hill-a.At(order, m-1)), size-share
	}
	return hill, size
}

// Population returns estimated shares of the population's categories: of those of the sample, less what is unseen,
// and of the estimated number of unseen ones, with equal shares (Chao and Jost 2015, appendix).
func (a Abundances) Population() (shares []float64) {
	n, weight := float64(a.Size()), 0.0
	one, unseen, tail := a.rare()
	missed := one / n * tail
	for _, x := range a {
		weight += float64(x) / n * math.Pow(1-float64(x)/n, n)
	}
	for _, x := range a {
		p := float64(x) / n
		if missed > 0 {
			p *= 1 - missed/weight*math.Pow(1-p, n)
		}
		shares = append(shares, p)
	}
	more := math.Ceil(unseen)
	return append(shares, slices.Repeat([]float64{missed / more}, int(more))...)
}

// draw returns the abundances of n images of a population.
func draw(rng *rand.Rand, population []float64, n int) Abundances {
	counts, upTo, total := make([]int, len(population)), make([]float64, len(population)), 0.0
	for i, p := range population {
		total += p
		upTo[i] = total
	}
	for range n {
		i, _ := slices.BinarySearch(upTo, rng.Float64()*total)
		counts[min(i, len(counts)-1)]++
	}
	return slices.DeleteFunc(counts, func(x int) bool { return x == 0 })
}

// bound returns an upper bound of the population's Hill number: the most equally likely categories of which so few are
// among the images with a probability of tail or more and, where no category is estimated to be unseen, the number with
// one that the images miss with this probability. It is +Inf if all images differ.
func (a Abundances) bound(order string, tail float64) float64 {
	n, most := a.Size(), len(a)
	if most == n {
		return math.Inf(1)
	}
	for step := 1; step > 0; {
		if below, _ := occupied(len(a), n, most+step); below >= tail {
			most, step = most+step, 2*step
		} else {
			step /= 2
		}
	}
	if _, unseen, _ := a.rare(); unseen > 0 {
		return float64(most)
	}
	return max(float64(most), a.and(1-math.Pow(tail, 1/float64(n)), order))
}
