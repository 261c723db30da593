package distribution

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// Abundances are the numbers of images of each category of a sample, all above 0. Its methods are the estimators of Chao
// and Jost (Ecology 93, 2012; Methods in Ecology and Evolution 6, 2015) as in their program iNEXT.
type Abundances []int

// Size returns the number of images n.
func (a Abundances) Size() (n int) {
	for _, x := range a {
		n += x
	}
	return n
}

// rare returns the numbers of categories with one and with two images, and the estimated number of categories without
// any (Chao 1984, a lower bound).
func (a Abundances) rare() (one, two, unseen float64) {
	for _, x := range a {
		switch x {
		case 1:
			one++
		case 2:
			two++
		}
	}
	n := float64(a.Size())
	if two > 0 {
		return one, two, (n - 1) / n * one * one / (2 * two)
	}
	return one, two, (n - 1) / n * one * (one - 1) / 2
}

// tail is the factor A by which the share of unseen categories falls with each further image.
func (a Abundances) tail() float64 {
	one, _, unseen := a.rare()
	if unseen == 0 {
		return 0
	}
	n := float64(a.Size())
	return n * unseen / (n*unseen + one)
}

// Coverage returns the estimated share of the population whose category is among m images: for m up to n by rarefaction,
// above by extrapolation. It is in [0, 1].
func (a Abundances) Coverage(m int) float64 {
	n := a.Size()
	if m >= n {
		one, _, _ := a.rare()
		return 1 - one/float64(n)*math.Pow(a.tail(), float64(m-n+1))
	}
	missed := 0.0
	for _, x := range a {
		if n-x >= m { // x/n · C(n−x, m)/C(n−1, m)
			missed += float64(x) / float64(n) * math.Exp(lgamma(n-x+1)-lgamma(n-x-m+1)-lgamma(n)+lgamma(n-m))
		}
	}
	return 1 - missed
}

func lgamma(n int) float64 {
	x, _ := math.Lgamma(float64(n))
	return x
}

// Observed returns the Hill number of order 0, 1 or 2 of the sample itself, which grows with n.
func (a Abundances) Observed(order string) float64 {
	p, n := make([]float64, len(a)), float64(a.Size())
	for i, x := range a {
		p[i] = float64(x) / n
	}
	return effective(p, order)
}

// At returns the expected Hill number of order 0, 1 or 2 of m images: for m up to n the exact one of samples without
// replacement, of the expected numbers of categories with k images; above extrapolated, reliably up to 2n.
func (a Abundances) At(order string, m int) float64 {
	n := a.Size()
	size := float64(m)
	switch {
	case m == n:
		return a.Observed(order)
	case order == "2":
		return 1 / (1/size + (1-1/size)*a.concentration())
	case order == "0" && m < n:
		sum := 0.0
		for _, x := range a {
			sum++
			if x <= n-m {
				sum -= math.Exp(lgamma(n-x+1) + lgamma(n-m+1) - lgamma(n-x-m+1) - lgamma(n+1))
			}
		}
		return sum
	case order == "1" && m < n:
		entropy := 0.0
		for _, x := range a {
			for k := max(1, m-n+x); k <= min(x, m); k++ { // hypergeometric
				p := math.Exp(choose(x, k) + choose(n-x, m-k) - choose(n, m))
				entropy -= p * float64(k) / size * math.Log(float64(k)/size)
			}
		}
		return math.Exp(entropy)
	}
	one, _, unseen := a.rare()
	more := 1 - math.Pow(a.tail(), float64(m-n))
	if order == "0" {
		if one == 0 {
			more = 0
		}
		return float64(len(a)) + unseen*more
	}
	observed := a.Observed(order)
	return observed + (a.Infinity(order)-observed)*more
}

func choose(n, k int) float64 { return lgamma(n+1) - lgamma(k+1) - lgamma(n-k+1) }

// concentration is the unbiased estimate of Σ p².
func (a Abundances) concentration() float64 {
	n, sum := float64(a.Size()), 0.0
	for _, x := range a {
		sum += float64(x) * float64(x-1)
	}
	return sum / (n * (n - 1))
}

