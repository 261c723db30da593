package sam2

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// TestChoose computes the fallback by hand: masks of two pixels, the first stable, on the threshold, not stable, and
// without a pixel.
func TestChoose(t *testing.T) {
	c := DecoderConfig{Delta: 0.5, Threshold: 0.5}
	masks := []float32{
		1, 2, 3, 3, 4, 4, // both above delta: 2 of 2
		1, 0, 3, 3, 4, 4, // 1 of 2
		0, 0, 3, 3, 4, 4, // 0 of 2
		-1, -0.5, 3, 3, 4, 4, // none above −delta
		0.5, -0.4, 3, 3, 4, 4, // 0 of 2
	}
	ious := []float32{0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1, 0.2, 0.3, 0.1, 0.3, 0.3}
	out := must.Get(model.CallOnceN(testbackend.Any(t), model.NewStore(), func(_ *model.Scope, in []*Node) []*Node {
		best, iou := c.choose(in[0], in[1])
		return []*Node{best, iou}
	}, tensors.FromFlatDataAndDimensions(masks, 5, 3, 1, 2), tensors.FromFlatDataAndDimensions(ious, 5, 3)))(t)
	want := []float32{1, 2, 1, 0, 4, 4, -1, -0.5, 3, 3}
	near.Check(t, "logits", tensors.MustCopyFlatData[float32](out[0]), want, 0, 0)
	near.Check(t, "IoU", tensors.MustCopyFlatData[float32](out[1]), []float32{0.1, 0.1, 0.3, 0.1, 0.3}, 0, 0)
}
