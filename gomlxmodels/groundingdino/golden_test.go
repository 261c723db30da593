package groundingdino

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/textenc"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
)

// goldens are the folders tools/pyref/groundingdino.py makes, with every stage; "many" has results alone.
var goldens = []string{"shared", "apart-window7", "five-levels"}

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	modeltest.Golden
	cases []goldenCase
	share float64 // of its scale that a value of a stage may differ by; 0 = see stage
}

// goldenCase is an image and a caption; the tensors of a case but the first begin with its number.
type goldenCase struct {
	Width, Height int
	Text          string
	Pixels        [2]int
	IDs           []int32
	Found         []struct {
		Box, Token float64
		Scores     []float64
		Boxes      [][4]float64
		Labels     []string
	}
}

func openGolden(t testing.TB, name string) golden {
	t.Helper()
	return openFolders(t, folder(t, name), filepath.Join("testdata", name))
}

// openFolders opens the model of one folder with the golden of another.
func openFolders(t testing.TB, dir, from string) golden {
	t.Helper()
	m := must.Get(Open(dir))(t)
	g := golden{Model: m, Golden: modeltest.Open(t, from)}
	readJSON(t, filepath.Join(from, "cases.json"), &g.cases)
	return g
}

func readJSON(t testing.TB, path string, to any) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(path))(t), to))
}

// folder is a golden folder with its weights.
func folder(t testing.TB, name string) string {
	t.Helper()
	return modeltest.Computed(t, filepath.Join("testdata", name))
}

// prepared are a case's image and caption.
func (g golden) prepared(i int) (*Image, Caption) {
	g.T.Helper()
	img := must.Get(g.Prepare(modeltest.Image(g.cases[i].Width, g.cases[i].Height), Transformers))(g.T)
	c := must.Get(g.Caption(g.cases[i].Text, Transformers))(g.T)
	return img, c
}

// run evaluates a graph with the variables that begin with one of the prefixes.
func (g golden) run(backend compute.Backend, prefixes []string, fn func(*model.Scope, []*Node) []*Node,
	args ...any) [][]float32 {
	g.T.Helper()
	return modeltest.Run(g.T, backend, func(s *model.Store) error {
		rules := table(g.cfg, g.Weights, imagePart, textPart, joinPart)
		for i, r := range rules {
			if !slices.ContainsFunc(prefixes, func(p string) bool {
				return r.Variable == p || strings.HasSuffix(p, "/") && strings.HasPrefix(r.Variable, p)
			}) {
				weights.Unload(rules[i : i+1])
			}
		}
		return weights.Load(s.RootScope(), g.Weights, rules, dtypes.Float32)
	}, fn, args...)
}

// whole is the size in whole patches: the smallest bucket of an image.
func (g golden) whole(s Size) Size {
	p := g.cfg.Swin.PatchSize
	return Size{(s.Height + p - 1) / p * p, (s.Width + p - 1) / p * p}
}

func (g golden) batched(name string, dims ...int) *tensors.Tensor {
	if dims == nil {
		dims = g.Shape(name)
	}
	return tensors.FromFlatDataAndDimensions(g.Values(name), append([]int{1}, dims...)...)
}

func rowTensor(values []int32, length int) *tensors.Tensor {
	padded := append(slices.Clone(values), make([]int32, length-len(values))...)
	return tensors.FromFlatDataAndDimensions(padded, 1, length)
}

// stage holds a stage that is given the reference's own input to the reference's values.
func (g golden) stage(name string, got []float32) {
	g.T.Helper()
	want := g.Values(name)
	if g.share > 0 {
		near.Check(g.T, name, got, want, 0, g.share*near.Scale(want))
	} else {
		near.Check(g.T, name, got, want, 1e-4, 1e-5)
	}
}

// checkGolden compares every stage with transformers, each given the reference's own inputs.
func checkGolden(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	checkImageStages(g, backend)
	checkJoinStages(g, backend)
}

func checkImageStages(g golden, backend compute.Backend) {
	c, t := g.cfg, g.T
	img, caption := g.prepared(0)
	if !slices.Equal(caption.IDs, g.cases[0].IDs) || img.Size != (Size{g.cases[0].Pixels[0], g.cases[0].Pixels[1]}) {
		t.Fatalf("tokens %v, size %v, want %+v", caption.IDs, img.Size, g.cases[0])
	}
	var sampled []float32
	for row := range 3 * img.Size.Height {
		for x := 0; x < img.Size.Width && row%img.Size.Height%7 == 0; x += 5 {
			sampled = append(sampled, img.Pixels[row*img.Size.Width+x])
		}
	}
	near.Check(t, "pixels", sampled, g.Values("pixels"), 1e-6, 1e-6)

	bucket := g.whole(img.Size)
	var names []string
	got := g.run(backend, []string{"backbone/"}, func(s *model.Scope, in []*Node) (out []*Node) {
		b := ForwardBackbone(s.At("backbone"), c, in[0], in[1])
		names, out = []string{"patches"}, []*Node{b.Patches}
		for i, x := range b.Blocks {
			names, out = append(names, fmt.Sprintf("block_%d", i)), append(out, x)
		}
		for i := range b.Maps {
			names, out = append(names, fmt.Sprintf("merged_%d", i+1), fmt.Sprintf("map_%d", i)),
				append(out, b.Merged[i], b.Maps[i])
		}
		return out
	}, tensors.FromFlatDataAndDimensions(place(img, bucket), 1, 3, bucket.Height, bucket.Width),
		c.sizesTensor(img.Size))
	for i, name := range names {
		g.stage(name, got[i])
	}
	got = g.run(backend, []string{"levels/"}, func(s *model.Scope, in []*Node) []*Node {
		return []*Node{ForwardLevels(s.At("levels"), c, bucket, in[:3], in[3])}
	}, g.batched("map_0"), g.batched("map_1"), g.batched("map_2"), c.sizesTensor(img.Size))
	g.stage("levels", got[0])

	n := len(caption.IDs)
	text := []any{rowTensor(caption.IDs, n), rowTensor(caption.Positions, n), rowTensor(caption.Phrases, n)}
	got = g.run(backend, []string{"text/", "text_projection/"}, func(s *model.Scope, in []*Node) []*Node {
		i := textenc.Inputs{IDs: in[0], Positions: in[1], Segments: in[2]}
		return []*Node{ForwardText(s, c, i), textenc.Forward(s.At("text"), c.Text, nil, i,
			textenc.GraphOptions{}).Blocks[c.Text.Layers-1]}
	}, text...)
	g.stage("text", got[0])
	g.stage("text.bert", got[1])
}

