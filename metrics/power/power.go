package power

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"antipode/internal/fault"
	"antipode/metrics/interval"
)

// Cell is a set of units from which n are sampled.
type Cell struct {
	Name   string
	Units  [][]int // rows of the pool that are sampled together: an image, or all images of a prompt
	Others [][]int // for each unit, the unit of the other pool that replaces it at smaller shares; nil = none
}

// Sample is one resample of the pool.
type Sample struct {
	Rows   []int // of the pool, ascending
	Others []int // of the other pool, ascending
	Seed   int64 // for the random choices of the audit
}

// Result is a row of an audit's result.
type Result struct {
	Subject  string  // what the row is about; unique in a result
	Estimate float64 // NaN = none, as of the others
	Low      float64 // of the audit's own interval
	High     float64
	P        float64 // corrected
	Found    bool
}

// Audit evaluates a sample. It is called by several goroutines at once.
type Audit func(ctx context.Context, s Sample) ([]Result, error)

// ResampleOptions are the options of [Resample].
type ResampleOptions struct {
	Sizes     []int     // units from each cell
	Shares    []float64 // of each sample that comes from the pool, the rest from the other pool; none = 1
	Resamples int
	Seed      int64
	Workers   int                   // concurrent audits; 0 = GOMAXPROCS
	Progress  func(done, total int) // called from one goroutine at a time
}

// Outcome is the results of all resamples of one size and share.
type Outcome struct {
	N       int
	Share   float64
	Results [][]Result // by resample
}

// ErrTooSmall reports a cell with fewer units than are to be sampled.
type ErrTooSmall struct {
	Cell       string
	Have, Need int
}

func (e *ErrTooSmall) Error() string {
	return fmt.Sprintf("%s has %d in the pool, and %d are to be sampled without replacement: make a larger pool, or "+
		"lower sizes", e.Cell, e.Have, e.Need)
}

