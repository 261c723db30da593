package owlv2

import (
	"testing"

	"github.com/gomlx/compute"

	"antipode/test/modeltest"
)

// TestSuite: damaged folders are refused, tensors that other versions of the files have are accepted, and what every
// network has.
func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{
		Folder: "quick-gelu",
		Copy:   folder,
		Open:   func(dir string) error { _, err := Open(dir); return err },
		Refuses: `
model_type="owlvit" => config.json: model_type "owlvit" is not an Owlv2ForObjectDetection
model_type=null => has no "model_type"
projection_dim=40 => projection_dim 40 is not text_config's hidden_size 32
projection_dim="wide" => json
text_config/hidden_size=36 => projection_dim 32 is not text_config's hidden_size 36
text_config/num_hidden_layers=3 => tensors missing: owlv2.text_model.encoder.layers.2.
text_config/num_attention_heads=5 => text_config: hidden_size 32 not divisible by num_attention_heads 5
text_config/max_position_embeddings=1 => max_position_embeddings 1 is not between 2
text_config/max_position_embeddings=77 => has shape [16 32], the configuration requires [77 32]
text_config/vocab_size=524 => has shape [525 32], the configuration requires [524 32]
text_config/hidden_act="wow" => activation "wow" is not known
vision_config/num_hidden_layers=1 => tensors the model does not use: owlv2.vision_model.encoder.layers.1.
vision_config/hidden_size=64 => the configuration requires [64]
vision_config/patch_size=9 => position_embedding.weight" has shape [37 32], the configuration requires [26 32]
vision_config/image_size=51 => preprocessing gives 48×48 pixels (width×height), the model takes 51×51
vision_config/patch_size=64 => patch_size 64 larger than image_size 48
vision_config/num_channels=1 => only models of 3-channel
vision_config/layer_norm_eps=0 => layer_norm_eps 0 is not a positive number
config.json<{ => not readable as JSON
rm config.json => config.json
processor_config.json<{ => processor_config.json: not readable
rm processor_config.json && preprocessor_config.json<{"size": {"height": 48, "width": 40}} => preprocessor_config.json: preprocessing gives 40×48 pixels
rm processor_config.json && preprocessor_config.json<{"do_pad": false} => preprocessor_config.json: Owlv2ImageProcessor without do_pad
rm processor_config.json && preprocessor_config.json<{"image_processor_type": "Owlv2ImageProcessorPil"} => preprocessor_config.json: image_processor_type Owlv2ImageProcessorPil, which resizes with SciPy
rm processor_config.json && preprocessor_config.json<{"size": 48, "image_std": [0, 1, 1]} => image_std
model.safetensors<short => model.safetensors
rm model.safetensors => safetensors
rm tokenizer.json => no tokenizer
tokenizer_config.json:pad_token="<|endoftext|>" && tokenizer_config.json:eos_token="!" => the tokenizer's start token is number 523, its end token 0
add objectness_head.dense3.weight => 1 tensor the model does not use: objectness_head.dense3.weight
drop class_head.logit_shift.bias => 1 tensor missing: class_head.logit_shift.bias
drop box_head.dense2. => 2 tensors missing: box_head.dense2.weight
drop ^layer_norm. => 2 tensors missing: layer_norm.weight
drop owlv2.vision_model.pre_layernorm. => owlv2.vision_model.pre_layernorm.weight
drop owlv2.text_projection. => owlv2.text_projection.weight`,
		Opens: `
add owlv2.text_model.embeddings.position_ids
add owlv2.vision_model.embeddings.position_ids
add box_bias
drop objectness_head.
drop owlv2.logit_scale`,
		Goldens:   goldens,
		Reference: checkGolden,
		Optimized: func(t *testing.T, xla compute.Backend) { checkDetector(openGolden(t, "gelu-odd-patch"), xla) },
	})
}

func TestWithoutProcessor(t *testing.T) {
	dir := folder(t, "quick-gelu")
	modeltest.Damage(t, dir, "rm processor_config.json")
	if m, err := Open(dir); err != nil || m.Preprocess().Height != 48 || m.Preprocess().Mean[0] != 0.48145466 {
		t.Errorf("without a processor: %v", err)
	}
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}