func checkJoinStages(g golden, backend compute.Backend) {
	c := g.cfg
	img, caption := g.prepared(0)
	bucket, n := g.whole(img.Size), len(caption.IDs)
	// every stage gets sizes, phrases and positions, and two more tensors
	run := func(prefixes []string, fn func(s *model.Scope, v scene, w words, in []*Node) []*Node,
		args ...any) [][]float32 {
		args = append([]any{c.sizesTensor(img.Size), rowTensor(caption.Phrases, n), rowTensor(caption.Positions, n)},
			args...)
		return g.run(backend, prefixes, func(s *model.Scope, in []*Node) []*Node {
			v := newScene(newFrame(c, bucket, in[0]))
			return fn(s, v, newWords(c, in[1], in[2]), in[3:])
		}, args...)
	}
	got := run([]string{"levels"}, func(s *model.Scope, v scene, _ words, _ []*Node) []*Node {
		return []*Node{v.levelPositions(s)}
	})
	g.stage("positions", got[0])
	vision, text := "levels", "text"
	for i := range c.EncoderLayers {
		at := fmt.Sprintf("encoder_%d.", i)
		got = run([]string{fmt.Sprintf("encoder/layer_%d/", i)}, func(s *model.Scope, v scene, w words,
			in []*Node) []*Node {
			e := enhance(s.At("encoder").At("layer_%d", i), v, w, in[0], in[1], in[2])
			return []*Node{e.FusedVision, e.FusedText, e.Text, e.Sampled, e.Vision}
		}, g.batched(vision), g.batched("positions"), g.batched(text))
		for k, name := range []string{"fused_vision", "fused_text", "text", "sampled", "vision"} {
			g.stage(at+name, got[k])
		}
		vision, text = at+"vision", at+"text"
	}
	got = run([]string{"selection/"}, func(s *model.Scope, v scene, w words, in []*Node) []*Node {
		x := selectQueries(s.At("selection"), v, w, in[0], in[1])
		return []*Node{x.Scores, x.References}
	}, g.batched(vision), g.batched(text))
	g.stage("scores", got[0])
	if g.share == 0 { // else scores may be too near to each other for their order to be sure
		g.stage("references", got[1])
	}

	references := "references"
	for i := range c.DecoderLayers {
		at, before := fmt.Sprintf("decoder_%d.", i), fmt.Sprintf("decoder_%d.states", i-1)
		prefixes := []string{fmt.Sprintf("decoder/layer_%d/", i), "decoder/positions/", "decoder/" + c.box(i) + "/"}
		args := []any{g.batched(vision), g.batched(text), g.batched(references)}
		if i == 0 {
			prefixes = append(prefixes, "decoder/queries")
		} else {
			args = append(args, g.batched(before))
		}
		got = run(prefixes, func(s *model.Scope, v scene, w words, in []*Node) []*Node {
			s = s.At("decoder")
			x := in[len(in)-1]
			if i == 0 {
				x = firstQueries(s, c, in[2])
			}
			d := decode(s, v, w, Sigmoids{Epsilon: 1e-5}, i, x, in[2], in[0], in[1])
			return []*Node{d.Positions, d.AfterSelf, d.AfterText, d.AfterImage, d.States, d.References}
		}, args...)
		for k, name := range []string{"positions", "self", "text", "image", "states", "references"} {
			g.stage(at+name, got[k])
		}
		if i == c.DecoderLayers-1 {
			got = run([]string{"decoder/norm/", "decoder/" + c.box(i) + "/"}, func(s *model.Scope, _ scene, _ words,
				in []*Node) []*Node {
				logits, boxes := c.head(s.At("decoder"), Sigmoids{Epsilon: 1e-5}, in[0], in[1], in[2])
				return []*Node{logits, boxes}
			}, g.batched(at+"states"), g.batched(references), g.batched(text))
			g.stage("logits", got[0])
			g.stage("boxes", got[1])
		}
		references = at + "references"
	}
}
