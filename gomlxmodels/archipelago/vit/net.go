package vit

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/vit"
)

// shape is the shipped ViT's.
var shape = func() vit.Config {
	c := vit.DefaultConfig()
	c.HiddenSize, c.Layers, c.Heads, c.IntermediateSize = 128, 6, 4, 512
	c.ImageSize, c.PatchSize = vit.Pair{imageSize, imageSize}, vit.Pair{patchSize, patchSize}
	return c
}()

// view is a set-up: the patches the network sees.
type view int

const (
	full view = iota
	objectOnly
	backgroundOnly
	views
)

// The heads the network is trained with, from the class token. The first is shipped as the model's classifier.
const (
	headObject = iota
	headScene
	headIsland
	headForm // object and form together
	heads
)

var (
	viewNames = [views]string{"full", "object_only", "background_only"}
	headNames = [heads]string{"object", "scene", "island", "form"}
)

// visible says whether what a head asks for can be seen in a view.
func visible(v view, head int) bool {
	switch v {
	case objectOnly:
		return head == headObject || head == headForm
	case backgroundOnly:
		return head == headScene || head == headIsland
	}
	return true
}

// embeddings are the class tokens of the three set-ups, each [B,D].
//
// Shapes: pixels [B,3,H,W] float; object [B,N] bool.
func embeddings(scope *model.Scope, pixels, object *Node) [views]*Node {
	o := vit.Forward(scope.At("vit"), &shape, pixels, vit.GraphOptions{Object: object})
	return [views]*Node{o.CLS, o.Object, o.Background}
}

// logits are a head's outputs, [B,classes].
func logits(scope *model.Scope, cls *Node, head int) *Node {
	at := scope.At("vit").At("classifier")
	if head != headObject {
		at = scope.At("heads").At("%s", headNames[head])
	}
	return nn.Dense(at, cls, len(labels[head]), true)
}

// lossGraph is the cross-entropy summed over heads, each averaged over the views in which its answer can be seen, and the heads' own losses.
//
// Shapes: pixels [B,3,H,W] float; object [B,N] bool; labels [B,heads] int32 → [] and [heads].
func lossGraph(scope *model.Scope, pixels, object, answers *Node) (total, each *Node) {
	g := pixels.Graph()
	total = Scalar(g, dtypes.Float32, 0)
	var losses []*Node
	cls := embeddings(scope, pixels, object)
	for h := range heads {
		truth := OneHot(Squeeze(Slice(answers, AxisRange(), AxisElem(h)), -1), len(labels[h]), dtypes.Float32)
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
