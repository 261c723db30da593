package dallemini

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels/textgen"
	"antipode/gomlxmodels/vqgan"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

func sampled(t *testing.T, s *vqgan.Sampler, texts [][]int32, seeds []uint64, o textgen.Options) []vqgan.Result {
	t.Helper()
	o.Sample = true
	var requests []vqgan.Request
	for i := range texts {
		requests = append(requests, vqgan.Request{Text: texts[i], Seed: seeds[i]})
	}
	return must.Get(s.Generate(context.Background(), requests, o, nil))(t)
}

// TestLayersOneByOne: the scanned checkpoint with a folder for each layer gives the same image.
func TestLayersOneByOne(t *testing.T) {
	m, _ := openGolden(t, "mega")
	dir := folder(t, "mega")
	var list []weights.Tensor
	for _, x := range modeltest.Tensors(t, dir) {
		if !strings.Contains(x.Name, "Layers/") {
			list = append(list, x)
			continue
		}
		for i := range x.Shape[0] {
			size := len(x.Data) / x.Shape[0]
			list = append(list, weights.Tensor{Name: strings.Replace(x.Name, "Layers/", fmt.Sprintf("Layer_%d/", i), 1),
				Shape: x.Shape[1:], Data: x.Data[i*size : (i+1)*size]})
		}
	}
	modeltest.Save(t, dir, list)
	checkSame(t, m, dir, "scanned", "layer by layer")
}

// checkSame compares an image of a model with that of a folder; form and other say how their weights are stored.
func checkSame(t *testing.T, m *Model, dir, form, other string) {
	t.Helper()
	second := must.Get(Open(dir))(t)
	var got [2]vqgan.Result
	for i, m := range []*Model{m, second} {
		s := newSampler(t, testbackend.Any(t), m, scale, 1)
		got[i] = sampled(t, s, [][]int32{{0, 70, 80, 2}}, []uint64{3}, textgen.Options{})[0]
	}
	if !slices.Equal(got[0].Tokens, got[1].Tokens) || !bytes.Equal(got[0].Image.Pix, got[1].Image.Pix) {
		t.Errorf("%v %s, %v %s", got[0].Tokens, form, got[1].Tokens, other)
	}
}

// packed is the tree of tensors as Flax writes it in msgpack: maps within maps, arrays as extension 1.
func packed(list []weights.Tensor) []byte {
	be := binary.BigEndian
	str := func(s string) []byte { return append(be.AppendUint32([]byte{0xdb}, uint32(len(s))), s...) }
	children := map[string][]weights.Tensor{}
	for _, x := range list {
		if x.Name == "" {
			array := []byte{0x93, 0x90 + byte(len(x.Shape))}
			for _, d := range x.Shape {
				array = be.AppendUint32(append(array, 0xce), uint32(d))
			}
			array = append(array, str("float32")...)
			array = be.AppendUint32(append(array, 0xc6), uint32(4*len(x.Data)))
			for _, v := range x.Data {
				array = binary.LittleEndian.AppendUint32(array, math.Float32bits(v))
			}
			return append(append(be.AppendUint32([]byte{0xc9}, uint32(len(array))), 1), array...)
		}
		first, rest, _ := strings.Cut(x.Name, "/")
		x.Name = rest
		children[first] = append(children[first], x)
	}
	out := be.AppendUint32([]byte{0xdf}, uint32(len(children)))
	for _, name := range slices.Sorted(maps.Keys(children)) {
		out = append(append(out, str(name)...), packed(children[name])...)
	}
	return out
}

// TestFlaxFiles: a folder with flax_model.msgpack in place of safetensors, of both networks, gives the same image.
func TestFlaxFiles(t *testing.T) {
	m, _ := openGolden(t, "odd")
	dir := folder(t, "odd")
	for _, sub := range []string{"", VQGANFolder} {
		at := filepath.Join(dir, sub)
		modeltest.Write(t, filepath.Join(at, vqgan.FlaxFile), string(packed(modeltest.Tensors(t, at))))
		must.Do(t, os.Remove(filepath.Join(at, weights.SingleFile)))
	}
	checkSame(t, m, dir, "from safetensors", "from msgpack")
}

// TestSeeds: an image depends on its text, seed and the options alone, not on its batch; a scale of 1 needs no empty
// prompt.
func TestSeeds(t *testing.T) {
	m, _ := openGolden(t, "mini")
	texts := [][]int32{{0, 70, 80, 2}, {0, 90, 2}, {0, 70, 80, 2}, {0, 70, 80, 2}, {0, 90, 2}}
	seeds := []uint64{1, 1, 2, 1, 1 << 40}
	o := textgen.Options{TopK: 20, Temperature: 1.2}
	alone := newSampler(t, testbackend.Any(t), m, 3, 1)
	together := newSampler(t, testbackend.Any(t), m, 3, 3)
	a, b := sampled(t, alone, texts, seeds, o), sampled(t, together, texts, seeds, o)
	for i := range a {
		must.EqualSlices(t, a[i].Tokens, b[i].Tokens, "image", i, "alone")
	}
	if !slices.Equal(a[0].Tokens, a[3].Tokens) || slices.Equal(a[0].Tokens, a[1].Tokens) ||
		slices.Equal(a[0].Tokens, a[2].Tokens) || slices.Equal(a[1].Tokens, a[4].Tokens) {
		t.Error("seeds or texts do not make the difference")
	}
	plain := newSampler(t, testbackend.Any(t), m, 1, 2)
	if c := sampled(t, plain, texts, seeds, o); slices.Equal(c[0].Tokens, a[0].Tokens) {
		t.Error("the condition scale makes no difference")
	}
	for _, bad := range []float64{0, 0.5, -1, 1e4} {
		must.Fail(m.Network(bad))(t)
	}
	plain.Close()
	must.Fail(plain.Generate(context.Background(), []vqgan.Request{{Text: texts[0]}}, o, nil))(t, "closed")
}

