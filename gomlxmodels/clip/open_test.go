package clip

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// TestSuite: damaged folders are refused, and what every network has. Folders with PyTorch's weights give the same
// vectors as with safetensors, bit for bit.
func TestSuite(t *testing.T) {
	scale := func(change func(*weights.Tensor)) func(testing.TB, string) {
		return func(t testing.TB, dir string) {
			list := modeltest.Tensors(t, dir)
			change(&list[0])
			modeltest.Save(t, dir, list)
		}
	}
	modeltest.Suite(t, modeltest.Model{
		Folder: "quickgelu-legacy-end",
		Open:   func(dir string) error { _, err := Open(dir); return err },
		Refuses: `
config.json<{ => config.json: not readable as JSON
config.json<{} => config.json: has no "model_type"
model_type="vit" => model_type "vit" is not a CLIPModel
text_config/num_attention_heads=5 => text_config: hidden_size 32 not divisible by num_attention_heads 5
vision_config/num_attention_heads=0 => vision_config: num_attention_heads 0 is not between
vision_config/patch_size=64 => vision_config: patch_size 64 larger than image_size 32
vision_config/num_channels=4 => vision_config: num_channels 4
text_config/hidden_act="mish" => text_config: hidden_act: activation "mish" is not known
vision_config/layer_norm_eps=0 => vision_config: layer_norm_eps 0 is not a positive
text_config/eos_token_id=64 => eos_token_id 64 is not a token (vocab_size 64)
vision_config/image_size=[32,32] => vision_config: json: cannot unmarshal array
vision_config/image_size=142 && vision_config/patch_size=1 => make 20164 patches
projection_dim=70000 => projection_dim 70000 is not between
projection_dim=25 => "visual_projection.weight" has shape [24 32], the configuration requires
text_config/num_hidden_layers=1 => 16 tensors the model does not use: text_model.encoder.layers.1
preprocessor_config.json<{"size": 32, "crop_size": 30} => preprocessor_config.json: preprocessing gives 30×30
preprocessor_config.json<{} => preprocessor_config.json: preprocessing gives 224×224
preprocessor_config.json<[] => preprocessor_config.json: not readable
drop visual_projection.weight => model.safetensors: 1 tensor missing: visual_projection.weight
drop text_model.encoder.layers.1.self_attn.k_proj.bias => 1 tensor missing: text_model.encoder.layers.1.self_attn.k_proj.bias
drop logit_scale => tensor "logit_scale" is missing
add text_model.extra => 1 tensor the model does not use: text_model.extra
@siglip
text_config/projection_size=24 => projection_size 24 of texts is not the hidden_size 16 of images
text_config/max_position_embeddings=0 => text_config: max_position_embeddings 0 is not between
text_config/hidden_size=25 => text_config: hidden_size 25 not divisible by num_attention_heads 4
text_config=3 => text_config: json: cannot unmarshal number
vision_config/vision_use_head=false => vision_config: vision_use_head false is not supported
vision_config/patch_size=8 => "vision_model.embeddings.position_embedding.weight" has shape [16 16], the configuration requires [4 16]
model_type="siglip2" => model_type "siglip2" is not a CLIPModel (clip), AltCLIPModel (altclip) or SiglipModel (siglip)
drop logit_bias => tensor "logit_bias" is missing
drop vision_model.head.probe => 1 tensor missing: vision_model.head.probe
drop text_model.head.bias => 1 tensor missing: text_model.head.bias
rm preprocessor_config.json && vision_config/image_size=20 => has shape [16 16], the configuration requires [25 16]
@open-clip
open_clip_config.json<{ => open_clip_config.json: not readable
open_clip_config.json:model_cfg/vision_cfg/timm_model_name="vit" => unknown field "timm_model_name"
open_clip_config.json:model_cfg/custom_text=true => unknown field "custom_text"
open_clip_config.json:model_cfg/text_cfg/tokenizer_kwargs={"clean": "canonicalize"} => tokenizer_kwargs map[clean:canonicalize] is not
open_clip_config.json:model_cfg/vision_cfg/head_width=0 => head_width 0 is not between 1 and
open_clip_config.json:model_cfg/text_cfg/mlp_ratio=-1 => text_config: intermediate_size -16 is not between
open_clip_config.json:model_cfg/text_cfg/heads=5 => text_config: hidden_size 16 not divisible by num_attention_heads 5
open_clip_config.json:preprocess_cfg/resize_mode="squash" => resize_mode "squash" is not supported: only "shortest" is
open_clip_config.json:preprocess_cfg/mean=[1] => preprocess_cfg: mean or std has 1 values, not 3
open_clip_config.json:preprocess_cfg/std=[1,0,1] => deviations must be positive numbers
open_clip_config.json:model_cfg/embed_dim=23 => "visual.proj" has shape [16 12], the configuration requires [16 23]
rm open_clip_model.safetensors => holds no weights of open_clip (open_clip_model.safetensors,
open_clip_model.safetensors<{} => open_clip_model.safetensors: not a safetensors file`,
		Opens: "@siglip\nrm preprocessor_config.json",
		Others: map[string]func(testing.TB, string){
			`tensor "logit_scale" has shape [1], the configuration requires []`: scale(
				func(w *weights.Tensor) { w.Shape = []int{1} }),
			`tensor "logit_scale" is 1000: its exponential is no finite factor`: scale(
				func(w *weights.Tensor) { w.Data[0] = 1000 }),
		},
		Torch: map[string]map[string]string{"bf16-shards": nil, "old-hub": nil},
		SameTorch: func(t *testing.T, folder, torch string) {
			g, m := openGolden(t, folder), open(t, torch)
			// but positions, which are integers
			modeltest.SameTensors(t, m.Weights, g.Weights, len(g.Weights.Names())-2)
			a, b := newEncoder(t, testbackend.Go(t), m, Options{}), newEncoder(t, testbackend.Go(t), g.Model, Options{})
			images, ids := g.Rows("pixels"), g.IntRows("ids")
			if !slices.EqualFunc(encodeImages(t, a, images...), encodeImages(t, b, images...), equal) {
				t.Errorf("%s: other vectors of images", folder)
			}
			if !slices.EqualFunc(encodeTokens(t, a, ids...), encodeTokens(t, b, ids...), equal) {
				t.Errorf("%s: other vectors of texts", folder)
			}
		},
		Goldens:   goldens,
		Reference: checkGolden,
		Optimized: func(t *testing.T, xla compute.Backend) { checkEncoder(t, xla, "gelu-odd-patch") },
	})
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
	for file, text := range map[string]string{"": "", "preprocessor_config.json": `{"size": {"height": 16, "width": 16}}`,
		"processor_config.json": `{"image_processor": {"size": {"height": 16, "width": 16}, "image_mean": [0.1, 0.2, 0.3]}}`,
	} { // the same of a SigLIP's images alone; processor_config.json before preprocessor_config.json
		dir := modeltest.CopyOf(t, "siglip")
		switch file {
		case "":
			os.Remove(filepath.Join(dir, "preprocessor_config.json"))
		default:
			modeltest.Write(t, filepath.Join(dir, file), text)
		}
		p := open(t, dir).Preprocess()
		if v := must.Get(vit.Open(dir))(t).Preprocess(); v != p || p.Filter != preprocess.Bicubic ||
			(p.Mean[0] == 0.1) != (file == "processor_config.json") {
			t.Errorf("siglip, %q: %+v, %+v", file, p, v)
		}
	}
}

