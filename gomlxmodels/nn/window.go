package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Windows cuts maps into square windows of side × side positions, each a sequence: row by row the windows of a map,
// row by row the positions of a window. Maps are padded with zeros on the right and below to whole windows.
//
// Shapes: x [B,H,W,C] → [B·⌈H/side⌉·⌈W/side⌉,side²,C].
func Windows(x *Node, side int) *Node {
	x.AssertRank(4)
	rows, columns := windows(x.Shape().Dim(1), side), windows(x.Shape().Dim(2), side)
	for _, axis := range []int{1, 2} { // by concatenation: Pad has no gradient
		shape := x.Shape().Clone()
		shape.Dimensions[axis] = windows(shape.Dim(axis), side)*side - shape.Dim(axis)
		if shape.Dim(axis) > 0 {
			x = Concatenate([]*Node{x, Zeros(x.Graph(), shape)}, axis)
		}
	}
	b, c := x.Shape().Dim(0), x.Shape().Dim(3)
	x = TransposeAllAxes(Reshape(x, b, rows, side, columns, side, c), 0, 1, 3, 2, 4, 5)
	return Reshape(x, b*rows*columns, side*side, c)
}

// JoinWindows puts windows back in their places in maps of height × width positions and drops the padding: the
// inverse of [Windows].
//
// Shapes: x [B·⌈height/side⌉·⌈width/side⌉,side²,C] → [B,height,width,C].
func JoinWindows(x *Node, side, height, width int) *Node {
	rows, columns, c := windows(height, side), windows(width, side), x.Shape().Dim(2)
	x.AssertDims(-1, side*side, c)
	x = TransposeAllAxes(Reshape(x, -1, rows, columns, side, side, c), 0, 1, 3, 2, 4, 5)
	x = Reshape(x, -1, rows*side, columns*side, c)
	return Slice(x, AxisRange(), AxisRange(0, height), AxisRange(0, width))
}

// windows is how many windows of the side a length needs.
func windows(length, side int) int { return (length + side - 1) / side }
