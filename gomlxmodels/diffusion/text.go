package diffusion

import (
	"encoding/json"
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/weights"
)

// ParseTextConfig reads the config.json of a CLIPTextModel and validates it.
func ParseTextConfig(text []byte) (*clip.Config, error) {
	var f struct {
		ModelType     string `json:"model_type"`
		AttentionMask bool   `json:"use_attention_mask"`
	}
	c := clip.DefaultConfig()
	c.ProjectionDim = 1 // see textTable
	c.Text.EndToken = 2 // what folders without the key were trained under
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("not readable as JSON: %w", err)
	}
	switch {
	case f.ModelType != "clip_text_model":
		return nil, fmt.Errorf("model_type %q is not a CLIPTextModel (clip_text_model)", f.ModelType)
	case f.AttentionMask:
		return nil, fmt.Errorf("use_attention_mask true is not supported")
	}
	if err := json.Unmarshal(text, &c.Text); err != nil {
		return nil, fmt.Errorf("not readable: %w", err)
	}
	return &c, c.Validate()
}

// ForwardText is the text tower: what the UNet attends to. All tokens count, padding too. It panics on a mistake in shapes.
//
// Shapes: ids [B,S] int, S ≤ max_position_embeddings → [clip.Outputs], of which Tokens [B,S,D] is the context.
func ForwardText(scope *model.Scope, c *clip.Config, ids *Node, o GraphOptions) clip.Outputs {
	// The projection's variable is named first: GoMLX's Go backend takes no input that comes after the outputs.
	nn.Param(scope.At("text").At("projection"), ids.Graph(), "weights", o.dtype(), c.ProjectionDim, c.Text.HiddenSize)
	return clip.ForwardText(scope, c, ids, clip.GraphOptions{Stages: true, DType: o.DType})
}

// textTable is the whole correspondence between the checkpoint of a CLIPTextModel and the variables of package clip's text tower.
// Tensors' names begin with a prefix, "text_model." before transformers 5. The tower's projection, which a CLIPTextModel has not and
// nothing here reads, is left to [loadText].
func textTable(c *clip.Config, prefix string) []weights.Rule {
	var t rules
	d := c.Text.HiddenSize
	t.as(prefix+"embeddings.token_embedding.weight", "text.tokens.words", nil, c.Text.VocabSize, d)
	t.as(prefix+"embeddings.position_embedding.weight", "text.tokens.positions", nil, c.Text.Context, d)
	t = append(t, weights.Rule{Tensor: prefix + "embeddings.position_ids"})
	norm := func(from, to string) {
		t.as(from+".weight", to+".gain", nil, d)
		t.as(from+".bias", to+".offset", nil, d)
	}
	for i := range c.Text.Layers {
		from, to := fmt.Sprintf("%sencoder.layers.%d", prefix, i), fmt.Sprintf("text/block_%d", i)
		var block rules
		block.fused(from+".self_attn", []string{"q_proj", "k_proj", "v_proj"}, "qkv", d, d, true)
		for _, r := range block {
			r.Variable = to + "/attention/qkv" + r.Variable[len(from)+len(".self_attn.qkv"):]
			t = append(t, r)
		}
		t.dense(from+".self_attn.out_proj", to+"/attention/out", d, d)
		t.dense(from+".mlp.fc1", to+"/mlp/fc1", c.Text.IntermediateSize, d)
		t.dense(from+".mlp.fc2", to+"/mlp/fc2", d, c.Text.IntermediateSize)
		norm(from+".layer_norm1", to+"/norm1")
		norm(from+".layer_norm2", to+"/norm2")
	}
	norm(prefix+"final_layer_norm", "text.norm")
	return t
}

// loadText gives the tower's store a projection of zeros, which the graph of package clip names and the compiler drops.
func loadText(store *model.Store, c *clip.Config, dtype dtypes.DType) error {
	zeros := tensors.FromShape(shapes.Make(dtype, c.ProjectionDim, c.Text.HiddenSize))
	_, err := store.Scope("/text/projection").CreateVariable("weights", zeros)
	return err
}
