package interval

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// BootstrapOptions are the options of [NewBootstrap]. The zero value is no interval.
type BootstrapOptions struct {
	Resamples int     // number of resamples; 0 = no interval
	Level     float64 // nominal probability, above 0 and below 1; 0 = 0.95
	Seed      int64
	Stream    string // name of the units: those of other streams are sampled independently
	Range     Range  // of the score, to which its interval is clipped

	// Centered is for scores that resampling biases, such as a sum of absolute differences: the interval is value +
	// (quantiles of the resamples − their mean), as for half-samples. An end of the score's range that the quantile
	// reaches is the end of the interval.
	Centered bool
}

// Label describes the intervals of a table, for example "95 % bootstrap interval over images"; without resamples it is
// empty.
func (o BootstrapOptions) Label(over string) string {
	kind := "bootstrap interval"
	if o.Centered {
		kind = "centered bootstrap interval"
	}
	if over != "" {
		kind += " over " + over
	}
	if o.Resamples < 1 {
		return ""
	}
	return fmt.Sprintf("%.4g %% %s", 100*cmp.Or(o.Level, 0.95), kind)
}

// Bootstrap samples units (images, prompts, annotators) with replacement, each stratum separately. Its resamples depend
// on the options and the sizes of the strata only, so all scores over the same units have the same resamples, and the
// interval of their difference accounts for their correlation. A nil Bootstrap has no resamples. It may be used by
// several goroutines.
type Bootstrap struct {
	BootstrapOptions
	strata []int
	units  int
	tail   float64 // share of the resamples below and above the interval; NaN = there is none
}

// NewBootstrap returns the bootstrap of strata of so many units. With one unit in every stratum there are no intervals.
//
// Errors: a level outside (0, 1), a negative number of resamples.
func NewBootstrap(o BootstrapOptions, strata ...int) (*Bootstrap, error) {
	o.Level = cmp.Or(o.Level, 0.95)
	if !(o.Level > 0 && o.Level < 1) || o.Resamples < 0 {
		return nil, fmt.Errorf("interval: level is %g and resamples is %d; level must be between 0 and 1, and "+
			"resamples at least 0", o.Level, o.Resamples)
	}
	b := &Bootstrap{BootstrapOptions: o, strata: strata, tail: math.NaN()}
	free := 0
	for _, n := range strata {
		b.units += n
		free += max(0, n-1)
	}
	if free > 0 {
		b.tail = expanded(o.Level, float64(b.units), float64(free))
	}
	return b, nil
}

// Among returns the bootstrap of one stratum for a score that so many of its units have a term of: with the same
// resamples and that number's degrees of freedom.
func (b *Bootstrap) Among(units int) *Bootstrap {
	out := *b
	if out.tail = math.NaN(); units > 1 {
		out.tail = expanded(b.Level, float64(units), float64(units-1))
	}
	return &out
}

// expanded returns the share of resamples below an interval: Φ(−√(n/f)·t) with the (1+level)/2 quantile t of Student's
// distribution with f degrees of freedom, for n units in n − f strata. The normal quantile, and resamples whose
// variance is too small by f/n, give intervals of few units that are too narrow.
func expanded(level, n, free float64) float64 {
	return math.Erfc(math.Sqrt(n/free)*Student(level, free)/math.Sqrt2) / 2
}

// Student returns the (1+level)/2 quantile of Student's distribution with so many degrees of freedom, above 0.
func Student(level, free float64) float64 {
	x := mathext.InvRegIncBeta(free/2, 0.5, 1-level)
	return math.Sqrt(free * (1 - x) / x)
}

// Units yields the number of each resample and the units in it, numbered through all strata from 0. The slice is
// overwritten by the next resample.
func (b *Bootstrap) Units() iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		if b == nil || b.units == 0 {
			return
		}
		source, units := seeded(uint64(b.Seed), "bootstrap", b.Stream), make([]int, b.units)
		for resample := range b.Resamples {
			at := 0
			for _, n := range b.strata {
				for i := range n {
					units[at+i] = at + below(source, n)
				}
				at += n
			}
			if !yield(resample, units) {
				return
			}
		}
	}
}

// Weights returns, for each resample, how often it contains each unit.
func (b *Bootstrap) Weights() [][]float64 {
	var out [][]float64
	for _, units := range b.Units() {
		w := make([]float64, b.units)
		for _, u := range units {
			w[u]++
		}
		out = append(out, w)
	}
	return out
}

