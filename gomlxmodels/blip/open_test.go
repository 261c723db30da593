package blip

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/gomlxmodels/preprocess"
)

// copied is a golden's folder, to be spoiled.
func copied(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", name))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// edit changes a JSON file of a folder.
func edit(t *testing.T, dir, name string, do func(map[string]any)) {
	t.Helper()
	path := filepath.Join(dir, name)
	var keys map[string]any
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &keys)
	}
	if err != nil {
		t.Fatal(err)
	}
	do(keys)
	if text, err = json.Marshal(keys); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOpenErrors(t *testing.T) {
	part := func(name, key string, value any) func(map[string]any) {
		return func(k map[string]any) { k[name].(map[string]any)[key] = value }
	}
	top := func(key string, value any) func(map[string]any) { return func(k map[string]any) { k[key] = value } }
	for _, c := range []struct {
		file string
		do   func(map[string]any)
		want string
	}{
		{"config.json", top("model_type", "blip-2"), `model_type "blip-2"`},
		{"config.json", func(k map[string]any) { delete(k, "model_type") }, `says no "model_type"`},
		{"config.json", top("architectures", []string{"BlipForQuestionAnswering"}), "BlipForQuestionAnswering writes no captions"},
		{"config.json", part("text_config", "num_attention_heads", 5), "hidden_size 32 not divisible by num_attention_heads 5"},
		{"config.json", part("text_config", "hidden_act", "wavy"), `activation "wavy"`},
		{"config.json", part("text_config", "is_decoder", false), "writes no text"},
		{"config.json", part("text_config", "sep_token_id", 98), "sep_token_id 98"},
		{"config.json", part("text_config", "bos_token_id", -1), "bos_token_id -1"},
		{"config.json", part("text_config", "num_hidden_layers", 1<<20), "num_hidden_layers 1048576"},
		{"config.json", part("text_config", "layer_norm_eps", 0), "layer_norm_eps 0"},
		{"config.json", part("text_config", "vocab_size", "many"), "text_config"},
		{"config.json", part("text_config", "num_hidden_layers", 3), "missing: text_decoder.bert.encoder.layer.2"},
		{"config.json", part("text_config", "num_hidden_layers", 1), "does not use: text_decoder.bert.encoder.layer.1"},
		{"config.json", part("vision_config", "num_channels", 4), "num_channels 4"},
		{"config.json", part("vision_config", "patch_size", 64), "patch_size"},
		{"config.json", part("vision_config", "intermediate_size", 47), "the configuration asks for [47"},
		{"config.json", top("tie_word_embeddings", false), "missing: text_decoder.cls.predictions.decoder.weight"},
		{"config.json", part("text_config", "vocab_size", 97), "vocab_size"},
		{"preprocessor_config.json", top("size", map[string]int{"height": 30, "width": 32}), "the model takes 32×32"},
		{"preprocessor_config.json", top("image_std", []int{1, 0, 1}), "image_std"},
	} {
		dir := copied(t, "base")
		edit(t, dir, c.file, c.do)
		if c.want == "vocab_size" {
			edit(t, dir, c.file, part("text_config", "bos_token_id", 95))
			c.want = "the configuration asks for [97"
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want one line with %q", err, c.want)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "config.json") {
		t.Errorf("an empty folder: %v", err)
	}
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
	dir := copied(t, "base")
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
			if err := os.WriteFile(filepath.Join(dir, source), append(append([]byte(`{"processor_class": "BlipProcessor", "image_processor": `), text...), '}'), 0o600); err != nil {
				t.Fatal(err)
			}
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
