package textenc

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/weights"
)

type object = map[string]any

// change rewrites the tensors of a folder; one that comes back without a shape is left out.
func change(t *testing.T, dir string, do func(name string, shape []int, data []float32) ([]int, []float32),
	more ...weights.Tensor) {
	t.Helper()
	list := more
	for _, w := range modeltest.Tensors(t, dir) {
		if w.Shape, w.Data = do(w.Name, w.Shape, w.Data); w.Shape != nil {
			list = append(list, w)
		}
	}
	modeltest.Save(t, dir, list)
}

func TestOpenRefuses(t *testing.T) {
	config := func(changes object) func(*testing.T, string) {
		return func(t *testing.T, dir string) { modeltest.Edit(t, filepath.Join(dir, "config.json"), changes) }
	}
	in := func(file string, changes object) func(*testing.T, string) {
		return func(t *testing.T, dir string) { modeltest.Edit(t, filepath.Join(dir, file), changes) }
	}
	content := func(file, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { modeltest.Write(t, filepath.Join(dir, file), text) }
	}
	gone := func(file string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, file)) }
	}
	without := func(sub, tensor string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, sub), func(name string, shape []int, data []float32) ([]int, []float32) {
				if name == tensor {
					return nil, nil
				}
				return shape, data
			})
		}
	}
	extra := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			change(t, dir, func(_ string, shape []int, data []float32) ([]int, []float32) { return shape, data },
				weights.Tensor{Name: name, Shape: []int{1}, Data: []float32{1}})
		}
	}
	for _, c := range []struct {
		folder string
		damage func(*testing.T, string)
		want   string
	}{
		{"xlmr-inner-pad", content("config.json", "{"), "config.json: not readable as JSON"},
		{"xlmr-inner-pad", content("config.json", "{}"), `config.json: has no "model_type"`},
		{"xlmr-inner-pad", config(object{"model_type": "vit"}), `model_type "vit" is not a text encoder`},
		{"xlmr-inner-pad", config(object{"is_decoder": true}), "is_decoder is true"},
		{"xlmr-inner-pad", config(object{"position_embedding_type": "relative_key"}),
			`position_embedding_type "relative_key" is not supported`},
		{"xlmr-inner-pad", config(object{"num_attention_heads": 5}),
			"hidden_size 16 not divisible by num_attention_heads 5"},
		{"xlmr-inner-pad", config(object{"num_hidden_layers": 0}), "num_hidden_layers 0 is not between 1"},
		{"xlmr-inner-pad", config(object{"hidden_act": "mish"}), `hidden_act: activation "mish" is not known`},
		{"xlmr-inner-pad", config(object{"layer_norm_eps": 0}), "layer_norm_eps 0 is not a positive"},
		{"xlmr-inner-pad", config(object{"pad_token_id": 50}), "pad_token_id 50 is not between 0 and 49"},
		{"xlmr-inner-pad", config(object{"pad_token_id": 30}),
			"max_position_embeddings 20 leaves no place for a token: positions start at 31"},
		{"xlmr-inner-pad", config(object{"type_vocab_size": 0}), "type_vocab_size 0 is not at least 1"},
		{"xlmr-inner-pad", config(object{"num_hidden_layers": 1}),
			"16 tensors the model does not use: encoder.layer.1"},
		{"xlmr-inner-pad", config(object{"hidden_size": "x"}), "cannot unmarshal string"},
		{"xlmr-inner-pad", config(object{"model_type": "mpnet", "relative_attention_num_buckets": 32}),
			"missing: encoder.relative_attention_bias.weight"},
		{"xlmr-inner-pad", config(object{"intermediate_size": 25}),
			"has shape [24 16], the configuration requires [25 16]"},
		{"xlmr-inner-pad", without("", "encoder.layer.1.attention.self.key.bias"),
			"model.safetensors: 1 tensor missing: encoder.layer.1.attention.self.key.bias"},
		{"xlmr-inner-pad", extra("encoder.extra"), "1 tensor the model does not use: encoder.extra"},
		{"mpnet-far", config(object{"relative_attention_num_buckets": 16}),
			"relative_attention_num_buckets 16 is not between 32"},
		{"mpnet-bf16-shards", gone("model-00002-of-00002.safetensors"), "model-00002-of-00002.safetensors"},
		{"bert-joined-dense", in("1_Pooling/config.json", object{"pooling_mode": "sum"}),
			`1_Pooling/config.json: pooling_mode "sum" is not known`},
		{"bert-joined-dense", in("1_Pooling/config.json", object{"include_prompt": false}), "include_prompt false"},
		{"bert-joined-dense", in("1_Pooling/config.json", object{"embedding_dimension": 17}),
			"embedding_dimension 17, but what comes before gives 16"},
		{"bert-joined-dense", in("2_Dense/config.json", object{"in_features": 16}),
			"in_features 16, but what comes before gives 48"},
		{"bert-joined-dense", in("2_Dense/config.json",
			object{"activation_function": "torch.nn.modules.activation.Mish"}),
			`activation_function "Mish" is not known`},
		{"bert-joined-dense", in("2_Dense/config.json", object{"use_residual": true}), "use_residual is not supported"},
		{"bert-joined-dense", without("2_Dense", "linear.bias"),
			"2_Dense/model.safetensors: 1 tensor missing: linear.bias"},
		{"bert-joined-dense", gone("2_Dense/model.safetensors"), "2_Dense: holds no weights"},
		{"bert-joined-dense", gone("1_Pooling/config.json"), "1_Pooling/config.json"},
		{"bert-joined-dense", content("modules.json", `[{"path": "", "type": "a.Transformer"}]`),
			"modules.json: the modules do not begin with Transformer and Pooling"},
		{"bert-joined-dense", content("modules.json",
			`[{"path": "", "type": "a.Transformer"}, {"path": "../x", "type": "a.Pooling"}]`),
			`path "../x" leads out of the folder`},
		{"bert-joined-dense", content("modules.json",
			`[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}, {"path": "2_Dense", "type": "a.LSTM"}]`), `module "LSTM" is not known`},
		{"bert-mean", in("sentence_bert_config.json", object{"max_seq_length": 21}),
			"max_seq_length 21 is not between 1 and the 20 tokens"},
		{"bert-mean", content("config_sentence_transformers.json", `{"default_prompt_name": "query", "prompts": {}}`),
			`default_prompt_name "query" is not among the prompts`},
		{"altclip", config(object{"projection_dim": 7}),
			`"text_projection.weight" has shape [6 12], the configuration requires [7 12]`},
		{"altclip", config(object{"text_config": object{"project_dim": 0}}), "project_dim 0 is not at least 1"},
		{"altclip", without("", "text_model.pre_LN.bias"), "1 tensor missing: text_model.pre_LN.bias"},
		{"mclip", config(object{"modelBase": "bert-tiny"}),
			`modelBase "bert-tiny" is neither xlm-roberta-base nor xlm-roberta-large nor a folder`},
		{"mclip", config(object{"transformerDimensions": 17}),
			"transformerDimensions 17, but xlm-roberta-tiny is 16 wide"},
		{"mclip", config(object{"numDims": 0}), "numDims 0 is not at least 1"},
	} {
		dir := modeltest.CopyOf(t, c.folder)
		c.damage(t, dir)
		_, err := Open(dir, OpenOptions{})
		modeltest.CheckLine(t, err, c.want)
		modeltest.CheckLine(t, err, dir)
	}
	_, err := Open(t.TempDir(), OpenOptions{})
	modeltest.CheckLine(t, err, "model folder: open ")
	for _, c := range []struct {
		folder string
		mode   Mode
		want   string
	}{
		{"xlmr-inner-pad", "sum", `pooling "sum" is not known`},
		{"distilbert-masked-lm", ModePooler, "DistilBERT has none"},
		{"bert-mean", ModeCLS, "pooling cls requested, but the model defines its own"},
		{"altclip", ModeMean, "pooling mean requested"},
		{"xlmr-masked-lm", ModePooler, "2 tensors missing: roberta.pooler.dense.weight, roberta.pooler.dense.bias"},
	} {
		_, err := Open(filepath.Join("testdata", c.folder), OpenOptions{Pooling: c.mode})
		modeltest.CheckLine(t, err, c.want)
	}
}

