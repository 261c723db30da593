package textenc

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/compute"

	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

type object = map[string]any

// TestSuite: damaged folders are refused, and what every network has. Folders with PyTorch's weights give the same
// vectors as with safetensors, bit for bit: XLM-R with its head, whose weights are the words' own,
// sentence-transformers with a dense layer in a folder, and shards.
func TestSuite(t *testing.T) {
	ties := map[string]string{"lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
		"lm_head.decoder.bias": "lm_head.bias"}
	modes := map[string]Mode{"xlmr-masked-lm": ModeMean}
	modeltest.Suite(t, modeltest.Model{
		Folder: "xlmr-inner-pad",
		Open:   func(dir string) error { _, err := Open(dir, OpenOptions{}); return err },
		Refuses: `
config.json<{ => config.json: not readable as JSON
config.json<{} => config.json: has no "model_type"
model_type="vit" => model_type "vit" is not a text encoder
is_decoder=true => is_decoder is true
position_embedding_type="relative_key" => position_embedding_type "relative_key" is not supported
num_attention_heads=5 => hidden_size 16 not divisible by num_attention_heads 5
num_hidden_layers=0 => num_hidden_layers 0 is not between 1
hidden_act="mish" => hidden_act: activation "mish" is not known
layer_norm_eps=0 => layer_norm_eps 0 is not a positive
pad_token_id=50 => pad_token_id 50 is not between 0 and 49
pad_token_id=30 => max_position_embeddings 20 leaves no place for a token: positions start at 31
type_vocab_size=0 => type_vocab_size 0 is not at least 1
num_hidden_layers=1 => 16 tensors the model does not use: encoder.layer.1
hidden_size="x" => cannot unmarshal string
model_type="mpnet" && relative_attention_num_buckets=32 => missing: encoder.relative_attention_bias.weight
intermediate_size=25 => has shape [24 16], the configuration requires [25 16]
drop encoder.layer.1.attention.self.key.bias => model.safetensors: 1 tensor missing: encoder.layer.1.attention.self.key.bias
add encoder.extra => 1 tensor the model does not use: encoder.extra
@mpnet-far
relative_attention_num_buckets=16 => relative_attention_num_buckets 16 is not between 32
@mpnet-bf16-shards
rm model-00002-of-00002.safetensors => model-00002-of-00002.safetensors
@bert-joined-dense
1_Pooling/config.json:pooling_mode="sum" => 1_Pooling/config.json: pooling_mode "sum" is not known
1_Pooling/config.json:include_prompt=false => include_prompt false
1_Pooling/config.json:embedding_dimension=17 => embedding_dimension 17, but what comes before gives 16
2_Dense/config.json:in_features=16 => in_features 16, but what comes before gives 48
2_Dense/config.json:activation_function="torch.nn.modules.activation.Mish" => activation_function "Mish" is not known
2_Dense/config.json:use_residual=true => use_residual is not supported
drop 2_Dense/model.safetensors:linear.bias => 2_Dense/model.safetensors: 1 tensor missing: linear.bias
rm 2_Dense/model.safetensors => 2_Dense: holds no weights
rm 1_Pooling/config.json => 1_Pooling/config.json
modules.json<[{"path": "", "type": "a.Transformer"}] => modules.json: the modules do not begin with Transformer and Pooling
modules.json<[{"path": "", "type": "a.Transformer"}, {"path": "../x", "type": "a.Pooling"}] => path "../x" leads out of the folder
modules.json<[{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}, {"path": "2_Dense", "type": "a.LSTM"}] => module "LSTM" is not known
@bert-mean
sentence_bert_config.json:max_seq_length=21 => max_seq_length 21 is not between 1 and the 20 tokens
sentence_bert_config.json<{"processing_kwargs": {"common": {"max_length": 30}, "text": {"max_length": 8}}} => max_length 30 is not between
sentence_bert_config.json<{"tokenizer_args": {"do_lower_case": false}} => sentence_bert_config.json: tokenizer_args.do_lower_case false is not supported
sentence_bert_config.json<{"transformer_task": "fill-mask"} => transformer_task fill-mask is not supported
rm sentence_bert_config.json && sentence_xlnet_config.json<{"query_expansion": {"length": 5}} => sentence_xlnet_config.json: query_expansion.length 5
config_sentence_transformers.json<{"default_prompt_name": "query", "prompts": {}} => default_prompt_name "query" is not among the prompts
@altclip
projection_dim=7 => "text_projection.weight" has shape [6 12], the configuration requires [7 12]
text_config/project_dim=0 => project_dim 0 is not at least 1
drop text_model.pre_LN.bias => 1 tensor missing: text_model.pre_LN.bias
@mclip
modelBase="bert-tiny" => modelBase "bert-tiny" is neither xlm-roberta-base nor xlm-roberta-large nor a folder
transformerDimensions=17 => transformerDimensions 17, but xlm-roberta-tiny is 16 wide
numDims=0 => numDims 0 is not at least 1`,
		Torch: map[string]map[string]string{"xlmr-masked-lm": ties, "bert-joined-dense": ties,
			"mpnet-bf16-shards": ties},
		SameTorch: func(t *testing.T, folder, torch string) {
			g := openGolden(t, folder, modes[folder])
			m := must.Get(Open(torch, OpenOptions{Pooling: modes[folder]}))(t)
			// but positions, which are integers
			modeltest.SameTensors(t, g.Weights, m.Weights, len(g.Weights.Names())-2)
			got := encode(t, newEncoder(t, testbackend.Go(t), m, Options{}), g.texts()...)
			want := encode(t, newEncoder(t, testbackend.Go(t), g.Model, Options{}), g.texts()...)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: other vectors", folder)
			}
		},
		Optimized: func(t *testing.T, xla compute.Backend) {
			checkEncoder(t, xla, openGolden(t, "mpnet-far", ModePooler), false)
		},
	})
}

