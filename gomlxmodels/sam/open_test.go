package sam

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/weights"
)

// TestParseConfig: the hub's folders leave out what has SamConfig's own value.
func TestParseConfig(t *testing.T) {
	base := DefaultConfig()
	huge := DefaultConfig()
	huge.Vision.Transformer = hub.Transformer{HiddenSize: 1280, IntermediateSize: 5120, Layers: 32, Heads: 16,
		HiddenAct: "gelu", LayerNormEps: 1e-6}
	huge.Vision.GlobalBlocks = []int{7, 15, 23, 31}
	for text, want := range map[string]Config{
		`{"model_type": "sam"}`: base,
		`{"model_type": "sam", "vision_config": null, "mask_decoder_config": {}, "prompt_encoder_config": {}}`: base,
		`{"model_type": "sam", "vision_config": {"hidden_size": 1280, "intermediate_size": 6144, "mlp_dim": null,
			"num_hidden_layers": 32, "num_attention_heads": 16, "global_attn_indexes": [7, 15, 23, 31]}}`: huge,
	} {
		if got, err := ParseConfig([]byte(text)); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	if base.LogitSide() != 256 || base.Vision.window(2) != 64 || base.Vision.window(3) != 14 {
		t.Errorf("logits of side %d", base.LogitSide())
	}
}

// spoiled copies the golden folder "windows", with one key of config.json changed where key is not "".
func spoiled(t *testing.T, key string, value any) string {
	t.Helper()
	dir := modeltest.CopyOf(t, "windows")
	if key != "" {
		changes := map[string]any{key: value}
		if part, inner, is := strings.Cut(key, "/"); is {
			changes = map[string]any{part: map[string]any{inner: value}}
		}
		modeltest.Edit(t, filepath.Join(dir, "config.json"), changes)
	}
	return dir
}

func refused(t *testing.T, dir, what, want string) {
	t.Helper()
	_, err := Open(dir)
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") ||
		!strings.Contains(err.Error(), dir) {
		t.Errorf("%s: %v, want one line with the folder and %q", what, err, want)
	}
}

func TestOpenRefusesConfigurations(t *testing.T) {
	if _, err := Open(spoiled(t, "", nil)); err != nil {
		t.Fatal(err)
	}
	const v, d, p = "vision_config/", "mask_decoder_config/", "prompt_encoder_config/"
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"model_type", "sam2", `model_type "sam2" is not a SamModel (sam)`},
		{"model_type", nil, `has no "model_type"`},
		{"vision_config", "base", "vision_config: json"},
		{v + "hidden_size", 25, "vision_config: hidden_size 25 not divisible by num_attention_heads 3"},
		{v + "hidden_size", 27, `pos_embed" has shape [1 8 8 24], the configuration requires [1 8 8 27]`},
		{v + "num_hidden_layers", 4, "tensors missing: vision_encoder.layers.3."},
		{v + "num_hidden_layers", 2, "tensors the model does not use: vision_encoder.layers.2."},
		{v + "mlp_dim", 95, `mlp.lin1.weight" has shape [96 24], the configuration requires [95 24]`},
		{v + "mlp_dim", 0, "vision_config: intermediate_size 0 is not between"},
		{v + "qkv_bias", false, "tensors the model does not use: vision_encoder.layers.0.attn.qkv.bias"},
		{v + "window_size", 4, `attn.rel_pos_h" has shape [5 8], the configuration requires [7 8]`},
		{v + "window_size", 0, "vision_config: window_size 0 is not between"},
		{v + "global_attn_indexes", []int{2}, `attn.rel_pos_h" has shape [15 8], the configuration requires [5 8]`},
		{v + "global_attn_indexes", []int{3}, "global_attn_indexes [3]: the blocks are 0 to 2"},
		{v + "use_rel_pos", false, "use_abs_pos true, use_rel_pos false: only"},
		{v + "use_abs_pos", false, "use_abs_pos false, use_rel_pos true: only"},
		{v + "num_channels", 1, "only models of 3-channel"},
		{v + "image_size", 49, "image_size 49 is not 1 to 128 times patch_size 6"},
		{v + "image_size", []int{48, 48}, "vision_config: json"},
		{v + "image_size", 54, "do not fit the other parts"},
		{v + "output_channels", 32, "output_channels 32 and twice num_pos_feats, 24, must be"},
		{v + "num_pos_feats", 16, "output_channels 24 and twice num_pos_feats, 32, must be"},
		{v + "hidden_act", "wow", `activation "wow" is not known`},
		{v + "layer_norm_eps", 0, "layer_norm_eps 0 is not a positive number"},
		{d + "hidden_size", 20, "mask_decoder_config: hidden_size 20 is not divisible by 8"},
		{d + "hidden_size", 32, "must be mask_decoder_config's hidden_size 32"},
		{d + "num_attention_heads", 8, "hidden_size 24, halved, is not divisible by num_attention_heads 8"},
		{d + "attention_downsample_rate", 4, "attention_downsample_rate 4 is not 2"},
		{d + "num_multimask_outputs", 2, `tensor "mask_decoder.mask_tokens.weight" has shape [4 24]`},
		{d + "iou_head_depth", 1, "iou_head_depth 1 is not between"},
		{d + "iou_head_depth", 4, "2 tensors missing: mask_decoder.iou_prediction_head.layers.1."},
		{d + "num_hidden_layers", 3, "tensors missing: mask_decoder.transformer.layers.2."},
		{d + "mlp_dim", 41, `"mask_decoder.transformer.layers.0.mlp.lin1.weight"`},
		{p + "num_point_embeddings", 5, "prompt_encoder_config: hidden_size, image_size"},
		{p + "hidden_size", 32, "prompt_encoder_config: hidden_size, image_size"},
	} {
		refused(t, spoiled(t, c.key, c.value), c.key, c.want)
	}
}

