package sam2

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/weights"
)

// TestParseConfig: folders may leave out what has Sam2Config's own value. The four published sizes are accepted.
func TestParseConfig(t *testing.T) {
	tiny, small, plus, large := DefaultConfig(), DefaultConfig(), DefaultConfig(), DefaultConfig()
	small.Hiera.Blocks, small.Hiera.GlobalBlocks = []int{1, 2, 11, 2}, []int{7, 10, 13}
	plus.Hiera.HiddenSize, plus.Hiera.Background, plus.Hiera.Blocks = 112, [2]int{14, 14}, []int{2, 3, 16, 3}
	plus.Hiera.Widths, plus.Hiera.Heads = []int{112, 224, 448, 896}, []int{2, 4, 8, 16}
	plus.Hiera.GlobalBlocks, plus.Vision.Channels = []int{12, 16, 20}, []int{896, 448, 224, 112}
	large.Hiera.HiddenSize, large.Hiera.Blocks, large.Hiera.Windows = 144, []int{2, 6, 36, 4}, []int{8, 4, 16, 8}
	large.Hiera.Widths, large.Hiera.Heads = []int{144, 288, 576, 1152}, []int{2, 4, 8, 16}
	large.Hiera.GlobalBlocks, large.Vision.Channels = []int{23, 33, 43}, []int{1152, 576, 288, 144}
	for text, want := range map[string]Config{
		`{"model_type": "sam2"}`: tiny,
		`{"model_type": "sam2_video", "image_size": 1024, "vision_config": {"backbone_config": null},
			"mask_decoder_config": {"hidden_act": "gelu"}, "prompt_encoder_config": {"image_size": [1024, 1024]}}`: tiny,
		`{"model_type": "sam2_video", "vision_config": {"backbone_config": {"blocks_per_stage": [1, 2, 11, 2],
			"global_attention_blocks": [7, 10, 13]}}}`: small,
		`{"model_type": "sam2_video", "vision_config": {"backbone_channel_list": [896, 448, 224, 112],
			"backbone_config": {"hidden_size": 112, "num_attention_heads": 2, "blocks_per_stage": [2, 3, 16, 3],
			"embed_dim_per_stage": [112, 224, 448, 896], "num_attention_heads_per_stage": [2, 4, 8, 16],
			"window_size_per_stage": [8, 4, 14, 7], "global_attention_blocks": [12, 16, 20],
			"window_positional_embedding_background_size": [14, 14]}}}`: plus,
		`{"model_type": "sam2_video", "vision_config": {"backbone_channel_list": [1152, 576, 288, 144],
			"backbone_config": {"hidden_size": 144, "num_attention_heads": 2, "blocks_per_stage": [2, 6, 36, 4],
			"embed_dim_per_stage": [144, 288, 576, 1152], "num_attention_heads_per_stage": [2, 4, 8, 16],
			"window_size_per_stage": [8, 4, 16, 8], "global_attention_blocks": [23, 33, 43]}}}`: large,
	} {
		if got, err := ParseConfig([]byte(text)); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	h := &tiny.Hiera
	if tiny.LogitSide() != 256 || h.window(0, 0, true) != 8 || h.window(1, 1, true) != 8 ||
		h.window(1, 2, false) != 4 ||
		h.window(2, 3, true) != 4 || h.window(2, 4, false) != 14 || h.window(2, 5, false) != 0 ||
		h.window(3, 10, true) != 14 || h.window(3, 11, false) != 7 {
		t.Errorf("logits of side %d, or windows", tiny.LogitSide())
	}
}

// spoiled copies a golden folder, with one key of config.json changed where key is not "".
func spoiled(t *testing.T, golden, key string, value any) string {
	t.Helper()
	dir := modeltest.Computed(t, filepath.Join("testdata", golden))
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
	const v, d, p = "vision_config/", "mask_decoder_config/", "prompt_encoder_config/"
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"model_type", "sam", `model_type "sam" is not a Sam2Model (sam2, sam2_video)`},
		{"model_type", nil, `has no "model_type"`},
		{"vision_config", "base", "vision_config: json"},
		{v + "backbone_config", 3, "backbone_config: json"},
		{v + "fpn_hidden_size", 32, "vision_config: fpn_hidden_size 32 must be mask_decoder_config's hidden_size 16"},
		{v + "fpn_kernel_size", 3, "fpn_kernel_size 3, fpn_stride 1, fpn_padding 0: only"},
		{v + "num_feature_levels", 4, "num_feature_levels 4, with 3 sizes: only 3 levels"},
		{v + "backbone_channel_list", []int{8, 12, 16, 24}, "is not embed_dim_per_stage backwards, [24 16 12 8]"},
		{v + "backbone_feature_sizes", [][]int{{16, 16}, {8, 8}}, "backbone_feature_sizes [[16 16] [8 8]] are not"},
		{v + "backbone_feature_sizes", [][]int{{16, 16}, {8, 8}, {4, 5}}, "are not those of an image_size of 64"},
		{v + "backbone_feature_sizes", [][]int{}, "num_feature_levels 3, with 0 sizes"},
		{p + "image_size", 32, "backbone_feature_sizes [[16 16] [8 8] [4 4]] are not those of an image_size of 32"},
		{p + "image_size", 72, "image_size 72 must be a multiple of 32"},
		{p + "image_size", []int{64, 32}, "[64,32] is neither a whole number nor two that are equal"},
		{p + "image_size", 0, "image_size 0 is not between"},
		{p + "num_point_embeddings", 5, "hidden_size 16, patch_size 16, num_point_embeddings 5 do"},
		{p + "hidden_size", 32, "prompt_encoder_config: hidden_size 32, patch_size"},
		{p + "patch_size", 8, "hidden_size 16, patch_size 8, num"},
		{d + "hidden_size", 20, "mask_decoder_config: hidden_size 20 is not divisible by 8"},
		{d + "num_attention_heads", 16, "hidden_size 16, halved, is not divisible by num_attention_heads 16"},
		{d + "attention_downsample_rate", 4, "attention_downsample_rate 4 is not 2"},
		{d + "num_multimask_outputs", 2, `tensor "mask_decoder.mask_tokens.weight" has shape [4 16]`},
		{d + "num_multimask_outputs", 0, "num_multimask_outputs 0 is not between 1"},
		{d + "iou_head_depth", 4, "2 tensors missing: mask_decoder.iou_prediction_head.layers.1."},
		{d + "num_hidden_layers", 3, "tensors missing: mask_decoder.transformer.layers."},
		{d + "num_hidden_layers", 1, "tensors the model does not use: mask_decoder.transformer.layers.1."},
		{d + "mlp_dim", 41, `"mask_decoder.transformer.layers.0.mlp.proj_in.weight"`},
		{d + "dynamic_multimask_stability_thresh", 1.5, "_delta 0.05 and …_thresh 1.5 are no"},
		{d + "dynamic_multimask_stability_delta", -1, "dynamic_multimask_stability_delta -1 and"},
		{d + "dynamic_multimask_via_stability", "yes", "mask_decoder_config: json"},
	} {
		refused(t, spoiled(t, "windows", c.key, c.value), c.key, c.want)
	}
}

