package diffusion

import (
	"encoding/json"
	"image"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// edit changes keys of a JSON file of the folder; a nil value takes the key away.
func edit(t *testing.T, dir, name string, changes map[string]any) {
	t.Helper()
	modeltest.Edit(t, filepath.Join(dir, filepath.FromSlash(name)), changes)
}

// rewrite changes the tensors of a safetensors file of the folder.
func rewrite(t *testing.T, dir, name string, change func(map[string]weights.Tensor)) {
	t.Helper()
	path := filepath.Join(dir, name)
	set := must.Get(weights.OpenFiles(path))(t)
	all := map[string]weights.Tensor{}
	for _, name := range set.Names() {
		info, _ := set.Info(name)
		all[name] = weights.Tensor{Name: name, Shape: info.Shape, Data: must.Get(set.Float32(name))(t)}
	}
	change(all)
	must.Do(t, weights.Save(path, slices.Collect(maps.Values(all)), nil, weights.F32))
}

// line holds an error to one line with these words.
func line(t *testing.T, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		must.Fail(err)(t, w)
	}
}

// damage is something wrong with a folder, and what the error contains: texts with && between them.
type damage struct {
	do    func(dir string)
	words string
}

// refuses damages copies of a folder below testdata, by the lines of a table of package modeltest and by functions, and
// holds Open to its errors.
func refuses(t *testing.T, folder, table string, list ...damage) {
	m := modeltest.Model{Folder: folder, Refuses: table,
		Open:   func(dir string) error { _, err := Open(dir, OpenOptions{}); return err },
		Others: map[string]func(testing.TB, string){}}
	for _, d := range list {
		m.Others[d.words] = func(_ testing.TB, dir string) { d.do(dir) }
	}
	modeltest.Suite(t, m)
}

func TestOpen(t *testing.T) {
	m := must.Get(Open(filepath.Join("testdata", "sd2"), OpenOptions{}))(t)
	if w, h := m.Size(); w != 16 || h != 16 || m.Safety() != SafetyAbsent {
		t.Errorf("size %d×%d, safety checker %s", w, h, m.Safety())
	}
	var names []string
	for _, f := range m.Files() {
		rel, _ := filepath.Rel(filepath.Join("testdata", "sd2"), f)
		names = append(names, filepath.ToSlash(rel))
	}
	slices.Sort(names)
	want := []string{"model_index.json", "scheduler/scheduler_config.json", "text_encoder/config.json",
		"text_encoder/model.safetensors", "tokenizer/tokenizer.json",
		"tokenizer/tokenizer_config.json", "unet/config.json", "unet/diffusion_pytorch_model.safetensors",
		"vae/config.json", "vae/diffusion_pytorch_model.safetensors"}
	must.EqualSlices(t, names, want, "files")
	dir := modeltest.CopyOf(t, "sd2")
	edit(t, dir, "model_index.json",
		map[string]any{"safety_checker": []string{"stable_diffusion", "StableDiffusionSafetyChecker"}})
	vae := filepath.Join(dir, "vae", "diffusion_pytorch_model")
	must.Do(t, os.Rename(vae+".safetensors", vae+".fp16.safetensors"))
	edit(t, dir, "unet/config.json", map[string]any{"sample_size": []int{6, 10}})
	m = must.Get(Open(dir, OpenOptions{NoSafetyChecker: true}))(t)
	if w, h := m.Size(); w != 20 || h != 12 || m.Safety() != SafetyOff {
		t.Errorf("size %d×%d, safety checker %s", w, h, m.Safety())
	}
}

