package textenc

import "sort"

// align is what a text's start in a row is a multiple of; a row of L tokens holds up to L/align texts.
const align = 8

// lengths are the row lengths texts are packed into: a text goes into rows of the first it fits, whatever its neighbours.
var lengths = []int{64, 96, 128, 192, 256, 384, 512}

// rowLength is the length of the rows a text of n tokens goes into: few lengths, so that few graphs are compiled.
func rowLength(n int) int {
	for _, l := range lengths {
		if n <= l {
			return l
		}
	}
	return (n + 255) / 256 * 256
}

// place is where a text of a row starts.
type place struct{ text, start int }

// pack puts texts of the given numbers of tokens into rows of length l, longest first, each into the fullest row it fits.
func pack(texts []int, tokens func(text int) int, l int) (rows [][]place) {
	need := func(text int) int { return (tokens(text) + align - 1) / align }
	texts = append([]int(nil), texts...)
	sort.SliceStable(texts, func(i, j int) bool { return need(texts[i]) > need(texts[j]) })
	open := make([][]int, l/align+1) // rows by what is free in them
	for _, text := range texts {
		n, row, free := need(text), -1, l/align
		for at := n; at < len(open); at++ {
			if k := len(open[at]); k > 0 {
				row, free, open[at] = open[at][k-1], at, open[at][:k-1]
				break
			}
		}
		if row < 0 {
			row, rows = len(rows), append(rows, nil)
		}
		rows[row] = append(rows[row], place{text, l - free*align})
		open[free-n] = append(open[free-n], row)
	}
	return rows
}
