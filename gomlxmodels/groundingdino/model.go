package groundingdino

import (
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
)

// Inputs are an image and a text for [ForwardEncoder] and [ForwardDecoder], whose images are of one bucket.
type Inputs struct {
	Vision    *Node // [B,V,D]: of [ForwardImage], or of the encoder
	Text      *Node // [B,T,D]: of [ForwardText], or of the encoder
	Sizes     *Node // [B,N,2] float32, what [Config.Sizes] returns for each image
	Phrases   *Node // [B,T] int32: [Caption.Phrases], 0 = padding
	Positions *Node // [B,T] int32: [Caption.Positions]
}

// Encoded is the result of [ForwardEncoder].
type Encoded struct {
	Positions *Node // [B,V,D] of the levels
	Layers    []Enhanced
	Selected
}

// ForwardEncoder is the feature enhancer, whose last layer's results are its own, and the selection of queries.
//
// Shapes: in as [Inputs] says → [Encoded].
func ForwardEncoder(scope *model.Scope, cfg *Config, bucket Size, in Inputs) (out Encoded) {
	s, w := newScene(newFrame(cfg, bucket, in.Sizes)), newWords(cfg, in.Phrases, in.Positions)
	out.Positions = s.levelPositions(scope)
	vision, text := in.Vision, in.Text
	for i := range cfg.EncoderLayers {
		layer := enhance(scope.At("encoder").At("layer_%d", i), s, w, vision, out.Positions, text)
		vision, text = layer.Vision, layer.Text
		out.Layers = append(out.Layers, layer)
	}
	out.Selected = selectQueries(scope.At("selection"), s, w, vision, text)
	return out
}

// ForwardDecoder is the decoder, from references that were selected, and the heads.
//
// Shapes: in as [Inputs] says, of the encoder's last layer; references [B,K,4] → [Found].
func ForwardDecoder(scope *model.Scope, cfg *Config, bucket Size, in Inputs, references *Node, o Sigmoids) (out Found) {
	scope = scope.At("decoder")
	s, w := newScene(newFrame(cfg, bucket, in.Sizes)), newWords(cfg, in.Phrases, in.Positions)
	x, entering := firstQueries(scope, cfg, references), references
	for i := range cfg.DecoderLayers {
		entering = references
		layer := decode(scope, s, w, o, i, x, references, in.Vision, in.Text)
		x, references = layer.States, layer.References
		out.Layers = append(out.Layers, layer)
	}
	out.Logits, out.Boxes = cfg.head(scope, o, x, entering, in.Text)
	return out
}

// ForwardJoin is all that depends on image and text: the encoder and the decoder.
//
// Shapes: in as [Inputs] says → the logits [B,K,T] and boxes [B,K,4] of [Found].
func ForwardJoin(scope *model.Scope, cfg *Config, bucket Size, in Inputs, o Sigmoids) (logits, boxes *Node) {
	e := ForwardEncoder(scope, cfg, bucket, in)
	last := e.Layers[len(e.Layers)-1]
	in.Vision, in.Text = last.Vision, last.Text
	found := ForwardDecoder(scope, cfg, bucket, in, e.References, o)
	return found.Logits, found.Boxes
}

// firstQueries are the decoder's first states: a learned vector for each rank, whatever was selected.
//
// Shapes: references [B,K,4] → [B,K,D].
func firstQueries(scope *model.Scope, cfg *Config, references *Node) *Node {
	x := nn.Param(scope, references.Graph(), "queries", references.DType(), cfg.Queries, cfg.Width)
	return BroadcastToDims(InsertAxes(x, 0), references.Shape().Dim(0), cfg.Queries, cfg.Width)
}
