package preprocess

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// owlv2 is the class of image processors whose files mean [PadSquare].
const owlv2 = "Owlv2ImageProcessor"

// checkPadSquare checks what a file of OWLv2's image processor says, whose keys resample and crop_size have no effect.
func (c *Config) checkPadSquare(class string, pads bool) error {
	switch {
	case strings.HasSuffix(class, "Pil"):
		return errors.New("image_processor_type " + class + ", which resizes with SciPy, is not supported; " +
			"change it to " + owlv2)
	case c.Resize != Stretch:
		return errors.New(owlv2 + " takes do_resize and a size of height and width")
	case !pads:
		return errors.New(owlv2 + " without do_pad is not supported")
	}
	return nil
}

// padSquare is [Config.Apply] of [PadSquare], in float32 as torchvision computes it.
func (c *Config) padSquare(p *RGB) ([]float32, error) {
	side := max(p.Width, p.Height)
	if side > 1<<14 { // a plane takes 1 GiB
		return nil, fmt.Errorf("the image is %d×%d pixels, too narrow to be resized as a square of its longer side, "+
			"which is at most %d pixels", p.Width, p.Height, 1<<14)
	}
	across, down := gaussian(side, c.Height), gaussian(side, c.Width) // transformers passes them in this order
	if across == nil || down == nil {
		across, down = nil, nil
	}
	out, plane := make([]float32, 0, 3*c.Width*c.Height), make([]float32, side*side)
	for ch := range 3 {
		clear(plane)
		for i := range p.Width * p.Height {
			plane[i/p.Width*side+i%p.Width] = float32(p.Pix[3*i+ch]) * float32(c.Scale)
		}
		blurAcross(plane, side, across)
		blurDown(plane, side, down)
		rows, err := Interpolate(plane, side, side, c.Width, c.Height)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			for _, v := range row {
				out = append(out, (v-float32(c.Mean[ch]))/float32(c.Std[ch]))
			}
		}
	}
	return out, nil
}

// gaussian is the kernel that a side is blurred with before it is shrunk, of an odd number of weights whose sum is 1;
// nil where it is not shrunk. The deviation is half of what the factor exceeds 1 by.
func gaussian(in, out int) []float32 {
	deviation := (float32(in)/float32(out) - 1) / 2
	if deviation <= 0 {
		return nil
	}
	radius := int(math.Ceil(float64(3 * deviation)))
	kernel, shares, sum := make([]float32, 2*radius+1), make([]float64, 2*radius+1), 0.0
	for i := range shares {
		x := float64(i-radius) / float64(deviation)
		shares[i] = math.Exp(-x * x / 2)
		sum += shares[i]
	}
	for i, s := range shares {
		kernel[i] = float32(s / sum)
	}
	return kernel
}

// mirrored is a place of a line of n, whose ends mirror what is inside without being repeated.
func mirrored(i, n int) int {
	if i = max(i, -i); i >= n {
		i = 2*(n-1) - i
	}
	return min(max(i, 0), n-1)
}

// blurAcross filters the rows of a square of side × side values in place.
func blurAcross(plane []float32, side int, kernel []float32) {
	radius := len(kernel) / 2
	if radius == 0 {
		return
	}
	line := make([]float32, side+2*radius)
	for y := range side {
		row := plane[y*side:][:side]
		for i := range line {
			line[i] = row[mirrored(i-radius, side)]
		}
		clear(row)
		for k, w := range kernel {
			for x, v := range line[k:][:side] {
				row[x] += w * v
			}
		}
	}
}

// blurDown is [blurAcross] for columns, of which it copies some at a time.
func blurDown(plane []float32, side int, kernel []float32) {
	radius := len(kernel) / 2
	if radius == 0 {
		return
	}
	const columns = 64
	source := make([]float32, side*columns)
	for x0 := 0; x0 < side; x0 += columns {
		n := min(columns, side-x0)
		for y := range side {
			copy(source[y*columns:][:n], plane[y*side+x0:])
		}
		for y := range side {
			row := plane[y*side+x0:][:n]
			clear(row)
			for k, w := range kernel {
				for x, v := range source[mirrored(y+k-radius, side)*columns:][:n] {
					row[x] += w * v
				}
			}
		}
	}
}

// tensorFlow is Apply for TensorFlow.
func (c *Config) tensorFlow(p *RGB) []float32 {
	across, down := cornersOf(p.Width, c.Width), cornersOf(p.Height, c.Height)
	n := c.Width * c.Height
	out := make([]float32, 3*n)
	for y, v := range down {
		low, high := p.Pix[3*v.low*p.Width:], p.Pix[3*v.high*p.Width:]
		for x, h := range across {
			for ch := range 3 {
				left, right := 3*h.low+ch, 3*h.high+ch
				top := mix(float32(low[left]), float32(low[right]), h.weight)
				value := mix(top, mix(float32(high[left]), float32(high[right]), h.weight), v.weight)
				scaled := float32(float64(value) * c.Scale)
				out[ch*n+y*c.Width+x] = (scaled - float32(c.Mean[ch])) / float32(c.Std[ch])
			}
		}
	}
	return out
}

// torchBicubic is Apply for TorchBicubic.
func (c *Config) torchBicubic(p *RGB) []float32 {
	values := make([]float32, len(p.Pix))
	for i, v := range p.Pix {
		values[i] = float32(float64(v) * c.Scale)
	}
	n := c.Width * c.Height
	out := make([]float32, 3*n)
	for i, v := range ResizeGrid(values, [2]int{p.Height, p.Width}, [2]int{c.Height, c.Width}, 3, false) {
		ch := i % 3
		out[ch*n+i/3] = (v - float32(c.Mean[ch])) / float32(c.Std[ch])
	}
	return out
}

// mix is a value between two, rounded at each step as TensorFlow does.
func mix(a, b, weight float32) float32 { return a + float32(float32(b-a)*weight) }

// cornersOf are the inputs of each of out values that are made of in, from the corners of pixels.
func cornersOf(in, out int) []neighbors {
	list := make([]neighbors, out)
	scale := float32(float64(in) / float64(out))
	for i := range list {
		x := float32(i) * scale
		low := min(int(x), in-1)
		list[i] = neighbors{low, min(low+1, in-1), x - float32(low)}
	}
	return list
}