// Resample samples every size at every share, Resamples times each, and runs the audit on each sample; outcomes are in
// the order of shares, then sizes.
//
// Errors: *[ErrTooSmall], a size below 1, a share outside [0, 1] or below 1 without another pool, and the audit's error
// for the first sample that has one.
func Resample(ctx context.Context, cells []Cell, audit Audit, o ResampleOptions) ([]Outcome, error) {
	if len(o.Shares) == 0 {
		o.Shares = []float64{1}
	}
	if err := o.check(cells); err != nil {
		return nil, err
	}
	var out []Outcome
	for _, share := range o.Shares {
		for _, n := range o.Sizes {
			out = append(out, Outcome{n, share, make([][]Result, o.Resamples)})
		}
	}
	total := len(out) * o.Resamples
	workers := o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var stopped atomic.Bool // jobs start in order, so the first one that fails has been started
	var wait fault.Group
	var mu sync.Mutex
	done, failed, firstErr := 0, total, error(nil)
	for range workers {
		wait.Go(func() {
			for {
				job := int(next.Add(1)) - 1
				if job >= total || stopped.Load() || ctx.Err() != nil {
					return
				}
				at, r := &out[job/o.Resamples], job%o.Resamples
				results, err := audit(ctx, o.sample(cells, at.N, at.Share, r))
				if err != nil {
					stopped.Store(true)
				}
				mu.Lock()
				switch {
				case err != nil && job < failed:
					failed, firstErr = job, fmt.Errorf("resample %d of %d per cell: %w", r+1, at.N, err)
				case err == nil:
					at.Results[r] = results
					if done++; o.Progress != nil {
						o.Progress(done, total)
					}
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return out, firstErr
}

func (o ResampleOptions) check(cells []Cell) error {
	switch {
	case len(cells) == 0:
		return errors.New("the pool is empty: there is nothing to sample")
	case len(o.Sizes) == 0:
		return errors.New("no sizes: set how many to sample from each cell")
	case o.Resamples < 1:
		return fmt.Errorf("%d resamples: at least one is needed", o.Resamples)
	}
	for _, s := range o.Shares {
		if !(s >= 0 && s <= 1) {
			return fmt.Errorf("share %g is not between 0 and 1", s)
		}
	}
	for _, n := range o.Sizes {
		if n < 1 {
			return fmt.Errorf("size %d: at least one is needed from each cell", n)
		}
		for _, c := range cells {
			if len(c.Units) < n {
				return &ErrTooSmall{c.Name, len(c.Units), n}
			}
			if slices.Min(o.Shares) < 1 && len(c.Others) < len(c.Units) {
				return fmt.Errorf("%s has %d in the pool and %d in the other one: shares below 1 need as many in both",
					c.Name, len(c.Units), len(c.Others))
			}
		}
	}
	return nil
}

// sample returns resample r: the first n units of a permutation of each cell, the first of them from the pool.
func (o ResampleOptions) sample(cells []Cell, n int, share float64, r int) Sample {
	d := Sample{Seed: int64(seeded(o.Seed, r, "audit").Uint64() >> 1)}
	for _, c := range cells {
		rng := rand.New(seeded(o.Seed, r, "cell "+c.Name))
		own := int(share*float64(n) + rng.Float64()) // on average share·n
		for i, unit := range rng.Perm(len(c.Units))[:n] {
			if i < own {
				d.Rows = append(d.Rows, c.Units[unit]...)
			} else {
				d.Others = append(d.Others, c.Others[unit]...)
			}
		}
	}
	slices.Sort(d.Rows)
	slices.Sort(d.Others)
	return d
}

func seeded(seed int64, r int, name string) *rand.PCG {
	h := sha256.Sum256(fmt.Appendf(nil, "power\x00%d\x00%d\x00%s", seed, r, name))
	return rand.NewPCG(binary.LittleEndian.Uint64(h[:]), binary.LittleEndian.Uint64(h[8:]))
}

// Power is the share of resamples with a finding, and the mean estimate.
type Power struct {
	Subject          string
	Resamples, Found int
	Share, Low, High float64 // Found / Resamples with its 95 % Wilson interval
	// Estimate is the mean over resamples; EstimateLow and EstimateHigh contain the middle 95 % of them. NaN = none.
	Estimate, EstimateLow, EstimateHigh float64
}

// share computes the share of resamples.
func (p *Power) share() {
	w := interval.Wilson(p.Found, p.Resamples, 0.95)
	p.Share, p.Low, p.High = w.Value, w.Low, w.High
}

// BySubject returns the power for each subject, in the order in which the resamples name them, and for more ones. A
// subject that a resample does not name counts as not found there.
func (o Outcome) BySubject(more ...string) []Power {
	at := map[string]int{}
	var out []Power
	var estimates [][]float64
	index := func(subject string) int {
		if _, known := at[subject]; !known {
			at[subject] = len(out)
			out, estimates = append(out, Power{Subject: subject}), append(estimates, nil)
		}
		return at[subject]
	}
	for _, results := range o.Results {
		for _, r := range results {
			i := index(r.Subject)
			if r.Found {
				out[i].Found++
			}
			if !math.IsNaN(r.Estimate) {
				estimates[i] = append(estimates[i], r.Estimate)
			}
		}
	}
	for _, s := range more {
		index(s)
	}
	for i := range out {
		p := &out[i]
		p.Resamples = len(o.Results)
		p.share()
		sum := 0.0
		for _, e := range estimates[i] {
			sum += e
		}
		p.Estimate = sum / float64(len(estimates[i]))
		slices.Sort(estimates[i])
		p.EstimateLow, p.EstimateHigh = interval.Quantile(estimates[i], 0.025), interval.Quantile(estimates[i], 0.975)
	}
	return out
}

// Any returns the share of resamples in which at least one of the subjects for which counts is true was found: the
// family-wise rate of false alarms if they have no disparity. It has no estimate.
func (o Outcome) Any(counts func(subject string) bool) Power {
	p := Power{Resamples: len(o.Results), Estimate: math.NaN(), EstimateLow: math.NaN(), EstimateHigh: math.NaN()}
	for _, results := range o.Results {
		if slices.ContainsFunc(results, func(r Result) bool { return r.Found && counts(r.Subject) }) {
			p.Found++
		}
	}
	p.share()
	return p
}
