package preprocess

import (
	"math/rand/v2"
	"slices"
	"testing"

	"antipode/internal/must"
)

// dots makes a mask with the given object pixels (x, y).
func dots(width, height int, at ...[2]int) *Mask {
	m := &Mask{Width: width, Height: height, Object: make([]uint8, width*height)}
	for _, p := range at {
		m.Object[p[1]*width+p[0]] = 1
	}
	return m
}

// marked lists the object patches.
func marked(t *testing.T, c Config, m *Mask, rule Rule, side, patch int) []int {
	t.Helper()
	p := NewRGB(m.Width, m.Height)
	for i := range p.Pix {
		p.Pix[i] = 200
	}
	patches := must.Get(c.Patches(p, m, rule, side, side, patch, patch))(t)
	var out []int
	for i, object := range patches {
		if object {
			out = append(out, i)
		}
	}
	return out
}

// TestPatches: cases worked out by hand, patches numbered row by row.
func TestPatches(t *testing.T) {
	stretch := Default(16, 16)
	crop := Config{Resize: ShortestEdge, Edge: 16, CropHeight: 16, CropWidth: 16, Scale: 1, Std: Half,
		Filter: Bilinear}
	pad := Config{Resize: NoResize, CropHeight: 16, CropWidth: 16, Scale: 1, Std: Half, Filter: Bilinear}
	for name, c := range map[string]struct {
		config Config
		mask   *Mask
		patch  int
		want   []int
	}{
		"one pixel, same size":             {stretch, dots(16, 16, [2]int{5, 9}), 8, []int{2}},
		"pixels at both sides of a border": {stretch, dots(16, 16, [2]int{7, 0}, [2]int{8, 15}), 8, []int{0, 3}},
		"no object":                        {stretch, dots(16, 16), 8, nil},
		// 6 source pixels a patch
		"a shrunk pixel over a border is on both": {stretch, dots(24, 24, [2]int{5, 0}, [2]int{6, 0}), 4,
			[]int{0, 1}},
		// 4.5 source pixels a patch
		"a shrunk pixel that spans a border":  {stretch, dots(18, 18, [2]int{4, 0}), 4, []int{0, 1}},
		"an enlarged pixel fills its patches": {stretch, dots(2, 2, [2]int{1, 0}), 4, []int{2, 3, 6, 7}},
		"outside the crop":                    {crop, dots(48, 16, [2]int{15, 8}, [2]int{32, 8}), 8, nil},
		"inside the crop": {crop, dots(48, 16, [2]int{16, 8}, [2]int{31, 7}), 8,
			[]int{1, 2}},
		"an image smaller than the crop, its corner": {pad, dots(8, 8, [2]int{0, 0}), 4, []int{5}},
		"a rest that belongs to no patch": {stretch,
			dots(16, 16, [2]int{15, 15}, [2]int{15, 0}, [2]int{14, 14}), 5, []int{8}},
	} {
		must.EqualSlices(t, marked(t, c.config, c.mask, Any, 16, c.patch), c.want, name, "patches")
	}
}

// TestPatchesByArea compares with the definition, on random sizes: a patch is object if its cell, in the
// coordinates of the resized image, overlaps the square of an object pixel. Times side·size all numbers are whole.
func TestPatchesByArea(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		w, h := 1+r.IntN(40), 1+r.IntN(40)
		c := Config{Resize: ShortestEdge, Edge: 14 + r.IntN(10), CropHeight: 15, CropWidth: 15,
			RoundCropEven: r.IntN(2) == 0, Scale: 1, Std: Half, Filter: Bilinear}
		if r.IntN(3) == 0 {
			c = Default(15, 15)
		}
		g := c.place(w, h)
		x, y := r.IntN(w), r.IntN(h)
		var want []int
		for i := range 25 {
			overlap := func(cell, corner, pixel, src, dst int) bool { // both ranges times src
				return max((cell*3+corner)*src, 0) < (pixel+1)*dst && pixel*dst < min((cell*3+3+corner)*src, dst*src)
			}
			if overlap(i%5, g.x, x, w, g.w) && overlap(i/5, g.y, y, h, g.h) {
				want = append(want, i)
			}
		}
		if got := marked(t, c, dots(w, h, [2]int{x, y}), Any, 15, 3); !slices.Equal(got, want) {
			t.Fatalf("%d×%d, pixel %d,%d, %+v: patches %v, want %v", w, h, x, y, c, got, want)
		}
	}
}

// TestResizedRule: what the public code does, and where it differs.
func TestResizedRule(t *testing.T) {
	c := Default(16, 16)
	m := dots(16, 16, [2]int{5, 9})
	must.EqualSlices(t, marked(t, c, m, Resized, 16, 8), []int{2}, "same size: patches")
	// bleeds over the border
	must.EqualSlices(t, marked(t, c, dots(8, 8, [2]int{3, 0}), Resized, 16, 8), []int{0, 1}, "enlarged: patches")
	black := NewRGB(16, 16)
	if got, err := c.Patches(black, m, Resized, 16, 16, 8, 8); err != nil || slices.Contains(got, true) {
		t.Errorf("a black object is missed: %v, %v", got, err)
	}
	if got, err := c.Patches(black, m, Any, 16, 16, 8, 8); err != nil || !got[2] {
		t.Errorf("by the other rule it is not: %v, %v", got, err)
	}
}

func TestPaint(t *testing.T) {
	p, m := NewRGB(2, 1), dots(2, 1, [2]int{1, 0})
	copy(p.Pix, []uint8{1, 2, 3, 4, 5, 6})
	must.EqualSlices(t, m.Paint(p, true, 255).Pix, []uint8{255, 255, 255, 4, 5, 6}, "object kept")
	must.EqualSlices(t, m.Paint(p, false, 0).Pix, []uint8{1, 2, 3, 0, 0, 0}, "background kept")
	must.Equal(t, p.Pix[0], 1, "Paint changed the image")
}

func TestMaskCheck(t *testing.T) {
	m := dots(3, 2)
	if err := m.Check(NewRGB(2, 3)); err == nil || err.Error() != "the mask is 3×2 pixels, its image 2×3 (upright)" {
		t.Errorf("another size: %v", err)
	}
	m.Object = m.Object[1:]
	must.Fail(m.Check(NewRGB(3, 2)))(t, "holds 5 values") // short
}
