package stereotypes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"

	"antipode/internal/fault"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// Resampling are the options of percentile intervals by bootstrap. The zero value is no intervals.
type Resampling struct {
	Resamples int     // bootstrap samples; 0 = no intervals
	Level     float64 // confidence level; 0 = 0.95
	Seed      int64
}

// check fills in the level and validates.
func (r *Resampling) check() error {
	if r.Level == 0 {
		r.Level = 0.95
	}
	if !(r.Level > 0 && r.Level < 1) || r.Resamples < 0 {
		return fmt.Errorf("stereotypes: level %g and resamples %d; use a level between 0 and 1, and "+
			"0 resamples or more", r.Level, r.Resamples)
	}
	return nil
}

// bootstrap returns the options of package interval for shares.
func (r Resampling) bootstrap() interval.BootstrapOptions {
	return interval.BootstrapOptions{Seed: uint64(r.Seed), Resamples: r.Resamples, Level: r.Level,
		Range: interval.Share}
}

// bound sets the percentile interval of an estimate from its resamples; a value that is not available has none.
func bound(e *metrics.Estimate, resamples []float64, level float64) {
	if !math.IsNaN(e.Value) && len(resamples) > 0 {
		e.Low, e.High = quantile(resamples, (1-level)/2), quantile(resamples, (1+level)/2)
	}
}

// quantile is [tabular.Quantile] of unsorted values, which it reorders. It selects the two values that it needs instead
// of sorting all.
func quantile(values []float64, p float64) float64 {
	at := int(p * float64(len(values)-1))
	place(values, at)
	place(values[at+1:], 0)
	return tabular.Quantile(values, p)
}

// place moves to position k the value that sorting would put there, with nothing larger before it and nothing smaller
// after it.
func place(x []float64, k int) {
	for low, high := 0, len(x)-1; low < high; {
		pivot, i, j := x[low+(high-low)/2], low, high
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return
		}
	}
}

// seeded returns a random generator that depends on the seed and the names only.
func seeded(seed int64, names ...string) *rand.Rand {
	return tabular.Random(seed, strings.Join(names, "\x00")+"\x00")
}

// each calls f(0) … f(n-1), GOMAXPROCS of them at a time.
func each(n int, f func(i int)) {
	var wait fault.Group
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	wait.Wait()
}

// keep appends a value that is available.
func keep(values []float64, v float64) []float64 {
	if math.IsNaN(v) {
		return values
	}
	return append(values, v)
}
