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

	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// Cell is what n units are drawn from.
type Cell struct {
	Name   string
	Units  [][]int // rows of the pool that come and go together: a picture, or all pictures of a prompt
	Others [][]int // the unit of the other pool that stands in for each, at smaller shares; nil = there is none
}

// Draw is one resample.
type Draw struct {
	Rows   []int // of the pool, ascending
	Others []int // of the other pool, ascending
	Seed   int64 // for what the audit draws itself
}

// Reading is a row of an audit's result.
type Reading struct {
	Subject  string  // what the row is about; once in a result
	Estimate float64 // NaN = none, as of the others
	Low      float64 // of the audit's own interval
	High     float64
	P        float64 // corrected
	Found    bool
}

// Audit reads a draw. It is called from several goroutines at once.
type Audit func(ctx context.Context, d Draw) ([]Reading, error)

// Options are the settings of [Resample].
type Options struct {
	Sizes     []int     // units from each cell
	Shares    []float64 // of each draw that comes from the pool, the rest from the other one; none = 1
	Resamples int
	Seed      int64
	Workers   int                   // audits at once; 0 = GOMAXPROCS
	Progress  func(done, total int) // called from one goroutine at a time
}

// Outcome holds the readings of all resamples of one size and share.
type Outcome struct {
	N        int
	Share    float64
	Readings [][]Reading // by resample
}

// ErrTooSmall is a cell that holds fewer units than are to be drawn.
type ErrTooSmall struct {
	Cell       string
	Have, Need int
}

func (e *ErrTooSmall) Error() string {
	return fmt.Sprintf("%s has %d in the pool, and %d are to be drawn without replacement: make a larger pool, or ask for fewer", e.Cell, e.Have, e.Need)
}

// Resample draws every size at every share, Resamples times each, and runs the audit on each draw; outcomes are in the order of shares, then sizes.
//
// Errors: *[ErrTooSmall], a size under 1, a share outside [0, 1] or under 1 without another pool, and the first of the audit's (the earliest draw's).
func Resample(ctx context.Context, cells []Cell, audit Audit, o Options) ([]Outcome, error) {
	if len(o.Shares) == 0 {
		o.Shares = []float64{1}
	}
	if err := o.check(cells); err != nil {
		return nil, err
	}
	var out []Outcome
	for _, share := range o.Shares {
		for _, n := range o.Sizes {
			out = append(out, Outcome{n, share, make([][]Reading, o.Resamples)})
		}
	}
	total := len(out) * o.Resamples
	workers := o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var stopped atomic.Bool // draws are begun in order, so that the earliest that fails is among those begun
	var wait sync.WaitGroup
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
				readings, err := audit(ctx, o.draw(cells, at.N, at.Share, r))
				if err != nil {
					stopped.Store(true)
				}
				mu.Lock()
				switch {
				case err != nil && job < failed:
					failed, firstErr = job, fmt.Errorf("resample %d of %d per cell: %w", r+1, at.N, err)
				case err == nil:
					at.Readings[r] = readings
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

func (o Options) check(cells []Cell) error {
	switch {
	case len(cells) == 0:
		return errors.New("the pool is empty: there is nothing to draw")
	case len(o.Sizes) == 0:
		return errors.New("no sizes: say how many are to be drawn from each cell")
	case o.Resamples < 1:
		return fmt.Errorf("%d resamples: draw at least one", o.Resamples)
	}
	for _, s := range o.Shares {
		if !(s >= 0 && s <= 1) {
			return fmt.Errorf("share %g is not between 0 and 1", s)
		}
	}
	for _, n := range o.Sizes {
		if n < 1 {
			return fmt.Errorf("size %d: draw at least one from each cell", n)
		}
		for _, c := range cells {
			if len(c.Units) < n {
				return &ErrTooSmall{c.Name, len(c.Units), n}
			}
			if slices.Min(o.Shares) < 1 && len(c.Others) < len(c.Units) {
				return fmt.Errorf("%s has %d in the pool and %d in the other one: shares under 1 need as many in both", c.Name, len(c.Units), len(c.Others))
			}
		}
	}
	return nil
}

// draw is resample r: the first n units of a permutation of each cell, the first of them from the pool.
func (o Options) draw(cells []Cell, n int, share float64, r int) Draw {
	d := Draw{Seed: int64(seeded(o.Seed, r, "audit").Uint64() >> 1)}
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

// Power is how often something was found, and what was estimated.
type Power struct {
	Subject          string
	Resamples, Found int
	Share, Low, High float64 // Found / Resamples with its 95 % Wilson interval
	// Estimate is the mean over resamples, EstimateLow and EstimateHigh hold the middle 95 % of them; NaN where there are none.
	Estimate, EstimateLow, EstimateHigh float64
}

// share fills in the share of resamples.
func (p *Power) share() {
	w := interval.Wilson(p.Found, p.Resamples, 0.95)
	p.Share, p.Low, p.High = w.Value, w.Low, w.High
}

// BySubject is the power for each subject, in the order in which the resamples name them. A subject that a resample does not name was not found there.
func (o Outcome) BySubject() []Power {
	at := map[string]int{}
	var out []Power
	var estimates [][]float64
	for _, readings := range o.Readings {
		for _, r := range readings {
			i, known := at[r.Subject]
			if !known {
				i = len(out)
				at[r.Subject] = i
				out, estimates = append(out, Power{Subject: r.Subject}), append(estimates, nil)
			}
			if r.Found {
				out[i].Found++
			}
			if !math.IsNaN(r.Estimate) {
				estimates[i] = append(estimates[i], r.Estimate)
			}
		}
	}
	for i := range out {
		p := &out[i]
		p.Resamples = len(o.Readings)
		p.share()
		sum := 0.0
		for _, e := range estimates[i] {
			sum += e
		}
		p.Estimate = sum / float64(len(estimates[i]))
		p.EstimateLow, p.EstimateHigh = tabular.Percentiles(estimates[i], 0.95)
	}
	return out
}

// Any is how often at least one of the subjects that counts says yes to was found: the family-wise rate of false alarms, where nothing is wrong with them. It has no estimate.
func (o Outcome) Any(counts func(subject string) bool) Power {
	p := Power{Resamples: len(o.Readings), Estimate: math.NaN(), EstimateLow: math.NaN(), EstimateHigh: math.NaN()}
	for _, readings := range o.Readings {
		if slices.ContainsFunc(readings, func(r Reading) bool { return r.Found && counts(r.Subject) }) {
			p.Found++
		}
	}
	p.share()
	return p
}
