package diffusion

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// ldmNames is a kind of model in ldm_names.zip: the tensors of a file, and for each of diffusers' names the tensor that
// its conversion makes it of.
type ldmNames struct {
	Shapes map[string][]int
	Names  map[string]map[string]string
}

func readNames(t *testing.T) (kinds map[string]ldmNames) {
	t.Helper()
	modeltest.ReadZip(t, filepath.Join("testdata", "ldm_names.zip"), "names.json", &kinds)
	return kinds
}

// sparse writes a safetensors file of these shapes without data: the file system holds no byte of it.
func sparse(t *testing.T, path string, shapes map[string][]int, metadata map[string]string) {
	t.Helper()
	header, at := map[string]any{"__metadata__": metadata}, 0
	for name, shape := range shapes {
		n := 1
		for _, d := range shape {
			n *= d
		}
		header[name] = map[string]any{"dtype": "F16", "shape": shape, "data_offsets": [2]int{at, at + 2*n}}
		at += 2 * n
	}
	text := must.Get(json.Marshal(header))(t)
	head := append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	must.Do(t, os.WriteFile(path, head, 0o600))
	if err := os.Truncate(path, int64(len(head)+at)); err != nil {
		t.Skipf("no file of %d bytes without data: %v", len(head)+at, err)
	}
}

// clipFolder is a folder with a tokenizer that fits all kinds.
var clipFolder = filepath.Join("testdata", "sd1")

// TestLDMNames opens files of the real sizes, and compares the names of all tensors with diffusers' conversion, and the
// configurations with those of the published folders.
func TestLDMNames(t *testing.T) {
	for kind, golden := range readNames(t) {
		t.Run(kind, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "model.safetensors")
			sparse(t, path, golden.Shapes, nil)
			m := must.Get(OpenFile(path, FileOptions{ConfigFrom: clipFolder}))(t)
			for name, parts := range map[string][]part{"text": {textPart}, "unet": {unetPart},
				"vae": {encoderPart, decoderPart}} {
				got := map[string]string{}
				for _, p := range parts {
					old := map[string]string{} // by variable
					for _, r := range m.ldm.rules(p, m.rules(p)) {
						old[fmt.Sprint(r.Variable, r.Part)] = r.Tensor
					}
					for _, r := range m.rules(p) {
						if from, whole := old[fmt.Sprint(r.Variable, r.Part)]; r.Variable != "" && whole {
							got[r.Tensor] = from
						} else if r.Variable != "" {
							got[r.Tensor] = old[fmt.Sprint(r.Variable, 0)]
						}
					}
				}
				want := golden.Names[name]
				delete(want, "text_model.embeddings.position_ids")
				for to, from := range want {
					if name == "text" && kind == "two" { // diffusers leaves the start of these names out
						delete(want, to)
						want["text_model."+strings.TrimPrefix(to, "text_model.")] = from
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %d names differ from diffusers' %d", name, len(got), len(want))
				}
			}
			u, heads, linear := m.unet, Ints{8, 8, 8, 8}, false
			if kind == "two" {
				heads, linear = Ints{5, 10, 20, 20}, true
			}
			if !slices.Equal(u.Widths, []int{320, 640, 1280, 1280}) || !slices.Equal(u.Heads, heads) ||
				u.UseLinearProjection != linear || !slices.Equal(u.Layers, Ints{2, 2, 2, 2}) ||
				!slices.Equal(u.DownBlocks, DefaultUNetConfig().DownBlocks) ||
				!slices.Equal(u.UpBlocks, DefaultUNetConfig().UpBlocks) {
				t.Errorf("UNet %+v", u)
			}
			if v := m.vae; !slices.Equal(v.Widths, []int{128, 256, 512, 512}) || v.Layers != 2 ||
				v.LatentChannels != 4 || v.ScalingFactor != 0.18215 {
				t.Errorf("autoencoder %+v", v)
			}
			c := m.text.(clipText).Text
			width, layers, heads1, act := 768, 12, 12, "quick_gelu"
			if kind == "two" {
				width, layers, heads1, act = 1024, 23, 16, "gelu"
			}
			if c.HiddenSize != width || c.Layers != layers || c.Heads != heads1 || c.HiddenAct != act ||
				c.VocabSize != 49408 || c.Context != 77 || c.IntermediateSize != 4*c.HiddenSize {
				t.Errorf("text tower %+v", c)
			}
		})
	}
}

