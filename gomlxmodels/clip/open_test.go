package clip

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

func TestOpenRefuses(t *testing.T) {
	type object = map[string]any
	config := func(changes object) func(*testing.T, string) {
		return func(t *testing.T, dir string) { modeltest.Edit(t, filepath.Join(dir, "config.json"), changes) }
	}
	content := func(file, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { modeltest.Write(t, filepath.Join(dir, file), text) }
	}
	tensor := func(change func([]weights.Tensor) []weights.Tensor) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			modeltest.Save(t, dir, change(modeltest.Tensors(t, dir)))
		}
	}
	without := func(name string) func(*testing.T, string) {
		return tensor(func(l []weights.Tensor) []weights.Tensor {
			return slices.DeleteFunc(l, func(w weights.Tensor) bool { return w.Name == name })
		})
	}
	for want, damage := range map[string]func(*testing.T, string){
		"config.json: not readable as JSON":   content("config.json", "{"),
		`config.json: has no "model_type"`:    content("config.json", "{}"),
		`model_type "vit" is not a CLIPModel`: config(object{"model_type": "vit"}),
		"text_config: hidden_size 32 not divisible by " +
			"num_attention_heads 5": config(object{"text_config": object{"num_attention_heads": 5}}),
		"vision_config: num_attention_heads 0 is " +
			"not between": config(object{"vision_config": object{"num_attention_heads": 0}}),
		"vision_config: patch_size 64 larger than " +
			"image_size 32": config(object{"vision_config": object{"patch_size": 64}}),
		"vision_config: num_channels 4": config(
			object{"vision_config": object{"num_channels": 4}}),
		`text_config: hidden_act: activation "mish" is not known`: config(
			object{"text_config": object{"hidden_act": "mish"}}),
		"vision_config: layer_norm_eps 0 is " +
			"not a positive": config(object{"vision_config": object{"layer_norm_eps": 0}}),
		"eos_token_id 64 is not a token (vocab_size 64)": config(
			object{"text_config": object{"eos_token_id": 64}}),
		"vision_config: json: cannot unmarshal array": config(
			object{"vision_config": object{"image_size": []int{32, 32}}}),
		"make 20164 patches": config(
			object{"vision_config": object{"image_size": 142, "patch_size": 1}}),

		"projection_dim 70000 is not between": config(object{"projection_dim": 70000}),

		`"visual_projection.weight" has shape [24 32], the configuration requires`: config(object{"projection_dim": 25}),
		"16 tensors the model does not use: " +
			"text_model.encoder.layers.1": config(object{"text_config": object{"num_hidden_layers": 1}}),
		"preprocessor_config.json: preprocessing gives 30×30": content("preprocessor_config.json",
			`{"size": 32, "crop_size": 30}`),
		"preprocessor_config.json: preprocessing gives 224×224": content("preprocessor_config.json",
			`{}`),
		"preprocessor_config.json: not readable": content("preprocessor_config.json",
			`[]`),
		"model.safetensors: 1 tensor missing: visual_projection.weight": without("visual_projection.weight"),
		"1 tensor missing: text_model.encoder.layers.1.self_attn.k_proj.bias": without(
			"text_model.encoder.layers.1.self_attn.k_proj.bias"),
		`tensor "logit_scale" is missing`: without("logit_scale"),
		"1 tensor the model does not use: text_model.extra": tensor(func(l []weights.Tensor) []weights.Tensor {
			return append(l, weights.Tensor{Name: "text_model.extra", Shape: []int{1}, Data: []float32{1}})
		}),
		`tensor "logit_scale" has shape [1], the configuration requires []`: tensor(
			func(l []weights.Tensor) []weights.Tensor { l[0].Shape = []int{1}; return l }),
		`tensor "logit_scale" is 1000: its exponential is no finite factor`: tensor(
			func(l []weights.Tensor) []weights.Tensor { l[0].Data[0] = 1000; return l }),
	} {
		dir := modeltest.CopyOf(t, "quickgelu-legacy-end")
		damage(t, dir)
		_, err := Open(dir)
		modeltest.CheckLine(t, err, want)
		modeltest.CheckLine(t, err, ": ")
	}
	_, err := Open(t.TempDir())
	modeltest.CheckLine(t, err, "model folder: open ")
}

// TestPreprocessing reads each form of the preprocessing: none, a file of little, the part of a processor's file.
func TestPreprocessing(t *testing.T) {
	mean := [3]float64{0.48145466, 0.4578275, 0.40821073}
	for file, text := range map[string]string{
		"":                         "",
		"preprocessor_config.json": `{"size": 32, "crop_size": {"height": 32, "width": 32}}`,
		"processor_config.json":    `{"processor_class": "CLIPProcessor", "image_processor": {"size": {"shortest_edge": 32}, "crop_size": 32, "image_processor_type": "CLIPImageProcessor"}}`,
	} {
		dir := modeltest.CopyOf(t, "quickgelu-legacy-end")
		os.Remove(filepath.Join(dir, "preprocessor_config.json"))
		files := 2
		if file != "" {
			modeltest.Write(t, filepath.Join(dir, file), text)
			files = 3
		}
		m := open(t, dir)
		p := m.Preprocess()
		if p.Resize != preprocess.ShortestEdge || p.Edge != 32 || p.CropHeight != 32 ||
			p.Filter != preprocess.Bicubic || p.Mean != mean || len(m.Files()) != files {
			t.Errorf("%q: %+v, files %v", file, p, m.Files())
		}
	}
}

func TestDefaultConfig(t *testing.T) {
	got, err := ParseConfig([]byte(`{"model_type": "clip", "text_config": null, "text_config_dict": null}`))
	if want := DefaultConfig(); err != nil || *got != want {
		t.Errorf("%+v, %v", got, err)
	}
}
