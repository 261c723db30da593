package distribution

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"antipode/internal/fault"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// pair is a sample of both sets, as positions in them; real is nil where there is one set. Held-out reference images
// that are scored as generated ones are positions in the reference set.
type pair struct {
	real, generated []int
	held            bool
}

// scorer computes the score of each pair of a group.
type scorer func(ctx context.Context, pairs []pair) ([]float64, error)

// measure is a score.
type measure struct {
	name    string
	two     bool // it compares two sets
	ceiling bool // also score reference images that were held out
	least   int  // images that it needs of each set
	within  interval.Range
	score   func(g *group) (scorer, error)
}

// result is the score of a group.
type result struct {
	*group
	value, ceiling metrics.Estimate
	Compared
	n        int    // generated images in a score
	interval string // kind of the interval; "" = none
}

// counts returns the usual counts.
func (r *result) counts() metrics.Counts {
	return metrics.Counts{Real: len(r.real.rows), Generated: len(r.generated.rows), Asked: r.asked, Refused: r.refused,
		Unmasked: r.unmasked, Used: r.used}
}

// run scores the groups.
func (o Sampling) run(ctx context.Context, call *metrics.Call, groups []*group, m measure) ([]*result, error) {
	least, err := o.smallest(groups, m)
	if err != nil {
		return nil, err
	}
	var notes metrics.GroupNotes
	out := make([]*result, len(groups))
	for i, g := range groups {
		call.Report(m.name, i, len(groups))
		none := metrics.Exact(math.NaN())
		r := &result{group: g, value: none, ceiling: none, Compared: Compared{Gap: none}}
		out[i] = r
		s := o.sizes(g, least, m)
		if s.generated < m.least || m.two && s.real < m.least {
			notes.Add(fmt.Sprintf("no score: fewer than %d images with a vector", m.least), g.label())
			continue
		}
		r.n = s.generated
		score, err := m.score(g)
		if err == nil {
			err = r.estimate(ctx, o, m, score, s)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.named(o.By), err)
		}
		switch {
		case !math.IsNaN(r.value.Low):
			r.interval = fmt.Sprintf("%.4g %% subsampling interval", 100*o.Level)
		case o.Resamples > 0:
			notes.Add("too few images for an interval", g.label())
		}
	}
	notes.AddTo(call, o.By...)
	return out, compare(out, o.By, o.Against, o.Level)
}

// sizes are the numbers of images of each set in a score.
type sizes struct{ real, generated int }

// smallest returns the sizes of the smallest group that has generated images.
func (o Sampling) smallest(groups []*group, m measure) (sizes, error) {
	least := sizes{math.MaxInt, math.MaxInt}
	for _, g := range groups {
		n, real := len(g.generated.rows), len(g.real.rows)
		if m.two && real < m.least {
			return least, fmt.Errorf("%s has %d reference images with a vector; %s needs %d", g.named(o.By), real, m.name,
				m.least)
		}
		if o.N > 0 && n > 0 && (n < o.N || m.two && real < o.N) {
			return least, fmt.Errorf("%s has %d generated and %d reference images; n is %d", g.named(o.By), n, real, o.N)
		}
		if n >= m.least {
			least = sizes{min(least.real, real), min(least.generated, n)}
		}
	}
	return least, nil
}

// sizes returns the sizes of a group's scores.
func (o Sampling) sizes(g *group, least sizes, m measure) sizes {
	s := sizes{len(g.real.rows), len(g.generated.rows)}
	switch {
	case o.N > 0:
		s = sizes{min(s.real, o.N), min(s.generated, o.N)}
	case o.Resamples > 0 && len(o.By) > 0:
		s = sizes{min(s.real, least.real), min(s.generated, least.generated)}
	}
	if m.ceiling {
		s.real = min(s.real, len(g.real.rows)/2)
		if o.Resamples > 0 && len(o.By) > 0 {
			s.real = min(s.real, least.real/2)
		}
		s.generated = min(s.generated, s.real)
	}
	return s
}

