package blip2

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/captioner"
	"antipode/gomlxmodels/decode"
)

// cacheBudget bounds the bytes of the keys and values of captions written together, at a usual length of text.
const (
	cacheBudget = 2 << 30
	usualLength = 96 // places, the queries' among them
)

// Network is a model of [OpenCaptioner] as package captioner runs it.
func (m *Model) Network() captioner.Network {
	c := &m.cfg.Text
	perRow := 2 * 4 * c.Layers * c.HiddenSize * usualLength
	return captioner.Network{Name: "blip2", Side: m.cfg.Vision.ImageSize[0], Ends: c.EndTokens, Rows: max(1, min(captioner.MaxRows, cacheBudget/perRow)),
		Load: func(backend compute.Backend, s *model.Store, dtype dtypes.DType) error {
			return load(backend, s, m.set, table(m.cfg, m.set, writes), dtype)
		},
		See: func(s *model.Scope, pixels *graph.Node, dtype dtypes.DType) []*graph.Node {
			o := GraphOptions{DType: dtype}
			seen, _ := ForwardQueries(s, m.cfg, ForwardTower(s, m.cfg, pixels, o).Tokens, o)
			return []*graph.Node{ForwardContext(s, m.cfg, seen, o)}
		},
		Decoder: func(dtype dtypes.DType) decode.Network {
			o := GraphOptions{DType: dtype}
			net := decode.Network{Name: "blip2/text", Vocab: c.VocabSize, Positions: c.Positions, Before: m.cfg.Queries,
				Forward: func(s *model.Scope, in decode.Inputs) *graph.Node { return ForwardText(s, m.cfg, in, o).Logits }}
			if m.cfg.ImageToken != nil {
				net.Seen = []int32{int32(*m.cfg.ImageToken)}
			}
			return net
		}}
}
