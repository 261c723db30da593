package segment

import "antipode/datasets/mask"

// run is a sequence of object pixels in one row.
type run struct {
	y, from, to int // pixels from … to−1
	root        int // another run of the same region, nearer its first; itself = the first
	area        int // of the region, where this is its first run
}

// regions returns the runs of a mask, row by row, joined into connected regions; pixels that touch at a corner are
// connected.
func regions(b mask.Bitmap) (runs []run) {
	above := 0 // the first run of the row above
	for y := range b.Height {
		start := len(runs)
		for x := 0; x < b.Width; x++ {
			if !b.Pix[y*b.Width+x] {
				continue
			}
			from := x
			for x < b.Width && b.Pix[y*b.Width+x] {
				x++
			}
			runs = append(runs, run{y, from, x, len(runs), x - from})
		}
		for i, k := start, above; i < len(runs) && k < start; {
			a, r := runs[k], runs[i]
			if a.y == y-1 && a.from <= r.to && r.from <= a.to {
				join(runs, i, k)
			}
			if a.to < r.to {
				k++
			} else {
				i++
			}
		}
		above = start
	}
	return runs
}

// first is the first run of a run's region.
func first(runs []run, i int) int {
	for runs[i].root != i {
		runs[i].root = runs[runs[i].root].root
		i = runs[i].root
	}
	return i
}

func join(runs []run, i, k int) {
	if i, k = first(runs, i), first(runs, k); i != k {
		i, k = max(i, k), min(i, k)
		runs[i].root = k
		runs[k].area += runs[i].area
	}
}

// keep removes from the mask all but the largest region (the first of equals), or the regions below so many pixels. It
// returns the number of regions before that and the size of the largest.
func keep(b mask.Bitmap, largest bool, pixels float64) (count, most int) {
	runs := regions(b)
	best := -1
	for i, r := range runs {
		if r.root == i {
			count++
			if r.area > most {
				best, most = i, r.area
			}
		}
	}
	for i, r := range runs {
		if of := first(runs, i); largest && of != best || float64(runs[of].area) < pixels {
			clear(b.Pix[r.y*b.Width+r.from : r.y*b.Width+r.to])
		}
	}
	return count, most
}
