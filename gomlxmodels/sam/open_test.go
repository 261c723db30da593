package sam

import (
	"reflect"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/hub"
	"antipode/internal/must"
	"antipode/test/modeltest"
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

// TestSuite: damaged folders are refused, and what every network has. PyTorch's weights hold the frequencies under two
// names.
func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{
		Folder: "windows",
		Open:   func(dir string) error { _, err := Open(dir); return err },
		Refuses: `
model_type="sam2" => model_type "sam2" is not a SamModel (sam)
model_type=null => has no "model_type"
vision_config="base" => vision_config: json
vision_config/hidden_size=25 => vision_config: hidden_size 25 not divisible by num_attention_heads 3
vision_config/hidden_size=27 => pos_embed" has shape [1 8 8 24], the configuration requires [1 8 8 27]
vision_config/num_hidden_layers=4 => tensors missing: vision_encoder.layers.3.
vision_config/num_hidden_layers=2 => tensors the model does not use: vision_encoder.layers.2.
vision_config/mlp_dim=95 => mlp.lin1.weight" has shape [96 24], the configuration requires [95 24]
vision_config/mlp_dim=0 => vision_config: intermediate_size 0 is not between
vision_config/qkv_bias=false => tensors the model does not use: vision_encoder.layers.0.attn.qkv.bias
vision_config/window_size=4 => attn.rel_pos_h" has shape [5 8], the configuration requires [7 8]
vision_config/window_size=0 => vision_config: window_size 0 is not between
vision_config/global_attn_indexes=[2] => attn.rel_pos_h" has shape [15 8], the configuration requires [5 8]
vision_config/global_attn_indexes=[3] => global_attn_indexes [3]: the blocks are 0 to 2
vision_config/use_rel_pos=false => use_abs_pos true, use_rel_pos false: only
vision_config/use_abs_pos=false => use_abs_pos false, use_rel_pos true: only
vision_config/num_channels=1 => only models of 3-channel
vision_config/image_size=49 => image_size 49 is not 1 to 128 times patch_size 6
vision_config/image_size=[48,48] => vision_config: json
vision_config/image_size=54 => do not fit the other parts
vision_config/output_channels=32 => output_channels 32 and twice num_pos_feats, 24, must be
vision_config/num_pos_feats=16 => output_channels 24 and twice num_pos_feats, 32, must be
vision_config/hidden_act="wow" => activation "wow" is not known
vision_config/layer_norm_eps=0 => layer_norm_eps 0 is not a positive number
mask_decoder_config/hidden_size=20 => mask_decoder_config: hidden_size 20 is not divisible by 8
mask_decoder_config/hidden_size=32 => must be mask_decoder_config's hidden_size 32
mask_decoder_config/num_attention_heads=8 => hidden_size 24, halved, is not divisible by num_attention_heads 8
mask_decoder_config/attention_downsample_rate=4 => attention_downsample_rate 4 is not 2
mask_decoder_config/num_multimask_outputs=2 => tensor "mask_decoder.mask_tokens.weight" has shape [4 24]
mask_decoder_config/iou_head_depth=1 => iou_head_depth 1 is not between
mask_decoder_config/iou_head_depth=4 => 2 tensors missing: mask_decoder.iou_prediction_head.layers.1.
mask_decoder_config/num_hidden_layers=3 => tensors missing: mask_decoder.transformer.layers.2.
mask_decoder_config/mlp_dim=41 => "mask_decoder.transformer.layers.0.mlp.lin1.weight"
prompt_encoder_config/num_point_embeddings=5 => prompt_encoder_config: hidden_size, image_size
prompt_encoder_config/hidden_size=32 => prompt_encoder_config: hidden_size, image_size
config.json<{ => not readable as JSON
preprocessor_config.json<[ => preprocessor_config.json: not readable
preprocessor_config.json<{} => gives 1024×1024 pixels (width×height), the model takes 48×48
preprocessor_config.json<{"size": {"height": 48, "width": 48}} => must keep an image's shape
preprocessor_config.json<{"size": {"longest_edge": 60}, "pad_size": {"height": 48, "width": 48}} => longest_edge 60 must be between 1 and the sides of pad_size, 48×48
preprocessor_config.json<{"size": {"longest_edge": 48}, "do_pad": false} => without do_pad
preprocessor_config.json<{"image_std": [0, 1, 1], "size": {"longest_edge": 48}, "pad_size": {"height": 48, "width": 48}} => image_std
model.safetensors<short => model.safetensors
rm model.safetensors => holds no weights
rm config.json => config.json
drop shared_image_embedding.positional_embedding => 1 tensor missing: shared_image_embedding.positional_embedding
drop point_embed.2 => 1 tensor missing: prompt_encoder.point_embed.2.weight
drop mlps.3.proj_in.bias => output_hypernetworks_mlps.3.proj_in.bias
drop neck.conv2 => 1 tensor missing: vision_encoder.neck.conv2.weight
add extra => 1 tensor the model does not use: extra
@bf16-shards
rm model-00002-of-00002.safetensors => model-00002-of-00002.safetensors`,
		Opens: `
drop encoder.mask_embed
drop not_a_point`,
		Torch: map[string]map[string]string{
			"windows": {frequencies[1]: frequencies[0], frequencies[0]: frequencies[1]}},
		SameTorch: func(t *testing.T, folder, torch string) {
			want, m := openGolden(t, folder), openModel(t, torch)
			if !m.Weights.Same(frequencies[0], frequencies[1]) {
				t.Error("one name only")
			}
			modeltest.SameTensors(t, want.Weights, m.Weights, len(want.Weights.Names()))
		},
		Goldens:   goldens,
		Reference: checkGolden,
		Optimized: func(t *testing.T, xla compute.Backend) { checkGolden(t, xla, "windows") },
	})
}

func openModel(t *testing.T, dir string) *Model {
	t.Helper()
	return must.Get(Open(dir))(t)
}

func TestWithoutPreprocessing(t *testing.T) {
	dir := modeltest.CopyOf(t, "windows")
	modeltest.Damage(t, dir, "rm preprocessor_config.json")
	if p := openModel(t, dir).Preprocess(); p.Edge != 48 || p.Source != "default of SamImageProcessor" {
		t.Errorf("%+v", p)
	}
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}
