package vit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	. "github.com/gomlx/gomlx/core/graph"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/weights"
)

// siglip is the model_type of SigLIP (Zhai et al. 2023, arXiv 2303.15343) and of SigLIP 2 at a fixed size (arXiv
// 2502.14786), whose vision towers this package runs.
const siglip = "siglip"

// SigLIPVision is the shape of a vision tower: the keys of SiglipVisionConfig.
type SigLIPVision struct {
	SquareConfig
	Head *bool `json:"vision_use_head"` // nil = true
}

// DefaultSigLIPVision is SiglipVisionConfig's.
func DefaultSigLIPVision() SigLIPVision {
	return SigLIPVision{SquareConfig: SquareConfig{Transformer: hub.Transformer{HiddenSize: 768,
		IntermediateSize: 3072, Layers: 12, Heads: 12, HiddenAct: "gelu_pytorch_tanh", LayerNormEps: 1e-6},
		NumChannels: 3, ImageSize: 224, PatchSize: 16}}
}

// ViT returns the tower as this package knows it.
func (s *SigLIPVision) ViT() *Config {
	c := s.SquareConfig.ViT()
	c.AttentionPool = true
	return c
}

// Validate checks the shape, naming fields and numbers.
func (s *SigLIPVision) Validate() error {
	if s.Head != nil && !*s.Head {
		return errors.New("vision_use_head false is not supported: the head makes the embedding")
	}
	return s.SquareConfig.Validate()
}

// parseSigLIP reads the vision_config of a SiglipConfig.
func parseSigLIP(text []byte) (*Config, error) {
	vision := DefaultSigLIPVision()
	var all struct {
		Vision json.RawMessage `json:"vision_config"`
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	if err := hub.ReadParts(hub.Part{Name: "vision_config", Raw: all.Vision, To: &vision}); err != nil {
		return nil, err
	}
	return vision.ViT(), hub.In("vision_config", vision.Validate())
}

// BlockRules adds a block of width d and hidden width f to a table: from and to end in "." and "/". The towers of CLIP
// and SigLIP, and decoders made of such blocks, name its parts alike.
func BlockRules(t *weights.Table, from, to string, d, f int) {
	t.Fused([]string{from + "self_attn.q_proj", from + "self_attn.k_proj", from + "self_attn.v_proj"},
		to+"attention/qkv", d, d, true)
	t.Dense(from+"self_attn.out_proj", to+"attention/out", d, d)
	t.Dense(from+"mlp.fc1", to+"mlp/fc1", f, d)
	t.Dense(from+"mlp.fc2", to+"mlp/fc2", d, f)
	t.Norm(from+"layer_norm1", to+"norm1", d)
	t.Norm(from+"layer_norm2", to+"norm2", d)
}

// SigLIPRules is the correspondence between the tensors of a SigLIP's vision tower, whose names begin with from, and the
// variables of [Forward], whose paths begin with to.
func SigLIPRules(c *Config, from, to string) weights.Table {
	var t weights.Table
	d, f, n, p := c.HiddenSize, c.IntermediateSize, c.Patches(), c.PatchSize[0]
	t.As(from+"embeddings.position_embedding.weight", to+"tokens/positions", []int{1, n, d}, n, d)
	t.As(from+"embeddings.patch_embedding.weight", to+"patch/weights", []int{d, 3 * p * p}, d, 3, p, p)
	t.As(from+"embeddings.patch_embedding.bias", to+"patch/bias", nil, d)
	t.Skip(from + "embeddings.position_ids")
	for i := range c.Layers {
		BlockRules(&t, fmt.Sprintf("%sencoder.layers.%d.", from, i), fmt.Sprintf("%sblock_%d/", to, i), d, f)
	}
	t.Norm(from+"post_layernorm", to+"norm", d)
	t.As(from+"head.probe", to+"head/probe", nil, 1, 1, d)
	t.As(from+"head.attention.in_proj_weight", to+"head/attention/qkv/weights", nil, 3*d, d)
	t.As(from+"head.attention.in_proj_bias", to+"head/attention/qkv/bias", nil, 3*d)
	t.Dense(from+"head.attention.out_proj", to+"head/attention/out", d, d)
	t.Norm(from+"head.layernorm", to+"head/norm", d)
	t.Dense(from+"head.mlp.fc1", to+"head/mlp/fc1", f, d)
	t.Dense(from+"head.mlp.fc2", to+"head/mlp/fc2", d, f)
	return t
}

// siglipTable is [SigLIPRules] of a whole checkpoint, whose other tensors are the text tower's.
func siglipTable(c *Config, set *weights.Set) []weights.Rule {
	t := SigLIPRules(c, "vision_model.", "")
	for _, name := range set.Names() {
		if strings.HasPrefix(name, "text_model.") || name == "logit_scale" || name == "logit_bias" {
			t.Skip(name)
		}
	}
	return t
}

// pool is the attention-pooling head: a learned query attends to the patches that o keeps.
//
// Shapes: x [B,N,D] → [B,D].
func (f *forward) pool(x *Node, o nn.AttentionOptions) *Node {
	scope, c := f.scope.At("head"), f.cfg
	attention := scope.At("attention")
	b, n, d := x.Shape().Dim(0), x.Shape().Dim(1), x.Shape().Dim(2)
	probe := BroadcastToDims(nn.Param(scope, x.Graph(), "probe", x.DType(), 1, 1, d), b, 1, d)
	qkv := nn.Dense(attention.In("qkv"), Concatenate([]*Node{probe, x}, 1), 3*d, true)
	part := func(i, from, rows int) *Node { // [B,H,rows,d]
		y := Slice(qkv, AxisRange(), AxisRange(from, from+rows), AxisRange(i*d, (i+1)*d))
		return TransposeAllAxes(Reshape(y, b, rows, c.Heads, d/c.Heads), 0, 2, 1, 3)
	}
	y := Reshape(nn.Attention(part(0, 0, 1), part(1, 1, n), part(2, 1, n), o), b, 1, d)
	y = nn.Dense(attention.In("out"), y, d, true)
	z := nn.LayerNorm(scope.At("norm"), y, c.LayerNormEps)
	return row(Add(y, nn.MLP(scope.At("mlp"), z, c.IntermediateSize, c.HiddenAct)), 0)
}
