package distribution

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"antipode/internal/fault"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// Sampling are the options of vectors, groups, equal numbers of images and intervals, which the scores share.
type Sampling struct {
	By      []string `json:"by,omitempty" help:"text columns that define the groups; each is compared with its own reference images"`
	Vector  string   `json:"vector,omitempty" default:"full" help:"vector column"`
	Cells   string   `json:"cells,omitempty" default:"object" none:"none" help:"text column whose proportions every sample of a group has, where the tables have it; none = simple samples"`
	N       int      `json:"n,omitempty" min:"0" help:"images of each set in a score, the mean over samples of so many; 0 = all, and with intervals as many in every group as the smallest has"`
	Samples int      `json:"samples,omitempty" default:"20" min:"1" help:"samples of n images whose scores are averaged"`
	Against []string `json:"against,omitempty" help:"groups that the others are compared with, values of several columns joined with /; empty = all"`
	metrics.Intervals
}

// Subject are the first columns of a result.
type Subject struct {
	Group    metrics.Group
	Vector   string `column:"vector"`
	Interval string `column:"interval" help:"kind of the intervals"`
}

// Compared are the columns of the differences between groups.
type Compared struct {
	Gap     metrics.Estimate `column:"gap" help:"the score less the mean of the other groups; the intervals of all groups hold at once"`
	Flagged bool             `column:"flagged" help:"yes where the interval of the gap excludes 0"`
	N       int              `column:"n_each" unit:"images" help:"images in a score"`
}

// Scored are the last columns of a result on two sets.
type Scored struct {
	Ceiling metrics.Estimate `column:"ceiling" help:"the score of held-out reference images, at the same n"`
	Compared
	metrics.Counts
}

// pair is a sample of both sets, as positions in them; generated positions that are held out are in the reference set.
type pair struct {
	real, generated []int
	held            bool
}

// of returns a pair's vectors.
func (p pair) of(v Vectors) Vectors {
	from := v.Generated
	if p.held {
		from = v.Real
	}
	return Vectors{pick(v.Real, p.real), pick(from, p.generated)}
}

// whole is the pair of all positions.
func (v Vectors) whole() (p pair) {
	for i := range max(len(v.Real), len(v.Generated)) {
		if i < len(v.Real) {
			p.real = append(p.real, i)
		}
		if i < len(v.Generated) {
			p.generated = append(p.generated, i)
		}
	}
	return p
}

// scorer computes the score of each pair of a group.
type scorer func(ctx context.Context, pairs []pair) ([]float64, error)

type measure struct {
	name         string
	two, ceiling bool // it compares two sets, and scores held-out reference images
	least        int  // images that it needs of each set
	within       interval.Range
	most         bool // a score is at most the number of images
	score        func(g *group) (scorer, error)
}

type result struct {
	*group
	Scored
	value    metrics.Estimate
	interval string // its kind; "" = none
}

func (r *result) subject(o Sampling) Subject { return Subject{r.values, o.Vector, r.interval} }

var (
	none    = metrics.Exact(math.NaN())
	twoSets = []metrics.Input{{Role: "real", About: "the reference images"},
		{Role: "generated", About: "the generated images"}}
)

// run scores the groups of the tables.
func (o Sampling) run(ctx context.Context, call *metrics.Call, m measure, roles ...string) ([]*result, error) {
	groups, err := gather(call, o, roles...)
	if err != nil {
		return nil, err
	}
	least := sizes{math.MaxInt, math.MaxInt} // of the groups that have a score
	for _, g := range groups {
		s := sizes{len(g.real.rows), len(g.generated.rows)}
		if need := max(m.least, o.N); m.two && s.real < need {
			return nil, fmt.Errorf("%s has %d reference images with a vector; a score needs %d", g.named(o.By), s.real,
				need)
		}
		if s.generated > 0 && s.generated < o.N {
			return nil, fmt.Errorf("%s has %d images with a vector; n is %d", g.named(o.By), s.generated, o.N)
		}
		if s.generated >= m.least {
			least = sizes{min(least.real, s.real), min(least.generated, s.generated)}
		}
	}
	var notes metrics.GroupNotes
	out := make([]*result, len(groups))
	for i, g := range groups {
		call.Report(m.name, i, len(groups))
		r := &result{group: g, value: none, Scored: Scored{Ceiling: none, Compared: Compared{Gap: none},
			Counts: metrics.Counts{Real: len(g.real.rows), Generated: len(g.generated.rows), Asked: g.asked,
				Refused: g.refused, Unmasked: g.unmasked, Used: len(g.generated.rows)}}}
		out[i] = r
		s := sizes{len(g.real.rows), len(g.generated.rows)}
		switch {
		case o.N > 0:
			s = sizes{min(s.real, o.N), min(s.generated, o.N)}
		case o.Resamples > 0 && len(o.By) > 0:
			s = sizes{least.real, min(s.generated, least.generated)}
		}
		if m.ceiling {
			s.real = min(s.real, len(g.real.rows)/2)
			s.generated = min(s.generated, s.real)
		}
		if s.generated < m.least {
			notes.Add(fmt.Sprintf("no score: fewer than %d images with a vector", m.least), g.label())
			continue
		}
		r.N = s.generated
		score, err := m.score(g)
		if err == nil {
			err = r.estimate(ctx, o, m, score, s)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.named(o.By), err)
		}
		if r.interval == "" && o.Resamples > 0 {
			notes.Add("too few images for an interval", g.label())
		}
	}
	notes.AddTo(call, o.By...)
	return out, compare(out, o.By, o.Against, o.Level)
}

