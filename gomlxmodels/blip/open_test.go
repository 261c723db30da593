package blip

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/textgen"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// TestSuite: damaged folders are refused, and what every network has. Folders with PyTorch's weights give the same
// captions as with safetensors, bit for bit: files of torch.save name the head's weights as well, which are the words'
// own.
func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{
		Folder: "base",
		Open:   func(dir string) error { _, err := Open(dir); return err },
		Refuses: `
model_type="blip-2" => model_type "blip-2"
model_type=null => has no "model_type"
architectures=["BlipForQuestionAnswering"] => BlipForQuestionAnswering writes no captions
text_config/num_attention_heads=5 => hidden_size 32 not divisible by num_attention_heads 5
text_config/hidden_act="wavy" => activation "wavy"
text_config/is_decoder=false => writes no text
text_config/sep_token_id=98 => sep_token_id 98
text_config/bos_token_id=-1 => bos_token_id -1
text_config/num_hidden_layers=1048576 => num_hidden_layers 1048576
text_config/layer_norm_eps=0 => layer_norm_eps 0
text_config/vocab_size="many" => text_config
text_config/num_hidden_layers=3 => missing: text_decoder.bert.encoder.layer.2
text_config/num_hidden_layers=1 => does not use: text_decoder.bert.encoder.layer.1
vision_config/num_channels=4 => num_channels 4
vision_config/patch_size=64 => patch_size
vision_config/intermediate_size=47 => the configuration requires [47
tie_word_embeddings=false => missing: text_decoder.cls.predictions.decoder.weight
text_config/vocab_size=97 && text_config/bos_token_id=95 => the configuration requires [97
preprocessor_config.json:size={"height": 30, "width": 32} => the model takes 32×32
preprocessor_config.json:image_std=[1,0,1] => image_std
preprocessor_config.json<[] => preprocessor_config.json: not readable`,
		Torch: map[string]map[string]string{"base": {headWeights: wordWeights, decoderBias: headBias},
			"own-head-bf16": nil},
		SameTorch: func(t *testing.T, folder, torch string) {
			g := openGolden(t, folder)
			m := must.Get(Open(torch))(t)
			must.Equal(t, m.cfg.ownHead, g.cfg.ownHead, folder, "a head of its own")
			must.Equal(t, g.cfg.ownHead, (folder == "own-head-bf16"), folder, "a head of its own")
			// but positions, which are integers
			modeltest.SameTensors(t, g.Weights, m.Weights, len(g.Weights.Names())-1)
			caption := func(m *Model) [][]textgen.Text {
				c := newCaptioner(t, testbackend.Go(t), m, textgen.CaptionerOptions{})
				texts := must.Get(c.Caption(t.Context(), drawn(g, 2),
					textgen.Options{MaxTokens: 8, Sample: true, Number: 2}))(t)
				return texts
			}
			if got, want := caption(m), caption(g.Model); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, want %v", folder, got, want)
			}
		},
		Optimized: func(t *testing.T, xla compute.Backend) {
			checkCaptions(t, xla, "base", func(s textgen.Options) bool { return s.Width() == 1 })
		},
	})
}

// TestHead: which tensors the logits are made of.
func TestHead(t *testing.T) {
	for name, own := range map[string]bool{"base": false, "large": false, "own-head-bf16": true, "old-hub": true} {
		m := must.Get(Open(filepath.Join("testdata", name)))(t)
		must.Equal(t, m.cfg.ownHead, own, name, "a head of its own")
	}
}

// TestPreprocessing: of a folder that says nothing, and of one whose processor holds it.
func TestPreprocessing(t *testing.T) {
	dir := modeltest.CopyOf(t, "base")
	path := filepath.Join(dir, "preprocessor_config.json")
	text := must.Get(os.ReadFile(path))(t)
	m := must.Get(Open(dir))(t)
	want := m.Preprocess()
	must.Equal(t, want.Filter, preprocess.Bicubic)
	must.Equal(t, want.Resize, preprocess.Stretch)
	must.Do(t, os.Remove(path))
	for _, source := range []string{"default of BlipImageProcessor", "processor_config.json"} {
		if source == "processor_config.json" {
			modeltest.Write(t, filepath.Join(dir, source),
				`{"processor_class": "BlipProcessor", "image_processor": `+string(text)+"}")
		}
		m := must.Get(Open(dir))(t)
		got := m.Preprocess()
		must.Equal(t, got.Source, source, "source")
		if got.Source = want.Source; got != want {
			t.Errorf("%s: %+v, want %+v", source, got, want)
		}
	}
}

// TestTable: every tensor and every variable stands once.
func TestTable(t *testing.T) {
	checkTable(t, must.Get(Open(filepath.Join("testdata", "large")))(t))
}

func checkTable(t *testing.T, m *Model) {
	tensors, variables := map[string]bool{}, map[string]bool{}
	for _, r := range table(m.cfg) {
		if tensors[r.Tensor] || r.Variable != "" && variables[r.Variable] {
			t.Errorf("%+v stands twice", r)
		}
		tensors[r.Tensor], variables[r.Variable] = true, true
	}
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}
