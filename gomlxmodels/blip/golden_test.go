package blip

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/decode"
	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/weights"
	"antipode/internal/near"
	"antipode/internal/testbackend"
)

// goldens are the folders internal/pyref/blip.py makes.
var goldens = []string{"base", "large", "own-head-bf16", "old-hub"}

// golden is one folder: a model and what the reference library computes with it.
type golden struct {
	*Model
	modeltest.Golden
}

// openGolden opens one below testdata.
func openGolden(t testing.TB, name string) golden {
	t.Helper()
	return openIn(t, filepath.Join("testdata", name))
}

// openIn opens a folder of a model and its golden.
func openIn(t testing.TB, dir string) golden {
	t.Helper()
	m, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return golden{m, modeltest.Open(t, dir)}
}

// pictures are the golden's, prepared.
func (g golden) pictures() [][]float32 { return g.Rows("pixels") }

func newCaptioner(t testing.TB, backend compute.Backend, m *Model, o Options) *Captioner {
	t.Helper()
	c, err := NewCaptioner(backend, m, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestStages compares every stage of tower and decoder with transformers, on both backends.
func TestStages(t *testing.T) {
	for _, name := range goldens {
		t.Run(name, func(t *testing.T) {
			modeltest.OnBoth(t, func(t *testing.T, backend compute.Backend) { checkStages(t, backend, name) })
		})
	}
}

func checkStages(t *testing.T, backend compute.Backend, name string) {
	g := openGolden(t, name)
	o := GraphOptions{Stages: true}
	var names []string
	pixels, shape := g.Values("pixels"), g.Shape("pixels")
	two := tensors.FromFlatDataAndDimensions(pixels[:2*len(pixels)/shape[0]], 2, 3, shape[2], shape[3])
	load := func(s *model.Store) error {
		return weights.Load(s.RootScope(), g.Model.set, table(g.cfg), dtypes.Float32)
	}
	got := modeltest.Run(t, backend, load, func(s *model.Scope, in []*Node) []*Node {
		names = nil
		var out []*Node
		add := func(name string, n *Node) { names, out = append(names, name), append(out, n) }
		image := ForwardImage(s, g.cfg, in[0], o)
		add("vision.embedded", image.Embedded)
		for i, b := range image.Blocks {
			add(fmt.Sprintf("vision.block_%d", i), b)
		}
		add("vision.tokens", image.Tokens)
		ids := in[1]
		text := ForwardText(s, g.cfg, decode.Inputs{IDs: ids, Positions: Iota(ids.Graph(), ids.Shape(), 1), Context: image.Context, Cache: decode.NewCache(32)}, o)
		add("text.embedded", text.Embedded)
		for i, b := range text.Blocks {
			add(fmt.Sprintf("text.block_%d", i), b)
		}
		add("text.logits", text.Logits)
		return out
	}, two, g.IntTensor("ids"))
	for i, name := range names {
		want := g.Values(name)
		near.Check(t, name, got[i], want, 1e-4, 1e-4*near.Scale(want))
	}
}

// written is one line of captions.json.
type written struct {
	Raw     map[string]any `json:"settings"`
	Prompt  []int32
	Picture int
	Tokens  [][]int32
	Scores  []float64
}

func (g golden) written() (out []written) {
	g.T.Helper()
	text, err := os.ReadFile(filepath.Join(g.dir, "captions.json"))
	if err != nil {
		g.T.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		g.T.Fatal(err)
	}
	if len(out) < 100 {
		g.T.Fatalf("%s: only %d captions", g.dir, len(out))
	}
	return out
}

// settings are those of transformers' generate, by name.
func settings(t testing.TB, raw map[string]any) decode.Settings {
	s := decode.Settings{MaxTokens: 14, LengthPenalty: 1}
	for name, value := range raw {
		number, _ := value.(float64)
		switch name {
		case "max_new_tokens":
			s.MaxTokens = int(number)
		case "min_new_tokens":
			s.MinTokens = int(number)
		case "repetition_penalty":
			s.RepetitionPenalty = number
		case "num_beams":
			s.Beams = int(number)
		case "num_return_sequences":
			s.Number = int(number)
		case "length_penalty":
			s.LengthPenalty = number
		case "early_stopping":
			s.Early = decode.Early(fmt.Sprint(value))
		default:
			t.Fatalf("setting %q", name)
		}
	}
	return s
}

// TestCaptions compares greedy captions and those of beams, token for token, with transformers' generate, and the logits of every step.
// XLA, which takes its time to compile, gets some of the settings.
func TestCaptions(t *testing.T) {
	for _, name := range goldens {
		t.Run(name+", pure Go", func(t *testing.T) {
			checkCaptions(t, testbackend.Go(t), name, func(decode.Settings) bool { return true })
		})
	}
	for name, width := range map[string]int{"base": 3, "large": 1, "own-head-bf16": 2, "old-hub": 4} {
		t.Run(name, func(t *testing.T) {
			checkCaptions(t, testbackend.XLA(t), name, func(s decode.Settings) bool { return s.Width() == width })
		})
	}
}

func checkCaptions(t *testing.T, backend compute.Backend, name string, takes func(decode.Settings) bool) {
	g := openGolden(t, name)
	c := newCaptioner(t, backend, g.Model, Options{Batch: 3})
	pictures := g.pictures()
	type setting struct{ text, prompt string }
	groups := map[setting][]written{}
	var order []setting
	for _, w := range g.written() {
		key, _ := json.Marshal(w.Raw)
		k := setting{string(key), fmt.Sprint(w.Prompt)}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], w)
	}
	end, start := int32(g.cfg.Text.EndToken), int32(g.cfg.Text.StartToken)
	worst := 0.0
	for i, k := range order {
		list := groups[k]
		s := settings(t, list[0].Raw)
		if !takes(s) {
			continue
		}
		var steps [][]float32
		if i == 0 { // plain greedy search without a prompt: "step.logits"
			c.opts.Batch = len(pictures)
			s.Trace = func(_ int, logits [][]float32) { steps = append(steps, slices.Concat(logits...)) }
		} else {
			c.opts.Batch = 3
		}
		var requests []Request
		for _, w := range list {
			requests = append(requests, Request{Pixels: pictures[w.Picture], Prompt: append([]int32{start}, w.Prompt...)})
		}
		got, err := c.Caption(t.Context(), requests, s)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range list {
			for j, want := range w.Tokens {
				text := got[i][j]
				tokens := slices.Clone(text.Tokens)
				if text.Ended {
					tokens = append(tokens, end)
				}
				if !slices.Equal(tokens, want) {
					t.Errorf("%v, prompt %v, picture %d, caption %d: %v, transformers writes %v", w.Raw, w.Prompt, w.Picture, j, tokens, want)
				} else if w.Scores != nil {
					worst = max(worst, math.Abs(text.Score-w.Scores[j])/max(1, math.Abs(w.Scores[j])))
				}
			}
		}
		if i == 0 {
			if len(requests) != len(pictures) {
				t.Fatalf("%d of %d pictures have a greedy caption: the steps cannot be compared", len(requests), len(pictures))
			}
			want, shape := g.Values("step.logits"), g.Shape("step.logits")
			if len(steps) < shape[0] {
				t.Fatalf("%d steps, transformers takes %d", len(steps), shape[0])
			}
			per := shape[1] * shape[2]
			for step := range shape[0] {
				for p := range shape[1] { // what follows a caption's end has no meaning
					if step > 0 && step >= len(list[p].Tokens[0]) {
						continue
					}
					at := p * shape[2]
					near.Check(t, fmt.Sprintf("logits of step %d, picture %d", step, p), steps[step][at:at+shape[2]], want[step*per+at:step*per+at+shape[2]], 1e-4, 1e-4*near.Scale(want))
				}
			}
		}
	}
	t.Logf("%d settings and prompts; worst difference of a score %.2g of it", len(order), worst)
	if worst > 5e-5 {
		t.Errorf("worst difference of a score: %v", worst)
	}
}