func TestOpenRefuses(t *testing.T) {
	const vaeFile = "vae/diffusion_pytorch_model.safetensors"
	refuses(t, "sd2", `
rm model_index.json => pipeline folder && model_index.json
model_index.json:_class_name="StableDiffusionXLPipeline" => model_index.json && StableDiffusionXLPipeline
model_index.json:text_encoder=["transformers","T5EncoderModel"] => text_encoder && T5EncoderModel
model_index.json:vae=3 => model_index.json && vae
unet/config.json<{ => unet && config.json && JSON
unet/config.json:class_embed_type="timestep" => unet && class_embed_type && timestep
unet/config.json:down_block_types=["DownBlock2D","AttnDownBlock2D","DownBlock2D"] => down_block_types && AttnDownBlock2D
unet/config.json:attention_head_dim=3 => 8 not divisible by attention_head_dim 3
unet/config.json:attention_head_dim=[1,2] => attention_head_dim: 2 numbers do not fit 3 blocks
unet/config.json:norm_num_groups=0 => norm_num_groups 0
vae/config.json:norm_num_groups=5 => vae && not divisible by norm_num_groups 5
vae/config.json:shift_factor=0.1 => vae && shift_factor
vae/config.json:scaling_factor=0 => scaling_factor 0
unet/config.json:block_out_channels=[1099511627776,8,16] => block_out_channels
unet/config.json:in_channels=9 => in_channels is 9 && latent_channels 4
unet/config.json:cross_attention_dim=20 => cross_attention_dim is 20 && returns 16 numbers
text_encoder/config.json:model_type="clip" => text_encoder && model_type "clip"
text_encoder/config.json:vocab_size=500 => tokenizer has 519 tokens && vocab_size is 500
drop unet/diffusion_pytorch_model.safetensors:mid_block.resnets.1.conv2.weight => unet/diffusion_pytorch_model.safetensors && missing: mid_block.resnets.1.conv2.weight
rm unet/diffusion_pytorch_model.safetensors => unet && holds no weights
add vae/diffusion_pytorch_model.safetensors:decoder.extra => vae/diffusion_pytorch_model.safetensors && does not use: decoder.extra`,
		damage{func(dir string) {
			rewrite(t, dir, vaeFile, func(all map[string]weights.Tensor) {
				v := all["encoder.conv_in.weight"]
				v.Shape = []int{v.Shape[1], v.Shape[0], 3, 3}
				all[v.Name] = v
			})
		}, vaeFile + ` && "encoder.conv_in.weight" has shape [3 8 3 3] && [8 3 3 3]`})
}

func TestRequestsRefused(t *testing.T) {
	m := must.Get(Open(filepath.Join("testdata", "bare"), OpenOptions{}))(t)
	s := newSampler(t, testbackend.Go(t), m, Options{})
	good := Request{Prompt: "x", Steps: 1, Width: 16, Height: 16}
	for _, c := range []struct {
		change func(*Request)
		words  []string
	}{
		{func(r *Request) { r.Width = 20 }, []string{"request 2", "20×16", "multiples of 8"}},
		{func(r *Request) { r.Height = 8000 }, []string{"16×8000"}},
		{func(r *Request) { r.Height = -8 }, []string{"16×-8"}},
		{func(r *Request) { r.Steps = -1 }, []string{"request 2", "-1 steps"}},
		{func(r *Request) { r.Steps = 1001 }, []string{"1001 steps"}},
		{func(r *Request) { r.Scheduler = "heun" }, []string{"request 2", `"heun"`}},
		{func(r *Request) { r.Guidance = 1e9 }, []string{"guidance 1e+09"}},
		{func(r *Request) { r.PromptIDs = []int32{1, 5000} }, []string{"prompt", "token 2 has id 5000"}},
		{func(r *Request) { r.NegativeIDs = make([]int32, 78) }, []string{"negative prompt", "78 tokens"}},
	} {
		bad := good
		c.change(&bad)
		got, err := s.Generate(t.Context(), []Request{good, bad},
			func(p Progress) { t.Errorf("work was begun: %+v", p) })
		line(t, err, c.words...)
		if got != nil {
			t.Errorf("images with %v", err)
		}
	}
	must.Fail(NewSampler(testbackend.Go(t), m, Options{Batch: 1000}))(t) // a batch of 1000
	s.Close()
	_, err := s.Generate(t.Context(), []Request{good}, nil)
	line(t, err, "closed")
}

// TestTexts checks what requests' texts become.
func TestTexts(t *testing.T) {
	for name, pad := range map[string]int32{"sd1": 518, "sd2": 0} { // padding with the end, or with "!"
		m := must.Get(Open(filepath.Join("testdata", name), OpenOptions{}))(t)
		r := must.Get(m.request(Request{Prompt: "sea", Width: 16, Height: 16}))(t)
		if len(r.prompt.ids) != 77 || r.prompt.ids[0] != 517 || r.prompt.ids[3] != 518 && r.prompt.ids[4] != 518 ||
			r.prompt.ids[76] != pad || r.truncated {
			t.Errorf("%s: prompt %v", name, r.prompt.ids)
		}
		if r.group.steps != DefaultSteps || r.guidance != DefaultGuidance || !r.group.guided {
			t.Errorf("defaults %+v", r)
		}
		r = must.Get(m.request(Request{Prompt: strings.Repeat("x ", 90), Width: 16, Height: 16}))(t)
		if !r.truncated || len(r.prompt.ids) != 77 || r.prompt.ids[76] != 518 {
			t.Errorf("%s: a long prompt: %+v", name, r)
		}
	}
}