func TestOpenRefusesBackbones(t *testing.T) {
	text, err := os.ReadFile("testdata/windows/config.json")
	var config struct {
		Vision struct {
			Backbone map[string]any `json:"backbone_config"`
		} `json:"vision_config"`
	}
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	if err != nil {
		t.Fatal(err)
	}
	four := func(a, b, c, d int) []int { return []int{a, b, c, d} }
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"blocks_per_stage", []int{1, 2, 3}, "blocks_per_stage [1 2 3]: only backbones of 4 stages"},
		{"blocks_per_stage", four(1, 2, 0, 1), "blocks_per_stage 0 is not between"},
		{"blocks_per_stage", four(1, 2, 4, 2), "global_attention_blocks [4 7]: block 7 starts a stage"},
		{"blocks_per_stage", four(1, 2, 3, 1), "global_attention_blocks [4 7]: the blocks are 0 to 6"},
		{"blocks_per_stage", four(1, 2, 3, 3), "tensors missing: vision_encoder.backbone.blocks.8."},
		{"embed_dim_per_stage", four(8, 12, 12, 24), "embed_dim_per_stage [8 12 12 24]: a stage must differ"},
		{"embed_dim_per_stage", four(8, 12, 15, 24), "not divisible by num_attention_heads_per_stage [1 2 2 4]"},
		{"embed_dim_per_stage", four(6, 12, 16, 24), "hidden_size 8 must be the first of embed_dim_per_stage"},
		{"embed_dim_per_stage", four(8, 12, 18, 24), "vision_config: backbone_channel_list [24 16 12 8] is not"},
		{"num_attention_heads_per_stage", four(1, 2, 2, 0), "num_attention_heads_per_stage 0 is not between"},
		{"window_size_per_stage", four(8, 3, 6, 3), "window_size_per_stage [8 3 6 3]: windows must be even"},
		{"window_size_per_stage", four(6, 2, 6, 3), "image_size 64 must be a multiple of 32 and of 4 times the first"},
		{"window_size_per_stage", four(4, 2, 6, 3), `pos_embed_window" has shape [1 8 8 8]`},
		{"window_positional_embedding_background_size", []int{7, 6}, `pos_embed" has shape [1 8 7 7]`},
		{"window_positional_embedding_background_size", []int{7, 0}, "background_size 0 is not between"},
		{"global_attention_blocks", []int{8}, "global_attention_blocks [8]: the blocks are 0 to 7"},
		{"num_query_pool_stages", 2, "3, 2, 2: only 7, 4, 3, 2, 3 are supported"},
		{"query_stride", []int{2, 1}, "[2,1] is neither"},
		{"patch_kernel_size", []int{5, 5}, "num_query_pool_stages 5, 4, 3, 2, 3: only"},
		{"num_channels", 1, "only models of 3-channel"},
		{"mlp_ratio", 3, `blocks.0.mlp.proj_in.weight" has shape [16 8], the configuration requires [24 8]`},
		{"mlp_ratio", 0, "mlp_ratio 0 is not a positive number"},
		{"hidden_act", "wow", `backbone_config: hidden_act: activation "wow" is not known`},
		{"layer_norm_eps", 0, "layer_norm_eps 0 is not a positive number"},
	} {
		backbone := maps.Clone(config.Vision.Backbone)
		backbone[c.key] = c.value
		dir := spoiled(t, "windows", "vision_config/backbone_config", backbone)
		refused(t, dir, c.key, c.want)
	}
}

