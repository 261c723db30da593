package mask

import (
	"fmt"
	"math"

	"antipode/datasets/table"
	"antipode/internal/imagefile"
)

// Bitmap is a binary mask: Pix holds Width·Height values row by row, true = object.
type Bitmap struct {
	Width, Height int
	Pix           []bool
}

// New returns an empty mask: all background.
func New(width, height int) Bitmap {
	return Bitmap{Width: width, Height: height, Pix: make([]bool, width*height)}
}

// At reports whether the pixel is object; pixels outside the mask are not.
func (b Bitmap) At(x, y int) bool {
	return x >= 0 && y >= 0 && x < b.Width && y < b.Height && b.Pix[y*b.Width+x]
}

// Set sets the pixel to object or background. The pixel must be inside the mask.
func (b Bitmap) Set(x, y int, object bool) { b.Pix[y*b.Width+x] = object }

// Area returns the number of object pixels.
func (b Bitmap) Area() int {
	n := 0
	for _, p := range b.Pix {
		if p {
			n++
		}
	}
	return n
}

// Encode returns the mask as COCO compressed run lengths, equal to those of pycocotools' encode.
func Encode(b Bitmap) table.Mask {
	var counts []int
	run, current := 0, false
	for x := range b.Width {
		for y := range b.Height {
			if p := b.Pix[y*b.Width+x]; p != current {
				counts = append(counts, run)
				run, current = 0, p
			}
			run++
		}
	}
	counts = append(counts, run)
	return table.Mask{Size: [2]int{b.Height, b.Width}, Counts: compress(counts)}
}

// FromRuns returns the mask of uncompressed run lengths: background first, in column order, as segment-anything writes
// them (uncompressed_rle). Errors are those of [Decode].
func FromRuns(height, width int, counts []int) (table.Mask, error) {
	b, err := Decode(table.Mask{Size: [2]int{height, width}, Counts: compress(counts)})
	if err != nil {
		return table.Mask{}, err
	}
	return Encode(b), nil
}

// Decode returns the pixels of a stored mask. The zero Mask, a size of zero or less, and run lengths that are damaged
// or do not add up to the size are errors.
func Decode(m table.Mask) (Bitmap, error) {
	counts, err := runs(m)
	if err != nil {
		return Bitmap{}, err
	}
	b := New(m.Size[1], m.Size[0])
	at, object := 0, false
	for _, n := range counts {
		if object {
			for i := at; i < at+n; i++ {
				b.Pix[i%b.Height*b.Width+i/b.Height] = true
			}
		}
		at, object = at+n, !object
	}
	return b, nil
}

// Area returns the number of object pixels of a stored mask without decoding it. Errors are those of [Decode].
func Area(m table.Mask) (int, error) {
	counts, err := runs(m)
	area := 0
	for i := 1; i < len(counts); i += 2 {
		area += counts[i]
	}
	return area, err
}

// compress writes run lengths as pycocotools does: from the fourth on as the difference to the one two before, in
// groups of five bits with a continuation bit, as characters from '0' on.
func compress(counts []int) string {
	var s []byte
	for i, n := range counts {
		if i > 2 {
			n -= counts[i-2]
		}
		for more := true; more; {
			c := byte(n & 0x1f)
			n >>= 5
			if c&0x10 != 0 {
				more = n != -1
			} else {
				more = n != 0
			}
			if more {
				c |= 0x20
			}
			s = append(s, c+'0')
		}
	}
	return string(s)
}

// runs reads the run lengths back and checks that they fill the mask exactly.
func runs(m table.Mask) ([]int, error) {
	h, w := m.Size[0], m.Size[1]
	if h <= 0 || w <= 0 || h > imagefile.MaxPixels/w {
		return nil, fmt.Errorf("mask: size %d×%d (height×width) is not the size of an image", h, w)
	}
	var counts []int
	total := 0
	for at := 0; at < len(m.Counts); {
		n, shift := 0, 0
		for more := true; more; {
			if at == len(m.Counts) {
				return nil, fmt.Errorf("mask: counts end inside run %d", len(counts)+1)
			}
			c := int(m.Counts[at]) - '0'
			if c < 0 || c > 0x3f {
				return nil, fmt.Errorf("mask: byte %q at position %d of counts is not a compressed run "+
					"length", m.Counts[at], at)
			}
			if shift > 30 {
				return nil, fmt.Errorf("mask: run %d is longer than any image", len(counts)+1)
			}
			n |= c & 0x1f << shift
			shift += 5
			at++
			if more = c&0x20 != 0; !more && c&0x10 != 0 {
				n |= -1 << shift
			}
		}
		if i := len(counts); i > 2 {
			n += counts[i-2]
		}
		if n < 0 || n > w*h-total {
			return nil, fmt.Errorf("mask: run %d has length %d, but %d pixels are left of %d×%d", len(counts)+1, n,
				w*h-total, h, w)
		}
		total += n
		counts = append(counts, n)
	}
	if total != w*h {
		return nil, fmt.Errorf("mask: the runs cover %d pixels of %d×%d = %d", total, h, w, w*h)
	}
	return counts, nil
}

// IoU returns the intersection over union of two masks of one image, 0 to 1; NaN if both are empty. An empty
// [table.Mask] has no size and overlaps nothing. Masks of different sizes are an error.
func IoU(a, b table.Mask) (float64, error) {
	if a.Counts == "" || b.Counts == "" {
		if a.Counts == b.Counts {
			return math.NaN(), nil
		}
		return 0, nil
	}
	if a.Size != b.Size {
		return 0, fmt.Errorf("masks of %d×%d and %d×%d pixels are not of one image", a.Size[1], a.Size[0], b.Size[1],
			b.Size[0])
	}
	x, err := Decode(a)
	if err != nil {
		return 0, err
	}
	y, err := Decode(b)
	if err != nil {
		return 0, err
	}
	both, either := 0, 0
	for i, object := range x.Pix {
		if object && y.Pix[i] {
			both++
		}
		if object || y.Pix[i] {
			either++
		}
	}
	return float64(both) / float64(either), nil
}
