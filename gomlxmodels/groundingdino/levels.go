package groundingdino

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// levelEps is the epsilon of the levels' norms.
const levelEps = 1e-5

// ForwardLevels brings the backbone's maps to one width and adds further levels, each of half the height and width.
// Norms go over an image's own positions.
//
// Shapes: maps [B,H,W,C] each; sizes [B,N,2] float32 → [B,V,D], the levels one after the other, row by row.
func ForwardLevels(scope *model.Scope, cfg *Config, bucket Size, maps []*Node, sizes *Node) *Node {
	f := newFrame(cfg, bucket, sizes)
	from := maps[len(maps)-1] // of the next further level
	return f.overLevels(func(l, i int) *Node {
		at, p := scope.At("level_%d", l), f.places[i]
		var x *Node
		if l < len(maps) {
			x = nn.Dense(at.At("projection"), maps[l], cfg.Width, true)
		} else {
			var near []*Node
			for _, shifted := range nn.Im2Col(f.mask(i-1, from)) {
				near = append(near, Slice(shifted, AxisRange(), AxisRange().Stride(2), AxisRange().Stride(2)))
			}
			c := from.Shape().Dim(3)
			x = nn.Dense(at.At("projection"), Reshape(Stack(near, -1), -1, p.Height, p.Width, 9*c), cfg.Width, true)
		}
		valid := Reshape(f.valid(i), -1, p.Height*p.Width)
		x = nn.GroupNorm(at.At("norm"), Reshape(x, -1, p.Height*p.Width, cfg.Width), groups, levelEps, valid)
		x = Reshape(x, -1, p.Height, p.Width, cfg.Width)
		if l >= len(maps) {
			from = x
		}
		return x
	})
}

// ForwardImage is all that depends on the image alone: the backbone and the levels.
//
// Shapes: pixels [B,3,H,W], of the bucket; sizes [B,N,2] float32 → [B,V,D].
func ForwardImage(scope *model.Scope, cfg *Config, pixels, sizes *Node) *Node {
	bucket := Size{pixels.Shape().Dim(2), pixels.Shape().Dim(3)}
	maps := ForwardBackbone(scope.At("backbone"), cfg, pixels, sizes).Maps
	return ForwardLevels(scope.At("levels"), cfg, bucket, maps, sizes)
}

// levelPositions are the position embeddings of all levels, y before x, plus one for each level.
//
// Shapes: → [B,V,D].
func (f *frame) levelPositions(scope *model.Scope) *Node {
	d := f.cfg.Width
	levels := nn.Param(scope, f.sizes.Graph(), "levels", f.sizes.DType(), f.cfg.Levels, d)
	return f.overLevels(func(l, i int) *Node {
		at := func(axis int) *Node {
			share := Div(AddScalar(f.grid(i, axis), 1), AddScalar(f.side(i, axis), 1e-6))
			return sine(share, d/2, f.cfg.Temperature)
		}
		x := Concatenate([]*Node{at(0), at(1)}, -1)
		return Add(x, Reshape(Slice(levels, AxisElem(l)), 1, 1, 1, d))
	})
}

// sine encodes numbers: of each, times 2π and divided by growing powers of the temperature, sines and cosines in turn.
//
// Shapes: x [...] → [...,width].
func sine(x *Node, width int, temperature float64) *Node {
	g := x.Graph()
	powers, phase := make([]float32, width), make([]float32, width)
	for i := range powers {
		powers[i] = float32(math.Pow(temperature, float64(float32(i/2*2)/float32(width))))
		phase[i] = float32(i % 2)
	}
	x = InsertAxes(MulScalar(x, 2*math.Pi), -1)
	shape := x.Shape().Clone()
	shape.Dimensions[x.Rank()-1] = width
	like := func(v []float32) *Node { return BroadcastToShape(ExpandLeftToRank(Const(g, v), x.Rank()), shape) }
	angle := Div(BroadcastToShape(x, shape), like(powers))
	return Where(Equal(like(phase), ZerosLike(angle)), Sin(angle), Cos(angle))
}
