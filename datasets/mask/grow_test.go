package mask

import (
	"slices"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// Random masks, grown and shrunk, compared with the definition evaluated for all pairs of pixels.
func TestGrow(t *testing.T) {
	r := near.Rand(t, 20)
	for range 200 {
		b := New(1+r.IntN(14), 1+r.IntN(9))
		share := r.Float64()
		for i := range b.Pix {
			b.Pix[i] = r.Float64() < share
		}
		before := slices.Clone(b.Pix)
		for _, radius := range []float64{-30, -2.3, -1.5, -1, 0, 0.9, 1, 1.5, 2, 3.6, 30} {
			got := b.Grow(radius)
			for i, object := range b.Pix {
				want := object
				for k, other := range b.Pix {
					dx, dy := float64(i%b.Width-k%b.Width), float64(i/b.Width-k/b.Width)
					if near := dx*dx+dy*dy <= radius*radius; near && other == (radius > 0) && radius != 0 {
						want = radius > 0
					}
				}
				if got.Pix[i] != want {
					t.Fatalf("%v of %d×%d grown by %v: pixel %d is %v", b.Pix, b.Width, b.Height, radius, i, got.Pix[i])
				}
			}
		}
		if !slices.Equal(b.Pix, before) {
			t.Fatal("Grow changed its mask")
		}
	}
	must.Equal(t, len(New(0, 0).Grow(2).Pix), 0, "an empty image")
}
