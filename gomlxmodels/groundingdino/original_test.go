package groundingdino

import (
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
)

// originalGolden is testdata/original/names.zip, of tools/pyref/original_groundingdino.py: the shapes of the tensors
// of the authors' model, and for each of transformers' the one whose part it is.
type originalGolden struct {
	Shapes map[string][]int
	Names  map[string][3]any // name, part, parts
}

var originalFolder = filepath.Join("testdata", "original")

func readOriginal(t *testing.T) (g originalGolden) {
	t.Helper()
	modeltest.ReadZip(t, filepath.Join(originalFolder, "names.zip"), "names.json", &g)
	return g
}

// writeOriginal writes a checkpoint of these shapes with values by name; all box heads are equal.
func writeOriginal(t *testing.T, shapes map[string][]int, prefix string) *weights.Set {
	t.Helper()
	var list []weights.Tensor
	for name, shape := range shapes {
		n := 1
		for _, d := range shape {
			n *= d
		}
		head := strings.TrimPrefix(name, "transformer.decoder.")
		if strings.HasPrefix(head, "bbox_embed.1.") {
			head = "bbox_embed.0." + strings.TrimPrefix(head, "bbox_embed.1.")
		}
		h := fnv.New64()
		h.Write([]byte(head))
		random := rand.New(rand.NewPCG(h.Sum64(), 0))
		v := weights.Tensor{Name: prefix + name, Shape: shape, Data: make([]float32, n)}
		for i := range v.Data {
			v.Data[i] = random.Float32()
		}
		list = append(list, v)
	}
	path := filepath.Join(t.TempDir(), "original.safetensors")
	must.Do(t, weights.Save(path, list, nil, weights.F32))
	return must.Get(weights.OpenFiles(path))(t)
}

// TestConvert compares all tensors and the configuration of the written folder with those of transformers.
func TestConvert(t *testing.T) {
	golden := readOriginal(t)
	text := must.Get(os.ReadFile(filepath.Join(originalFolder, "config.json")))(t)
	want := must.Get(ParseConfig(text))(t)
	for _, prefix := range []string{"", "module."} {
		set := writeOriginal(t, golden.Shapes, prefix)
		dir := filepath.Join(t.TempDir(), "folder")
		if err := Convert(set, originalFolder, dir); err != nil || !IsOriginal(set) {
			t.Fatal(err)
		}
		m := must.Get(Open(dir))(t)
		got := *m.cfg
		got.Swin.OutFeatures, got.MaxText, got.Text = want.Swin.OutFeatures, want.MaxText, want.Text
		if !reflect.DeepEqual(&got, want) || m.cfg.Text.HiddenSize != want.Text.HiddenSize ||
			m.cfg.Text.Layers != want.Text.Layers || m.cfg.Text.Heads != want.Text.Heads {
			t.Errorf("configuration %+v, want %+v", m.cfg, want)
		}
		for name, origin := range golden.Names {
			if strings.Contains(name, "swin.layernorm") {
				continue
			}
			values := must.Get(set.Float32(prefix + origin[0].(string)))(t)
			part, parts := int(origin[1].(float64)), int(origin[2].(float64))
			n := len(values) / parts
			must.EqualSlices(t, must.Get(m.Weights.Float32(name))(t), values[part*n:(part+1)*n], name, "differs")
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	golden := readOriginal(t)
	for want, change := range map[string]func(map[string][]int){
		"does not use: transformer.new": func(s map[string][]int) { s["transformer.new"] = []int{1} },
		"3 tensors missing: model.decoder.lay": func(s map[string][]int) {
			delete(s, "transformer.decoder.layers.1.self_attn.in_proj_weight")
		},
		`of shape [2] is not of 3 equal parts`: func(s map[string][]int) {
			s["transformer.decoder.layers.0.ca_text.in_proj_bias"] = []int{2}
		},
		`no tensor "transformer.tgt_embed.weig`: func(s map[string][]int) { delete(s, "transformer.tgt_embed.weight") },
	} {
		shapes := map[string][]int{}
		for name, shape := range golden.Shapes {
			shapes[name] = shape
		}
		change(shapes)
		set := writeOriginal(t, shapes, "")
		root := t.TempDir()
		err := Convert(set, originalFolder, filepath.Join(root, "out"))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), set.Files()[0]) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("error %v, want one line with %q", err, want)
		}
		if left, _ := os.ReadDir(root); len(left) != 0 {
			t.Errorf("%v is left", left)
		}
	}
}
