package clipseg

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
)

// spoiled copies the golden folder "simple-gelu", with one key of config.json changed where key is not "".
func spoiled(t *testing.T, key string, value any) string {
	t.Helper()
	dir := modeltest.CopyOf(t, "simple-gelu")
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
		!strings.Contains(err.Error(), dir) && !strings.HasPrefix(err.Error(), "model folder") {
		t.Errorf("%s: %v, want one line with the folder and %q", what, err, want)
	}
}

func TestOpenRefusesConfigurations(t *testing.T) {
	if _, err := Open(spoiled(t, "", nil)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"model_type", "clip", `model_type "clip" is not a CLIPSegForImageSegmentation`},
		{"model_type", nil, `has no "model_type"`},
		{"extract_layers", []int{0, 3}, "extract_layers [0 3]: the image tower has the layers 0 to 2"},
		{"extract_layers", []int{-1}, "extract_layers [-1]: the image tower"},
		{"extract_layers", []int{}, "extract_layers has 0 entries"},
		{"extract_layers", "all", "extract_layers: json"},
		{"extract_layers", []int{0, 1}, "tensors the model does not use: decoder.layers.2."},
		{"conditional_layer", 3, "conditional_layer 3 is not one of the decoder's 3 layers"},
		{"conditional_layer", -1, "conditional_layer -1"},
		{"reduce_dim", 0, "reduce_dim 0 is not between"},
		{"reduce_dim", 13, "reduce_dim 13 not divisible by decoder_num_attention_heads 3"},
		{"reduce_dim", 15, `tensor "decoder.reduces.0.weight" has shape [12 32], the configuration requires [15 32]`},
		{"decoder_intermediate_size", 1 << 20, "decoder_intermediate_size 1048576"},
		{"decoder_intermediate_size", 41, `tensor "decoder.layers.0.mlp.fc1.weight"`},
		{"use_complex_transposed_convolution", true, `tensors missing: decoder.transposed_convolution.0.weight`},
		{"projection_dim", 18, `"clip.visual_projection.weight" has shape [17 32]`},
		{"vision_config/image_size", 30, "position_embedding.weight\" has shape [17 32], the configuration requires " +
			"[26 32]"},
		{"vision_config/hidden_act", "wow", `activation "wow" is not known`},
		{"vision_config/num_hidden_layers", 4, "tensors missing: clip.vision_model.encoder.layers.3"},
		{"text_config/num_hidden_layers", 2, "tensors missing: clip.text_model.encoder.layers.1"},
		{"vision_config/num_channels", 1, "only models of 3-channel"},
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
	refused(t, write("config.json", "{"), "broken config", "not readable as JSON")
	refused(t, write("preprocessor_config.json", "["), "broken preprocessing", "preprocessor_config.json: not readable")
	refused(t, write("preprocessor_config.json", `{"size": {"height": 24, "width": 30}}`), "oblong",
		"the decoder takes squares")
	refused(t, write("preprocessor_config.json",
		`{"size": {"shortest_edge": 24}, "do_center_crop": true, "crop_size": 24}`), "crop",
		"stretch the whole image")
	refused(t, write("preprocessor_config.json", `{"size": 3}`), "tiny", "images of 3 pixels a side")
	refused(t, write("preprocessor_config.json", `{"size": 100000}`), "huge", "100000")
	refused(t, write("preprocessor_config.json", `{"size": 24, "image_std": [0, 1, 1]}`), "deviation", "image_std")
	refused(t, write("processor_config.json", "{"), "broken processor", "processor_config.json: not readable")
	refused(t, write("model.safetensors", "short"), "broken weights", "model.safetensors")
	dir := spoiled(t, "", nil)
	os.Remove(filepath.Join(dir, "model.safetensors"))
	refused(t, dir, "no weights", "safetensors")
	dir = spoiled(t, "", nil)
	os.Remove(filepath.Join(dir, "config.json"))
	refused(t, dir, "no config", "config.json")
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "bf16-shards"))); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(dir, "model-00002-of-00003.safetensors"))
	refused(t, dir, "a shard", "model-00002-of-00003.safetensors")
	if m, err := Open(write("processor_config.json", `{"image_processor": null}`)); err != nil ||
		m.Config().Side != 24 {
		t.Errorf("a processor without images: %v", err)
	}
	m, err := Open(write("preprocessor_config.json", `{"size": 48}`))
	if err != nil || m.Config().Side != 48 || m.Config().Grid() != 8 || m.Config().LogitSide() != 48 {
		t.Errorf("a size of its own: %v", err)
	}
	if _, err := m.Prepare(nil); err == nil {
		t.Error("no image is prepared")
	}
}
