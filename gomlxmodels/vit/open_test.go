package vit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

func TestOpen(t *testing.T) {
	for name, want := range map[string]struct {
		layout Layout
		filter preprocess.Filter
		files  int
	}{
		"hf-pooler-odd":        {HuggingFace, preprocess.Bilinear, 2},
		"hf-classifier-oblong": {HuggingFace, preprocess.Bilinear, 2},
		"hf5-memory":           {HuggingFace5, preprocess.Bilinear, 2},
		"hf-bf16-shards":       {HuggingFace, preprocess.Bilinear, 4},
		"timm-plain":           {Timm, preprocess.Bicubic, 2},
		"timm-registers":       {Timm, preprocess.Bicubic, 2},
		"timm-dinov2-giant":    {Timm, preprocess.Bicubic, 2},
		"dinov2-down":          {HuggingFace, preprocess.Bicubic, 3},
		"dinov2-giant-up":      {HuggingFace5, preprocess.Bicubic, 3},
	} {
		m, err := Open(filepath.Join("testdata", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if m.layout != want.layout || m.Preprocess().Filter != want.filter || len(m.Files()) != want.files {
			t.Errorf("%s: %s, filter %v, files %v", name, m.layout, m.Preprocess().Filter, m.Files())
		}
	}
}

// TestSuite: damaged folders are refused, and what every network has. Folders with PyTorch's weights give the same
// vectors as with safetensors, bit for bit.
func TestSuite(t *testing.T) {
	modeltest.Suite(t, modeltest.Model{
		Folder: "hf-pooler-odd",
		Open:   func(dir string) error { _, err := Open(dir); return err },
		Refuses: `
config.json<{ => config.json: not readable as JSON
config.json<{} => config.json: has neither "model_type"
model_type="bert" => model_type "bert" is not a ViT
num_attention_heads=5 => hidden_size 32 not divisible by num_attention_heads 5
num_hidden_layers=0 => num_hidden_layers 0 is not between
hidden_size=-4 => hidden_size -4 is not between
patch_size=64 => patch_size [64 64] larger than image_size [31 31]
num_channels=1 => num_channels 1: only
layer_norm_eps=0 => layer_norm_eps 0 is not
hidden_act="wow" => hidden_act: activation "wow" is not known
patch_size=1 && image_size=1000 => patches, more than 16384
image_size=[1,2,3] => neither a number nor [height, width]
hidden_size=64 => tensor "embeddings.cls_token" has shape [1 1 32], the configuration requires [1 1 64]
image_size=35 => "embeddings.position_embeddings" has shape [1 17 32], the configuration requires [1 26
num_hidden_layers=3 => model.safetensors: 16 tensors missing: encoder.layer.2.
num_hidden_layers=1 => model.safetensors: 16 tensors the model does not use: encoder.layer.1.
qkv_bias=false => model.safetensors: 6 tensors the model does not use: encoder.layer.0.attention.attention.key.bias
preprocessor_config.json<[ => preprocessor_config.json: not readable
preprocessor_config.json<{"size": 20} => preprocessor_config.json: preprocessing gives 20×20 pixels
preprocessor_config.json<{"size": 31, "resample": 9} => preprocessor_config.json: preprocessing: resample 9 is not a filter
preprocessor_config.json<{"size": 31, "resample": 4} => preprocessor_config.json: preprocessing: resample 4 is of Pillow alone
preprocessor_config.json<{"size": 31, "do_flip_channel_order": true} => preprocessor_config.json: do_flip_channel_order true
preprocessor_config.json<{"size": 31, "rescale_offset": true} => offset false, rescale_offset true
preprocessor_config.json<{"size": 31, "image_mean": [1, 2]} => preprocessor_config.json: image_mean has 2 values
model.safetensors<abc => model.safetensors: not a safetensors file
@timm-plain
architecture="resnet50" => architecture "resnet50" is not one of timm's
global_pool="avg" && model_args/global_pool="avg" => global_pool "avg"
model_args/class_token=false => class_token false
model_args/qk_norm=true => model_args: qk_norm true is not supported
model_args/swiglu=3 => model_args: swiglu 3 is not supported
model_args/act_layer="mish" => model_args: act_layer "mish" is not supported
model_args/norm_layer="rmsnorm" => model_args: norm_layer "rmsnorm" is not supported
model_args/reg_tokens=-1 => reg_tokens -1
pretrained_cfg/interpolation="magic" => interpolation "magic" is not known
pretrained_cfg/crop_mode="border" => crop_mode "border" is not supported
drop norm.bias => model.safetensors: 1 tensor missing: norm.bias
add dist_token => model.safetensors: 1 tensor the model does not use: dist_token
config.json<{"model_type": "dinov2", "num_attention_heads": 4, "hidden_size": 32} => the configuration is not of timm
@dinov2-registers-down
mlp_ratio=0 => mlp_ratio 0 of hidden_size 16 is not between 1 and
mlp_ratio=1e9 => mlp_ratio 1e+09 of hidden_size 16
image_size=[30,35] => image_size [30 35]: position embeddings of a square image are required
image_size=35 => "embeddings.position_embeddings" has shape [1 37 16], the configuration requires [1 50
num_register_tokens=3 => "embeddings.register_tokens" has shape [1 4 16], the configuration requires [1 3 16]
model_type="dinov2" => 1 tensor the model does not use: embeddings.register_tokens
model_type="dinov2_with_more" => model_type "dinov2_with_more" is not a DINOv2
model_type="vit" => preprocessing gives 20×15 pixels (width×height), the model takes 30×30
use_swiglu_ffn=false => tensors missing: encoder.layer.0.mlp.fc1.weight
layer_norm_eps=-1 => layer_norm_eps -1 is not
preprocessor_config.json:crop_size=4 => patch_size [5 5] larger than image_size [4 4]
preprocessor_config.json:do_center_crop=false => gives images of many sizes
drop encoder.layer.1.layer_scale2.lambda1 => 1 tensor missing: encoder.layer.1.layer_scale2.lambda1
@siglip
vision_config/vision_use_head=false => vision_config: vision_use_head false is not supported
vision_config=[] => vision_config: json: cannot unmarshal array
vision_config/image_size=20 => "vision_model.embeddings.position_embedding.weight" has shape [9 16], the configuration requires [25 16]
drop vision_model.head.mlp.fc2.bias => 1 tensor missing: vision_model.head.mlp.fc2.bias
add vision_model.more => 1 tensor the model does not use: vision_model.more
model_type="dinov2" => the configuration is not of siglip, as the names of the tensors of
@hf5-memory
config.json<{"architecture": "vit_small_patch14_dinov2"} => the configuration is not of transformers-5`,
		Opens: "@dinov2-down\nrm preprocessor_config.json",
		Others: map[string]func(testing.TB, string){
			"the tensors are not named as those of a ViT": func(t testing.TB, dir string) {
				modeltest.Save(t, dir, []weights.Tensor{{Name: "x", Shape: []int{1}, Data: []float32{1}}})
			},
			"the file is cut short": func(t testing.TB, dir string) {
				path := filepath.Join(dir, weights.SingleFile)
				text := must.Get(os.ReadFile(path))(t)
				modeltest.Write(t, path, string(text[:len(text)-10]))
			},
		},
		Torch: map[string]map[string]string{"hf-bf16-shards": nil, "timm-registers": nil},
		SameTorch: func(t *testing.T, folder, torch string) {
			g := openGolden(t, folder)
			m := must.Get(Open(torch))(t)
			modeltest.SameTensors(t, m.Weights, g.Weights, len(g.Weights.Names()))
			run := func(m *Model) []float32 {
				return golden{m, g.Golden}.run(testbackend.Go(t), heads{}, func(s *model.Scope, in []*Node) []*Node {
					return []*Node{Forward(s, m.cfg, in[0], GraphOptions{Tokens: true}).Tokens}
				}, g.Tensor("pixels"))[0]
			}
			must.EqualSlices(t, run(m), run(g.Model), folder, "other vectors")
		},
		Optimized: func(t *testing.T, xla compute.Backend) { checkReference(t, xla, "timm-registers") },
	})
}

// TestNaNWeight: Open reads no values, the encoder does.
func TestNaNWeight(t *testing.T) {
	dir := modeltest.CopyOf(t, "timm-plain")
	list := modeltest.Tensors(t, dir)
	zero := float32(0)
	list[3].Data[1] = zero / zero
	modeltest.Save(t, dir, list)
	m := must.Get(Open(dir))(t)
	must.Fail(NewEncoder(testbackend.Go(t), m, Options{}))(t, "value 1 is NaN")
}

// TestGraphUsesAllWeights: the check after compiling finds a variable without a weight, and a weight without a use.
func TestGraphUsesAllWeights(t *testing.T) {
	c := tiny()
	for _, k := range []struct {
		want   string
		change func(*model.Store)
	}{
		{"1 variable of the graph without weights: /block_1/mlp/fc1/bias",
			func(s *model.Store) { s.DeleteVariable("/block_1/mlp/fc1/bias") }},
		{"1 loaded weight the graph does not use: /block_9/norm1/gain",
			func(s *model.Store) { s.Scope("/block_9/norm1").CreateVariable("gain", zeros(3)) }},
	} {
		e := must.Get(NewEncoder(testbackend.Go(t), randomFolder(t, c), Options{Batch: 1}))(t)
		defer e.Close()
		k.change(e.net.Store())
		must.Fail(e.Compile(true))(t, k.want)
	}
}

// TestTimmNames compares the shapes behind architecture names with those timm builds (tools/pyref/vit_names.py).
func TestTimmNames(t *testing.T) {
	text := must.Get(os.ReadFile("testdata/timm_names.json"))(t)
	var names map[string]*Config
	var extras map[string]struct {
		Registers, Prefix                   int
		PatchPositions, PreNorm, LayerScale bool
		Gated                               bool
	}
	must.Do(t, json.Unmarshal(text, &names))
	must.Do(t, json.Unmarshal(text, &extras))
	if len(names) < 40 {
		t.Errorf("only %d names", len(names))
	}
	for name, want := range names {
		got, err := ParseConfig([]byte(`{"architecture": "` + name + `"}`))
		if err != nil {
			t.Error(err)
			continue
		}
		x := extras[name]
		want.Registers, want.PatchPositions, want.PreNorm, want.LayerScale = x.Registers, x.PatchPositions, x.PreNorm,
			x.LayerScale
		want.PoolerAct, want.Gated = got.PoolerAct, x.Gated
		must.Equal(t, *got, *want, name, "timm has")
	}
}

// TestSave writes a folder with a head and finds the same values in it.
func TestSave(t *testing.T) {
	m := randomFolder(t, tiny()) // itself saved, without a head
	if m.layout != HuggingFace || m.classes() != 0 || *m.Config() != tiny() {
		t.Errorf("saved without a head: %s, %d classes, %+v", m.layout, m.classes(), m.Config())
	}
	store := model.NewStore()
	defer store.Finalize()
	net := store.Scope("/net")
	must.Do(t, weights.Load(net, m.Weights, table(m.cfg, m.layout, m.prefix, heads{}), dtypes.Float32))
	net.At("classifier").CreateVariable("weights", zeros(3, 32))
	net.At("classifier").CreateVariable("bias", zeros(3))
	dir := filepath.Join(t.TempDir(), "new")
	pre := m.Preprocess()
	must.Do(t, Save(dir, m.cfg, net, pre, 3, []string{"a", "b", "c"}, weights.F32))
	again := must.Get(Open(dir))(t)
	if again.prefix != "vit." || again.classes() != 3 || *again.Config() != *m.Config() {
		t.Errorf("prefix %q, %d classes, %+v", again.prefix, again.classes(), again.Config())
	}
	old := modeltest.Tensors(t, m.Dir)
	for _, o := range old {
		must.EqualSlices(t, must.Get(again.Weights.Float32("vit."+o.Name))(t), o.Data, o.Name)
	}
	must.Equal(t, len(again.Weights.Names()), len(old)+2, "tensors")
	got := again.Preprocess()
	if pre.Source, got.Source = "", ""; got != pre {
		t.Errorf("preprocessing %+v, want %+v", got, pre)
	}

	must.Fail(Save(dir, m.cfg, net, pre, 3, []string{"a"}, weights.F32))(t, "1 labels for 3 classes")
	must.Fail(Save(dir, m.cfg, store.RootScope(), pre, 0, nil, weights.F32))(t, "has no value to save")
	registers := *m.cfg
	registers.Registers = 1
	must.Fail(Save(dir, &registers, net, pre, 0, nil, weights.F32))(t, "no place in a ViTModel")
	must.Fail(Save(dir, m.cfg, net, preprocess.PublicCode(32), 0, nil, weights.F32))(t,
		"cannot be written as a ViTImageProcessor")
	must.Fail(m.SetPreprocess(preprocess.PublicCode(31)))(t, "gives 31×31 pixels")
	if err := m.SetPreprocess(preprocess.PublicCode(32)); err != nil ||
		m.Preprocess().Resize != preprocess.SquareThenFit {
		t.Errorf("SetPreprocess: %v", err)
	}
}

func zeros(dims ...int) *tensors.Tensor {
	return tensors.FromShape(shapes.Make(dtypes.Float32, dims...))
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}

func FuzzParseTimm(f *testing.F) {
	modeltest.FuzzConfig(f, func(text []byte) (*Config, error) { return parseTimm("", text) }, (*Config).Validate,
		"*/config.json")
}