func TestOpenRefusesFiles(t *testing.T) {
	write := func(name, text string) string {
		dir := spoiled(t, "windows", "", nil)
		modeltest.Write(t, filepath.Join(dir, name), text)
		return dir
	}
	const pre = "preprocessor_config.json"
	refused(t, write("config.json", "{"), "broken config", "not readable as JSON")
	refused(t, write(pre, "["), "broken preprocessing", "preprocessor_config.json: not readable")
	refused(t, write(pre, `{}`), "another size", "gives 1024×1024 pixels (width×height), the model takes 64×64")
	refused(t, write(pre, `{"size": {"longest_edge": 64}, "do_pad": true, "pad_size": {"height": 64, "width": 64}}`),
		"padded", "must stretch an image to the model's size")
	refused(t, write(pre, `{"image_std": [0, 1, 1], "size": {"height": 64, "width": 64}}`), "deviation", "image_std")
	refused(t, write("model.safetensors", "short"), "broken weights", "model.safetensors")
	for name, want := range map[string]string{"model.safetensors": "holds no weights", "config.json": "config.json"} {
		dir := spoiled(t, "windows", "", nil)
		os.Remove(filepath.Join(dir, name))
		refused(t, dir, "no "+name, want)
	}
	dir := spoiled(t, "windows", "", nil)
	os.Remove(filepath.Join(dir, pre))
	m, err := Open(dir)
	if err != nil || m.Preprocess().Height != 64 || m.Preprocess().Source != "default of Sam2ImageProcessor" {
		t.Errorf("without %s: %v", pre, err)
	}
}

// TestOpenTensors: names that a checkpoint may have, and may lack.
func TestOpenTensors(t *testing.T) {
	const first, second = "shared_image_embedding.positional_embedding",
		"prompt_encoder.shared_embedding.positional_embedding"
	changed := func(golden string, change func([]weights.Tensor) []weights.Tensor) string {
		dir := spoiled(t, golden, "", nil)
		modeltest.Save(t, dir, change(modeltest.Tensors(t, dir)))
		return dir
	}
	without := func(part string) string {
		return changed("video", func(list []weights.Tensor) []weights.Tensor {
			return slices.DeleteFunc(list, func(t weights.Tensor) bool { return strings.Contains(t.Name, part) })
		})
	}
	copied := func(change float32) string {
		return changed("windows", func(list []weights.Tensor) []weights.Tensor {
			i := slices.IndexFunc(list, func(t weights.Tensor) bool { return t.Name == first })
			other := weights.Tensor{Name: second, Shape: list[i].Shape, Data: slices.Clone(list[i].Data)}
			other.Data[5] += change
			return append(list, other)
		})
	}
	named := func(name string) string {
		return changed("windows", func(list []weights.Tensor) []weights.Tensor {
			return append(list, weights.Tensor{Name: name, Shape: []int{1}, Data: []float32{1}})
		})
	}
	for what, dir := range map[string]string{"both": copied(0), "no masks as prompts": without("encoder.mask_embed"),
		"no memory": without("memory_encoder"), "a memory": named("memory_encoder.projection.bias")} {
		if _, err := Open(dir); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused(t, copied(1), "two encodings", "differ, and should be one")
	refused(t, without(first), "no encoding", "1 tensor missing: "+first)
	refused(t, without("not_a_point"), "no third embedding", "missing: prompt_encoder.not_a_point_embed.weight")
	refused(t, without("no_memory_embedding"), "no memory", "1 tensor missing: no_memory_embedding")
	refused(t, without("blocks.2.proj.bias"), "no skip", "1 tensor missing: vision_encoder.backbone.blocks.2.proj.bias")
	refused(t, without("mlps.3.proj_in.bias"), "another mask", "output_hypernetworks_mlps.3.proj_in.bias")
	refused(t, without("pred_obj_score_head.layers.0.bias"), "no score", "1 tensor missing: mask_decoder.pred_obj")
	for _, name := range []string{"extra", "memory", "vision_encoder.memory_encoder.bias", "mask_decoder.conv_s2"} {
		refused(t, named(name), "one more", "1 tensor the model does not use: "+name)
	}
}
