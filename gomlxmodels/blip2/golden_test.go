package blip2

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/textgen"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/captiontest"
	"antipode/test/modeltest"
	"antipode/test/testbackend"
)

// writers and sharing are the folders tools/pyref/blip2.py makes: models that write captions, and one that shares
// a space with texts.
var writers = []string{"opt", "opt-350m", "old-hub"}

const sharing = "retrieval"

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	modeltest.Golden
}

func openGolden(t testing.TB, name string) golden { return openIn(t, filepath.Join("testdata", name)) }

func openIn(t testing.TB, dir string) golden {
	t.Helper()
	from := OpenCaptioner
	if filepath.Base(dir) == sharing {
		from = Open
	}
	return golden{must.Get(from(dir))(t), modeltest.Open(t, dir)}
}

// TestStages compares every stage of tower, Q-Former and language model with transformers, on both backends.
func TestStages(t *testing.T) {
	testbackend.Each(t, writers, checkStages)
}

func checkStages(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	o := GraphOptions{AllLogits: true}
	var names []string
	pixels, shape := g.Values("pixels"), g.Shape("pixels")
	two := tensors.FromFlatDataAndDimensions(pixels[:2*len(pixels)/shape[0]], 2, 3, shape[2], shape[3])
	read := func(s *model.Store) error {
		return load(backend, s, g.Model.Weights, table(g.cfg, g.Model.Weights, writes), dtypes.Float32)
	}
	got := modeltest.Run(t, backend, read, func(s *model.Scope, in []*Node) []*Node {
		names = nil
		var out []*Node
		add := func(name string, n *Node) { names, out = append(names, name), append(out, n) }
		each := func(what string, list []*Node) {
			for i, b := range list {
				add(fmt.Sprintf("%s.block_%d", what, i), b)
			}
		}
		image := ForwardTower(s, g.cfg, in[0], o)
		add("vision.embedded", image.Embedded)
		each("vision", image.Blocks)
		seen, blocks := ForwardQueries(s, g.cfg, image.Tokens, o)
		each("qformer", blocks)
		context := ForwardContext(s, g.cfg, seen, o)
		add("context", context)
		ids := in[1]
		text := ForwardText(s, g.cfg,
			textgen.Inputs{IDs: ids, Positions: AddScalar(Iota(ids.Graph(), ids.Shape(), 1), int32(g.cfg.Queries)),
				Last:    AddScalar(ZerosLike(Slice(ids, AxisRange(), AxisRange(0, 1))), int32(10)),
				Context: []*Node{context}, Cache: textgen.NewCache(32)}, o)
		add("text.embedded", text.Embedded)
		each("text", text.Blocks)
		add("text.logits", text.Logits)
		return out
	}, two, g.IntTensor("ids"))
	for i, name := range names {
		want := g.Values(name)
		near.Check(t, name, got[i], want, 1e-4, 1e-4*near.Scale(want))
	}
}

func (g golden) reference(least int) captiontest.Reference {
	return captiontest.Reference{Golden: g.Golden, Lines: captiontest.Read(g.T, g.Dir, least),
		Start: []int32{int32(g.cfg.Text.StartToken)}}
}

// TestCaptions compares greedy captions and those of beams, token for token, with transformers' generate, and the
// logits of every step. XLA, which takes its time to compile, gets some of the settings.
func TestCaptions(t *testing.T) {
	for i, name := range writers {
		t.Run(name, func(t *testing.T) {
			testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
				g := openGolden(t, name)
				captiontest.Check(t, backend, g.Network(), g.reference(100), func(s textgen.Options) bool {
					return backend == testbackend.Go(t) || s.Width() == []int{3, 1, 4}[i]
				})
			})
		})
	}
}

// TestWords: the processor's pixels of an image, the tokens of a prefix and the words of a caption, as transformers'
// processor and tokenizer have them. That captions are written so from an image's file is a test of the stage.
func TestWords(t *testing.T) {
	for _, name := range writers {
		g := openGolden(t, name)
		pixels := must.Get(g.Prepare(g.Image("picture")))(t)
		near.Check(t, name+": pixels", pixels, g.Values("processed"), 0, 1e-5)
		var lines []struct {
			Prefix string
			Prompt []int32
			IDs    [][]int32
			Texts  []string
		}
		must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(g.Dir, "texts.json")))(t), &lines))
		must.Equal(t, len(lines), 6)
		for _, l := range lines {
			prompt, err := g.Prompt(l.Prefix)
			if err != nil || !slices.Equal(prompt, l.Prompt) {
				t.Fatalf("%s, %q: prompt %v, %v; transformers has %v", name, l.Prefix, prompt, err, l.Prompt)
			}
			for i, ids := range l.IDs {
				must.Equal(t, must.Get(g.Text(prompt, ids))(t), l.Texts[i], name, ids, "transformers writes")
			}
		}
	}
	dir := modeltest.CopyOf(t, "old-hub")
	for _, file := range []string{"tokenizer.json", "tokenizer_config.json"} {
		must.Do(t, os.Remove(filepath.Join(dir, file)))
	}
	bare := must.Get(OpenCaptioner(dir))(t)
	must.EqualSlices(t, must.Get(bare.Prompt(""))(t), []int32{2}, "no prefix")
	must.Fail(bare.Prompt("a"))(t, "no tokenizer")
	must.Fail(bare.Text([]int32{2}, []int32{3}))(t, "no tokenizer")
}