func TestOpenRefusesFiles(t *testing.T) {
	write := func(name, text string) string {
		dir := spoiled(t, "", nil)
		modeltest.Write(t, filepath.Join(dir, name), text)
		return dir
	}
	const pre = "preprocessor_config.json"
	refused(t, write("config.json", "{"), "broken config", "not readable as JSON")
	refused(t, write(pre, "["), "broken preprocessing", "preprocessor_config.json: not readable")
	refused(t, write(pre, `{}`), "another size", "gives 1024×1024 pixels (width×height), the model takes 48×48")
	refused(t, write(pre, `{"size": {"height": 48, "width": 48}}`), "stretched", "must keep an image's shape")
	refused(t, write(pre, `{"size": {"longest_edge": 60}, "pad_size": {"height": 48, "width": 48}}`), "larger",
		"longest_edge 60 must be between 1 and the sides of pad_size, 48×48")
	refused(t, write(pre, `{"size": {"longest_edge": 48}, "do_pad": false}`), "no padding", "without do_pad")
	refused(t, write(pre, `{"image_std": [0, 1, 1], "size": {"longest_edge": 48},
		"pad_size": {"height": 48, "width": 48}}`), "deviation", "image_std")
	refused(t, write("model.safetensors", "short"), "broken weights", "model.safetensors")
	for name, want := range map[string]string{"model.safetensors": "holds no weights", "config.json": "config.json"} {
		dir := spoiled(t, "", nil)
		os.Remove(filepath.Join(dir, name))
		refused(t, dir, "no "+name, want)
	}
	dir := modeltest.CopyOf(t, "bf16-shards")
	os.Remove(filepath.Join(dir, "model-00002-of-00002.safetensors"))
	refused(t, dir, "a shard", "model-00002-of-00002.safetensors")
	dir = spoiled(t, "", nil)
	os.Remove(filepath.Join(dir, pre))
	m, err := Open(dir)
	if err != nil || m.Preprocess().Edge != 48 || m.Preprocess().Source != "default of SamImageProcessor" {
		t.Errorf("without %s: %v", pre, err)
	}
}

// TestOpenTensors: names that a checkpoint may have, and may lack.
func TestOpenTensors(t *testing.T) {
	const first, second = "shared_image_embedding.positional_embedding",
		"prompt_encoder.shared_embedding.positional_embedding"
	changed := func(change func([]weights.Tensor) []weights.Tensor) string {
		dir := spoiled(t, "", nil)
		modeltest.Save(t, dir, change(modeltest.Tensors(t, dir)))
		return dir
	}
	without := func(part string) string {
		return changed(func(list []weights.Tensor) []weights.Tensor {
			return slices.DeleteFunc(list, func(t weights.Tensor) bool { return strings.Contains(t.Name, part) })
		})
	}
	copied := func(change float32, keep bool) string {
		return changed(func(list []weights.Tensor) []weights.Tensor {
			i := slices.IndexFunc(list, func(t weights.Tensor) bool { return t.Name == first })
			other := weights.Tensor{Name: second, Shape: list[i].Shape, Data: slices.Clone(list[i].Data)}
			if other.Data[5] += change; keep {
				return append(list, other)
			}
			list[i] = other
			return list
		})
	}
	for what, dir := range map[string]string{"both": copied(0, true), "the second": copied(0, false),
		"no masks as prompts": without("encoder.mask_embed"), "no points": without("not_a_point")} {
		if _, err := Open(dir); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused(t, copied(1, true), "two encodings", "differ, and should be one")
	refused(t, without(first), "no encoding", "1 tensor missing: "+first)
	refused(t, without("point_embed.2"), "no corner", "1 tensor missing: prompt_encoder.point_embed.2.weight")
	refused(t, without("mlps.3.proj_in.bias"), "another mask", "output_hypernetworks_mlps.3.proj_in.bias")
	refused(t, without("neck.conv2"), "no neck", "1 tensor missing: vision_encoder.neck.conv2.weight")
	refused(t, changed(func(list []weights.Tensor) []weights.Tensor {
		return append(list, weights.Tensor{Name: "extra", Shape: []int{1}, Data: []float32{1}})
	}), "one more", "1 tensor the model does not use: extra")
}
