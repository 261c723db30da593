package sam

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
)

// part is one of the graphs a model is run as.
type part int

const (
	imagePart part = iota
	masksPart
	parts
)

// frequencies are the names of the one tensor that encodes places: a checkpoint has the first, the second or both.
var frequencies = []string{"shared_image_embedding.positional_embedding",
	"prompt_encoder.shared_embedding.positional_embedding"}

// table is the whole correspondence between a checkpoint and the variables of the given parts. The tensors of the
// others are known and left alone.
func table(cfg *Config, load ...part) []weights.Rule {
	var rules weights.Table
	for p, of := range [parts]func(*Config) []weights.Rule{imageTable, masksTable} {
		rest := of(cfg)
		if !slices.Contains(load, part(p)) {
			weights.Unload(rest)
		}
		rules = append(rules, rest...)
	}
	return rules
}

// optional are tensors that a checkpoint may have: besides [OptionalPrompts], points as prompts.
func optional(cfg *Config) weights.Table {
	t := OptionalPrompts(cfg.Decoder.HiddenSize)
	const from = "prompt_encoder."
	t.Skip(from+"point_embed.0.weight", from+"point_embed.1.weight", from+"not_a_point_embed.weight")
	return t
}

// OptionalPrompts are tensors that a checkpoint of SAM or SAM 2 may have: [ReadFrequencies] takes the first, the rest
// belongs to prompts that are masks. width is that of the prompts' embeddings.
func OptionalPrompts(width int) weights.Table {
	var t weights.Table
	for _, name := range frequencies {
		t = append(t, weights.Rule{Tensor: name, Shape: []int{2, width / 2}})
	}
	for _, layer := range []string{"conv1", "layer_norm1", "conv2", "layer_norm2", "conv3"} {
		const from = "prompt_encoder.mask_embed."
		t.Skip(from+layer+".weight", from+layer+".bias")
	}
	return t
}

func imageTable(cfg *Config) []weights.Rule {
	var t weights.Table
	c := &cfg.Vision
	d, out, grid, patch := c.HiddenSize, c.OutputChannels, c.Grid(), c.PatchSize
	const from = "vision_encoder."
	t.As(from+"pos_embed", "positions", nil, 1, grid, grid, d)
	t.As(from+"patch_embed.projection.weight", "patch/weights", []int{d, 3 * patch * patch}, d, 3, patch, patch)
	t.As(from+"patch_embed.projection.bias", "patch/bias", nil, d)
	for i := range c.Layers {
		from, to := fmt.Sprintf("%slayers.%d.", from, i), fmt.Sprintf("block_%d/", i)
		t.Norm(from+"layer_norm1", to+"norm1", d)
		t.Fused([]string{from + "attn.qkv"}, to+"attention/qkv", 3*d, d, c.QKVBias)
		t.Dense(from+"attn.proj", to+"attention/out", d, d)
		t.As(from+"attn.rel_pos_h", to+"attention/rows", nil, 2*c.window(i)-1, d/c.Heads)
		t.As(from+"attn.rel_pos_w", to+"attention/columns", nil, 2*c.window(i)-1, d/c.Heads)
		t.Norm(from+"layer_norm2", to+"norm2", d)
		t.Dense(from+"mlp.lin1", to+"mlp/fc1", c.IntermediateSize, d)
		t.Dense(from+"mlp.lin2", to+"mlp/fc2", d, c.IntermediateSize)
	}
	t.As(from+"neck.conv1.weight", "neck_conv1/weights", []int{out, d}, out, d, 1, 1)
	t.Norm(from+"neck.layer_norm1", "neck_norm1", out)
	t.As(from+"neck.conv2.weight", "neck_conv2/weights", []int{out, 9 * out}, out, out, 3, 3)
	t.Norm(from+"neck.layer_norm2", "neck_norm2", out)
	return t
}

// masksTable is the prompt encoder and the mask decoder, as far as boxes and the first mask need them.
func masksTable(cfg *Config) []weights.Rule {
	var t weights.Table
	c := &cfg.Decoder
	w := c.HiddenSize
	for part, name := range []string{"2", "3"} {
		t = append(t, weights.Rule{Tensor: "prompt_encoder.point_embed." + name + ".weight",
			Variable: "prompt/corners", Shape: []int{1, w}, Part: part, Parts: 2})
	}
	t.As("prompt_encoder.no_mask_embed.weight", "prompt/no_mask", nil, 1, w)
	return append(t, c.Table(TensorNames{"out_proj", []string{"lin1", "lin2"}}, 1)...)
}

// mlpLayers is the number of dense layers in the perceptrons of SAM's two-way layers.
const mlpLayers = 2

// TensorNames are the names that differ between SamModel and Sam2Model.
type TensorNames struct {
	Out string   // the last projection of an attention
	MLP []string // the dense layers of a two-way layer's perceptron
}

