package preprocess

import (
	"fmt"
	"image"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// bothWays runs f with the vector code and without.
func bothWays(t *testing.T, f func(t *testing.T)) {
	had := vectors
	defer func() { vectors = had }()
	for _, vectors = range []bool{false, true} {
		if !vectors || had {
			t.Run(fmt.Sprintf("vectors=%v", vectors), f)
		}
	}
}

// noise returns an image of random levels, many of them the lowest and the highest.
func noise(r *rand.Rand, width, height int) *RGB {
	p := NewRGB(width, height)
	for i := range p.Pix {
		p.Pix[i] = uint8(min(255, max(0, r.IntN(512)-128)))
	}
	return p
}

// plainly resizes a line of one color, whose values are step bytes apart, with sums of 64 bits.
func plainly(p *plan, in []uint8, step int, out []uint8, outStep int) {
	if p.same {
		for i := range p.to - p.from {
			out[i*outStep] = in[(p.from+i)*step]
		}
		return
	}
	for i, t := range p.taps {
		sum := int64(1) << p.bits >> 1
		for k, w := range t.weights {
			sum += int64(w) * int64(in[(p.from+t.first+k)*step])
		}
		out[i*outStep] = uint8(min(255, max(0, sum>>p.bits)))
	}
}

// plainResize is [view.resize] of whole images in a direct form.
func plainResize(p *RGB, width, height int, f Filter, torchvision bool) *RGB {
	columns, rows := newPlan(p.Width, width, 0, width, f, torchvision), newPlan(p.Height, height, 0, height, f,
		torchvision)
	across := func(p *RGB) *RGB {
		out := NewRGB(width, p.Height)
		for i := range 3 * p.Height {
			y, color := i/3, i%3
			plainly(columns, p.Pix[3*y*p.Width+color:], 3, out.Pix[3*y*width+color:], 3)
		}
		return out
	}
	down := func(p *RGB) *RGB {
		out := NewRGB(p.Width, height)
		for i := range 3 * p.Width {
			plainly(rows, p.Pix[i:], 3*p.Width, out.Pix[i:], 3*p.Width)
		}
		return out
	}
	if !torchvision && height < p.Height && p.Height-height > 2*(p.Width-width) {
		return across(down(p))
	}
	return down(across(p))
}

// TestResizeEqualsPlain resizes random images with every filter, to random sizes and to random parts of them.
func TestResizeEqualsPlain(t *testing.T) {
	defer func(n int) { strip = n }(strip)
	bothWays(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(near.Seed(t), 1))
		size := func(most int) int { return 1 + min(r.IntN(most), r.IntN(most)) }
		for range 300 {
			strip = []int{64 << 20, 3 * (1 + r.IntN(4000))}[r.IntN(2)]
			p := noise(r, size(300), size(300))
			width, height := size(200), size(200)
			if r.IntN(8) == 0 {
				width = p.Width
			}
			if r.IntN(8) == 0 {
				height = p.Height
			}
			f := []Filter{Lanczos, Bilinear, Bicubic, Box, Hamming}[r.IntN(5)]
			torchvision := (f == Bilinear || f == Bicubic) && r.IntN(2) == 0
			name := fmt.Sprintf("%d×%d to %d×%d, %v, torchvision %v", p.Width, p.Height, width, height, f, torchvision)
			before := slices.Clone(p.Pix)
			want := plainResize(p, width, height, f, torchvision)
			whole := image.Rect(0, 0, width, height)
			got := p.view().resize(width, height, whole, f, torchvision).rgb()
			must.Equal(t, worst(t, got, want), 0, "worst difference of 255,", name)
			x, y := r.IntN(width), r.IntN(height)
			window := image.Rect(x, y, x+1+r.IntN(width-x), y+1+r.IntN(height-y))
			got = p.view().resize(width, height, window, f, torchvision).rgb()
			if d := worst(t, got, want.view().crop(x, y, window.Dx(), window.Dy()).rgb()); d != 0 {
				t.Fatalf("%s, %v: worst difference %d of 255", name, window, d)
			}
			if !slices.Equal(p.Pix, before) {
				t.Fatalf("%s: the source has changed", name)
			}
		}
	})
}

// TestWideResize resizes images whose lines have many weights.
func TestWideResize(t *testing.T) {
	bothWays(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(near.Seed(t), 2))
		for _, s := range [][4]int{{2000, 40, 10, 9}, {40, 2000, 9, 10}, {2000, 5, 700, 4}, {5, 5, 900, 800}} {
			p := noise(r, s[0], s[1])
			for _, f := range []Filter{Lanczos, Bicubic} {
				if d := worst(t, Resize(p, s[2], s[3], f), plainResize(p, s[2], s[3], f, false)); d != 0 {
					t.Errorf("%v, %v: worst difference %d of 255", s, f, d)
				}
			}
		}
	})
}

// TestNarrowMemory: images of one column or row are resized in little memory, or are an error of the image.
func TestNarrowMemory(t *testing.T) {
	stretch, small, owl := Default(224, 224), Default(64, 64), Default(960, 960)
	owl.Resize, small.Filter, small.Torchvision = PadSquare, Lanczos, false
	for _, c := range []struct {
		config        Config
		width, height int
		narrow        bool
	}{
		{stretch, 1, 1_000_000, false}, {stretch, 1_000_000, 1, false}, {small, 1, 1_000_000, false},
		{stretch, 1, 20_000_000, true}, {owl, 1, 20_000, true}, {owl, 20_000, 1, true},
	} {
		side := c.config.Width
		p := NewRGB(c.width, c.height)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.config.Apply(p, side, side)
		runtime.ReadMemStats(&after)
		if narrow := err != nil && strings.Contains(err.Error(), "too narrow to be resized"); narrow != c.narrow {
			t.Errorf("%d×%d to %d: error %v", c.width, c.height, side, err)
		}
		if n := (after.TotalAlloc - before.TotalAlloc) >> 20; n > 200 {
			t.Errorf("%d×%d to %d: %d MiB", c.width, c.height, side, n)
		}
	}
}

func BenchmarkResize(b *testing.B) {
	p := noise(rand.New(rand.NewPCG(1, 1)), 1024, 768)
	for b.Loop() {
		Resize(p, 224, 224, Bicubic)
	}
}