// TestWeightFiles reads weights in shards and in the fp16 variant, as diffusers and transformers name them, and says
// what else lies there.
func TestWeightFiles(t *testing.T) {
	const name = "diffusion_pytorch_model"
	shard := func(dir, from, first, second, index string) {
		t.Helper()
		path := filepath.Join(dir, from)
		set := must.Get(weights.OpenFiles(path))(t)
		parts, where := [2][]weights.Tensor{}, map[string]string{}
		for i, tensor := range set.Names() {
			info, _ := set.Info(tensor)
			data := must.Get(set.Float32(tensor))(t)
			parts[i%2] = append(parts[i%2], weights.Tensor{Name: tensor, Shape: info.Shape, Data: data})
			where[tensor] = []string{first, second}[i%2]
		}
		for i, file := range []string{first, second} {
			must.Do(t, weights.Save(filepath.Join(filepath.Dir(path), file), parts[i], nil, weights.F16))
		}
		text, _ := json.Marshal(map[string]any{"metadata": map[string]any{"total_size": 1}, "weight_map": where})
		modeltest.Write(t, filepath.Join(filepath.Dir(path), index), string(text))
		os.Remove(path)
	}
	list := []Request{{Prompt: prompt, Seed: 3, Steps: 2, Width: 16, Height: 16}}
	sample := func(dir string) *image.NRGBA {
		t.Helper()
		m := must.Get(Open(dir, OpenOptions{}))(t)
		got := must.Get(newSampler(t, testbackend.Go(t), m, Options{}).Generate(t.Context(), list, nil))(t)
		return got[0].Image
	}
	want := sample(filepath.Join("testdata", "bare"))
	dir := modeltest.CopyOf(t, "bare")
	modeltest.Torch(t, dir, nil)
	if d := apart(t, sample(dir), want); d > 0 {
		t.Errorf("the image from PyTorch's weights differs by %d/255", d)
	}
	dir = modeltest.CopyOf(t, "bare")
	shard(dir, "unet/"+name+".safetensors", name+"-00001-of-00002.safetensors", name+"-00002-of-00002.safetensors",
		name+".safetensors.index.json")
	shard(dir, "vae/"+name+".safetensors", name+".fp16-00001-of-00002.safetensors",
		name+".fp16-00002-of-00002.safetensors", name+".safetensors.index.fp16.json")
	shard(dir, "text_encoder/model.safetensors", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
		"model.safetensors.index.json")
	if d := apart(t, sample(dir), want); d > 0 { // the goldens' weights fit 16 bits
		t.Errorf("the image from sharded weights differs by %d/255", d)
	}
	m := must.Get(Open(dir, OpenOptions{}))(t)
	for _, file := range []string{name + ".safetensors.index.json", name + "-00002-of-00002.safetensors",
		name + ".safetensors.index.fp16.json", "model-00001-of-00002.safetensors"} {
		if !slices.ContainsFunc(m.Files(), func(f string) bool { return filepath.Base(f) == file }) {
			t.Errorf("the files that were read lack %s: %v", file, m.Files())
		}
	}
	index := filepath.Join(dir, "unet", name+".safetensors.index.json")
	for _, c := range []struct {
		name   string
		damage func(dir string)
		words  []string
	}{
		{"a shard is missing", func(dir string) {
			os.Remove(filepath.Join(dir, "unet",
				name+"-00002-of-00002.safetensors"))
		}, []string{"00002-of-00002", "no such file"}},
		{"an index that is no JSON", func(dir string) { modeltest.Write(t, index, "{") },
			[]string{"index.json", "not readable as JSON"}},
		{"an empty index", func(dir string) { modeltest.Write(t, index, "{}") },
			[]string{"index.json", "lists no tensor"}},
		{"a shard outside", func(dir string) {
			edit(t, dir, "unet/"+filepath.Base(index),
				map[string]any{"weight_map": map[string]any{"conv_in.bias": "../x.safetensors"}})
		}, []string{`"conv_in.bias" is in "../x.safetensors"`}},
		{"a tensor elsewhere", func(dir string) {
			edit(t, dir, "unet/"+filepath.Base(index),
				map[string]any{"weight_map": map[string]any{"conv_in.bias": name + "-00002-of-00002.safetensors"}})
		}, []string{"index.json", `"conv_in.bias" is not in`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			was := dir
			dir := t.TempDir()
			must.Do(t, os.CopyFS(dir, os.DirFS(was)))
			index = filepath.Join(dir, "unet", filepath.Base(index))
			c.damage(dir)
			_, err := Open(dir, OpenOptions{})
			line(t, err, c.words...)
		})
	}
	for file, hint := range map[string]string{name + ".non_ema.safetensors": "found " + name + ".non_ema.safetensors",
		"flax_model.msgpack": "found flax_model.msgpack", "other": "Fix: download the folder again"} {
		dir := modeltest.CopyOf(t, "bare")
		must.Do(t, os.Rename(filepath.Join(dir, "unet", name+".safetensors"), filepath.Join(dir, "unet", file)))
		_, err := Open(dir, OpenOptions{})
		line(t, err, "unet: holds no weights", hint)
	}
}