// Table is the mask decoder, which SAM and SAM 2 share. Only so many masks of the first are loaded.
func (c *DecoderConfig) Table(names TensorNames, load int) []weights.Rule {
	var t weights.Table
	w, masks := c.HiddenSize, 1+c.Masks
	const from, to = "mask_decoder.", "decoder/"
	t.As(from+"iou_token.weight", "prompt/iou", nil, 1, w)
	t.As(from+"mask_tokens.weight", "prompt/masks", nil, masks, w)
	attention := func(from, to string, divide int) {
		for _, name := range []string{"q", "k", "v"} {
			t.Dense(from+name+"_proj", to+name, w/divide, w)
		}
		t.Dense(from+names.Out, to+"out", w, w/divide)
	}
	perceptron := func(from, to string, hidden, out int, layers []string) {
		for i, in := 0, w; i < len(layers); i++ {
			width := hidden
			if i == len(layers)-1 {
				width = out
			}
			t.Dense(from+layers[i], fmt.Sprintf("%s_%d", to, i), width, in)
			in = width
		}
	}
	for i := range c.Layers {
		from, to := fmt.Sprintf("%stransformer.layers.%d.", from, i), fmt.Sprintf("%slayer_%d/", to, i)
		attention(from+"self_attn.", to+"self/", 1)
		attention(from+"cross_attn_token_to_image.", to+"to_image/", downsample)
		attention(from+"cross_attn_image_to_token.", to+"to_tokens/", downsample)
		perceptron(from+"mlp.", to+"mlp", c.MLPDim, w, names.MLP)
		for k := range 4 {
			t.Norm(fmt.Sprintf("%slayer_norm%d", from, k+1), fmt.Sprintf("%snorm%d", to, k+1), w)
		}
	}
	attention(from+"transformer.final_attn_token_to_image.", to+"final/", downsample)
	t.Norm(from+"transformer.layer_norm_final_attn", to+"final_norm", w)
	t.As(from+"upscale_conv1.weight", to+"upscale_1/weights", []int{w, w / 4 * 4}, w, w/4, 2, 2)
	t.As(from+"upscale_conv1.bias", to+"upscale_1/bias", nil, w/4)
	t.Norm(from+"upscale_layer_norm", to+"upscale_norm", w/4)
	t.As(from+"upscale_conv2.weight", to+"upscale_2/weights", []int{w / 4, w / 8 * 4}, w/4, w/8, 2, 2)
	t.As(from+"upscale_conv2.bias", to+"upscale_2/bias", nil, w/8)
	for i := range masks {
		at := len(t)
		perceptron(fmt.Sprintf("%soutput_hypernetworks_mlps.%d.", from, i), fmt.Sprintf("%smask_%d", to, i), w, w/8,
			PerceptronLayers(3))
		if i >= load {
			weights.Unload(t[at:])
		}
	}
	perceptron(from+"iou_prediction_head.", to+"iou", c.IoUHidden, masks, PerceptronLayers(c.IoUDepth))
	return t
}

// PerceptronLayers are the names that the layers of a perceptron have in transformers.
func PerceptronLayers(n int) []string {
	names := []string{"proj_in"}
	for i := range n - 2 {
		names = append(names, fmt.Sprintf("layers.%d", i))
	}
	return append(names, "proj_out")
}

// load reads a part's weights into an empty store. The encoding of places stays in float32 whatever the dtype.
func load(store *model.Store, set *weights.Set, cfg *Config, p part, dtype dtypes.DType) error {
	rules := append(table(cfg, p), optional(cfg)...)
	if err := weights.Load(store.RootScope(), set, rules, dtype); err != nil || p != masksPart {
		return err
	}
	return LoadFrequencies(store, set, cfg.Decoder.HiddenSize)
}

// LoadFrequencies makes a variable of what encodes places, in float32, for embeddings of the given width.
func LoadFrequencies(store *model.Store, set *weights.Set, width int) error {
	values, err := ReadFrequencies(set)
	if err != nil {
		return err
	}
	value, err := weights.Value(values, []int{2, width / 2}, dtypes.Float32)
	if err != nil {
		return err
	}
	_, err = store.Scope("/prompt").CreateVariable("frequencies", value)
	return err
}

// ReadFrequencies reads the tensor that encodes places, which has one or two names; with two, the values must be
// equal.
func ReadFrequencies(set *weights.Set) (values []float32, err error) {
	for _, name := range frequencies {
		if !set.Has(name) {
			continue
		}
		more, err := set.Float32(name)
		if err != nil {
			return nil, err
		}
		if values != nil && !slices.Equal(values, more) {
			return nil, fmt.Errorf("%s: tensors %q and %q differ, and should be one", set.Dir(), frequencies[0],
				frequencies[1])
		}
		values = more
	}
	if values == nil {
		return nil, fmt.Errorf("%s: 1 tensor missing: %s", set.Dir(), frequencies[0])
	}
	return values, nil
}
