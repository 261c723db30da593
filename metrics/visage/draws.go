package visage

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"antipode/metrics/internal/tabular"
)

// bound gives a value the percentile interval of its draws; a value that is not available has none.
func (b *Bounded) bound(draws []float64, level float64) {
	if !math.IsNaN(b.Value) && len(draws) > 0 {
		b.Low, b.High = quantile(draws, (1-level)/2), quantile(draws, (1+level)/2)
	}
}

// quantile is [tabular.Quantile] of draws in any order, which it reorders: it needs two of them in their sorted places only, and there may be many draws.
func quantile(draws []float64, p float64) float64 {
	at := int(p * float64(len(draws)-1))
	place(draws, at)
	place(draws[at+1:], 0)
	return tabular.Quantile(draws, p)
}

// place puts at position k what sorting would put there, with nothing larger before it and nothing smaller after it.
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

// seeded makes a generator that depends on the seed and the names only.
func seeded(seed int64, names ...string) *rand.Rand {
	h := fnv.New64a()
	for _, n := range names {
		h.Write([]byte(n + "\x00"))
	}
	return rand.New(rand.NewPCG(uint64(seed), h.Sum64()))
}

// each calls f(0) … f(n-1), as many at once as there are processors.
func each(n int, f func(i int)) {
	var wait sync.WaitGroup
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		turns <- struct{}{}
		wait.Go(func() {
			f(i)
			<-turns
		})
	}
	wait.Wait()
}