// Ends returns the interval of a value from the values of the resamples; NaN without a value, resamples or a stratum of
// two units. Resamples in which the score is NaN are left out; an end that falls on an infinite one is NaN.
func (b *Bootstrap) Ends(value float64, resamples []float64) (low, high float64) {
	if b == nil || math.IsNaN(value) || math.IsInf(value, 0) || math.IsNaN(b.tail) {
		return math.NaN(), math.NaN()
	}
	sorted := slices.DeleteFunc(slices.Clone(resamples), math.IsNaN)
	slices.Sort(sorted)
	shift := 0.0
	if b.Centered {
		mean, _ := spread(sorted)
		shift = value - mean
	}
	end := func(p float64) float64 {
		q := Quantile(sorted, p)
		if b.Range != (Range{}) && (q == b.Range.Min || q == b.Range.Max) {
			return q
		}
		return b.Range.clip(q + shift)
	}
	return end(b.tail), end(1 - b.tail)
}

// Of returns the interval of a value from its score in each resample; see [Bootstrap.Ends].
func (b *Bootstrap) Of(value float64, score func(units []int) float64) (low, high float64) {
	var values []float64
	for _, units := range b.Units() {
		values = append(values, score(units))
	}
	return b.Ends(value, values)
}

// BootstrapMean returns the mean of values with the interval of [BootstrapOf]: all values of a cluster (an annotator,
// an image, a prompt) are resampled together. If clusters is nil, each value is a cluster.
func BootstrapMean(values []float64, clusters []string, o BootstrapOptions) (Interval, error) {
	return BootstrapRatio(values, slices.Repeat([]float64{1}, len(values)), clusters, o)
}

// BootstrapRatio returns the ratio of two sums, Σ numerators / Σ denominators, with the interval of [BootstrapOf]. For
// a ratio of two groups' means use [BootstrapOf] with four sums. If the denominator is 0, value, low and high are NaN.
func BootstrapRatio(numerators, denominators []float64, clusters []string, o BootstrapOptions) (Interval, error) {
	ratio := func(t []float64) float64 { return t[0] / t[1] } // NaN for 0/0, infinite for x/0
	return BootstrapOf([][]float64{numerators, denominators}, clusters, ratio, o)
}

// BootstrapOf returns a function of sums over rows, of(Σ parts[0], Σ parts[1], …), with an interval from resampling
// whole clusters of rows; see [Bootstrap.Ends]. parts[p][row] are the rows' terms; if clusters is nil, each row is a
// cluster. The rows' order does not matter.
//
// Errors: no rows, parts or clusters of unequal length, a term that is NaN or infinite; as [NewBootstrap].
func BootstrapOf(parts [][]float64, clusters []string, of func(totals []float64) float64, o BootstrapOptions) (Interval,
	error) {
	if len(parts) == 0 || len(parts[0]) == 0 {
		return Interval{}, fmt.Errorf("%w: there are no values", ErrResamples)
	}
	for p := range parts {
		if len(parts[p]) != len(parts[0]) {
			return Interval{}, fmt.Errorf("interval: %d and %d terms for the same rows", len(parts[0]), len(parts[p]))
		}
		if slices.ContainsFunc(parts[p], func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
			return Interval{}, fmt.Errorf("interval: the values contain NaN or infinity; leave such rows out")
		}
	}
	if clusters != nil && len(clusters) != len(parts[0]) {
		return Interval{}, fmt.Errorf("interval: %d cluster names for %d values", len(clusters), len(parts[0]))
	}
	sums := clusterSums(parts, clusters)
	b, err := NewBootstrap(o, len(sums))
	if err != nil {
		return Interval{}, err
	}
	totals := make([]float64, len(parts))
	score := func(units []int) float64 {
		clear(totals)
		for _, u := range units {
			for p, v := range sums[u] {
				totals[p] += v
			}
		}
		return of(totals)
	}
	every := make([]int, len(sums))
	for i := range every {
		every[i] = i
	}
	out := Interval{Value: score(every), Level: b.Level, Resamples: o.Resamples, Method: MethodBootstrap}
	if math.IsInf(out.Value, 0) {
		out.Value = math.NaN()
	}
	out.Low, out.High = b.Of(out.Value, score)
	return out, nil
}

// clusterSums adds up each cluster's terms, in the order of the clusters' names (without clusters, in the order of the
// rows' terms), so that the rows' order does not matter.
func clusterSums(parts [][]float64, clusters []string) [][]float64 {
	rows := make([][]float64, len(parts[0]))
	for i := range rows {
		for p := range parts {
			rows[i] = append(rows[i], parts[p][i])
		}
	}
	if clusters == nil {
		slices.SortFunc(rows, slices.Compare)
		return rows
	}
	names := slices.Compact(slices.Sorted(slices.Values(clusters)))
	sums := make([][]float64, len(names))
	for i, row := range rows {
		c, _ := slices.BinarySearch(names, clusters[i])
		if sums[c] == nil {
			sums[c] = make([]float64, len(parts))
		}
		for p, v := range row {
			sums[c][p] += v
		}
	}
	return sums
}