// TestOpen checks the options read from a folder.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		folder     string
		max, width int
	}{{"bert-mean", 16, 16}, {"bert-joined-dense", 20, 7}, {"mpnet-joined", 16, 12}, {"roberta-left", 16, 16},
		{"xlmr-inner-pad", 18, 16}, {"altclip", 18, 6}, {"mclip", 18, 6}} {
		m, err := Open(filepath.Join("testdata", c.folder), OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if m.MaxTokens() != c.max || m.Width() != c.width {
			t.Errorf("%s: %d tokens, vectors of %d, want %d, %d", c.folder, m.MaxTokens(), m.Width(), c.max, c.width)
		}
		_, err = m.Prepare("a text")
		modeltest.CheckLine(t, err, filepath.Join("testdata", c.folder))
		if _, again := m.Tokenizer(); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: Tokenizer says %v, Prepare %v", c.folder, again, err)
		}
	}
	dir := modeltest.CopyOf(t, "bert-joined-dense")
	modeltest.Write(t, filepath.Join(dir, "vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nquery\n:\nhouse\nHouse\n")
	modeltest.Write(t, filepath.Join(dir, "tokenizer_config.json"),
		`{"tokenizer_class": "BertTokenizer", "do_lower_case": false, "model_max_length": 6}`)
	modeltest.Write(t, filepath.Join(dir, "config_sentence_transformers.json"),
		`{"default_prompt_name": "q", "prompts": {"q": "query: "}}`)
	m, err := Open(dir, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Prepare("House unknown house")
	if err != nil {
		t.Fatal(err)
	}
	if want := []int32{2, 5, 6, 8, 1, 3}; !slices.Equal(p.IDs, want) || !p.Truncated || p.Unknown != 1 {
		t.Errorf("%+v, want ids %v, cut, 1 unknown", p, want)
	}
	if m.MaxTokens() != 6 {
		t.Errorf("%d tokens at most, the tokenizer says 6", m.MaxTokens())
	}
	modeltest.Edit(t, filepath.Join(dir, "sentence_bert_config.json"),
		object{"do_lower_case": true, "max_seq_length": 20})
	if m, err = Open(dir, OpenOptions{}); err != nil {
		t.Fatal(err)
	}
	if p, err = m.Prepare("House"); err != nil || !slices.Equal(p.IDs, []int32{2, 5, 6, 7, 3}) {
		t.Errorf("in small letters: %+v, %v", p, err)
	}
	if m.MaxTokens() != 20 {
		t.Errorf("%d tokens at most, max_seq_length says 20", m.MaxTokens())
	}
	for _, name := range []string{"modules.json", "config.json", "1_Pooling/config.json", "2_Dense/model.safetensors",
		"sentence_bert_config.json", "tokenizer_config.json", "config_sentence_transformers.json", "vocab.txt",
		"model.safetensors"} {
		if n := len(slices.DeleteFunc(m.Files(),
			func(f string) bool { return f != filepath.Join(dir, name) })); n != 1 {
			t.Errorf("Files lists %s %d times", name, n)
		}
	}
}

// FuzzParseConfig feeds damaged configurations: each is refused in one line, or valid with room for a token.
func FuzzParseConfig(f *testing.F) {
	for _, c := range goldens {
		text, err := os.ReadFile(filepath.Join("testdata", c.name, "config.json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConfig([]byte(text), func(string) ([]byte, error) { return []byte(text), nil })
		if err != nil {
			modeltest.CheckLine(t, err, "")
			return
		}
		if err := c.Validate(); err != nil || c.MaxTokens() < 1 || c.Family() == "" {
			t.Errorf("%s: %v, room for %d tokens", text, err, c.MaxTokens())
		}
		if _, err := bare(c, ""); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	})
}