// estimate computes the score of a group, with its interval.
func (r *result) estimate(ctx context.Context, o Sampling, m measure, score scorer, s sizes) error {
	part, resamples := sizes{s.real * 3 / 4, s.generated * 3 / 4}, o.Resamples
	if part.generated < m.least || m.two && part.real < m.least {
		resamples = 0
	}
	plain := func(rng *rand.Rand, s sizes) pair {
		return pair{r.real.sample(rng, s.real), r.generated.sample(rng, s.generated), false}
	}
	held := func(rng *rand.Rand, s sizes) pair {
		real := r.real.sample(rng, s.real)
		return pair{real, r.real.without(real).sample(rng, s.generated), true}
	}
	of := func(name string, draw func(*rand.Rand, sizes) pair, whole bool, ratio float64) (metrics.Estimate, error) {
		samples, rng := o.Samples, tabular.Random(o.Seed, m.name+"\x00"+name+"\x00"+r.label())
		if whole {
			samples = 1
		}
		var pairs []pair
		for range samples {
			pairs = append(pairs, draw(rng, s))
		}
		for range resamples {
			pairs = append(pairs, draw(rng, part))
		}
		values, err := score(ctx, pairs)
		if err != nil {
			return metrics.Estimate{}, err
		}
		e := metrics.Exact(mean(values[:samples]))
		parts := values[samples:]
		if len(parts) == 0 || math.IsNaN(e.Value) || slices.ContainsFunc(parts, math.IsNaN) {
			return e, nil
		}
		center := mean(parts)
		for i := range parts {
			parts[i] = center + ratio*(parts[i]-center)
		}
		iv, err := interval.FromHalves(e.Value, parts, o.Level, m.within)
		return metrics.Estimate{Value: iv.Value, Low: iv.Low, High: iv.High}, err
	}
	whole := s.generated == len(r.generated.rows) && (!m.two || s.real == len(r.real.rows))
	ratio := scale(part.generated, len(r.generated.rows))
	if m.two {
		ratio = max(ratio, scale(part.real, len(r.real.rows)))
	} else if s.generated > 1 { // as Student's quantile to the normal one
		ratio *= interval.Student(o.Level, float64(s.generated-1)) / interval.Student(o.Level, 1e6)
	}
	var err error
	if r.value, err = of("value", plain, whole, ratio); err == nil && m.ceiling {
		r.ceiling, err = of("ceiling", held, false, scale(part.real+part.generated, len(r.real.rows)))
	}
	return err
}

// scale is the ratio of the standard deviation of a score of n images to that of its samples of h of them without
// replacement: √(1/n) / √((1 − h/n) / h), which is 1 for half of them.
func scale(h, n int) float64 { return math.Sqrt(float64(h) / float64(n-h)) }

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

// sample returns k positions without replacement, of each cell its share (rounded at random).
func (s set) sample(rng *rand.Rand, k int) []int {
	out, total := make([]int, 0, k), 0
	for _, c := range s.cells {
		total += len(c)
	}
	if k >= total {
		return s.all()
	}
	at, before, seen := rng.Float64(), 0, 0
	for i, c := range s.cells {
		seen += len(c)
		until := int(float64(seen)*float64(k)/float64(total) + at)
		if i == len(s.cells)-1 {
			until = k
		}
		take := min(max(until-before, 0), len(c))
		for _, j := range rng.Perm(len(c))[:take] {
			out = append(out, c[j])
		}
		before += take
	}
	slices.Sort(out)
	return out
}

// without returns the set without some positions.
func (s set) without(taken []int) set {
	out := set{rows: s.rows}
	for _, c := range s.cells {
		rest := slices.DeleteFunc(slices.Clone(c), func(i int) bool {
			_, found := slices.BinarySearch(taken, i)
			return found
		})
		out.cells = append(out.cells, rest)
	}
	return out
}

// compare fills in the gaps between the groups: of each to the mean of the others, or of those of against.
func compare(results []*result, by, against []string, level float64) error {
	for _, name := range against {
		if !slices.ContainsFunc(results, func(r *result) bool { return r.label() == name }) {
			return fmt.Errorf("against: there is no group %q of %s", name, strings.Join(by, ", "))
		}
	}
	var scored []*result
	n := math.MaxInt
	for _, r := range results {
		if !math.IsNaN(r.value.Low) || !math.IsNaN(r.value.High) {
			scored, n = append(scored, r), min(n, r.n)
		}
	}
	for _, r := range scored {
		var others []interval.Bounded
		for _, o := range scored {
			if o != r && (len(against) == 0 || slices.Contains(against, o.label())) {
				others = append(others, interval.Bounded(o.value))
			}
		}
		if len(others) == 0 {
			continue
		}
		gap := interval.Bounded(r.value).MinusMean(others, len(scored), level, n)
		r.Gap, r.Flagged = metrics.Estimate(gap), gap.Low > 0 || gap.High < 0
	}
	return nil
}

// each computes n values on all processors, unless the context ends.
func each(ctx context.Context, n int, f func(i int) (float64, error)) ([]float64, error) {
	out, errs := make([]float64, n), make([]error, n)
	var next atomic.Int64
	var wait fault.Group
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				out[i], errs[i] = f(i)
			}
		})
	}
	wait.Wait()
	for _, err := range append(errs, ctx.Err()) {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
