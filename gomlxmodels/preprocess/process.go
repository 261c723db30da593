package preprocess

import (
	"fmt"
	"image"
	"math"
)

// geometry is where the pixels of one image go: a part of the source, resized, then a window of that.
type geometry struct {
	srcX, srcY, srcW, srcH int // part of the source that is resized
	w, h                   int // its size afterwards
	x, y                   int // the window's corner in it; may be negative (padding)
	outW, outH             int
}

// place computes the geometry of an image of the given size.
func (c *Config) place(width, height int) geometry {
	g := geometry{srcW: width, srcH: height, w: width, h: height}
	switch c.Resize {
	case Stretch:
		g.w, g.h = c.Width, c.Height
	case SquareThenFit:
		side := min(width, height)
		g.srcX, g.srcY, g.srcW, g.srcH = (width-side)/2, (height-side)/2, side, side
		g.w, g.h = c.Width, c.Height
	case Cover:
		ratio := min(float64(height)/float64(c.Height), float64(width)/float64(c.Width))
		g.w, g.h = int(math.RoundToEven(float64(width)/ratio)), int(math.RoundToEven(float64(height)/ratio))
	case Within:
		g.w, g.h = c.Resized(width, height)
	case LongestEdge:
		g.w, g.h = c.Resized(width, height)
		g.outW, g.outH = c.Width, c.Height
		return g
	case ShortestEdge:
		if width <= height {
			g.w, g.h = c.Edge, int(float64(c.Edge)*float64(height)/float64(width))
		} else {
			g.w, g.h = int(float64(c.Edge)*float64(width)/float64(height)), c.Edge
		}
	}
	g.outW, g.outH = g.w, g.h
	if c.CropHeight > 0 {
		g.outW, g.outH = c.CropWidth, c.CropHeight
		g.x, g.y = c.margin(g.w-g.outW), c.margin(g.h-g.outH)
	}
	return g
}

// Resized is the size of an image of width × height pixels under LongestEdge before it is padded, as SAM's image
// processors compute it, and under Within, as GroundingDINO's do; the images' own where width and height are not
// positive.
func (c *Config) Resized(width, height int) (int, int) {
	if width < 1 || height < 1 {
		return width, height
	}
	low, high := float64(min(width, height)), float64(max(width, height))
	if c.Resize == LongestEdge {
		scale := float64(c.Edge) / high
		return int(float64(width)*scale + 0.5), int(float64(height)*scale + 0.5)
	}
	short, long := c.Edge, float64(c.Edge)
	if high/low*float64(c.Edge) > float64(c.Longest) {
		long = float64(c.Longest) * low / high
		short = int(math.RoundToEven(long))
	}
	if c.OriginalSize {
		long = float64(short)
	}
	switch {
	case min(width, height) == short:
		return width, height
	case width < height:
		return short, int(long * float64(height) / float64(width))
	}
	return int(long * float64(width) / float64(height)), short
}

// margin is the corner of a centerd window; spare is what it leaves on both sides together, negative where it is
// larger.
func (c *Config) margin(spare int) int {
	if spare < 0 && (c.RoundCropEven || c.Torchvision) { // torchvision pads the smaller half before, then crops at 0
		return -(-spare / 2)
	}
	if c.RoundCropEven {
		return int(math.RoundToEven(float64(spare) / 2))
	}
	return int(math.Floor(float64(spare) / 2))
}

// Apply resizes, crops and normalizes an image to channels first. The padding of LongestEdge is 0 after the
// normalization.
//
// Shapes: → [3·H·W] float32, red plane first. It fails where the configuration does not resize and the size is
// another than height × width.
func (c *Config) Apply(p *RGB, height, width int) ([]float32, error) {
	if c.floating() && p.Width > 0 && p.Height > 0 && c.Height == height && c.Width == width {
		switch c.Resize {
		case TensorFlow:
			return c.tensorFlow(p), nil
		case TorchBicubic:
			return c.torchBicubic(p), nil
		}
		return c.padSquare(p)
	}
	g, err := c.placeFor(p.Width, p.Height, height, width)
	if err != nil {
		return nil, err
	}
	r := g.pixels(p, c)
	var table [3][256]float32
	for ch := range 3 {
		for v := range 256 {
			scaled := float32(float64(v) * c.Scale)
			table[ch][v] = (scaled - float32(c.Mean[ch])) / float32(c.Std[ch])
		}
	}
	n := width * height
	out := make([]float32, 3*n)
	w, h := width, height
	if c.Resize == LongestEdge {
		w, h = min(w, g.w), min(h, g.h)
	}
	for y := range h {
		row := r.Pix[3*y*width:]
		red, green, blue := out[y*width:][:w], out[n+y*width:][:w], out[2*n+y*width:][:w]
		for x := range red {
			p := (*[3]uint8)(row[3*x:])
			red[x], green[x], blue[x] = table[0][p[0]], table[1][p[1]], table[2][p[2]]
		}
	}
	return out, nil
}

// Pixels is the resized and cropped image before normalization: what the model sees, for overlays.
func (c *Config) Pixels(p *RGB, height, width int) (*RGB, error) {
	g, err := c.placeFor(p.Width, p.Height, height, width)
	if err != nil {
		return nil, err
	}
	return g.pixels(p, c), nil
}

// floating reports whether resized pixels are not rounded to 8 bits.
func (c *Config) floating() bool {
	return c.Resize == PadSquare || c.Resize == TensorFlow || c.Resize == TorchBicubic
}

func (c *Config) placeFor(width, height, outHeight, outWidth int) (geometry, error) {
	if width < 1 || height < 1 {
		return geometry{}, fmt.Errorf("the image has no pixels (%d×%d)", width, height)
	}
	if c.floating() {
		return geometry{}, fmt.Errorf("preprocessing %q gives %d×%d pixels, none of them of 8 bits", c.Resize,
			c.Width, c.Height)
	}
	g := c.place(width, height)
	if g.outW != outWidth || g.outH != outHeight {
		return g, fmt.Errorf("the image is %d×%d pixels, the model takes %d×%d and its preprocessing does not resize",
			width, height, outWidth, outHeight)
	}
	const limit = 1 << 28
	// Resizing takes at most 12 bytes for each weight (200 MB), and the memory of strips.
	const mostWeights = 1 << 24
	narrow := g.w < 1 || g.h < 1 || g.w > limit/g.h
	if s := 2 * filters[c.Filter].support; !narrow && s > 0 {
		narrow = max(s*float64(g.srcW)+float64(g.w), s*float64(g.srcH)+float64(g.h)) > mostWeights ||
			min(g.w, g.outW) > 4*limit/g.srcH
	}
	if narrow {
		return g, fmt.Errorf("the image is %d×%d pixels, too narrow to be resized to %d×%d", width, height, g.w, g.h)
	}
	return g, nil
}

func (g geometry) pixels(p *RGB, c *Config) *RGB {
	v := p.view().crop(g.srcX, g.srcY, g.srcW, g.srcH)
	window := image.Rect(g.x, g.y, g.x+g.outW, g.y+g.outH)
	inside := window.Intersect(image.Rect(0, 0, g.w, g.h))
	if inside.Empty() {
		return NewRGB(g.outW, g.outH)
	}
	v = v.resize(g.w, g.h, inside, c.Filter, c.Torchvision && c.Filter != Nearest)
	if inside == window {
		return v.rgb()
	}
	out := NewRGB(g.outW, g.outH)
	for y := range v.height {
		copy(out.Pix[3*((inside.Min.Y-g.y+y)*g.outW+inside.Min.X-g.x):], v.row(y))
	}
	return out
}
