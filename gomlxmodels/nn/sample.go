package nn

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Map is the place of a map in a sequence of positions: Rows × Columns of them from Start on, row by row.
type Map struct{ Start, Rows, Columns int }

// SampleMaps is the sampling of multi-scale deformable attention (Zhu et al. 2020, arXiv 2010.04159, equation 3): the
// weighted sum of values at points of L maps, interpolated bilinearly. (0,0) is the upper left corner of a map, (1,1)
// the lower right one; pixel centers are at halves, and beyond a map all is 0 (torch's grid_sample with zeros and
// align_corners=False). A map's true size may be smaller than its place: its pixels are then in the place's upper left
// corner, and the rest is beyond the map. It is for inference: its gradient is not tested.
//
// Shapes: values [B,V,H,d]; sizes [B,L,2] float32, the maps' true heights and widths; points [B,Q,H,L,P,2], x before
// y; weights [B,Q,H,L,P] → [B,Q,H·d].
func SampleMaps(values *Node, maps []Map, sizes, points, weights *Node) *Node {
	g, b, v, h, d := values.Graph(), values.Shape().Dim(0), values.Shape().Dim(1), values.Shape().Dim(2),
		values.Shape().Dim(3)
	q, p := points.Shape().Dim(1), points.Shape().Dim(4)
	points.AssertDims(b, q, h, len(maps), p, 2)
	weights.AssertDims(b, q, h, len(maps), p)
	sizes.AssertDims(b, len(maps), 2)
	like := shapes.Make(dtypes.Float32, b, q, h, len(maps), p)
	each := func(of func(Map) int) *Node { // a number of each map
		list := make([]float32, len(maps))
		for l, m := range maps {
			list[l] = float32(of(m))
		}
		return BroadcastToShape(Reshape(Const(g, list), 1, 1, 1, len(maps), 1), like)
	}
	axis := func(i, from int) (both, share []*Node) { // neighbors, and the share of each
		size := Slice(sizes, AxisRange(), AxisRange(), AxisElem(from))
		size = BroadcastToShape(Reshape(size, b, 1, 1, len(maps), 1), like)
		at := Slice(points, AxisRange(), AxisRange(), AxisRange(), AxisRange(), AxisRange(), AxisElem(i))
		at = AddScalar(Mul(Squeeze(at, -1), size), -0.5)
		low := Floor(at)
		both = []*Node{low, AddScalar(low, 1)}
		for _, n := range both {
			inside := LogicalAnd(GreaterOrEqual(n, ZerosLike(n)), LessThan(n, size))
			near := OneMinus(Abs(Sub(at, n)))
			share = append(share, Where(inside, near, ZerosLike(near)))
		}
		return both, share
	}
	index := func(x *Node, most func(Map) int) *Node { // in a map's place, whatever x is
		return ConvertDType(Min(MaxScalar(x, 0), each(most)), dtypes.Int32)
	}
	xs, across := axis(0, 1)
	ys, down := axis(1, 0)
	starts := ConvertDType(each(func(m Map) int { return m.Start }), dtypes.Int32)
	columns := ConvertDType(each(func(m Map) int { return m.Columns }), dtypes.Int32)
	places := shapes.Make(dtypes.Int32, like.Dimensions...)
	first := Add(MulScalar(Iota(g, places, 0), int32(v*h)), Iota(g, places, 2)) // row of position 0
	table := Reshape(values, b*v*h, d)
	var sum *Node
	for i, y := range ys {
		rows := Add(Mul(index(y, func(m Map) int { return m.Rows - 1 }), columns), starts)
		for j, x := range xs {
			at := Add(rows, index(x, func(m Map) int { return m.Columns - 1 }))
			at = Reshape(Add(first, MulScalar(at, int32(h))), b, q, h, len(maps)*p, 1)
			weight := Reshape(Mul(weights, Mul(down[i], across[j])), b, q, h, len(maps)*p, 1)
			part := ReduceSum(Mul(Gather(table, at), weight), 3)
			if sum == nil {
				sum = part
			} else {
				sum = Add(sum, part)
			}
		}
	}
	return Reshape(sum, b, q, h*d)
}
