package diffusion

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/weights"
)

// textTower is the text tower of a pipeline: what makes the UNet's context of a prompt.
type textTower interface {
	vocabulary() int // how many ids there are
	longest() int    // the most tokens it has positions for
	width() int      // of the context
	// table is the whole correspondence between the checkpoint and the variables of the graph.
	table(set *weights.Set) []weights.Rule
	// complete returns the store, filled by the table, what no checkpoint holds.
	complete(store *model.Store, dtype dtypes.DType) error
	// context is the graph.
	//
	// Shapes: in, see inputs, of one text → [1,S,D] float32.
	context(scope *model.Scope, in []*Node, o GraphOptions) *Node
	inputs(t tokens) []*tensors.Tensor
}

// tokens is a text as ids, filled up to the length that all texts of a model have. The text's own are ids[from:to].
type tokens struct {
	ids      []int32
	from, to int
}

// clipText is the CLIPTextModel of a StableDiffusionPipeline; only the field Text of the configuration means something.
type clipText struct{ *clip.Config }

// ParseTextConfig reads the config.json of a CLIPTextModel and validates it.
func ParseTextConfig(text []byte) (*clip.Config, error) {
	var f struct {
		ModelType     string `json:"model_type"`
		AttentionMask bool   `json:"use_attention_mask"`
	}
	c := clip.DefaultConfig()
	c.ProjectionDim = 1 // see complete
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

// ForwardText is the text tower of Stable Diffusion: what the UNet attends to. All tokens count, padding too. It
// panics on a mistake in shapes.
//
// Shapes: ids [B,S] int, S ≤ max_position_embeddings → [clip.Outputs], of which Tokens [B,S,D] is the context.
func ForwardText(scope *model.Scope, c *clip.Config, ids *Node, o GraphOptions) clip.Outputs {
	// The projection's variable is named first: GoMLX's Go backend takes no input that comes after the outputs.
	nn.Param(scope.At("text").At("projection"), ids.Graph(), "weights", o.dtype(), c.ProjectionDim, c.Text.HiddenSize)
	return clip.ForwardText(scope, c, ids, clip.GraphOptions{Tokens: true, DType: o.DType})
}

func (c clipText) vocabulary() int { return c.Text.VocabSize }
func (c clipText) longest() int    { return c.Text.Context }
func (c clipText) width() int      { return c.Text.HiddenSize }

// table is that of package clip without the tower's projection, which a CLIPTextModel has not and nothing here reads.
// Transformers 5 leaves "text_model." out of the names.
func (c clipText) table(set *weights.Set) []weights.Rule {
	rules := c.rules()
	if !set.Has("text_model.final_layer_norm.weight") {
		for i := range rules {
			rules[i].Tensor = strings.TrimPrefix(rules[i].Tensor, "text_model.")
		}
	}
	return rules
}

// rules are those of a tower whose tensors' names begin with "text_model.".
func (c clipText) rules() []weights.Rule {
	rules := clip.TextRules(c.Config, "")
	return rules[:len(rules)-1]
}

// complete returns the tower a projection of zeros, which the graph of package clip names and the compiler drops.
func (c clipText) complete(store *model.Store, dtype dtypes.DType) error {
	zeros := tensors.FromShape(shapes.Make(dtype, c.ProjectionDim, c.Text.HiddenSize))
	_, err := store.Scope("/text/projection").CreateVariable("weights", zeros)
	return err
}

func (c clipText) context(scope *model.Scope, in []*Node, o GraphOptions) *Node {
	return ForwardText(scope, c.Config, in[0], o).Tokens
}

func (c clipText) inputs(t tokens) []*tensors.Tensor {
	return []*tensors.Tensor{tensors.FromFlatDataAndDimensions(slices.Clone(t.ids), 1, len(t.ids))}
}
