// Package icc converts the colors of images to sRGB by the ICC profiles that their files contain. It reads profiles of
// three curves and a matrix (displays, Adobe RGB, Display P3) and of one curve of gray, as littlecms does for 8-bit
// images, within one level. Profiles with tables of colors (printers, scanners) are not supported.
package icc

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"
)

// ErrUnsupported is the error of a profile that is damaged, or of another kind than those that are converted.
var ErrUnsupported = errors.New("a color profile that is not one of curves and a matrix")

// Profile is a color profile.
type Profile struct {
	Gray   bool            // it is of gray images
	curves [3][256]float64 // the light of a level, 0 to 1
	matrix [3][3]float64   // to the light of sRGB
}

// toSRGB is the inverse of the matrix of sRGB's profile, whose columns are its colorants under D50.
var toSRGB = inverse([3][3]float64{{0.43607, 0.38515, 0.14307}, {0.22249, 0.71687, 0.06061},
	{0.01392, 0.09708, 0.71410}})

// Parse reads a profile.
func Parse(b []byte) (*Profile, error) {
	if len(b) < 132 || string(b[36:40]) != "acsp" || string(b[20:24]) != "XYZ " {
		return nil, ErrUnsupported
	}
	tags := map[string][]byte{}
	for i := range int(min(binary.BigEndian.Uint32(b[128:]), 100)) {
		at := 132 + 12*i
		if at+12 > len(b) {
			return nil, ErrUnsupported
		}
		from, size := uint64(binary.BigEndian.Uint32(b[at+4:])), uint64(binary.BigEndian.Uint32(b[at+8:]))
		if from+size > uint64(len(b)) {
			return nil, ErrUnsupported
		}
		tags[string(b[at:at+4])] = b[from : from+size]
	}
	p := &Profile{Gray: string(b[16:20]) == "GRAY"}
	names := []string{"rTRC", "gTRC", "bTRC"}
	switch {
	case p.Gray:
		names = []string{"kTRC", "kTRC", "kTRC"}
		p.matrix = [3][3]float64{{1}, {0, 1}, {0, 0, 1}}
	case string(b[16:20]) != "RGB " || tags["A2B0"] != nil || tags["A2B1"] != nil:
		return nil, ErrUnsupported
	default:
		var colorants [3][3]float64
		for i, name := range []string{"rXYZ", "gXYZ", "bXYZ"} {
			t := tags[name]
			if len(t) < 20 || string(t[:4]) != "XYZ " {
				return nil, ErrUnsupported
			}
			for row := range 3 {
				colorants[row][i] = fixed(t[8+4*row:])
			}
		}
		p.matrix = product(toSRGB, colorants)
	}
	for i, name := range names {
		f := curve(tags[name])
		if f == nil {
			return nil, ErrUnsupported
		}
		for v := range 256 {
			p.curves[i][v] = f(float64(v) / 255)
		}
	}
	return p, nil
}

func fixed(b []byte) float64 { return float64(int32(binary.BigEndian.Uint32(b))) / 65536 }

// curve returns the function of a tag of type curv or para, or nil.
func curve(t []byte) func(x float64) float64 {
	if len(t) < 12 {
		return nil
	}
	body := t[12:]
	if string(t[:4]) == "curv" {
		n := int(binary.BigEndian.Uint32(t[8:]))
		if n < 0 || n > 1<<16 || len(body) < 2*n {
			return nil
		}
		value := func(i int) float64 { return float64(binary.BigEndian.Uint16(body[2*i:])) }
		switch n {
		case 0:
			return func(x float64) float64 { return x }
		case 1:
			return func(x float64) float64 { return math.Pow(x, value(0)/256) }
		}
		return func(x float64) float64 {
			at := x * float64(n-1)
			low := min(int(at), n-2)
			return (value(low) + (at-float64(low))*(value(low+1)-value(low))) / 65535
		}
	}
	kind := int(binary.BigEndian.Uint16(t[8:]))
	counts := []int{1, 3, 4, 5, 7}
	if string(t[:4]) != "para" || kind >= len(counts) || len(body) < 4*counts[kind] {
		return nil
	}
	var v [7]float64 // g, a, b, c, d, e, f of the specification: (a·x + b)^g + e from d on, c·x + f below
	for i := range counts[kind] {
		v[i] = fixed(body[4*i:])
	}
	switch kind {
	case 0:
		v[1], v[4] = 1, math.Inf(-1)
	case 1, 2:
		v[3], v[5], v[6], v[4] = 0, v[3], v[3], -v[2]/v[1]
	}
	return func(x float64) float64 {
		y := v[3]*x + v[6]
		if x >= v[4] {
			y = math.Pow(max(0, v[1]*x+v[2]), v[0]) + v[5]
		}
		return min(1<<17, max(-1<<17, y))
	}
}

// encoded returns the levels of sRGB for light from 0 to 1.
var encoded = sync.OnceValue(func() (levels [1<<14 + 1]uint8) {
	for i := range levels {
		x := float64(i) / (1 << 14)
		if x <= 0.0031308 {
			x *= 12.92
		} else {
			x = 1.055*math.Pow(x, 1/2.4) - 0.055
		}
		levels[i] = uint8(255*x + 0.5)
	}
	return levels
})

// Convert converts red-green-blue triples to sRGB, in place.
func (p *Profile) Convert(rgb []uint8) {
	levels := encoded()
	for i := 0; i+3 <= len(rgb); i += 3 {
		r, g, b := p.curves[0][rgb[i]], p.curves[1][rgb[i+1]], p.curves[2][rgb[i+2]]
		for c, m := range p.matrix {
			light := m[0]*r + m[1]*g + m[2]*b
			rgb[i+c] = levels[int(min(1, max(0, light))*(1<<14)+0.5)]
		}
	}
}

// IsSRGB reports whether converting changes no color, in gray images no gray, by more than a level.
func (p *Profile) IsSRGB(gray bool) bool {
	var before []uint8
	for i := range 18 * 18 * 18 {
		before = append(before, uint8(i%18*15), uint8(i/18%18*15), uint8(i/324*15))
	}
	if p.Gray || gray {
		before = before[:0]
		for v := range 256 {
			before = append(before, uint8(v), uint8(v), uint8(v))
		}
	}
	after := slices.Clone(before)
	p.Convert(after)
	for i, v := range before {
		if d := int(v) - int(after[i]); d < -1 || d > 1 {
			return false
		}
	}
	return true
}

func product(a, b [3][3]float64) (c [3][3]float64) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				c[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return c
}

func inverse(m [3][3]float64) (out [3][3]float64) {
	minor := func(i, j int) float64 {
		a, b, c, d := (i+1)%3, (i+2)%3, (j+1)%3, (j+2)%3
		return m[a][c]*m[b][d] - m[a][d]*m[b][c]
	}
	det := m[0][0]*minor(0, 0) + m[0][1]*minor(0, 1) + m[0][2]*minor(0, 2)
	for i := range 3 {
		for j := range 3 {
			out[j][i] = minor(i, j) / det
		}
	}
	return out
}
