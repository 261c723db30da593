package mask

import (
	"image"
	"slices"
)

// Outline returns the border of the object as closed polygons along the edges of pixels: the pixel at (x, y) spans the
// corners (x, y) to (x+1, y+1). Around an object the points run clockwise as seen on screen, around a hole the other
// way. Only corners are listed; the last point is joined to the first. Pixels that touch at a corner only belong to
// different polygons. The order is fixed: by topmost, then leftmost starting corner.
func (b Bitmap) Outline() [][]image.Point {
	// Each side of an object pixel that faces background is a directed edge with the object on its right.
	next := map[image.Point][]image.Point{}
	var starts []image.Point
	edge := func(x0, y0, x1, y1 int) {
		from := image.Pt(x0, y0)
		next[from] = append(next[from], image.Pt(x1, y1))
		starts = append(starts, from)
	}
	for y := range b.Height {
		for x := range b.Width {
			if !b.At(x, y) {
				continue
			}
			if !b.At(x, y-1) {
				edge(x, y, x+1, y)
			}
			if !b.At(x+1, y) {
				edge(x+1, y, x+1, y+1)
			}
			if !b.At(x, y+1) {
				edge(x+1, y+1, x, y+1)
			}
			if !b.At(x-1, y) {
				edge(x, y+1, x, y)
			}
		}
	}
	slices.SortStableFunc(starts, func(p, q image.Point) int {
		if p.Y != q.Y {
			return p.Y - q.Y
		}
		return p.X - q.X
	})
	var polygons [][]image.Point
	for _, start := range starts {
		if len(next[start]) == 0 {
			continue
		}
		var polygon []image.Point
		var heading image.Point
		for at := start; ; {
			to := turn(next, at, heading)
			if step := to.Sub(at); step != heading {
				polygon = append(polygon, at)
				heading = step
			}
			if at = to; at == start && len(polygon) > 0 {
				break
			}
		}
		polygons = append(polygons, polygon)
	}
	return polygons
}

// turn removes an edge that starts at a corner from the map and returns its end. Where two edges start there, the right
// turn stays at the same pixel.
func turn(next map[image.Point][]image.Point, at, heading image.Point) image.Point {
	ways := next[at]
	pick := 0
	right := image.Pt(-heading.Y, heading.X)
	for i, to := range ways {
		if to.Sub(at) == right {
			pick = i
		}
	}
	to := ways[pick]
	next[at] = slices.Delete(ways, pick, pick+1)
	return to
}