// TestSuite: damaged folders are refused, and what every network has.
func TestSuite(t *testing.T) {
	t.Setenv("HF_HUB_CACHE", t.TempDir())
	vqgan := func(t testing.TB, dir, other string) {
		must.Do(t, os.RemoveAll(filepath.Join(dir, VQGANFolder)))
		if other != "" {
			from := os.DirFS(filepath.Join(other, VQGANFolder))
			must.Do(t, os.CopyFS(filepath.Join(dir, VQGANFolder), from))
		}
	}
	modeltest.Suite(t, modeltest.Model{
		Folder: "mini",
		Copy:   folder,
		Open:   func(dir string) error { _, err := Open(dir); return err },
		Refuses: `
model_type="bart" => model_type "bart" is not a DALL·E mini
ln_positions="swinv2" => config.json: ln_positions "swinv2" is not supported: only "
use_bias=true => use_bias true is not supported: only false is
tie_word_embeddings=true => tie_word_embeddings true is not supported
sinkhorn_iters=3 => sinkhorn_iters 3 is not supported: only 1 is
decoder_start_token_id=49 => decoder_start_token_id 49 is not between 0 and 48
encoder_attention_heads=3 => d_model 32 not divisible by encoder_attention_heads 3
encoder_layers=0 => encoder_layers 0 is not between
encoder_layers=3 => FlaxBartEncoderLayer_2/
decoder_layers=1 => the model does not use: model/decoder/layers/
image_vocab_size=50 => requires [51 32]
d_model="x" => config.json: not readable
rm tokenizer.json => no tokenizer
rm model.safetensors => holds no`,
		Others: map[string]func(testing.TB, string){
			"the VQGAN is not in the subfolder vqgan and not on this machine. Fix:": func(t testing.TB, dir string) {
				vqgan(t, dir, "")
			},
			"image_length is 16, the VQGAN's images have 9 tokens": func(t testing.TB, dir string) {
				vqgan(t, dir, folder(t, "odd"))
			},
			"model.safetensors": func(t testing.TB, dir string) {
				must.Do(t, os.Truncate(filepath.Join(dir, "model.safetensors"), 9000))
			},
		},
		Optimized: func(t *testing.T, xla compute.Backend) { checkImages(t, xla, "odd", 2) },
	})
}

// TestPulledVQGAN opens a folder whose VQGAN was pulled.
func TestPulledVQGAN(t *testing.T) {
	cache, dir := t.TempDir(), folder(t, "mini")
	t.Setenv("HF_HUB_CACHE", cache)
	repository := filepath.Join(cache, "models--dalle-mini--vqgan_imagenet_f16_16384")
	commit := strings.Repeat("c", 40)
	own := filepath.Join(dir, VQGANFolder)
	must.Do(t, os.CopyFS(filepath.Join(repository, "snapshots", commit), os.DirFS(own)))
	must.Do(t, os.Mkdir(filepath.Join(repository, "refs"), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(repository, "refs", "main"), []byte(commit), 0o644))
	must.Do(t, os.RemoveAll(own))
	m := must.Get(Open(dir))(t)
	if i := slices.IndexFunc(m.Files(), func(f string) bool { return strings.HasPrefix(f, repository) }); i < 0 {
		t.Errorf("files %q, none of the pulled VQGAN", m.Files())
	}
}

// TestBFloat16 computes the tokens' network in bfloat16, as on an NVIDIA GPU: the first logits stay near.
func TestBFloat16(t *testing.T) {
	m, g := openGolden(t, "mini")
	n := must.Get(m.Network(scale))(t)
	s := must.Get(vqgan.NewSampler(testbackend.Any(t), n, m.VQGAN, vqgan.SamplerOptions{DType: dtypes.BFloat16,
		Batch: 1}))(t)
	defer s.Close()
	ids, valid := g.IntRows("ids")[0][:m.Config.TextLength], g.Rows("valid")[0][:m.Config.TextLength]
	text := ids[:slices.Index(append(slices.Clone(valid), 0), 0)]
	var first []float32
	_ = must.Get(s.Generate(context.Background(), []vqgan.Request{{Text: text}}, textgen.Options{
		Trace: func(step int, all [][]float32) {
			if step == 0 {
				first = slices.Clone(all[0])
			}
		}}, nil))(t)
	want := g.Rows("logits")[0][:m.Config.ImageVocab+1]
	if d, _ := near.Worst(first, want); d == 0 || d > 0.3*near.Scale(want) {
		t.Errorf("the logits differ by up to %v, their scale is %v", d, near.Scale(want))
	}
}

func FuzzParseConfig(f *testing.F) {
	modeltest.FuzzConfig(f, ParseConfig, (*Config).Validate, "*/config.json")
}
