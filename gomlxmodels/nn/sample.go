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
	table := Reshape(values, b*v*h, d)
	places := shapes.Make(dtypes.Int32, b, q, h, p)
	first := Add(MulScalar(Iota(g, places, 0), int32(v*h)), Iota(g, places, 2)) // row of position 0
	var sum *Node
	for l, m := range maps {
		axis := func(i, from int) (low, high *Node, share []*Node) { // neighbors, and the share of each
			size := BroadcastToDims(Reshape(Slice(sizes, AxisRange(), AxisElem(l), AxisElem(from)), b, 1, 1, 1),
				b, q, h, p)
			at := Slice(points, AxisRange(), AxisRange(), AxisRange(), AxisElem(l), AxisRange(), AxisElem(i))
			at = AddScalar(Mul(Reshape(at, b, q, h, p), size), -0.5)
			low = Floor(at)
			high = AddScalar(low, 1)
			for _, n := range []*Node{low, high} {
				inside := LogicalAnd(GreaterOrEqual(n, ZerosLike(n)), LessThan(n, size))
				near := OneMinus(Abs(Sub(at, n)))
				share = append(share, Where(inside, near, ZerosLike(near)))
			}
			return low, high, share
		}
		x0, x1, across := axis(0, 1)
		y0, y1, down := axis(1, 0)
		weight := Reshape(Slice(weights, AxisRange(), AxisRange(), AxisRange(), AxisElem(l)), b, q, h, p)
		for i, y := range []*Node{y0, y1} {
			for j, x := range []*Node{x0, x1} {
				row := ConvertDType(ClipScalar(y, 0, float64(m.Rows-1)), dtypes.Int32)
				column := ConvertDType(ClipScalar(x, 0, float64(m.Columns-1)), dtypes.Int32)
				at := AddScalar(Add(MulScalar(row, int32(m.Columns)), column), int32(m.Start))
				found := Gather(table, InsertAxes(Add(first, MulScalar(at, int32(h))), -1)) // [B,Q,H,P,d]
				part := ReduceSum(Mul(found, InsertAxes(Mul(weight, Mul(down[i], across[j])), -1)), 3)
				if sum == nil {
					sum = part
				} else {
					sum = Add(sum, part)
				}
			}
		}
	}
	return Reshape(sum, b, q, h*d)
}
