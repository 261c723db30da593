package blip2

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels/textgen"
	"antipode/internal/must"
	"antipode/test/captiontest"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// TestSuite: damaged folders are refused, and what every network has. PyTorch's weights name the words a second time as
// the head's weights.
func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{
		Folder: "opt",
		Open:   func(dir string) error { _, err := OpenCaptioner(dir); return err },
		Refuses: `
model_type="blip" => model_type "blip" is not a BLIP-2
model_type=null => has no "model_type"
text_config/model_type="t5" => the language model is a t5: captions are written by a BLIP-2 with an OPT
text_config/model_type="llama" => the language model is a llama
text_config/num_attention_heads=5 => hidden_size 32 not divisible by num_attention_heads 5
text_config/activation_function="wavy" => activation "wavy"
text_config/enable_bias=false => only an OPT with biases
text_config/eos_token_id=324 => eos_token_id 324
text_config/eos_token_id=[2,-1] => eos_token_id -1
text_config/eos_token_id=null => no token ends a caption
text_config/eos_token_id="end" => neither a token nor a list of tokens
text_config/bos_token_id=400 => bos_token_id 400
text_config/num_hidden_layers=1048576 => num_hidden_layers 1048576
text_config/word_embed_proj_dim=33 => word_embed_proj_dim 33 is not between 1 and 32
text_config/word_embed_proj_dim=16 => the configuration requires [324 16]
text_config/max_position_embeddings=6 => leave no place
text_config/vocab_size="many" => text_config
text_config/num_hidden_layers=3 => missing: language_model.model.decoder.layers.2
text_config/num_hidden_layers=1 => does not use: language_model.model.decoder.layers.1
text_config/tie_word_embeddings=false => missing: language_model.lm_head.weight
image_token_index=324 => image_token_index 324
num_query_tokens=7 => the configuration requires [1 7 24]
num_query_tokens=0 => num_query_tokens 0
vision_config/image_size=[28,35] => is not square
vision_config/patch_size=64 => patch_size
vision_config/qkv_bias=false => does not use: vision_model.encoder.layers.0.self_attn.qkv.bias
qformer_config/num_attention_heads=5 => hidden_size 24 not divisible by num_attention_heads 5
qformer_config/cross_attention_frequency=0 => cross_attention_frequency 0
qformer_config/cross_attention_frequency=1 => missing: qformer.encoder.layer.1.crossattention
qformer_config/layer_norm_eps=0 => layer_norm_eps 0
qformer_config/hidden_act="wavy" => activation "wavy"
qformer_config/intermediate_size=39 => the configuration requires [39
drop query_tokens => missing: query_tokens
add more.weight => does not use: more.weight
drop ^language_ => without a language model wr
@retrieval
rm none => without a language model writes no captions`,
		Torch: map[string]map[string]string{"opt": {headWeights: wordWeights}},
		SameTorch: func(t *testing.T, folder, torch string) {
			g := openGolden(t, folder)
			m := must.Get(Open(torch))(t)
			if g.cfg.ownHead || m.cfg.ownHead || !m.Weights.Has(headWeights) {
				t.Error("the head is read as one of its own")
			}
			modeltest.SameTensors(t, g.Weights, m.Weights, len(g.Weights.Names()))
		},
		Optimized: func(t *testing.T, xla compute.Backend) {
			g := openGolden(t, "opt")
			captiontest.Check(t, xla, g.Network(), g.reference(100),
				func(s textgen.Options) bool { return s.Width() == 1 })
		},
	})
}

// TestOtherLanguage: vectors of images need no language model that this package knows.
func TestOtherLanguage(t *testing.T) {
	dir := modeltest.CopyOf(t, "opt")
	modeltest.Edit(t, filepath.Join(dir, "config.json"),
		map[string]any{"text_config": map[string]any{"model_type": "t5", "vocab_size": nil,
			"eos_token_id": "whatever"}})
	m := must.Get(Open(dir))(t)
	must.Do(t, m.Gives(Queries))
	if images, captions := m.Shares(); images || captions {
		t.Errorf("shares %v, %v", images, captions)
	}
}

// TestParts: which tensors are read for what.
func TestParts(t *testing.T) {
	read := func(m *Model, want need) (names []string) {
		for _, r := range table(m.cfg, m.Weights, want) {
			if r.Variable != "" {
				names = append(names, r.Tensor)
			}
		}
		return names
	}
	m := must.Get(OpenCaptioner(filepath.Join("testdata", "old-hub")))(t)
	if all := read(m, writes); len(all) != len(m.Weights.Names()) || !slices.Contains(all, headWeights) {
		t.Errorf("%d tensors of %d are read to write captions", len(all), len(m.Weights.Names()))
	}
	for _, name := range read(m, tower) {
		if !strings.HasPrefix(name, "vision_model.") {
			t.Errorf("%s is read for the tower", name)
		}
	}
	shared := must.Get(Open(filepath.Join("testdata", sharing)))(t)
	known := map[string]bool{"itm_head.weight": true, "itm_head.bias": true} // read by nobody
	for _, part := range []need{tower | queries | project, texts} {
		variables := map[string]int{}
		for _, name := range read(shared, part) {
			known[name] = true
		}
		for _, r := range table(shared.cfg, shared.Weights, part) {
			if variables[r.Variable]++; r.Variable != "" && variables[r.Variable] > max(1, r.Parts) {
				t.Errorf("%s stands twice", r.Variable)
			}
		}
	}
	must.Equal(t, len(known), len(shared.Weights.Names()), "tensors are known")
}

// TestEnds: which tokens end a caption, and what stands for the queries where a penalty counts tokens.
func TestEnds(t *testing.T) {
	for name, want := range map[string]struct{ ends, seen []int32 }{"opt": {[]int32{202, 2}, []int32{320}},
		"opt-350m": {[]int32{202}, []int32{320}}, "old-hub": {[]int32{202}, nil}} {
		n := openGolden(t, name).Network()
		if d := n.Decoder(dtypes.Float32); !slices.Equal(n.Ends, want.ends) || !slices.Equal(d.Seen, want.seen) ||
			d.Before != 6 {
			t.Errorf("%s: ends %v, seen %v, before %d", name, n.Ends, d.Seen, d.Before)
		}
	}
}

// TestMemory: weights that the memory cannot hold are not read, and the error says how much they take.
func TestMemory(t *testing.T) {
	now := available
	t.Cleanup(func() { available = now })
	if have, known := now(); known && have < 1<<20 {
		t.Errorf("%d bytes are free", have)
	}
	m := openGolden(t, "opt").Model
	rules := table(m.cfg, m.Weights, writes)
	total, most := memory(rules, 4)
	var values int64
	for _, name := range m.Weights.Names() {
		info, _ := m.Weights.Info(name)
		n := int64(1)
		for _, d := range info.Shape {
			n *= int64(d)
		}
		values += n
	}
	if total != 4*values || most < 12*324*32 {
		t.Errorf("%d and %d bytes, of %d values", total, most, values)
	}
	for _, have := range []int64{total, total + most} {
		available = func() (int64, bool) { return have, true }
		c, err := textgen.NewCaptioner(testbackend.Go(t), m.Network(), textgen.CaptionerOptions{})
		if have == total {
			must.Fail(err)(t, "the weights take 0.0 GiB in float32 and reading them 0.0 GiB more, but 0.0 "+
				"GiB of memory are free")
		} else if err != nil {
			t.Errorf("with just enough: %v", err)
		}
		c.Close()
	}
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}