// sizes are the numbers of images of each set in a score.
type sizes struct{ real, generated int }

// estimate computes the score of a group, with its interval from samples of three quarters of the images.
func (r *result) estimate(ctx context.Context, o Sampling, m measure, score scorer, s sizes) (err error) {
	part, resamples := sizes{s.real * 3 / 4, s.generated * 3 / 4}, o.Resamples
	if part.generated < m.least || m.two && part.real < m.least {
		resamples = 0
	}
	of := func(name string, samples int, ratio float64, draw func(*rand.Rand, sizes) pair) (metrics.Estimate, error) {
		rng, pairs := tabular.Random(o.Seed, strings.Join([]string{m.name, name, r.label()}, "\x00")), []pair(nil)
		for range samples {
			pairs = append(pairs, draw(rng, s))
		}
		for range resamples {
			pairs = append(pairs, draw(rng, part))
		}
		values, err := score(ctx, pairs)
		if err != nil {
			return none, err
		}
		value, parts := mean(values[:samples]), values[samples:]
		if resamples == 0 || math.IsNaN(value) || slices.ContainsFunc(parts, math.IsNaN) {
			return metrics.Exact(value), nil
		}
		center := mean(parts)
		for i := range parts {
			parts[i] = center + ratio*(parts[i]-center)
		}
		iv, err := interval.FromHalves(value, parts, o.Level, m.within)
		if m.most {
			iv.High = min(iv.High, float64(s.generated))
		}
		r.interval = fmt.Sprintf("%.4g %% subsampling interval", 100*o.Level)
		return metrics.Estimate{Value: iv.Value, Low: iv.Low, High: iv.High}, err
	}
	samples, ratio := o.Samples, scale(part.generated, len(r.generated.rows))
	if s.generated == len(r.generated.rows) && (!m.two || s.real == len(r.real.rows)) {
		samples = 1
	}
	if m.two {
		ratio = max(ratio, scale(part.real, len(r.real.rows)))
	} else if s.generated > 1 { // as Student's quantile to the normal one
		ratio *= interval.Student(o.Level, float64(s.generated-1)) / interval.Student(o.Level, 1e6)
	}
	r.value, err = of("value", samples, ratio, func(rng *rand.Rand, s sizes) pair {
		return pair{r.real.sample(rng, s.real), r.generated.sample(rng, s.generated), false}
	})
	if err != nil || !m.ceiling {
		return err
	}
	ratio = scale(part.real+part.generated, len(r.real.rows))
	r.Ceiling, err = of("ceiling", o.Samples, ratio, func(rng *rand.Rand, s sizes) pair {
		real := r.real.sample(rng, s.real)
		return pair{real, r.real.without(real).sample(rng, s.generated), true}
	})
	return err
}

// scale is the ratio of the standard deviation of a score of n images to that of its samples of h of them without
// replacement: √(1/n) / √((1 − h/n) / h).
func scale(h, n int) float64 { return math.Sqrt(float64(h) / float64(n-h)) }

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

// compare fills in the gaps between the groups: of each to the mean of the others, or of those of against.
func compare(results []*result, by, against []string, level float64) error {
	for _, name := range against {
		if !slices.ContainsFunc(results, func(r *result) bool { return r.is(name) }) {
			return fmt.Errorf("against: there is no group %q of %s", name, strings.Join(by, "/"))
		}
	}
	scored := slices.DeleteFunc(slices.Clone(results), func(r *result) bool { return r.interval == "" })
	n := math.MaxInt
	for _, r := range scored {
		n = min(n, r.N)
	}
	for _, r := range scored {
		var others []interval.Bounded
		for _, o := range scored {
			if o != r && (len(against) == 0 || slices.ContainsFunc(against, o.is)) {
				others = append(others, interval.Bounded(o.value))
			}
		}
		if len(others) > 0 {
			r.Gap = metrics.Estimate(interval.Bounded(r.value).MinusMean(others, len(scored), level, n))
			r.Flagged = r.Gap.Low > 0 || r.Gap.High < 0
		}
	}
	return nil
}

// each computes n values on all processors, unless the context ends.
func each(ctx context.Context, n int, f func(i int) (float64, error)) ([]float64, error) {
	out := make([]float64, n)
	return out, fault.Until(ctx, n, func(_ context.Context, i int) (err error) {
		out[i], err = f(i)
		return err
	})
}
