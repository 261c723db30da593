package groundingdino

import (
	"cmp"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"antipode/gomlxmodels/nn"
)

// Size is a height and a width.
type Size struct{ Height, Width int }

// buckets are the sizes in pixels that graphs are compiled for; each is used transposed too. An image is in the upper
// left corner of its bucket, and what the rest of it holds changes nothing.
var buckets = func() (list []Size) {
	for _, w := range []int{800, 960, 1072, 1200, 1344} {
		list = append(list, Size{800, w})
	}
	for _, h := range []int{128, 256, 400, 512, 608, 752} {
		list = append(list, Size{h, 1344})
	}
	for _, s := range list {
		if s.Height != s.Width {
			list = append(list, Size{s.Width, s.Height})
		}
	}
	return list
}()

// bucket is the smallest bucket that holds an image, else, or where it is more than twice as large, the image's own
// size in whole patches.
func (c *Config) bucket(s Size) Size {
	fits := slices.DeleteFunc(slices.Clone(buckets), func(b Size) bool {
		return b.Height < s.Height || b.Width < s.Width || b.Height*b.Width > 2*s.Height*s.Width
	})
	if len(fits) == 0 {
		p := c.Swin.PatchSize
		return Size{(s.Height + p - 1) / p * p, (s.Width + p - 1) / p * p}
	}
	return slices.MinFunc(fits, func(a, b Size) int { return cmp.Compare(a.Height*a.Width, b.Height*b.Width) })
}

// first is the index of level 0 in what [Config.Sizes] returns; the stages of the backbone begin at 1.
const first = 2

// Sizes are the sizes of all maps of an image of that size in pixels: the pixels, the backbone's four stages, and the
// levels after them, each half of the one before.
func (c *Config) Sizes(s Size) []Size {
	list := []Size{s}
	for i := range first + c.Levels - 1 {
		by := 2
		if i == 0 {
			by = c.Swin.PatchSize
		}
		s = Size{(s.Height + by - 1) / by, (s.Width + by - 1) / by}
		list = append(list, s)
	}
	return list
}

// positions is the number of positions of all levels of an image.
func (c *Config) positions(s Size) (n int) {
	for _, l := range c.Sizes(s)[first:] {
		n += l.Height * l.Width
	}
	return n
}

// frame is where the maps of a batch of images are in their bucket.
type frame struct {
	cfg    *Config
	places []Size // of every map in the bucket, as Sizes lists them
	sizes  *Node  // [B,len(places),2] float32, heights and widths of every image's own maps
}

func newFrame(cfg *Config, bucket Size, sizes *Node) *frame {
	f := &frame{cfg, cfg.Sizes(bucket), sizes}
	sizes.AssertDims(-1, len(f.places), 2)
	return f
}

// side is the height (axis 0) or width (1) of map i of each image.
//
// Shapes: → [B,1,1] float32.
func (f *frame) side(i, axis int) *Node {
	return Reshape(Slice(f.sizes, AxisRange(), AxisElem(i), AxisElem(axis)), -1, 1, 1)
}

// grid is the row (axis 0) or column (1) of every place of map i.
//
// Shapes: → [B,H,W] float32.
func (f *frame) grid(i, axis int) *Node {
	p := f.places[i]
	return Iota(f.sizes.Graph(), shapes.Make(dtypes.Float32, f.sizes.Shape().Dim(0), p.Height, p.Width), 1+axis)
}

// valid is where map i is.
//
// Shapes: → [B,H,W] bool.
func (f *frame) valid(i int) *Node {
	row, column := f.grid(i, 0), f.grid(i, 1)
	return LogicalAnd(LessThan(row, BroadcastToShape(f.side(i, 0), row.Shape())),
		LessThan(column, BroadcastToShape(f.side(i, 1), row.Shape())))
}

// mask puts 0 in all places outside of map i.
//
// Shapes: x [B,H,W,C] → [B,H,W,C].
func (f *frame) mask(i int, x *Node) *Node {
	return Where(BroadcastToShape(InsertAxes(f.valid(i), -1), x.Shape()), x, ZerosLike(x))
}

// overLevels concatenates what a function returns for each level, row by row, along axis 1.
//
// Shapes: each [B,H,W,·] → [B,V,·].
func (f *frame) overLevels(each func(level, i int) *Node) *Node {
	var list []*Node
	for l := range f.cfg.Levels {
		x, p := each(l, first+l), f.places[first+l]
		list = append(list, Reshape(x, x.Shape().Dim(0), p.Height*p.Width, x.Shape().Dim(3)))
	}
	return Concatenate(list, 1)
}

// validLevels is where the levels are.
//
// Shapes: → [B,V] bool.
func (f *frame) validLevels() *Node {
	return Squeeze(f.overLevels(func(_, i int) *Node { return InsertAxes(f.valid(i), -1) }), 2)
}

// centers are the centers of all positions, from 0 to 1 over the image, x before y.
//
// Shapes: → [B,V,2] float32.
func (f *frame) centers() *Node {
	return f.overLevels(func(_, i int) *Node {
		at := func(axis int) *Node { return Div(AddScalar(f.grid(i, axis), 0.5), f.side(i, axis)) }
		return Stack([]*Node{at(1), at(0)}, -1)
	})
}

// maps are the levels in the sequence of their positions, and levels their sizes.
//
// Shapes: levels [B,L,2] float32.
func (f *frame) maps() (maps []nn.Map, levels *Node) {
	n := 0
	for _, p := range f.places[first:] {
		maps = append(maps, nn.Map{Start: n, Rows: p.Height, Columns: p.Width})
		n += p.Height * p.Width
	}
	return maps, Slice(f.sizes, AxisRange(), AxisRange(first))
}
