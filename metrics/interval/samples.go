package interval

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Samples holds which rows each of a number of half-samples contains: one bit per row and half-sample.
type Samples struct {
	count, words int
	bits         []uint64 // row-major
}

// HalfSampleOptions are the options of [HalfSample].
type HalfSampleOptions struct {
	Seed      uint64
	Resamples int    // number of half-samples; 0 = 200
	Side      string // "real" or "generated": the two sides of a comparison are sampled independently

	// Cells names the cell (object and region) of every row. A half-sample contains half of each cell; of an odd
	// number the larger or the smaller half, with equal probability.
	Cells []string
	// IDs are unique names of the rows. With them, the half-samples do not depend on the order of the rows. nil =
	// rows are identified by their position.
	IDs []string
}

// HalfSample selects half of every cell without replacement, Resamples times. Equal options give equal half-samples;
// those of a cell do not depend on the other cells.
func HalfSample(h HalfSampleOptions) (*Samples, error) {
	h.Resamples = cmp.Or(h.Resamples, 200)
	if h.Resamples < 2 {
		return nil, fmt.Errorf("interval: %d half-samples; at least 2 are needed", h.Resamples)
	}
	if h.IDs != nil && len(h.IDs) != len(h.Cells) {
		return nil, fmt.Errorf("interval: %d ids for %d rows", len(h.IDs), len(h.Cells))
	}
	cells := map[string][]int{}
	for row, c := range h.Cells {
		cells[c] = append(cells[c], row)
	}
	s := newSamples(len(h.Cells), h.Resamples)
	for _, cell := range slices.Sorted(maps.Keys(cells)) {
		rows := cells[cell]
		if h.IDs != nil {
			slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(h.IDs[a], h.IDs[b]) })
			for i := 1; i < len(rows); i++ {
				if h.IDs[rows[i]] == h.IDs[rows[i-1]] {
					return nil, fmt.Errorf("interval: id %q occurs twice in cell %q of the %s rows", h.IDs[rows[i]],
						cell, h.Side)
				}
			}
		}
		source := seeded(h.Seed, h.Side, cell)
		for sample := range h.Resamples {
			half := len(rows) / 2
			if len(rows)%2 == 1 {
				half += int(source.Uint64() >> 63)
			}
			for i := range half { // the first steps of a shuffle of rows
				j := i + below(source, len(rows)-i)
				rows[i], rows[j] = rows[j], rows[i]
				s.add(rows[i], sample)
			}
		}
	}
	return s, nil
}

func newSamples(rows, count int) *Samples {
	words := (count + 63) / 64
	return &Samples{count: count, words: words, bits: make([]uint64, rows*words)}
}

// seeded returns the generator of a cell, which depends on the seed, the side and the cell's name only.
func seeded(seed uint64, side, cell string) *rand.PCG {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", side, cell)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	h.Write(b[:])
	return rand.NewPCG(seed, h.Sum64())
}

// below returns a random number in [0, n). It does not use math/rand's IntN, which a later version may change.
func below(source *rand.PCG, n int) int {
	high, _ := bits.Mul64(source.Uint64(), uint64(n))
	return int(high)
}

func (s *Samples) add(row, sample int) { s.bits[row*s.words+sample/64] |= 1 << (sample % 64) }

// Count returns the number of half-samples.
func (s *Samples) Count() int { return s.count }

// Words returns the number of words of a row's bits.
func (s *Samples) Words() int { return s.words }

// Len returns the number of rows.
func (s *Samples) Len() int {
	if s.words == 0 {
		return 0
	}
	return len(s.bits) / s.words
}

// Row returns the half-samples that contain a row: bit b%64 of word b/64 is half-sample b. Do not modify it.
func (s *Samples) Row(row int) []uint64 { return s.bits[row*s.words : (row+1)*s.words] }

// Contains reports whether a half-sample contains a row.
func (s *Samples) Contains(sample, row int) bool { return s.Row(row)[sample/64]>>(sample%64)&1 == 1 }

// Pick returns the half-samples restricted to some rows, in that order.
func (s *Samples) Pick(rows []int) *Samples {
	out := newSamples(len(rows), s.count)
	for i, r := range rows {
		copy(out.Row(i), s.Row(r))
	}
	return out
}

// Outside returns, for each half-sample, rows that are not in it: a share of them, all for a share of 1 or more, and
// one at least. The choice does not depend on the order of rows.
func (s *Samples) Outside(share float64) *Samples {
	out, sizes, order := newSamples(s.Len(), s.count), s.Sizes(), make([]int, s.Len())
	for row := range order {
		order[row] = row
	}
	slices.SortFunc(order, func(a, b int) int { return slices.Compare(s.Row(a), s.Row(b)) })
	for sample := range s.count {
		left := s.Len() - sizes[sample]
		need, source := min(left, max(1, int(share*float64(left)+0.5))), rand.NewPCG(uint64(sample), 0)
		for _, row := range order {
			if s.Contains(sample, row) {
				continue
			}
			if need > 0 && below(source, left) < need {
				out.add(row, sample)
				need--
			}
			left--
		}
	}
	return out
}

// Sizes returns the number of rows in each half-sample.
func (s *Samples) Sizes() []int {
	sizes := make([]int, s.count)
	for row := range s.Len() {
		for w, word := range s.Row(row) {
			for ; word != 0; word &= word - 1 {
				sizes[w*64+bits.TrailingZeros64(word)]++
			}
		}
	}
	return sizes
}
