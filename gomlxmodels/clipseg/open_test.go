package clipseg

import (
	"testing"

	"github.com/gomlx/compute"

	"antipode/internal/must"
	"antipode/test/modeltest"
)

// TestSuite: damaged folders are refused, and what every network has.
func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{
		Folder: "simple-gelu",
		Open:   func(dir string) error { _, err := Open(dir); return err },
		Refuses: `
model_type="clip" => model_type "clip" is not a CLIPSegForImageSegmentation
model_type=null => has no "model_type"
extract_layers=[0,3] => extract_layers [0 3]: the image tower has the layers 0 to 2
extract_layers=[-1] => extract_layers [-1]: the image tower
extract_layers=[] => extract_layers has 0 entries
extract_layers="all" => extract_layers: json
extract_layers=[0,1] => tensors the model does not use: decoder.layers.2.
conditional_layer=3 => conditional_layer 3 is not one of the decoder's 3 layers
conditional_layer=-1 => conditional_layer -1
reduce_dim=0 => reduce_dim 0 is not between
reduce_dim=13 => reduce_dim 13 not divisible by decoder_num_attention_heads 3
reduce_dim=15 => tensor "decoder.reduces.0.weight" has shape [12 32], the configuration requires [15 32]
decoder_intermediate_size=1048576 => decoder_intermediate_size 1048576
decoder_intermediate_size=41 => tensor "decoder.layers.0.mlp.fc1.weight"
use_complex_transposed_convolution=true => tensors missing: decoder.transposed_convolution.0.weight
projection_dim=18 => "clip.visual_projection.weight" has shape [17 32]
vision_config/image_size=30 => position_embedding.weight" has shape [17 32], the configuration requires [26 32]
vision_config/hidden_act="wow" => activation "wow" is not known
vision_config/num_hidden_layers=4 => tensors missing: clip.vision_model.encoder.layers.3
text_config/num_hidden_layers=2 => tensors missing: clip.text_model.encoder.layers.1
vision_config/num_channels=1 => only models of 3-channel
config.json<{ => not readable as JSON
preprocessor_config.json<[ => preprocessor_config.json: not readable
preprocessor_config.json<{"size": {"height": 24, "width": 30}} => the decoder takes squares
preprocessor_config.json<{"size": {"shortest_edge": 24}, "do_center_crop": true, "crop_size": 24} => stretch the whole image
preprocessor_config.json<{"size": 3} => images of 3 pixels a side
preprocessor_config.json<{"size": 100000} => 100000
preprocessor_config.json<{"size": 24, "image_std": [0, 1, 1]} => image_std
processor_config.json<{ => processor_config.json: not readable
model.safetensors<short => model.safetensors
rm model.safetensors => safetensors
rm config.json => config.json
@bf16-shards
rm model-00002-of-00003.safetensors => model-00002-of-00003.safetensors`,
		Goldens:   goldens,
		Reference: checkGolden,
		Optimized: func(t *testing.T, xla compute.Backend) { checkGolden(t, xla, "refined") },
	})
}

// TestOwnSize: the preprocessing's size is the network's.
func TestOwnSize(t *testing.T) {
	dir := modeltest.CopyOf(t, "simple-gelu")
	modeltest.Damage(t, dir, `processor_config.json<{"image_processor": null}`)
	m := must.Get(Open(dir))(t)
	must.Equal(t, m.Config().Side, 24, "a processor without images")
	dir = modeltest.CopyOf(t, "simple-gelu")
	modeltest.Damage(t, dir, `preprocessor_config.json<{"size": 48}`)
	c := must.Get(Open(dir))(t).Config()
	must.Equal(t, [3]int{c.Side, c.Grid(), c.LogitSide()}, [3]int{48, 8, 48}, "a size of its own")
	must.Fail(m.Prepare(nil))(t) // no image
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}
