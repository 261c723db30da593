package sam2

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/sam"
	"antipode/gomlxmodels/weights"
)

// part is one of the graphs a model is run as.
type part int

const (
	imagePart part = iota
	masksPart
	parts
)

// points is the number of embeddings of points: background, object, a box's first corner and its second.
const points = 4

// videoTensors begin the names of what only videos need. Folders of Sam2VideoModel have them.
var videoTensors = []string{"memory_attention.", "memory_encoder.", "memory_temporal_positional_encoding",
	"mask_downsample.", "object_pointer_proj.", "temporal_positional_encoding_projection_layer.",
	"no_memory_positional_encoding", "no_object_pointer", "occlusion_spatial_embedding_parameter"}

// table is the whole correspondence between a checkpoint and the variables of the given parts. The tensors of the
// others are known and left alone, and without the fallback those of all masks but the first.
func table(cfg *Config, fallback bool, load ...part) []weights.Rule {
	var rules weights.Table
	for p, rest := range [parts]weights.Table{imageTable(cfg), masksTable(cfg, fallback)} {
		if !slices.Contains(load, part(p)) {
			weights.Unload(rest)
		}
		rules = append(rules, rest...)
	}
	return rules
}

// optional are tensors that a checkpoint may have: of prompts that are masks, and of videos.
func optional(cfg *Config, set *weights.Set) weights.Table {
	t := sam.OptionalPrompts(cfg.Decoder.HiddenSize)
	for _, name := range set.Names() {
		if slices.ContainsFunc(videoTensors, func(video string) bool { return strings.HasPrefix(name, video) }) {
			t.Skip(name)
		}
	}
	return t
}

// imageTable is the backbone, the pyramid and the two projections of its finer levels.
func imageTable(cfg *Config) weights.Table {
	var t weights.Table
	h, w := &cfg.Hiera, cfg.Vision.Width
	const from = "vision_encoder.backbone."
	t.As(from+"pos_embed", "positions", nil, 1, h.HiddenSize, h.Background[0], h.Background[1])
	t.As(from+"pos_embed_window", "window_positions", nil, 1, h.HiddenSize, h.Windows[0], h.Windows[0])
	t.As(from+"patch_embed.projection.weight", "patch/weights", nil, h.HiddenSize, 3, 7, 7)
	t.As(from+"patch_embed.projection.bias", "patch/bias", nil, h.HiddenSize)
	in, number := h.HiddenSize, 0
	for stage, blocks := range h.Blocks {
		d := h.Widths[stage]
		for range blocks {
			from, to := fmt.Sprintf("%sblocks.%d.", from, number), fmt.Sprintf("block_%d/", number)
			t.Norm(from+"layer_norm1", to+"norm1", in)
			t.Dense(from+"attn.qkv", to+"attention/qkv", 3*d, in)
			t.Dense(from+"attn.proj", to+"attention/out", d, d)
			t.Norm(from+"layer_norm2", to+"norm2", d)
			t.Dense(from+"mlp.proj_in", to+"mlp/fc1", h.hidden(stage), d)
			t.Dense(from+"mlp.proj_out", to+"mlp/fc2", d, h.hidden(stage))
			if in != d {
				t.Dense(from+"proj", to+"skip", d, in)
			}
			in = d
			number++
		}
	}
	flat := func(from, to string, out, in int) { // a 1×1 convolution
		t.As(from+".weight", to+"/weights", []int{out, in}, out, in, 1, 1)
		t.As(from+".bias", to+"/bias", nil, out)
	}
	for i := range stages {
		flat(fmt.Sprintf("vision_encoder.neck.convs.%d", stages-1-i), fmt.Sprintf("pyramid_%d", i), w, h.Widths[i])
	}
	t.As("no_memory_embedding", "no_memory", nil, 1, 1, w)
	flat("mask_decoder.conv_s0", "full", w/8, w)
	flat("mask_decoder.conv_s1", "half", w/4, w)
	return t
}

// masksTable is the prompt encoder and the mask decoder, as far as boxes need them.
func masksTable(cfg *Config, fallback bool) weights.Table {
	var t weights.Table
	c := &cfg.Decoder
	w := c.HiddenSize
	t.As("prompt_encoder.point_embed.weight", "prompt/points", nil, points, w)
	t.As("prompt_encoder.not_a_point_embed.weight", "prompt/no_point", nil, 1, w)
	t.As("prompt_encoder.no_mask_embed.weight", "prompt/no_mask", nil, 1, w)
	t.As("mask_decoder.obj_score_token.weight", "prompt/object", nil, 1, w)
	unused := len(t) // the score of whether there is an object
	for i, name := range sam.PerceptronLayers(3) {
		out := []int{w, w, 1}[i]
		t.Dense("mask_decoder.pred_obj_score_head."+name, "", out, w)
	}
	weights.Unload(t[unused:])
	masks := 1
	if fallback {
		masks += c.Masks
	}
	return append(t, c.Table(sam.TensorNames{Out: "o_proj", MLP: sam.PerceptronLayers(c.mlpLayers())}, masks)...)
}

// load reads a part's weights into an empty store. The encoding of places stays in float32 whatever the dtype.
func load(store *model.Store, set *weights.Set, cfg *Config, fallback bool, p part, dtype dtypes.DType) error {
	rules := append(table(cfg, fallback, p), optional(cfg, set)...)
	if err := weights.Load(store.RootScope(), set, rules, dtype); err != nil || p != masksPart {
		return err
	}
	return sam.LoadFrequencies(store, set, cfg.Decoder.HiddenSize)
}
