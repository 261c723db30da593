// Package pack lays texts of any lengths into rows of few lengths, several texts a row, so that almost nothing is
// spent on padding and few graphs are compiled. In the graph a token attends to those of its own text alone.
package pack

import (
	"iter"
	"sort"
)

// Align is what a text's start in a row is a multiple of; a row of L tokens holds up to L/Align texts.
const Align = 4

// lengths are the row lengths texts are packed into: a text goes into rows of the first it fits, whatever its
// neighbors.
var lengths = []int{64, 96, 128, 192, 256, 384, 512}

// rowLength is the length of the rows a text of n tokens goes into, where no text is longer than most tokens.
func rowLength(n, most int) int {
	most = (most + Align - 1) / Align * Align
	for _, l := range lengths {
		if n <= l {
			return min(l, most)
		}
	}
	return min((n+255)/256*256, most)
}

// Texts is the number of texts a row of l tokens may hold.
func Texts(l int) int { return l / Align }

// Place is where a text of a row starts.
type Place struct{ Text, Start int }

// Slot is the number of a place in its row, from 0.
func (p Place) Slot() int { return p.Start / Align }

// Each yields the places of rows with the number of their row.
func Each(rows [][]Place) iter.Seq2[int, Place] {
	return func(yield func(int, Place) bool) {
		for r, row := range rows {
			for _, p := range row {
				if !yield(r, p) {
					return
				}
			}
		}
	}
}

// Fill lays the tokens of texts out in size rows of length l: their ids, their positions in their own text, from 0, and
// the number of their text in the row, from 1. Padding is 0 in all three.
//
// Shapes: → [size·l] each.
func Fill(rows [][]Place, size, l int, texts [][]int32) (ids, positions, segments []int32) {
	ids, positions, segments = make([]int32, size*l), make([]int32, size*l), make([]int32, size*l)
	for r, p := range Each(rows) {
		for k, id := range texts[p.Text] {
			at := r*l + p.Start + k
			ids[at], positions[at], segments[at] = id, int32(k), int32(1+p.Slot())
		}
	}
	return ids, positions, segments
}

// Rows puts texts of the given numbers of tokens into rows of length l, longest first, each into the fullest row it
// fits.
func Rows(texts []int, tokens func(text int) int, l int) (rows [][]Place) {
	need := func(text int) int { return (tokens(text) + Align - 1) / Align }
	texts = append([]int(nil), texts...)
	sort.SliceStable(texts, func(i, j int) bool { return need(texts[i]) > need(texts[j]) })
	open := make([][]int, l/Align+1) // rows by what is free in them
	for _, text := range texts {
		n, row, free := need(text), -1, l/Align
		for at := n; at < len(open); at++ {
			if k := len(open[at]); k > 0 {
				row, free, open[at] = open[at][k-1], at, open[at][:k-1]
				break
			}
		}
		if row < 0 {
			row, rows = len(rows), append(rows, nil)
		}
		rows[row] = append(rows[row], Place{text, l - free*Align})
		open[free-n] = append(open[free-n], row)
	}
	return rows
}
