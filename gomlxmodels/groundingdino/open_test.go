package groundingdino

import (
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"antipode/internal/must"
	"antipode/test/modeltest"
)

// TestSuite: damaged folders are refused, names of other versions of the files are accepted, and what every network
// has.
func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{
		Folder: "shared",
		Copy:   folder,
		Open:   func(dir string) error { _, err := Open(dir); return err },
		Refuses: `
model_type="mm-grounding-dino" => model_type "mm-grounding-dino" is not a GroundingDinoForObjectDetection
model_type=null => has no "model_type"
d_model=96 => "model.
d_model=80 => d_model 80 is not a multiple of 32
d_model="wide" => json
encoder_layers=3 => tensors missing: model.encoder.layers.2.
decoder_layers=1 => tensors the model does not use: model.decoder.layers.1.
encoder_attention_heads=5 => encoder_attention_heads 5 is odd
encoder_attention_heads=6 => d_model 64 not divisible by encoder_attention_heads 6
decoder_attention_heads=7 => d_model 64 not divisible by decoder_attention_heads 7
encoder_ffn_dim=98 => half of encoder_ffn_dim 98 not divisible by half of encoder_attention_heads 4
encoder_n_points=4 => sampling_offsets.weight" has shape [96 64], the configuration requires [128 64]
num_feature_levels=2 => num_feature_levels 2 is not between 3 and 8
num_feature_levels=5 => "model.level_embed" has shape [4 64], the configuration requires [5 64]
query_dim=2 => query_dim 2 is not between 4 and 4
max_text_len=1000 => max_text_len 1000 is not between 3 and 64
two_stage=false => two_stage false is not supported
embedding_init_target=false => embedding_init_target false is not supported
two_stage_bbox_embed_share=true => two_stage_bbox_embed_share true is not supported
decoder_bbox_embed_share=false => tensors missing: bbox_embed.1.
position_embedding_type="learned" => position_embedding_type "learned" is not supported
activation_function="wow" => activation "wow" is not known
layer_norm_eps=0 => layer_norm_eps 0 is not a positive number
positional_embedding_temperature=-1 => positional_embedding_temperature -1 is not
use_timm_backbone=true => use_timm_backbone true
backbone_config/model_type="resnet" => backbone_config: model_type "resnet" is not supported
backbone_config/depths=[2,2,1] => not of 4 stages
backbone_config/depths=[2,2,1,0] => depths [2 2 1 0]: number 4
backbone_config/num_heads=[1,2,2,3] => stage 4 of width 64 not divisible by 3
backbone_config/window_size=5 => relative_position_bias_table" has shape [49 1]
backbone_config/num_channels=1 => only models of 3-channel images
backbone_config/use_absolute_embeddings=true => use_absolute_embeddings true
backbone_config/mlp_ratio=0 => mlp_ratio 0 is not
backbone_config/qkv_bias=false => tensors the model does not use
text_config/model_type="roberta" => model_type "roberta" is not a BERT
text_config/vocab_size=1000 => vocab_size 1000 has no tokens 101 to 1029
text_config/num_hidden_layers=3 => tensors missing: model.text_backbone.encoder.layer.2.
config.json<{ => not readable as JSON
rm config.json => config.json
processor_config.json<{ => processor_config.json: not readable
rm processor_config.json && preprocessor_config.json<{"size": 224} => the model takes sizes by shortest_edge and longest_edge
rm processor_config.json && preprocessor_config.json<{"size": {"shortest_edge": 900, "longest_edge": 800}} => shortest_edge 900 must be between 1 and longest_edge 800
rm processor_config.json && preprocessor_config.json<{"size": {"shortest_edge": 38, "longest_edge": 66}, "image_std": [0, 1, 1]} => image_std
model.safetensors<short => model.safetensors
rm model.safetensors => safetensors
rm tokenizer.json => no tokenizer
tokenizer.json:model/vocab/?=1030 && tokenizer.json:model/vocab/a=1029 => the tokenizer has "?" as number 1030, the network requires 1029
drop model.level_embed => 1 tensor missing: model.level_embed
drop model.encoder.layers.1.fusion_layer.text_param => text_param
@apart-window7
drop ^bbox_embed.2. => tensors missing: bbox_embed.2.`,
		Opens: `
add model.backbone.conv_encoder.model.encoder.layers.0.blocks.1.attention.self.relative_position_index
drop model.backbone.conv_encoder.model.swin.layernorm.`,
		Goldens:   goldens,
		Reference: checkGolden,
		Optimized: func(t *testing.T, xla compute.Backend) { checkWhole(openGolden(t, "shared"), xla, 1, false) },
	})
}

func TestWithoutProcessor(t *testing.T) {
	dir := folder(t, "shared")
	modeltest.Damage(t, dir, "rm processor_config.json")
	if m, err := Open(dir); err != nil || m.Preprocess().Edge != 800 || m.Preprocess().Longest != 1333 {
		t.Errorf("without a processor: %v", err)
	}
}

// TestCopies: the box heads may be stored twice, and then must be equal.
func TestCopies(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		other          bool   // one value of each copy differs
		want           string // "" = opens
	}{
		{"shared", "bbox_embed.0.", "bbox_embed.1.", false, ""},
		{"shared", "bbox_embed.0.", "model.decoder.bbox_embed.1.", false, ""},
		{"shared", "bbox_embed.0.", "model.decoder.bbox_embed.1.", true, "whose copy it should be"},
		{"shared", "bbox_embed.0.", "bbox_embed.2.", false, "tensors the model does not use: bbox_embed.2."},
		{"apart-window7", "bbox_embed.1.", "model.decoder.bbox_embed.1.", false, ""},
		{"apart-window7", "bbox_embed.0.", "model.decoder.bbox_embed.1.", false, "whose copy it should be"},
		{"shared", "model.enc_output.", "model.reference_points.", false, "the model does not use"},
	} {
		dir := folder(t, c.name)
		list := modeltest.Tensors(t, dir)
		for _, x := range slices.Clone(list) {
			if rest, is := strings.CutPrefix(x.Name, c.from); is {
				x.Name, x.Data = c.to+rest, slices.Clone(x.Data)
				if c.other {
					x.Data[0]++
				}
				list = append(list, x)
			}
		}
		modeltest.Save(t, dir, list)
		if _, err := Open(dir); c.want != "" {
			must.Fail(err)(t, c.want)
			must.Fail(err)(t, dir)
		} else if err != nil {
			t.Error(err)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}