func TestDefaultConfig(t *testing.T) {
	got, err := ParseConfig([]byte(`{"model_type": "clip", "text_config": null, "text_config_dict": null}`))
	if want := DefaultConfig(); err != nil || *got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}

// TestCleaned compares texts with what open_clip makes of them, for its own tokenizer and one of transformers.
func TestCleaned(t *testing.T) {
	var golden map[string][2]string
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/open-clip/cleaned.json"))(t), &golden))
	for text, want := range golden {
		for i, named := range []bool{false, true} {
			must.Equal(t, must.Get((&Config{named: named}).clean(text))(t), want[i], text)
		}
	}
	dir := modeltest.CopyOf(t, "open-clip")
	modeltest.Write(t, filepath.Join(dir, "vocab.json"),
		`{"<|startoftext|>": 0, "<|endoftext|>": 1, "&</w>": 2, "&": 3, "a": 4}`)
	modeltest.Write(t, filepath.Join(dir, "merges.txt"), "#version: 0.2\n")
	modeltest.Write(t, filepath.Join(dir, "tokenizer_config.json"), `{"tokenizer_class": "CLIPTokenizer"}`)
	tok := must.Get(open(t, dir).Texts())(t)
	must.EqualSlices(t, must.Get(tok.Encode("&amp;amp;", 0))(t).IDs, []int32{0, 2, 1})
	must.Fail(tok.Encode("â€œa", 0))(t, "was decoded with the wrong encoding")
}

// TestOpenAITag: open_clip's tag openai means QuickGELU, whatever the configuration says.
func TestOpenAITag(t *testing.T) {
	for name, want := range map[string]string{"vit_base_patch32_clip_224.openai": "quick_gelu", "ViT-B-32": "gelu"} {
		dir := filepath.Join(t.TempDir(), name, "snapshot")
		must.Do(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "open-clip"))))
		modeltest.Damage(t, dir, "open_clip_config.json:model_cfg/quick_gelu=false")
		m := must.Get(Open(dir))(t)
		if c := m.Config(); c.Text.HiddenAct != want || c.Vision.HiddenAct != want {
			t.Errorf("%s: activations %s, %s", name, c.Text.HiddenAct, c.Vision.HiddenAct)
		}
	}
}
