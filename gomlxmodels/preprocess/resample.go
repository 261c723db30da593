package preprocess

import (
	"fmt"
	"image"
	"math"
	"slices"
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

// plan resizes a line of pixels.
type plan struct {
	from, to int    // the input pixels that are used
	taps     []taps // of each output pixel; their first pixels count from pixel from
	most     int    // taps of an output pixel
	bits     uint   // fraction bits of the weights
	same     bool   // the line keeps its size
}

// newPlan plans the output pixels low to high of a line of in pixels resized to out. The weights have Pillow's fraction
// bits or, for torchvision, as many as leave the largest weight of the line in 16 bits.
func newPlan(in, out, low, high int, f Filter, torchvision bool) *plan {
	if in == out {
		return &plan{from: low, to: high, same: true}
	}
	p := &plan{from: in, taps: make([]taps, out), bits: pillowBits}
	firsts, ends, shares := sharesOf(in, out, f)
	if torchvision {
		largest := slices.Max(shares)
		for p.bits = 0; p.bits < pillowBits && int(0.5+largest*float64(int(2)<<p.bits)) < 1<<15; p.bits++ {
		}
	}
	weights := make([]int32, len(shares))
	for i, w := range shares {
		weights[i] = int32(math.Trunc(w*float64(int(1)<<p.bits) + math.Copysign(0.5, w)))
	}
	for i := range p.taps {
		t := &p.taps[i]
		t.first, t.weights = firsts[i], weights[ends[i]:ends[i+1]]
		if i >= low && i < high {
			p.from, p.to = min(p.from, t.first), max(p.to, t.first+len(t.weights))
			p.most = max(p.most, len(t.weights))
		}
	}
	p.taps = p.taps[low:high]
	for i := range p.taps {
		p.taps[i].first -= p.from
	}
	return p
}

// sharesOf returns the weights of the inputs of each of out values that are made of in, antialiased: those of value i
// are shares[ends[i]:ends[i+1]], of the inputs from firsts[i] on.
func sharesOf(in, out int, f Filter) (firsts, ends []int, shares []float64) {
	kernel := filters[f]
	scale := float64(in) / float64(out)
	stretch := max(scale, 1)
	support := kernel.support * stretch
	firsts, ends = make([]int, out), make([]int, out+1)
	shares = make([]float64, 0, out*(2*int(support+1)+1))
	for i := range firsts {
		center := (float64(i) + 0.5) * scale
		first := max(0, int(center-support+0.5))
		last := min(in, int(center+support+0.5))
		sum := 0.0
		for k := first; k < last; k++ {
			w := kernel.weight((float64(k) - center + 0.5) * (1 / stretch))
			sum += w
			shares = append(shares, w)
		}
		for k := range shares[ends[i]:] {
			if sum != 0 {
				shares[ends[i]+k] *= 1 / sum
			}
		}
		firsts[i], ends[i+1] = first, len(shares)
	}
	return firsts, ends, shares
}

// Resize returns the image at another size, equal to Pillow's Image.resize to the last bit: one direction after the
// other, 8 bits in between. The order is Pillow 13's; before it, Pillow went across first always, which differs by
// single levels on images that lose much more height than width. It panics on a size below 1 or an unknown filter,
// which [Config.Validate] keeps out.
func Resize(p *RGB, width, height int, f Filter) *RGB {
	if width < 1 || height < 1 || filters[f].name == "" {
		panic(fmt.Sprintf("preprocess: resize to %d×%d with %v", width, height, f))
	}
	return p.view().resize(width, height, image.Rect(0, 0, width, height), f, false).rgb()
}

// resize resizes to width × height and returns the part inside window. For torchvision it does what torchvision does
// with tensors of 8 bits, bilinear and bicubic: across first, with weights of 16 bits.
func (v view) resize(width, height int, window image.Rectangle, f Filter, torchvision bool) view {
	if f == Nearest {
		return v.nearest(width, height, window)
	}
	columns := newPlan(v.width, width, window.Min.X, window.Max.X, f, torchvision)
	rows := newPlan(v.height, height, window.Min.Y, window.Max.Y, f, torchvision)
	downFirst := !torchvision && height < v.height && v.height-height > 2*(v.width-width)
	v = v.crop(columns.from, rows.from, columns.to-columns.from, rows.to-rows.from)
	if downFirst {
		return v.down(rows).across(columns)
	}
	return v.acrossDown(columns, rows)
}

// strip is the memory of the rows that are resized across before they are resized down. Tests make it small.
var strip = 64 << 20

// acrossDown is v.across(columns).down(rows) in strips of rows, with the same pixels.
func (v view) acrossDown(columns, rows *plan) view {
	most := max(1, strip/3/max(1, len(columns.taps))) // rows
	if rows.same || columns.same || v.height <= most {
		return v.across(columns).down(rows)
	}
	out, wide := NewRGB(len(columns.taps), len(rows.taps)).view(), NewRGB(len(columns.taps), most)
	across := func(first, n int) view { // rows of v
		part := wide.view().crop(0, 0, wide.Width, n)
		acrossRows(part, v.crop(0, first, v.width, n), columns)
		return part
	}
	sums := make([]int32, 3*out.width)
	for y := 0; y < out.height; {
		part, first, end := *rows, rows.taps[y].first, 0
		for part.taps = nil; y < out.height; y++ {
			t := rows.taps[y]
			if end = t.first + len(t.weights); end-first > most {
				break
			}
			part.taps = append(part.taps, taps{t.first - first, t.weights})
		}
		if n := len(part.taps); n > 0 {
			last := part.taps[n-1]
			downRows(out.crop(0, y-n, out.width, n), across(first, last.first+len(last.weights)), &part)
			continue
		}
		t := rows.taps[y] // this row alone is made of more rows than a strip has
		round(sums, rows.bits)
		for k := 0; k < len(t.weights); k += most {
			w := t.weights[k:min(k+most, len(t.weights))]
			addRows(sums, across(t.first+k, len(w)).pix, 3*out.width, w)
		}
		clipRow(out.row(y), sums, rows.bits)
		y++
	}
	return out
}

// across resizes rows.
func (v view) across(columns *plan) view {
	if columns.same {
		return v
	}
	out := NewRGB(len(columns.taps), v.height).view()
	acrossRows(out, v, columns)
	return out
}

// down resizes columns.
func (v view) down(rows *plan) view {
	if rows.same {
		return v
	}
	out := NewRGB(v.width, len(rows.taps)).view()
	downRows(out, v, rows)
	return out
}

func clip8(sum int32, bits uint) uint8 { return uint8(min(255, max(0, sum>>bits))) }

// acrossGo resizes the rows of v.
func acrossGo(out, v view, columns *plan) {
	for y := range v.height {
		acrossRow(out.row(y), v.row(y), columns)
	}
}

func acrossRow(out, row []uint8, columns *plan) {
	bits := columns.bits & 31
	for _, t := range columns.taps {
		r := int32(1) << bits >> 1
		g, b := r, r
		src, weights := row[3*t.first:], t.weights
		for len(weights) >= 4 && len(src) >= 12 { // four pixels at a time
			p, w := (*[12]uint8)(src), (*[4]int32)(weights)
			r += int32(p[0])*w[0] + int32(p[3])*w[1] + int32(p[6])*w[2] + int32(p[9])*w[3]
			g += int32(p[1])*w[0] + int32(p[4])*w[1] + int32(p[7])*w[2] + int32(p[10])*w[3]
			b += int32(p[2])*w[0] + int32(p[5])*w[1] + int32(p[8])*w[2] + int32(p[11])*w[3]
			src, weights = src[12:], weights[4:]
		}
		for _, w := range weights {
			p := (*[3]uint8)(src)
			r += int32(p[0]) * w
			g += int32(p[1]) * w
			b += int32(p[2]) * w
			src = src[3:]
		}
		p := (*[3]uint8)(out)
		p[0], p[1], p[2] = clip8(r, bits), clip8(g, bits), clip8(b, bits)
		out = out[3:]
	}
}

// downGo resizes the columns of v.
func downGo(out, v view, rows *plan) {
	sums := make([]int32, 3*v.width)
	for y, t := range rows.taps {
		downRow(out.row(y), v.pix[t.first*v.stride:], v.stride, t.weights, sums, rows.bits)
	}
}

// downRow makes a row of weighted rows of src, which are stride bytes apart. sums is scratch space of a row.
func downRow(out, src []uint8, stride int, weights, sums []int32, bits uint) {
	round(sums, bits)
	addRows(sums, src, stride, weights)
	clipRow(out, sums, bits)
}

// round sets sums to a half, so that removing bits fraction bits rounds.
func round(sums []int32, bits uint) {
	bits &= 31
	for i := range sums {
		sums[i] = 1 << bits >> 1
	}
}

// addRows adds weighted rows of src, which are stride bytes apart, to sums.
func addRows(sums []int32, src []uint8, stride int, weights []int32) {
	n := len(sums)
	for ; len(weights) >= 4; weights = weights[4:] { // four rows at a time
		a, b, c, d := src[:n], src[stride:][:n], src[2*stride:][:n], src[3*stride:][:n]
		w := (*[4]int32)(weights)
		for i, v := range a {
			sums[i] += int32(v)*w[0] + int32(b[i])*w[1] + int32(c[i])*w[2] + int32(d[i])*w[3]
		}
		src = src[min(len(src), 4*stride):]
	}
	for k, w := range weights {
		for i, v := range src[k*stride:][:n] {
			sums[i] += int32(v) * w
		}
	}
}

// clipRow writes sums of bits fraction bits as levels.
func clipRow(out []uint8, sums []int32, bits uint) {
	bits &= 31
	out = out[:len(sums)]
	for i, s := range sums {
		out[i] = clip8(s, bits)
	}
}

// nearest takes the pixel under the center of each output pixel.
func (v view) nearest(width, height int, window image.Rectangle) view {
	out := NewRGB(window.Dx(), window.Dy())
	for y := range out.Height {
		sy := min(v.height-1, int((float64(window.Min.Y+y)+0.5)*float64(v.height)/float64(height)))
		for x := range out.Width {
			sx := min(v.width-1, int((float64(window.Min.X+x)+0.5)*float64(v.width)/float64(width)))
			copy(out.Pix[3*(y*out.Width+x):], v.pix[sy*v.stride+3*sx:][:3])
		}
	}
	return out.view()
}
