package blip2

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/textgen"
)

// cacheBudget bounds the bytes of the keys and values of captions written together, at a usual length of text.
const (
	cacheBudget = 2 << 30
	usualLength = 96 // places, the queries' among them
)

// Network is a model of [OpenCaptioner] as package textgen runs it.
func (m *Model) Network() textgen.ImageNetwork {
	c := &m.cfg.Text
	perRow := 2 * 4 * c.Layers * c.HiddenSize * usualLength
	return textgen.ImageNetwork{Name: "blip2", Side: m.cfg.Vision.ImageSize[0], Ends: c.EndTokens,
		Rows: max(1, min(textgen.MaxRows, cacheBudget/perRow)),
		Load: func(backend compute.Backend, s *model.Store, dtype dtypes.DType) error {
			return load(backend, s, m.Weights, table(m.cfg, m.Weights, writes), dtype)
		},
		Encode: func(s *model.Scope, pixels *graph.Node, dtype dtypes.DType) []*graph.Node {
			o := GraphOptions{DType: dtype}
			seen, _ := ForwardQueries(s, m.cfg, ForwardTower(s, m.cfg, pixels, o).Tokens, o)
			return []*graph.Node{ForwardContext(s, m.cfg, seen, o)}
		},
		Decoder: func(dtype dtypes.DType) textgen.Decoder {
			o := GraphOptions{DType: dtype}
			net := textgen.Decoder{Name: "blip2/text", Vocab: c.VocabSize, Positions: c.Positions,
				Before: m.cfg.Queries,
				Forward: func(s *model.Scope, in textgen.Inputs) *graph.Node {
					return ForwardText(s, m.cfg, in, o).Logits
				}}
			if m.cfg.ImageToken != nil {
				net.Seen = []int32{int32(*m.cfg.ImageToken)}
			}
			return net
		}}
}