// Infinity returns the Hill number of order 0, 1 or 2 estimated for infinitely many images: of order 0 Chao's lower
// bound, of order 1 that of the entropy of Chao, Wang and Jost 2013, of order 2 that of the unbiased Σ p². It is NaN
// where the sample has none: of order 2 if no two images share a category.
func (a Abundances) Infinity(order string) float64 {
	n := a.Size()
	one, _, unseen := a.rare()
	switch order {
	case "0":
		return float64(len(a)) + unseen
	case "2":
		if c := a.concentration(); c > 0 {
			return 1 / c
		}
		return math.NaN()
	}
	entropy := 0.0
	for _, x := range a {
		entropy += float64(x) / float64(n) * (mathext.Digamma(float64(n)) - mathext.Digamma(float64(x)))
	}
	if t := a.tail(); t > 0 { // f₁/n · Σ_{r ≥ n} t^(r−n+1) / r
		rest, power := 0.0, t
		if (1-t)*float64(n) < 5 {
			rest = -math.Log(1 - t)
			for r, power := 1, t; r < n; r, power = r+1, power*t {
				rest -= power / float64(r)
			}
			rest *= math.Pow(t, float64(1-n))
		} else {
			for r := n; power > 1e-18; r, power = r+1, power*t {
				rest += power / float64(r)
			}
		}
		entropy += one / float64(n) * rest
	}
	return math.Exp(entropy)
}

// AtCoverage returns the Hill number at an estimated coverage of the population, between those of the two nearest
// numbers of images, and this number. It looks at up to 2n images.
func (a Abundances) AtCoverage(order string, coverage float64) (hill, size float64) {
	n := 2 * a.Size()
	low, high := 1, n
	for low < high {
		if middle := (low + high) / 2; a.Coverage(middle) >= coverage {
			high = middle
		} else {
			low = middle + 1
		}
	}
	hill, size = a.At(order, low), float64(low)
	above := a.Coverage(low)
	if low > 1 && above > coverage {
		below := a.Coverage(low - 1)
		share := (above - coverage) / (above - below)
		hill, size = hill-share*(hill-a.At(order, low-1)), size-share
	}
	return hill, size
}

// Population returns the estimated shares of the population's categories: of those of the sample, less what is
// unseen, and of the estimated number of unseen ones, with equal shares (Chao and Jost 2015, appendix).
func (a Abundances) Population() []float64 {
	n := float64(a.Size())
	one, _, unseen := a.rare()
	missed := one / n * a.tail()
	weight := 0.0
	for _, x := range a {
		weight += float64(x) / n * math.Pow(1-float64(x)/n, n)
	}
	var out []float64
	for _, x := range a {
		p := float64(x) / n
		if missed > 0 {
			p *= 1 - missed/weight*math.Pow(1-p, n)
		}
		out = append(out, p)
	}
	if more := math.Ceil(unseen); missed > 0 && more > 0 {
		out = append(out, slices.Repeat([]float64{missed / more}, int(more))...)
	}
	return out
}

// draw returns the abundances of n images of a population.
func draw(rng *rand.Rand, population []float64, n int) Abundances {
	counts, total := make([]int, len(population)), 0.0
	upTo := make([]float64, len(population))
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

// few is the number of images below which samples of the estimated population do not bound a Hill number from above.
const few = 50

// bound returns an upper bound of the population's Hill number: the most equally likely categories of which so few are
// among the images with a probability of tail or more, and where no category is estimated to be unseen the number with
// one that the images miss with this probability. It is infinite if all images differ.
func (a Abundances) bound(order string, tail float64) float64 {
	n, k := a.Size(), len(a)
	if k == n {
		return math.Inf(1)
	}
	above := k
	for step := 1; ; step *= 2 {
		if below, _ := occupied(k, n, above+step); below < tail {
			above += sort.Search(step, func(i int) bool { below, _ := occupied(k, n, above+i+1); return below < tail })
			break
		}
		above += step
	}
	if a.tail() > 0 {
		return float64(above)
	}
	missed := 1 - math.Pow(tail, 1/float64(n))
	p := []float64{missed}
	for _, x := range a {
		p = append(p, (1-missed)*float64(x)/float64(n))
	}
	return max(float64(above), effective(p, order))
}
