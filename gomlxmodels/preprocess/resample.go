package preprocess

import (
	"fmt"
	"math"
)

// Filter is a resampling filter, numbered as in Pillow and in preprocessor_config.json.
type Filter int

// The filters, all antialiased when shrinking but Nearest.
const (
	Nearest  Filter = 0
	Lanczos  Filter = 1
	Bilinear Filter = 2
	Bicubic  Filter = 3 // a = −0.5
	Box      Filter = 4
	Hamming  Filter = 5
)

var filters = map[Filter]struct {
	name    string
	support float64
	weight  func(float64) float64
}{
	Nearest:  {"nearest", 0, nil},
	Lanczos:  {"lanczos", 3, lanczos},
	Bilinear: {"bilinear", 1, func(x float64) float64 { return max(0, 1-math.Abs(x)) }},
	Bicubic:  {"bicubic", 2, bicubic},
	Box:      {"box", 0.5, box},
	Hamming:  {"hamming", 1, hamming},
}

func (f Filter) String() string {
	if k, ok := filters[f]; ok {
		return k.name
	}
	return fmt.Sprintf("filter %d", int(f))
}

// filterNamed finds a filter by timm's name.
func filterNamed(name string) (Filter, bool) {
	for f, k := range filters {
		if k.name == name {
			return f, true
		}
	}
	return 0, false
}

func bicubic(x float64) float64 { return keys(x, -0.5) }

// keys is the cubic kernel of Keys (1981).
func keys(x, a float64) float64 {
	switch x = math.Abs(x); {
	case x < 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return (((x-5)*x+8)*x - 4) * a
	}
	return 0
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(x*math.Pi) / (x * math.Pi)
}

func lanczos(x float64) float64 {
	if x >= -3 && x < 3 {
		return sinc(x) * sinc(x/3)
	}
	return 0
}

func box(x float64) float64 {
	if x > -0.5 && x <= 0.5 {
		return 1
	}
	return 0
}

func hamming(x float64) float64 {
	switch x = math.Abs(x); {
	case x == 0:
		return 1
	case x >= 1:
		return 0
	}
	return sinc(x) * (0.54 + 0.46*math.Cos(x*math.Pi))
}

// pillowBits is the number of fraction bits of Pillow's weights.
const pillowBits = 32 - 8 - 2

// taps are the input pixels of one output pixel: weights of pixels first, first+1, …
type taps struct {
	first   int
	weights []int32 // in units of 2^−bits
}

// plan computes the taps of a row of in pixels resized to out, and the fraction bits of their weights: Pillow's, or,
// for torchvision, as many as leave the largest weight in 16 bits.
func plan(in, out int, f Filter, torchvision bool) (list []taps, bits uint) {
	kernel := filters[f]
	scale := float64(in) / float64(out)
	stretch := max(scale, 1)
	support := kernel.support * stretch
	list = make([]taps, out)
	shares := make([][]float64, out) // the weights before rounding
	largest := 0.0
	for i := range list {
		center := (float64(i) + 0.5) * scale
		first := max(0, int(center-support+0.5))
		last := min(in, int(center+support+0.5))
		share := make([]float64, last-first)
		sum := 0.0
		for k := range share {
			share[k] = kernel.weight((float64(k+first) - center + 0.5) * (1 / stretch))
			sum += share[k]
		}
		for k := range share {
			if sum != 0 {
				share[k] *= 1 / sum
			}
			largest = max(largest, share[k])
		}
		list[i], shares[i] = taps{first, make([]int32, len(share))}, share
	}
	bits = pillowBits
	if torchvision {
		for bits = 0; bits < pillowBits && int(0.5+largest*float64(int(2)<<bits)) < 1<<15; bits++ {
		}
	}
	for i, t := range list {
		for k, w := range shares[i] {
			t.weights[k] = int32(math.Trunc(w*float64(int(1)<<bits) + math.Copysign(0.5, w)))
		}
	}
	return list, bits
}

