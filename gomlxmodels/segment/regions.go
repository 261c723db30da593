package segment

import "antipode/datasets/mask"

// regions labels the connected regions of a mask, neighbours at corners included: label gives each pixel's region, −1 for
// background, and area the pixels of each region, in the order of their first pixel row by row.
func regions(b mask.Bitmap) (label []int32, area []int) {
	label = make([]int32, len(b.Pix))
	for i := range label {
		label[i] = -1
	}
	var open []int
	for start, object := range b.Pix {
		if !object || label[start] >= 0 {
			continue
		}
		id := int32(len(area))
		area = append(area, 0)
		label[start], open = id, append(open, start)
		for len(open) > 0 {
			at := open[len(open)-1]
			open = open[:len(open)-1]
			area[id]++
			x, y := at%b.Width, at/b.Width
			for ny := max(0, y-1); ny <= min(b.Height-1, y+1); ny++ {
				for nx := max(0, x-1); nx <= min(b.Width-1, x+1); nx++ {
					if n := ny*b.Width + nx; b.Pix[n] && label[n] < 0 {
						label[n], open = id, append(open, n)
					}
				}
			}
		}
	}
	return label, area
}

// keep leaves in the mask the largest region (the first of equals), or those of at least so many pixels. It gives the number of
// regions there were and the size of the largest.
func keep(b mask.Bitmap, largest bool, pixels float64) (count, most int) {
	label, area := regions(b)
	best := -1
	for i, a := range area {
		if a > most {
			best, most = i, a
		}
	}
	for i, l := range label {
		if l >= 0 && (largest && int(l) != best || float64(area[l]) < pixels) {
			b.Pix[i] = false
		}
	}
	return len(area), most
}
