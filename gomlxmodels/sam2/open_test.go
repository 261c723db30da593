package sam2

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gomlx/compute"

	"antipode/internal/must"
	"antipode/test/modeltest"
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

func computed(t testing.TB, name string) string {
	t.Helper()
	return modeltest.Computed(t, filepath.Join("testdata", name))
}

// TestSuite: damaged folders are refused, names that a checkpoint may have and may lack, and what every network has.
func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{
		Folder: "windows",
		Copy:   computed,
		Open:   func(dir string) error { _, err := Open(dir); return err },
		Refuses: `
model_type="sam" => model_type "sam" is not a Sam2Model (sam2, sam2_video)
model_type=null => has no "model_type"
vision_config="base" => vision_config: json
vision_config/backbone_config=3 => backbone_config: json
vision_config/fpn_hidden_size=32 => vision_config: fpn_hidden_size 32 must be mask_decoder_config's hidden_size 16
vision_config/fpn_kernel_size=3 => fpn_kernel_size 3, fpn_stride 1, fpn_padding 0: only
vision_config/num_feature_levels=4 => num_feature_levels 4, with 3 sizes: only 3 levels
vision_config/backbone_channel_list=[8,12,16,24] => is not embed_dim_per_stage backwards, [24 16 12 8]
vision_config/backbone_feature_sizes=[[16,16],[8,8]] => backbone_feature_sizes [[16 16] [8 8]] are not
vision_config/backbone_feature_sizes=[[16,16],[8,8],[4,5]] => are not those of an image_size of 64
vision_config/backbone_feature_sizes=[] => num_feature_levels 3, with 0 sizes
prompt_encoder_config/image_size=32 => backbone_feature_sizes [[16 16] [8 8] [4 4]] are not those of an image_size of 32
prompt_encoder_config/image_size=72 => image_size 72 must be a multiple of 32
prompt_encoder_config/image_size=[64,32] => [64,32] is neither a whole number nor two that are equal
prompt_encoder_config/image_size=0 => image_size 0 is not between
prompt_encoder_config/num_point_embeddings=5 => hidden_size 16, patch_size 16, num_point_embeddings 5 do
prompt_encoder_config/hidden_size=32 => prompt_encoder_config: hidden_size 32, patch_size
prompt_encoder_config/patch_size=8 => hidden_size 16, patch_size 8, num
mask_decoder_config/hidden_size=20 => mask_decoder_config: hidden_size 20 is not divisible by 8
mask_decoder_config/num_attention_heads=16 => hidden_size 16, halved, is not divisible by num_attention_heads 16
mask_decoder_config/attention_downsample_rate=4 => attention_downsample_rate 4 is not 2
mask_decoder_config/num_multimask_outputs=2 => tensor "mask_decoder.mask_tokens.weight" has shape [4 16]
mask_decoder_config/num_multimask_outputs=0 => num_multimask_outputs 0 is not between 1
mask_decoder_config/iou_head_depth=4 => 2 tensors missing: mask_decoder.iou_prediction_head.layers.1.
mask_decoder_config/num_hidden_layers=3 => tensors missing: mask_decoder.transformer.layers.
mask_decoder_config/num_hidden_layers=1 => tensors the model does not use: mask_decoder.transformer.layers.1.
mask_decoder_config/mlp_dim=41 => "mask_decoder.transformer.layers.0.mlp.proj_in.weight"
mask_decoder_config/dynamic_multimask_stability_thresh=1.5 => _delta 0.05 and …_thresh 1.5 are no
mask_decoder_config/dynamic_multimask_stability_delta=-1 => dynamic_multimask_stability_delta -1 and
mask_decoder_config/dynamic_multimask_via_stability="yes" => mask_decoder_config: json
vision_config/backbone_config/blocks_per_stage=[1,2,3] => blocks_per_stage [1 2 3]: only backbones of 4 stages
vision_config/backbone_config/blocks_per_stage=[1,2,0,1] => blocks_per_stage 0 is not between
vision_config/backbone_config/blocks_per_stage=[1,2,4,2] => global_attention_blocks [4 7]: block 7 starts a stage
vision_config/backbone_config/blocks_per_stage=[1,2,3,1] => global_attention_blocks [4 7]: the blocks are 0 to 6
vision_config/backbone_config/blocks_per_stage=[1,2,3,3] => tensors missing: vision_encoder.backbone.blocks.8.
vision_config/backbone_config/embed_dim_per_stage=[8,12,12,24] => embed_dim_per_stage [8 12 12 24]: a stage must differ
vision_config/backbone_config/embed_dim_per_stage=[8,12,15,24] => not divisible by num_attention_heads_per_stage [1 2 2 4]
vision_config/backbone_config/embed_dim_per_stage=[6,12,16,24] => hidden_size 8 must be the first of embed_dim_per_stage
vision_config/backbone_config/embed_dim_per_stage=[8,12,18,24] => vision_config: backbone_channel_list [24 16 12 8] is not
vision_config/backbone_config/num_attention_heads_per_stage=[1,2,2,0] => num_attention_heads_per_stage 0 is not between
vision_config/backbone_config/window_size_per_stage=[8,3,6,3] => window_size_per_stage [8 3 6 3]: windows must be even
vision_config/backbone_config/window_size_per_stage=[6,2,6,3] => image_size 64 must be a multiple of 32 and of 4 times the first
vision_config/backbone_config/window_size_per_stage=[4,2,6,3] => pos_embed_window" has shape [1 8 8 8]
vision_config/backbone_config/window_positional_embedding_background_size=[7,6] => pos_embed" has shape [1 8 7 7]
vision_config/backbone_config/window_positional_embedding_background_size=[7,0] => background_size 0 is not between
vision_config/backbone_config/global_attention_blocks=[8] => global_attention_blocks [8]: the blocks are 0 to 7
vision_config/backbone_config/num_query_pool_stages=2 => 3, 2, 2: only 7, 4, 3, 2, 3 are supported
vision_config/backbone_config/query_stride=[2,1] => [2,1] is neither
vision_config/backbone_config/patch_kernel_size=[5,5] => num_query_pool_stages 5, 4, 3, 2, 3: only
vision_config/backbone_config/num_channels=1 => only models of 3-channel
vision_config/backbone_config/mlp_ratio=3 => blocks.0.mlp.proj_in.weight" has shape [16 8], the configuration requires [24 8]
vision_config/backbone_config/mlp_ratio=0 => mlp_ratio 0 is not a positive number
vision_config/backbone_config/hidden_act="wow" => backbone_config: hidden_act: activation "wow" is not known
vision_config/backbone_config/layer_norm_eps=0 => layer_norm_eps 0 is not a positive number
config.json<{ => not readable as JSON
preprocessor_config.json<[ => preprocessor_config.json: not readable
preprocessor_config.json<{} => gives 1024×1024 pixels (width×height), the model takes 64×64
preprocessor_config.json<{"size": {"longest_edge": 64}, "do_pad": true, "pad_size": {"height": 64, "width": 64}} => must stretch an image to the model's size
preprocessor_config.json<{"image_std": [0, 1, 1], "size": {"height": 64, "width": 64}} => image_std
model.safetensors<short => model.safetensors
rm model.safetensors => holds no weights
rm config.json => config.json
add extra => 1 tensor the model does not use: extra
add memory => 1 tensor the model does not use: memory
add vision_encoder.memory_encoder.bias => 1 tensor the model does not use: vision_encoder.memory_encoder.bias
add mask_decoder.conv_s2 => 1 tensor the model does not use: mask_decoder.conv_s2
@video
drop shared_image_embedding.positional_embedding => 1 tensor missing: shared_image_embedding.positional_embedding
drop not_a_point => missing: prompt_encoder.not_a_point_embed.weight
drop no_memory_embedding => 1 tensor missing: no_memory_embedding
drop blocks.2.proj.bias => 1 tensor missing: vision_encoder.backbone.blocks.2.proj.bias
drop mlps.3.proj_in.bias => output_hypernetworks_mlps.3.proj_in.bias
drop pred_obj_score_head.layers.0.bias => 1 tensor missing: mask_decoder.pred_obj`,
		Opens: `
add memory_encoder.projection.bias
@video
drop encoder.mask_embed
drop memory_encoder`,
		Goldens:   goldens,
		Reference: checkGolden,
		Optimized: func(t *testing.T, xla compute.Backend) { checkGolden(t, xla, "windows") },
	})
}

func TestWithoutPreprocessing(t *testing.T) {
	dir := computed(t, "windows")
	modeltest.Damage(t, dir, "rm preprocessor_config.json")
	m := must.Get(Open(dir))(t)
	must.Equal(t, m.Preprocess().Height, 64)
	must.Equal(t, m.Preprocess().Source, "default of Sam2ImageProcessor")
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}