func clip8(sum int32, bits uint) uint8 { return uint8(min(255, max(0, sum>>bits))) }

// Resize gives the image at another size, equal to Pillow's Image.resize to the last bit: one direction after the
// other, 8 bits in between. The order is Pillow 13's; before it, Pillow went across first always, which differs by
// single levels on images that lose much more height than width. It panics on a size below 1 or an unknown filter,
// which [Config.Validate] keeps out.
func Resize(p *RGB, width, height int, f Filter) *RGB {
	if width < 1 || height < 1 || filters[f].name == "" {
		panic(fmt.Sprintf("preprocess: resize to %d×%d with %v", width, height, f))
	}
	if f == Nearest {
		return nearest(p, width, height)
	}
	if height < p.Height && p.Height-height > 2*(p.Width-width) {
		return across(down(p, height, f, false), width, f, false)
	}
	return down(across(p, width, f, false), height, f, false)
}

// resizeTorchvision is Resize as torchvision does it with tensors of 8 bits, bilinear and bicubic: across first, with
// weights of 16 bits.
func resizeTorchvision(p *RGB, width, height int, f Filter) *RGB {
	return down(across(p, width, f, true), height, f, true)
}

// across resizes rows.
func across(p *RGB, width int, f Filter, torchvision bool) *RGB {
	if width == p.Width {
		return p
	}
	out := NewRGB(width, p.Height)
	columns, bits := plan(p.Width, width, f, torchvision)
	half := int32(1) << (bits - 1)
	for y := range p.Height {
		row := p.Pix[3*y*p.Width:]
		for x, t := range columns {
			r, g, b := half, half, half
			src := row[3*t.first : 3*(t.first+len(t.weights))]
			for k, w := range t.weights {
				r += int32(src[3*k]) * w
				g += int32(src[3*k+1]) * w
				b += int32(src[3*k+2]) * w
			}
			i := 3 * (y*width + x)
			out.Pix[i], out.Pix[i+1], out.Pix[i+2] = clip8(r, bits), clip8(g, bits), clip8(b, bits)
		}
	}
	return out
}

// down resizes columns.
func down(p *RGB, height int, f Filter, torchvision bool) *RGB {
	if height == p.Height {
		return p
	}
	out := NewRGB(p.Width, height)
	stride := 3 * p.Width
	sums := make([]int32, stride)
	rows, bits := plan(p.Height, height, f, torchvision)
	for y, t := range rows {
		for i := range sums {
			sums[i] = 1 << (bits - 1)
		}
		src := p.Pix[t.first*stride:]
		weights := t.weights
		for ; len(weights) >= 4; weights = weights[4:] { // four rows at a time
			a, b, c, d := src[:stride], src[stride:][:stride], src[2*stride:][:stride], src[3*stride:][:stride]
			wa, wb, wc, wd := weights[0], weights[1], weights[2], weights[3]
			for i := range sums {
				sums[i] += int32(a[i])*wa + int32(b[i])*wb + int32(c[i])*wc + int32(d[i])*wd
			}
			src = src[4*stride:]
		}
		for k, w := range weights {
			row := src[k*stride:][:stride]
			for i := range sums {
				sums[i] += int32(row[i]) * w
			}
		}
		for i, s := range sums {
			out.Pix[y*stride+i] = clip8(s, bits)
		}
	}
	return out
}

// nearest takes the pixel under the center of each output pixel.
func nearest(p *RGB, width, height int) *RGB {
	out := NewRGB(width, height)
	for y := range height {
		sy := min(p.Height-1, int((float64(y)+0.5)*float64(p.Height)/float64(height)))
		for x := range width {
			sx := min(p.Width-1, int((float64(x)+0.5)*float64(p.Width)/float64(width)))
			copy(out.Pix[3*(y*width+x):], p.Pix[3*(sy*p.Width+sx):][:3])
		}
	}
	return out
}
