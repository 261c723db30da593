package diffusion

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/textenc"
	"antipode/gomlxmodels/weights"
)

// AltTextConfig is the shape of AltDiffusion's text tower (Ye et al. 2023, arXiv 2308.09991), the
// RobertaSeriesModelWithTransformation of diffusers: an XLM-R and a projection of all its tokens to the UNet's
// context. The first AltDiffusion, of two languages, projects the last block's tokens; that of nine languages
// normalizes and projects those before the last block.
type AltTextConfig struct {
	textenc.Config
	Mask              bool // use_attention_mask: padding is not attended. It attends, and is attended by the UNet
	PreTransformation bool // has_pre_transformation: the last block, and transformation, are not used
}

// ParseAltTextConfig reads the config.json of a RobertaSeriesModelWithTransformation and validates it. Its model_type
// does not count, as in diffusers.
func ParseAltTextConfig(text []byte) (*AltTextConfig, error) {
	var all map[string]json.RawMessage
	f := struct {
		Project *int  `json:"project_dim"`
		Mask    *bool `json:"use_attention_mask"`
		Pre     bool  `json:"has_pre_transformation"`
	}{}
	if err := errors.Join(json.Unmarshal(text, &all), json.Unmarshal(text, &f)); err != nil {
		return nil, errors.New("not readable as JSON of a RobertaSeriesModelWithTransformation")
	}
	if all == nil {
		return nil, errors.New("holds no configuration")
	}
	all["model_type"] = json.RawMessage(`"xlm-roberta"`)
	if f.Project == nil {
		all["project_dim"] = json.RawMessage("512")
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	base, err := textenc.ParseConfig(text,
		func(string) ([]byte, error) { return nil, errors.New("an XLM-R has no base") })
	if err != nil {
		return nil, err
	}
	c := &AltTextConfig{Config: *base, Mask: f.Mask == nil || *f.Mask, PreTransformation: f.Pre}
	if c.ProjectDim < 1 {
		return nil, fmt.Errorf("project_dim %d is not at least 1", c.ProjectDim)
	}
	return c, nil
}

// AltTextInputs are rows of texts, each [B,S] int32.
type AltTextInputs struct {
	IDs       *Node // tokens
	Positions *Node // rows of the position embeddings
	Own       *Node // 1 for a token of the text, 0 for what fills the row up
}

// AltTextOutputs holds the outputs of AltDiffusion's text tower, in float32; outputs that were not requested are nil.
type AltTextOutputs struct {
	Context  *Node   // [B,S,P], P = project_dim
	Embedded *Node   // [B,S,D] input of block 1
	Blocks   []*Node // [B,S,D] after every block that is used
}

// ForwardAltText is AltDiffusion's text tower. It is made of the blocks of package nn as package textenc is, whose
// rows know padding that neither attends nor is attended; here padding attends to its text, and the UNet to it. It
// panics on a mistake in shapes.
//
// Shapes: in [B,S] int32 each → [AltTextOutputs].
func ForwardAltText(scope *model.Scope, c *AltTextConfig, in AltTextInputs, o GraphOptions) AltTextOutputs {
	b, s := in.IDs.Shape().Dim(0), in.IDs.Shape().Dim(1)
	in.Positions.AssertDims(b, s)
	in.Own.AssertDims(b, s)
	g, at, d := in.IDs.Graph(), scope.At("embeddings"), c.HiddenSize
	rows := func(name string, n int, of *Node) *Node {
		return Gather(nn.Param(at, g, name, o.dtype(), n, d), InsertAxes(of, -1))
	}
	x := rows("words", c.VocabSize, in.IDs)
	x = Add(x, InsertAxes(Slice(nn.Param(at, g, "types", o.dtype(), c.TypeVocab, d), AxisRange(0, 1)), 0))
	x = nn.LayerNorm(at.At("norm"), Add(x, rows("positions", c.Positions, in.Positions)), c.LayerNormEps)
	var out AltTextOutputs
	if o.Stages {
		out.Embedded = nn.Float32(x)
	}
	var keep *Node
	if c.Mask {
		keep = InsertAxes(NotEqual(in.Own, ZerosLike(in.Own)), 1, 1) // [B,1,1,S]
	}
	block := nn.Block{Hidden: c.IntermediateSize, Activation: c.HiddenAct, Epsilon: c.LayerNormEps, PostNorm: true}
	block.Heads, block.Keep = c.Heads, keep
	for i := range c.used() {
		x = block.Forward(scope.At("block_%d", i), x)
		if o.Stages {
			out.Blocks = append(out.Blocks, nn.Float32(x))
		}
	}
	if c.PreTransformation {
		x = nn.LayerNorm(scope.At("prenorm"), x, c.LayerNormEps)
	}
	out.Context = nn.Float32(nn.Dense(scope.At("transformation"), x, c.ProjectDim, true))
	out.Context.AssertDims(b, s, c.ProjectDim)
	return out
}

// used is how many blocks the context comes from.
func (c *AltTextConfig) used() int {
	if c.PreTransformation {
		return c.Layers - 1
	}
	return c.Layers
}

func (c *AltTextConfig) vocabulary() int                           { return c.VocabSize }
func (c *AltTextConfig) longest() int                              { return c.MaxTokens() }
func (c *AltTextConfig) width() int                                { return c.ProjectDim }
func (c *AltTextConfig) complete(*model.Store, dtypes.DType) error { return nil }

func (c *AltTextConfig) table(*weights.Set) []weights.Rule {
	var t weights.Table
	d, f := c.HiddenSize, c.IntermediateSize
	const embeddings = "roberta.embeddings."
	t.As(embeddings+"word_embeddings.weight", "embeddings/words", nil, c.VocabSize, d)
	t.As(embeddings+"position_embeddings.weight", "embeddings/positions", nil, c.Positions, d)
	t.As(embeddings+"token_type_embeddings.weight", "embeddings/types", nil, c.TypeVocab, d)
	t.Norm(embeddings+"LayerNorm", "embeddings/norm", d)
	t.Skip(embeddings+"position_ids", embeddings+"token_type_ids", "roberta.pooler.dense.weight",
		"roberta.pooler.dense.bias", "logit_scale")
	for i := range c.Layers {
		from, to := fmt.Sprintf("roberta.encoder.layer.%d.", i), fmt.Sprintf("block_%d/", i)
		var block weights.Table
		block.Fused([]string{from + "attention.self.query", from + "attention.self.key", from + "attention.self.value"},
			to+"attention/qkv", d, d, true)
		block.Dense(from+"attention.output.dense", to+"attention/out", d, d)
		block.Norm(from+"attention.output.LayerNorm", to+"norm1", d)
		block.Dense(from+"intermediate.dense", to+"mlp/fc1", f, d)
		block.Dense(from+"output.dense", to+"mlp/fc2", d, f)
		block.Norm(from+"output.LayerNorm", to+"norm2", d)
		if i >= c.used() {
			weights.Unload(block)
		}
		t = append(t, block...)
	}
	var last weights.Table // of the last block, not used with a transformation before
	last.Dense("transformation", "transformation", c.ProjectDim, d)
	if c.PreTransformation {
		weights.Unload(last)
		t.Norm("pre_LN", "prenorm", d)
		t.Dense("transformation_pre", "transformation", c.ProjectDim, d)
	}
	return append(t, last...)
}

func (c *AltTextConfig) context(scope *model.Scope, in []*Node, o GraphOptions) *Node {
	return ForwardAltText(scope, c, AltTextInputs{IDs: in[0], Positions: in[1], Own: in[2]}, o).Context
}

// inputs count positions as XLM-R does: from pad_token_id + 1, padding excepted, which has the row pad_token_id
// wherever it occurs.
func (c *AltTextConfig) inputs(t tokens) []*tensors.Tensor {
	n := len(t.ids)
	positions, own := make([]int32, n), make([]int32, n)
	next := int32(c.PadToken)
	for i, id := range t.ids {
		positions[i] = int32(c.PadToken)
		if id != int32(c.PadToken) {
			next++
			positions[i] = next
		}
		if i >= t.from && i < t.to {
			own[i] = 1
		}
	}
	row := func(flat []int32) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(flat, 1, n) }
	return []*tensors.Tensor{row(slices.Clone(t.ids)), row(positions), row(own)}
}
