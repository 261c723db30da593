package interval

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Draws says which rows each of a number of draws takes: one bit per row and draw.
type Draws struct {
	count, words int
	bits         []uint64 // row-major
}

// Halves are the settings of [HalfSample].
type Halves struct {
	Seed  uint64
	Count int    // number of draws; 0 = 200
	Side  string // "real" or "generated": the two sides of a comparison are drawn independently

	// Cells names the cell (object and region) of every row. Half of each cell is drawn; of an odd number the larger
	// or the smaller half, with equal chances.
	Cells []string
	// IDs are unique names of the rows. With them, a draw takes the same pictures whatever the order of the rows.
	// Without them (nil) rows are known by their position.
	IDs []string
}

// HalfSample draws half of every cell without replacement, Count times. Equal settings give equal draws; a cell's draws do not depend on the other cells.
func HalfSample(h Halves) (*Draws, error) {
	if h.Count == 0 {
		h.Count = 200
	}
	if h.Count < 2 {
		return nil, fmt.Errorf("interval: %d draws; at least 2 are needed", h.Count)
	}
	if h.IDs != nil && len(h.IDs) != len(h.Cells) {
		return nil, fmt.Errorf("interval: %d ids for %d rows", len(h.IDs), len(h.Cells))
	}
	cells := map[string][]int{}
	for row, c := range h.Cells {
		cells[c] = append(cells[c], row)
	}
	d := newDraws(len(h.Cells), h.Count)
	for cell, rows := range cells {
		if h.IDs != nil {
			slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(h.IDs[a], h.IDs[b]) })
			for i := 1; i < len(rows); i++ {
				if h.IDs[rows[i]] == h.IDs[rows[i-1]] {
					return nil, fmt.Errorf("interval: id %q occurs twice in cell %q of the %s rows", h.IDs[rows[i]], cell, h.Side)
				}
			}
		}
		source := seeded(h.Seed, h.Side, cell)
		for draw := range h.Count {
			half := len(rows) / 2
			if len(rows)%2 == 1 {
				half += int(source.Uint64() >> 63)
			}
			for i := range half { // the first steps of a shuffle: rows keeps its content, only the order moves
				j := i + below(source, len(rows)-i)
				rows[i], rows[j] = rows[j], rows[i]
				d.take(rows[i], draw)
			}
		}
	}
	return d, nil
}

func newDraws(rows, count int) *Draws {
	words := (count + 63) / 64
	return &Draws{count: count, words: words, bits: make([]uint64, rows*words)}
}

// seeded makes the generator of one cell: it depends on the seed, the side and the cell's name only.
func seeded(seed uint64, side, cell string) *rand.PCG {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s", side, cell)
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	h.Write(b[:])
	return rand.NewPCG(seed, h.Sum64())
}

// below returns a number in [0, n). Written out, so that a later version of the standard library cannot change the draws.
func below(source *rand.PCG, n int) int {
	high, _ := bits.Mul64(source.Uint64(), uint64(n))
	return int(high)
}

func (d *Draws) take(row, draw int) { d.bits[row*d.words+draw/64] |= 1 << (draw % 64) }

// Count is the number of draws.
func (d *Draws) Count() int { return d.count }

// Words is the number of words of a row's bits.
func (d *Draws) Words() int { return d.words }

// Len is the number of rows.
func (d *Draws) Len() int {
	if d.words == 0 {
		return 0
	}
	return len(d.bits) / d.words
}

// Row returns the draws that take a row, draw b in bit b%64 of word b/64. Treat it as read-only.
func (d *Draws) Row(row int) []uint64 { return d.bits[row*d.words : (row+1)*d.words] }

// Taken says whether a draw takes a row.
func (d *Draws) Taken(row, draw int) bool { return d.Row(row)[draw/64]>>(draw%64)&1 == 1 }

// Pick returns the draws of some rows, in that order: for a set-up that leaves some pictures out, while the draws stay those of all pictures.
func (d *Draws) Pick(rows []int) *Draws {
	out := newDraws(len(rows), d.count)
	for i, r := range rows {
		copy(out.Row(i), d.Row(r))
	}
	return out
}

// Sizes counts the rows that each draw takes.
func (d *Draws) Sizes() []int {
	sizes := make([]int, d.count)
	for row := range d.Len() {
		for w, word := range d.Row(row) {
			for ; word != 0; word &= word - 1 {
				sizes[w*64+bits.TrailingZeros64(word)]++
			}
		}
	}
	return sizes
}
