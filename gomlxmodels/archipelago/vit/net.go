package vit

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// shape is the configuration of archipelago-vit.
var shape = func() vit.Config {
	c := vit.DefaultConfig()
	c.HiddenSize, c.Layers, c.Heads, c.IntermediateSize = 128, 6, 4, 512
	c.ImageSize, c.PatchSize = vit.Pair{examples.Size, examples.Size}, vit.Pair{patchSize, patchSize}
	return c
}()

// view is a set of patches that the network sees.
type view int

const (
	full view = iota
	objectOnly
	backgroundOnly
	views
)

var viewNames = [views]string{"full", "object_only", "background_only"}

// heads are the properties that classification heads on the class token predict. The first is exported as the model's
// classifier.
var heads = examples.Properties[:4]

const (
	headObject = iota
	headScene
	headIsland
	headForm
)

// visible reports whether a view shows the property of a head.
func visible(v view, head int) bool {
	switch v {
	case objectOnly:
		return head == headObject || head == headForm
	case backgroundOnly:
		return head == headScene || head == headIsland
	}
	return true
}

// embeddings returns the class tokens of the three views, each [B,D].
//
// Shapes: pixels [B,3,H,W] float; object [B,N] bool.
func embeddings(scope *model.Scope, pixels, object *Node) [views]*Node {
	o := vit.Forward(scope.At("vit"), &shape, pixels, vit.GraphOptions{Object: object})
	return [views]*Node{o.CLS, o.Object, o.Background}
}

// logits returns the outputs of a head, [B,classes].
func logits(scope *model.Scope, cls *Node, head int) *Node {
	at := scope.At("vit").At("classifier")
	if head != headObject {
		at = scope.At("heads").At("%s", heads[head].Name)
	}
	return nn.Dense(at, cls, len(heads[head].Values), true)
}

// lossGraph returns the sum of the heads' cross-entropies, each averaged over the views that show the property, and the
// cross-entropy of each head.
//
// Shapes: in = pixels [B,3,H,W] float; object [B,N] bool; labels [B,heads] int32 → [] and [heads].
func lossGraph(scope *model.Scope, in []*Node) (total, terms *Node) {
	pixels, object, labels := in[0], in[1], in[2]
	g := pixels.Graph()
	total = Scalar(g, dtypes.Float32, 0)
	var losses []*Node
	cls := embeddings(scope, pixels, object)
	for h := range heads {
		truth := OneHot(Squeeze(Slice(labels, AxisRange(), AxisElem(h)), -1), len(heads[h].Values), dtypes.Float32)
		sum, n := Scalar(g, dtypes.Float32, 0), 0
		for v := range views {
			if visible(v, h) {
				sum, n = Sub(sum, ReduceAllMean(ReduceSum(Mul(truth, LogSoftmax(logits(scope, cls[v], h))), -1))), n+1
			}
		}
		loss := DivScalar(sum, float64(n))
		losses, total = append(losses, loss), Add(total, loss)
	}
	return total, Stack(losses, 0)
}