func TestOpenMode(t *testing.T) {
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
		must.Fail(Open(filepath.Join("testdata", c.folder), OpenOptions{Pooling: c.mode}))(t, c.want)
	}
}

// TestOpen checks the options read from a folder.
func TestOpen(t *testing.T) {
	for _, c := range []struct {
		folder     string
		max, width int
	}{{"bert-mean", 16, 16}, {"bert-joined-dense", 20, 7}, {"mpnet-joined", 16, 12}, {"roberta-left", 16, 16},
		{"xlmr-inner-pad", 18, 16}, {"altclip", 18, 6}, {"mclip", 18, 6}} {
		m := must.Get(Open(filepath.Join("testdata", c.folder), OpenOptions{}))(t)
		must.Equal(t, m.MaxTokens(), c.max, c.folder, "tokens, vectors")
		must.Equal(t, m.Width(), c.width, c.folder, "tokens, vectors")
		_, err := m.Prepare("a text")
		must.Fail(err)(t, filepath.Join("testdata", c.folder))
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
	m := must.Get(Open(dir, OpenOptions{}))(t)
	p := must.Get(m.Prepare("House unknown house"))(t)
	if want := []int32{2, 5, 6, 8, 1, 3}; !slices.Equal(p.IDs, want) || !p.Truncated || p.Unknown != 1 {
		t.Errorf("%+v, want ids %v, cut, 1 unknown", p, want)
	}
	must.Equal(t, m.MaxTokens(), 6, "tokens at most, the tokenizer says 6")
	modeltest.Edit(t, filepath.Join(dir, "sentence_bert_config.json"),
		object{"do_lower_case": true, "max_seq_length": 20})
	m = must.Get(Open(dir, OpenOptions{}))(t)
	must.EqualSlices(t, must.Get(m.Prepare("House [MASK]"))(t).IDs, []int32{2, 5, 6, 7, 4, 3}, "in small letters")
	must.Equal(t, m.MaxTokens(), 20, "tokens at most, max_seq_length says 20")
	for text, want := range map[string]int{`{}`: 6, `{"max_seq_length": 9}`: 9,
		`{"tokenizer_args": {"model_max_length": 7}, "max_seq_length": 9, "unpad_inputs": false}`:       7,
		`{"processing_kwargs": {"text": {"max_length": 8}}, "model_args": {"trust_remote_code": true}}`: 8} {
		modeltest.Write(t, filepath.Join(dir, "sentence_bert_config.json"), `{}`)
		modeltest.Write(t, filepath.Join(dir, "sentence_roberta_config.json"), text)
		must.Equal(t, must.Get(Open(dir, OpenOptions{}))(t).MaxTokens(), want, text)
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
		text := must.Get(os.ReadFile(filepath.Join("testdata", c.name, "config.json")))(f)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseConfig([]byte(text), func(string) ([]byte, error) { return []byte(text), nil })
		if err != nil {
			must.Fail(err)(t)
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
