package blip

import (
	"os"
	"path/filepath"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/preprocess"
)

func TestOpenErrors(t *testing.T) {
	type object = map[string]any
	text := func(key string, value any) object { return object{"text_config": object{key: value}} }
	vision := func(key string, value any) object { return object{"vision_config": object{key: value}} }
	for _, c := range []struct {
		file    string
		changes object
		want    string
	}{
		{"config.json", object{"model_type": "blip-2"}, `model_type "blip-2"`},
		{"config.json", object{"model_type": nil}, `has no "model_type"`},
		{"config.json", object{"architectures": []string{"BlipForQuestionAnswering"}},
			"BlipForQuestionAnswering writes no captions"},
		{"config.json", text("num_attention_heads", 5), "hidden_size 32 not divisible by num_attention_heads 5"},
		{"config.json", text("hidden_act", "wavy"), `activation "wavy"`},
		{"config.json", text("is_decoder", false), "writes no text"},
		{"config.json", text("sep_token_id", 98), "sep_token_id 98"},
		{"config.json", text("bos_token_id", -1), "bos_token_id -1"},
		{"config.json", text("num_hidden_layers", 1<<20), "num_hidden_layers 1048576"},
		{"config.json", text("layer_norm_eps", 0), "layer_norm_eps 0"},
		{"config.json", text("vocab_size", "many"), "text_config"},
		{"config.json", text("num_hidden_layers", 3), "missing: text_decoder.bert.encoder.layer.2"},
		{"config.json", text("num_hidden_layers", 1), "does not use: text_decoder.bert.encoder.layer.1"},
		{"config.json", vision("num_channels", 4), "num_channels 4"},
		{"config.json", vision("patch_size", 64), "patch_size"},
		{"config.json", vision("intermediate_size", 47), "the configuration requires [47"},
		{"config.json", object{"tie_word_embeddings": false}, "missing: text_decoder.cls.predictions.decoder.weight"},
		{"config.json", object{"text_config": object{"vocab_size": 97, "bos_token_id": 95}},
			"the configuration requires [97"},
		{"preprocessor_config.json", object{"size": map[string]int{"height": 30, "width": 32}},
			"the model takes 32×32"},
		{"preprocessor_config.json", object{"image_std": []int{1, 0, 1}}, "image_std"},
	} {
		dir := modeltest.CopyOf(t, "base")
		modeltest.Edit(t, filepath.Join(dir, c.file), c.changes)
		_, err := Open(dir)
		modeltest.CheckLine(t, err, c.want)
	}
	_, err := Open(t.TempDir())
	modeltest.CheckLine(t, err, "config.json")
	dir := modeltest.CopyOf(t, "base")
	modeltest.Write(t, filepath.Join(dir, "preprocessor_config.json"), "[]")
	_, err = Open(dir)
	modeltest.CheckLine(t, err, "preprocessor_config.json: not readable")
}

// TestHead: which tensors the logits are made of.
func TestHead(t *testing.T) {
	for name, own := range map[string]bool{"base": false, "large": false, "own-head-bf16": true, "old-hub": true} {
		m, err := Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if m.cfg.ownHead != own {
			t.Errorf("%s: a head of its own: %v", name, m.cfg.ownHead)
		}
	}
}

// TestPreprocessing: of a folder that says nothing, and of one whose processor holds it.
func TestPreprocessing(t *testing.T) {
	dir := modeltest.CopyOf(t, "base")
	path := filepath.Join(dir, "preprocessor_config.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := m.Preprocess()
	if want.Filter != preprocess.Bicubic || want.Resize != preprocess.Stretch {
		t.Errorf("%+v", want)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"default of BlipImageProcessor", "processor_config.json"} {
		if source == "processor_config.json" {
			modeltest.Write(t, filepath.Join(dir, source),
				`{"processor_class": "BlipProcessor", "image_processor": `+string(text)+"}")
		}
		m, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := m.Preprocess()
		if got.Source != source {
			t.Errorf("source %q, want %q", got.Source, source)
		}
		if got.Source = want.Source; got != want {
			t.Errorf("%s: %+v, want %+v", source, got, want)
		}
	}
}

// TestTable: every tensor and every variable stands once.
func TestTable(t *testing.T) {
	m, err := Open(filepath.Join("testdata", "large"))
	if err != nil {
		t.Fatal(err)
	}
	tensors, variables := map[string]bool{}, map[string]bool{}
	for _, r := range table(m.cfg) {
		if tensors[r.Tensor] || r.Variable != "" && variables[r.Variable] {
			t.Errorf("%+v stands twice", r)
		}
		tensors[r.Tensor], variables[r.Variable] = true, true
	}
}
