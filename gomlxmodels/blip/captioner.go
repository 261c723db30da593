package blip

import (
	"errors"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/captioner"
	"antipode/gomlxmodels/decode"
	"antipode/gomlxmodels/weights"
)

// NewCaptioner reads the weights of a model.
func NewCaptioner(backend compute.Backend, m *Model, o captioner.Options) (*captioner.Captioner, error) {
	if m == nil {
		return nil, errors.New("blip: a captioner needs a model")
	}
	return captioner.New(backend, m.Network(), o)
}

// Network is the model as package captioner runs it.
func (m *Model) Network() captioner.Network {
	return captioner.Network{Name: "blip", Side: m.cfg.Vision.ImageSize, Ends: []int32{int32(m.cfg.Text.EndToken)},
		Load: func(_ compute.Backend, s *model.Store, dtype dtypes.DType) error {
			return weights.Load(s.RootScope(), m.set, table(m.cfg), dtype)
		},
		See: func(s *model.Scope, pixels *graph.Node, dtype dtypes.DType) []*graph.Node {
			return ForwardImage(s, m.cfg, pixels, GraphOptions{DType: dtype}).Context
		},
		Decoder: func(dtype dtypes.DType) decode.Network {
			o := GraphOptions{DType: dtype}
			return decode.Network{Name: "blip/text", Vocab: m.cfg.Text.VocabSize, Positions: m.cfg.Text.Positions,
				Forward: func(s *model.Scope, in decode.Inputs) *graph.Node { return ForwardText(s, m.cfg, in, o).Logits }}
		}}
}
