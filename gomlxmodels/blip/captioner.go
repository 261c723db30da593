package blip

import (
	"errors"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/weights"
)

// NewCaptioner reads the weights of a model.
func NewCaptioner(backend compute.Backend, m *Model, o textgen.CaptionerOptions) (*textgen.Captioner, error) {
	if m == nil || m.cfg.encodes() {
		return nil, errors.New("blip: a captioner needs a model that writes captions")
	}
	return textgen.NewCaptioner(backend, m.Network(), o)
}

// Network is the model as package textgen runs it.
func (m *Model) Network() textgen.ImageNetwork {
	return textgen.ImageNetwork{Name: "blip", Side: m.cfg.Vision.ImageSize, Ends: []int32{int32(m.cfg.Text.EndToken)},
		Load: func(_ compute.Backend, s *model.Store, dtype dtypes.DType) error {
			return weights.Load(s.RootScope(), m.Weights, table(m.cfg), dtype)
		},
		Encode: func(s *model.Scope, pixels *graph.Node, dtype dtypes.DType) []*graph.Node {
			return ForwardImage(s, m.cfg, pixels, GraphOptions{DType: dtype}).Context
		},
		Decoder: func(dtype dtypes.DType) textgen.Decoder {
			o := GraphOptions{DType: dtype}
			return textgen.Decoder{Name: "blip/text", Vocab: m.cfg.Text.VocabSize, Positions: m.cfg.Text.Positions,
				Forward: func(s *model.Scope, in textgen.Inputs) *graph.Node {
					return ForwardText(s, m.cfg, in, o).Logits
				}}
		}}
}
