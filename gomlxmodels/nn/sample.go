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
	place := shapes.Make(dtypes.Int32, b, q, h, p)
	first := Add(MulScalar(Iota(g, place, 0), int32(v*h)), Iota(g, place, 2)) // row of position 0
	table := Reshape(values, b*v*h, d)
	var rows, shares []*Node // [B,Q,H,P] of each map and neighbor
	for l, m := range maps {
		level := AxisElem(l)
		axis := func(i, from, most int) (index, share [2]*Node) { // of both neighbors
			at := Slice(points, AxisRange(), AxisRange(), AxisRange(), level, AxisRange(), AxisElem(i))
			size := Reshape(Slice(sizes, AxisRange(), level, AxisElem(from)), b, 1, 1, 1)
			size = BroadcastToDims(size, b, q, h, p)
			at = AddScalar(Mul(Reshape(at, b, q, h, p), size), -0.5)
			for k := range index {
				n := AddScalar(Floor(at), k)
				inside := LogicalAnd(GreaterOrEqual(n, ZerosLike(n)), LessThan(n, size))
				near := OneMinus(Abs(Sub(at, n)))
				share[k] = Where(inside, near, ZerosLike(near))
				index[k] = ConvertDType(ClipScalar(n, 0, float64(most)), dtypes.Int32) // in the place, whatever n is
			}
			return index, share
		}
		xs, across := axis(0, 1, m.Columns-1)
		ys, down := axis(1, 0, m.Rows-1)
		weight := Squeeze(Slice(weights, AxisRange(), AxisRange(), AxisRange(), level), 3)
		for i := range 4 {
			x, y := i%2, i/2
			row := AddScalar(Add(MulScalar(ys[y], int32(m.Columns)), xs[x]), int32(m.Start))
			rows = append(rows, Add(first, MulScalar(row, int32(h))))
			shares = append(shares, Mul(weight, Mul(down[y], across[x])))
		}
	}
	row, share := Concatenate(rows, 3), Concatenate(shares, 3)
	var sum *Node
	for i := range row.Shape().Dim(3) { // a gather each: XLA's loop over a row of values is then the innermost one
		at := AxisRange(i, i+1)
		part := Gather(table, Slice(row, AxisRange(), AxisRange(), AxisRange(), at))
		part = Mul(part, Slice(share, AxisRange(), AxisRange(), AxisRange(), at))
		if sum == nil {
			sum = part
		} else {
			sum = Add(sum, part)
		}
	}
	return Reshape(sum, b, q, h*d)
}
