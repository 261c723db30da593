package owlv2

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/weights"
)

// refused opens a folder that must be refused in one line that names it.
func refused(t *testing.T, dir, want string) {
	t.Helper()
	_, err := Open(dir)
	modeltest.CheckLine(t, err, want)
	if err != nil && !strings.Contains(err.Error(), dir) && !strings.HasPrefix(err.Error(), "model folder") {
		t.Errorf("%v: without the folder", err)
	}
}

func TestOpenRefusesConfigurations(t *testing.T) {
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"model_type", "owlvit", `config.json: model_type "owlvit" is not an Owlv2ForObjectDetection`},
		{"model_type", nil, `has no "model_type"`},
		{"projection_dim", 40, "projection_dim 40 is not text_config's hidden_size 32"},
		{"projection_dim", "wide", "json"},
		{"text_config/hidden_size", 36, "projection_dim 32 is not text_config's hidden_size 36"},
		{"text_config/num_hidden_layers", 3, "tensors missing: owlv2.text_model.encoder.layers.2."},
		{"text_config/num_attention_heads", 5, "text_config: hidden_size 32 not divisible by num_attention_heads 5"},
		{"text_config/max_position_embeddings", 1, "max_position_embeddings 1 is not between 2"},
		{"text_config/max_position_embeddings", 77, `has shape [16 32], the configuration requires [77 32]`},
		{"text_config/vocab_size", 524, `has shape [525 32], the configuration requires [524 32]`},
		{"text_config/hidden_act", "wow", `activation "wow" is not known`},
		{"vision_config/num_hidden_layers", 1, "tensors the model does not use: owlv2.vision_model.encoder.layers.1."},
		{"vision_config/hidden_size", 64, "the configuration requires [64]"},
		{"vision_config/patch_size", 9, `position_embedding.weight" has shape [37 32], the configuration requires [26 32]`},
		{"vision_config/image_size", 51, "preprocessing gives 48×48 pixels (width×height), the model takes 51×51"},
		{"vision_config/patch_size", 64, "patch_size 64 larger than image_size 48"},
		{"vision_config/num_channels", 1, "only models of 3-channel"},
		{"vision_config/layer_norm_eps", 0, "layer_norm_eps 0 is not a positive number"},
	} {
		dir := folder(t, "quick-gelu")
		changes := map[string]any{c.key: c.value}
		if part, inner, is := strings.Cut(c.key, "/"); is {
			changes = map[string]any{part: map[string]any{inner: c.value}}
		}
		modeltest.Edit(t, filepath.Join(dir, "config.json"), changes)
		t.Run(c.key, func(t *testing.T) { refused(t, dir, c.want) })
	}
}

func TestOpenRefusesFiles(t *testing.T) {
	write := func(name, text string) string {
		dir := folder(t, "quick-gelu")
		modeltest.Write(t, filepath.Join(dir, name), text)
		return dir
	}
	remove := func(name string) string {
		dir := folder(t, "quick-gelu")
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	replace := func(name string, pairs ...string) string {
		text, err := os.ReadFile(filepath.Join("testdata", "quick-gelu", name))
		if err != nil {
			t.Fatal(err)
		}
		return write(name, strings.NewReplacer(pairs...).Replace(string(text)))
	}
	refused(t, write("config.json", "{"), "not readable as JSON")
	refused(t, remove("config.json"), "config.json")
	refused(t, write("processor_config.json", "{"), "processor_config.json: not readable")
	refused(t, write("preprocessor_config.json", `{"size": {"height": 48, "width": 40}}`),
		"preprocessor_config.json: preprocessing gives 40×48 pixels")
	refused(t, write("preprocessor_config.json", `{"do_pad": false}`),
		"preprocessor_config.json: Owlv2ImageProcessor without do_pad")
	refused(t, write("preprocessor_config.json", `{"image_processor_type": "Owlv2ImageProcessorPil"}`),
		"preprocessor_config.json: image_processor_type Owlv2ImageProcessorPil, which resizes with SciPy")
	refused(t, write("preprocessor_config.json", `{"size": 48, "image_std": [0, 1, 1]}`), "image_std")
	refused(t, write("model.safetensors", "short"), "model.safetensors")
	refused(t, remove("model.safetensors"), "safetensors")
	refused(t, remove("tokenizer.json"), "no tokenizer")
	refused(t, replace("tokenizer_config.json", `"pad_token": "!"`, `"pad_token": "<|endoftext|>"`,
		`"eos_token": "<|endoftext|>"`, `"eos_token": "!"`), "the tokenizer's start token is number 523, its end token 0")
	if m, err := Open(remove("processor_config.json")); err != nil || m.Preprocess().Height != 48 ||
		m.Preprocess().Mean[0] != 0.48145466 {
		t.Errorf("without a processor: %v", err)
	}
}

// TestOpenTensors: tensors that other versions of the files have are accepted, missing and unknown ones are not.
func TestOpenTensors(t *testing.T) {
	without := func(prefix string) func([]weights.Tensor) []weights.Tensor {
		return func(l []weights.Tensor) []weights.Tensor {
			return slices.DeleteFunc(l, func(x weights.Tensor) bool { return strings.HasPrefix(x.Name, prefix) })
		}
	}
	with := func(name string) func([]weights.Tensor) []weights.Tensor {
		return func(l []weights.Tensor) []weights.Tensor {
			return append(l, weights.Tensor{Name: name, Shape: []int{1}, Data: []float32{0}})
		}
	}
	for _, c := range []struct {
		change func([]weights.Tensor) []weights.Tensor
		want   string // "" = opens
	}{
		{with("owlv2.text_model.embeddings.position_ids"), ""},
		{with("owlv2.vision_model.embeddings.position_ids"), ""},
		{with("box_bias"), ""},
		{without("objectness_head."), ""},
		{without("owlv2.logit_scale"), ""},
		{with("objectness_head.dense3.weight"), "1 tensor the model does not use: objectness_head.dense3.weight"},
		{without("class_head.logit_shift.bias"), "1 tensor missing: class_head.logit_shift.bias"},
		{without("box_head.dense2."), "2 tensors missing: box_head.dense2.weight"},
		{without("layer_norm."), "2 tensors missing: layer_norm.weight"},
		{without("owlv2.vision_model.pre_layernorm."), "owlv2.vision_model.pre_layernorm.weight"},
		{without("owlv2.text_projection."), "owlv2.text_projection.weight"},
	} {
		dir := folder(t, "quick-gelu")
		modeltest.Save(t, dir, c.change(modeltest.Tensors(t, dir)))
		if c.want != "" {
			refused(t, dir, c.want)
		} else if _, err := Open(dir); err != nil {
			t.Error(err)
		}
	}
}