// smallFile writes a 1.x model of small widths with random weights. change edits its tensors.
func smallFile(t *testing.T, metadata map[string]string, change func(map[string]weights.Tensor)) string {
	t.Helper()
	sizes := map[int]int{320: 32, 640: 64, 960: 96, 1280: 128, 1920: 192, 2560: 256, 5120: 512, 10240: 1024, 768: 64,
		3072: 96, 49408: 519}
	inVAE := map[int]int{128: 32, 256: 64, 512: 128}
	random := rand.New(rand.NewPCG(7, 0))
	all := map[string]weights.Tensor{}
	kind := readNames(t)["one"]
	for _, name := range slices.Sorted(maps.Keys(kind.Shapes)) {
		shape := slices.Clone(kind.Shapes[name])
		table := sizes
		if strings.HasPrefix(name, ldmVAE) {
			table = inVAE
		}
		n := 1
		for i, d := range shape {
			if small, ok := table[d]; ok {
				shape[i] = small
			}
			n *= shape[i]
		}
		v := weights.Tensor{Name: name, Shape: shape, Data: make([]float32, n)}
		scale := 1 / math.Sqrt(float64(max(1, n/shape[0])))
		if len(shape) == 1 {
			scale = 0.2
		}
		for i := range v.Data {
			v.Data[i] = float32(scale * random.NormFloat64())
			if len(shape) == 1 && strings.Contains(name, "norm") && strings.HasSuffix(name, ".weight") {
				v.Data[i]++
			}
		}
		all[name] = v
		if rest, ok := strings.CutPrefix(name, ldmUNet); ok { // an average
			v.Name, v.Data = "model_ema.diffusion_model"+strings.ReplaceAll(rest, ".", ""), slices.Clone(v.Data)
			for i := range v.Data {
				v.Data[i] *= 0.875
			}
			all[v.Name] = v
		}
	}
	all["betas"] = weights.Tensor{Name: "betas", Shape: []int{3}, Data: make([]float32, 3)}
	all[ldmVAE+"loss.logvar"] = weights.Tensor{Name: ldmVAE + "loss.logvar", Shape: []int{}, Data: []float32{1}}
	if change != nil {
		change(all)
	}
	path := filepath.Join(t.TempDir(), "small.safetensors")
	must.Do(t, weights.Save(path, slices.Collect(maps.Values(all)), metadata, weights.F16))
	return path
}

// TestFileEqualsFolder writes a single file as a folder. Both generate the same image, the averaged weights another.
func TestFileEqualsFolder(t *testing.T) {
	path := smallFile(t, nil, nil)
	image := func(m *Model) []uint8 {
		t.Helper()
		out := must.Get(newSampler(t, testbackend.Go(t), m, Options{}).Generate(t.Context(),
			[]Request{{Prompt: "a house", Seed: 3, Steps: 1, Guidance: 1, Width: 16, Height: 16}}, nil))(t)
		return out[0].Image.Pix
	}
	var images [2][]uint8
	for i, ema := range []bool{false, true} {
		m := must.Get(OpenFile(path, FileOptions{ConfigFrom: clipFolder, EMA: ema}))(t)
		dir := filepath.Join(t.TempDir(), "new", "folder")
		must.Do(t, m.SaveFolder(t.Context(), dir))
		folder := must.Get(Open(dir, OpenOptions{}))(t)
		if w, h := folder.Size(); w != 512 || h != 512 || len(folder.Corrections()) != 0 {
			t.Errorf("size %d×%d, %v", w, h, folder.Corrections())
		}
		must.Equal(t, folder.tokenizer.PadID(), m.padding, "padding")
		must.Equal(t, folder.length, m.length)
		if format, _ := folder.sets[unetPart].Info("conv_in.weight"); format.DType != "F16" {
			t.Errorf("the folder is in %s", format.DType)
		}
		images[i] = image(m)
		must.EqualSlices(t, images[i], image(folder), "EMA", ema, "file and folder generate different images")
		must.Fail(m.SaveFolder(t.Context(), dir))(t, "is not empty") // writing over a folder
	}
	if slices.Equal(images[0], images[1]) {
		t.Error("the averaged weights generate the same image")
	}
}
