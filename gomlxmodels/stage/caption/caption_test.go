package caption

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/stagetest"
	"antipode/test/testbackend"
)

// model and model2 are the small random models with a tokenizer that tools/pyref/blip.py and blip2.py make.
var (
	model, _  = filepath.Abs("../../blip/testdata/base")
	model2, _ = filepath.Abs("../../blip2/testdata/opt")
)

// args completes the arguments of a stage.
func args(n int, o gomlxmodels.CaptionOptions) gomlxmodels.CaptionArgs {
	o.N, o.Decode, o.MaxTokens = n, cmp.Or(o.Decode, "greedy"), cmp.Or(o.MaxTokens, 9)
	return gomlxmodels.CaptionArgs{Model: model, CaptionOptions: o}
}

func start(t *testing.T, e stagetest.Env, a gomlxmodels.CaptionArgs) *stage.Opened {
	t.Helper()
	return stagetest.Start(t, e, gomlxmodels.CaptionOp, a)
}

// reference is an image of a golden in a file, and what transformers writes of it.
func reference(t *testing.T, dir string, lines any) *table.Frame {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, "texts.json")))(t), lines))
	return stagetest.Captions([]table.Image{stagetest.Image(t, modeltest.Open(t, dir).Image("picture"))}, 2, 0)
}

// check holds a row's values against a text and its tokens, the end included where there is one.
func check(t *testing.T, what string, got []table.Value, text string, tokens, ends []int32) {
	t.Helper()
	n, stop := len(tokens), "limit"
	if slices.Contains(ends, tokens[n-1]) {
		n, stop = n-1, "end"
	}
	if got[0].Text != text || got[1].Number != float64(n) || !(got[2].Number < 0) || got[3].Text != stop {
		t.Errorf("%s: %+v, transformers writes %q (%d tokens, %s)", what, got, text, n, stop)
	}
}

// TestEqualReference: an image file to words, with and without a prefix, as transformers writes them.
func TestEqualReference(t *testing.T) {
	var lines []struct {
		Prefix, Text string
		IDs          []int32
	}
	frame := reference(t, model, &lines)
	testbackend.OnBoth(t, func(t *testing.T, backend compute.Backend) {
		e := stagetest.NewEnv(t, backend)
		for _, l := range lines {
			got := stagetest.Run(t, start(t, e, args(1, gomlxmodels.CaptionOptions{Prefix: l.Prefix})), frame, []int{0},
				1)[0]
			check(t, "prefix "+l.Prefix, got, l.Text, l.IDs[1+len(strings.Fields(l.Prefix)):], []int32{5})
		}
	})
	must.Equal(t, len(lines), 2, "lines")
}

// TestEqualReference2 does so for BLIP-2, greedily and with beams, in every layout of a folder.
func TestEqualReference2(t *testing.T) {
	for _, name := range []string{"opt", "opt-350m", "old-hub"} {
		dir := filepath.Join(filepath.Dir(model2), name)
		var lines []struct {
			Prefix string
			Beams  int
			IDs    [][]int32
			Texts  []string
		}
		frame := reference(t, dir, &lines)
		m, err := openModel(dir)
		if err != nil || len(lines) != 6 {
			t.Fatal(err, len(lines))
		}
		e := stagetest.NewEnv(t, testbackend.Go(t))
		for _, l := range lines {
			a := args(len(l.IDs), gomlxmodels.CaptionOptions{Prefix: l.Prefix})
			if a.Model = dir; l.Beams > 0 {
				a.Decode, a.Beams, a.LengthPenalty = "beam", l.Beams, new(1.0)
			}
			got := stagetest.Run(t, start(t, e, a), frame, stagetest.All(frame)[:a.N], 2)
			for i, tokens := range l.IDs {
				check(t, fmt.Sprintf("%s, prefix %q, %d beams, caption %d", name, l.Prefix, l.Beams, i+1), got[i],
					l.Texts[i], tokens, m.Network().Ends)
			}
		}
	}
}

// TestBatches: captions are the same whatever is computed with them, and in whatever order.
func TestBatches(t *testing.T) {
	images := stagetest.Scenes(t, 11)
	for name, a := range map[string]gomlxmodels.CaptionArgs{
		"nucleus": args(3, gomlxmodels.CaptionOptions{Decode: "nucleus", TopP: 0.95, Temperature: 2}),
		"beam":    args(2, gomlxmodels.CaptionOptions{Decode: "beam", Beams: 3, MinTokens: 2}),
		"greedy":  args(1, gomlxmodels.CaptionOptions{RepetitionPenalty: 1.5}),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "beam" {
				a.LengthPenalty = new(1.0)
			}
			e := stagetest.NewEnv(t, testbackend.Go(t))
			w := start(t, e, a)
			f := stagetest.Captions(images, a.N, 7)
			rows := stagetest.All(f)
			want := stagetest.Run(t, w, f, rows, w.Batch())
			turned := slices.Clone(rows)
			slices.Reverse(turned)
			for what, got := range map[string]map[int][]table.Value{
				"one by one":    stagetest.Run(t, start(t, e, a), f, rows, 1),
				"in eights":     stagetest.Run(t, start(t, e, a), f, rows, 8),
				"from the end":  stagetest.Run(t, start(t, e, a), f, turned, 5),
				"a second time": stagetest.Run(t, w, f, rows, w.Batch()),
			} {
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %+v, want %+v", what, got, want)
				}
			}
			different := map[string]bool{}
			for i, v := range want {
				different[v[0].Text] = true
				if n := v[1].Number; n < 0 || n > 9 || v[3].Text == "limit" && n != 9 || v[3].Text == "end" && n > 8 {
					t.Errorf("row %d: %+v", i, v)
				}
			}
			if len(different) < 4 {
				t.Errorf("only %d captions differ: %v", len(different), different)
			}
		})
	}
}

// TestRanks: caption k of a search is the k-th best.
func TestRanks(t *testing.T) {
	a := args(3, gomlxmodels.CaptionOptions{Decode: "beam", Beams: 4}) // length penalty 0: scores are log-probabilities
	w := start(t, stagetest.NewEnv(t, testbackend.Go(t)), a)
	f := stagetest.Captions(stagetest.Scenes(t, 3), 3, 0)
	got := stagetest.Run(t, w, f, stagetest.All(f), w.Batch())
	for i := range got {
		if i%3 > 0 && (got[i][2].Number > got[i-1][2].Number || got[i][0].Text == got[i-1][0].Text &&
			got[i][1].Number == got[i-1][1].Number) {
			t.Errorf("caption %d: %+v after %+v", i%3+1, got[i], got[i-1])
		}
	}
	f = f.With(table.TextColumn("id", slices.Repeat([]string{"elsewhere"}, f.Len())))
	if column, err := w.Rows(1).Prepare(t.Context(), 0, stage.Row{Frame: f}); column != "id" || err == nil ||
		!strings.Contains(err.Error(), "the rank of the caption") {
		t.Errorf("%s: %v", column, err)
	}
}

// TestMany: more captions than are written in a group, each by its seed.
func TestMany(t *testing.T) {
	a := args(60, gomlxmodels.CaptionOptions{Decode: "nucleus", Temperature: 3})
	a.TopP = 1
	w := start(t, stagetest.NewEnv(t, testbackend.Go(t)), a)
	f := stagetest.Captions(stagetest.Scenes(t, 1), 60, 0)
	got := stagetest.Run(t, w, f, stagetest.All(f), w.Batch())
	must.Equal(t, w.Batch(), 4*30, "batch", "60 captions are two groups of 30, four of which are written at once")
	again := stagetest.Run(t, w, f, []int{59}, 1)
	if !reflect.DeepEqual(again[59], got[59]) {
		t.Errorf("caption 60: %+v, alone %+v", got[59], again[59])
	}
	different := map[string]bool{}
	for _, v := range got {
		different[v[0].Text] = true
	}
	if len(different) < 40 {
		t.Errorf("of 60 drawn captions %d differ", len(different))
	}
}

// TestOutcomes: rows without an image, empty captions, bad rows.
func TestOutcomes(t *testing.T) {
	images := stagetest.Scenes(t, 2)
	a := args(1, gomlxmodels.CaptionOptions{})
	w := start(t, stagetest.NewEnv(t, testbackend.Go(t)), a)
	broken := filepath.Join(t.TempDir(), "broken.png")
	must.Do(t, os.WriteFile(broken, []byte("no image"), 0o600))
	f := stagetest.Captions([]table.Image{{}, images[0], {}, {Path: broken, SHA256: "b"},
		{Path: broken + "x", SHA256: "c"}}, 1, 0)
	f = f.With(table.TextColumn("outcome", []string{"refused", "ok", "", "", ""}))
	got := stagetest.Run(t, w, f, []int{0, 1}, 2)
	if v := got[0]; v[0].Text != "" || !math.IsNaN(v[1].Number) || !math.IsNaN(v[2].Number) || v[3].Text != "" {
		t.Errorf("a refused image: %+v", v)
	}
	if v := got[1]; v[3].Text == "" {
		t.Errorf("the image next to it: %+v", v)
	}
	if a, b := w.Key(stage.Row{Frame: f}), w.Key(stage.Row{Frame: f, Index: 1}); a == b || b != images[0].SHA256 {
		t.Errorf("keys %q, %q", a, b)
	}
	for i, want := range map[int]string{2: "the row has no image", 3: "broken.png", 4: "cannot be read"} {
		column, err := w.Rows(1).Prepare(t.Context(), 0, stage.Row{Frame: f, Index: i})
		if column != "image" || err == nil ||
			!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("row %d, column %s: %v, want %q", i, column, err, want)
		}
	}
	// the end as the first token is a caption: an empty one
	empty := stagetest.Run(t, start(t, stagetest.NewEnv(t, testbackend.Go(t)),
		args(1, gomlxmodels.CaptionOptions{MaxTokens: 1, Decode: "nucleus", TopP: 1})),
		stagetest.Captions(images[:1], 1, emptySeed(t, images[0])), []int{0}, 1)[0]
	if empty[0].Text != "" || empty[1].Number != 0 || empty[3].Text != "end" || !(empty[2].Number < 0) {
		t.Errorf("an empty caption: %+v", empty)
	}
	seeds := stagetest.Captions(images[:1], 1, 0.5)
	drawn := start(t, stagetest.NewEnv(t, testbackend.Go(t)), args(1, gomlxmodels.CaptionOptions{Decode: "nucleus"}))
	if column, err := drawn.Rows(1).Prepare(t.Context(), 0, stage.Row{Frame: seeds}); column != "seed" || err == nil {
		t.Errorf("a seed of 0.5: %s, %v", column, err)
	}
	if a, b := drawn.Key(stage.Row{Frame: stagetest.Captions(images[:1], 2, 0)}),
		drawn.Key(stage.Row{Frame: stagetest.Captions(images[:1], 2, 0), Index: 1}); a == b {
		t.Errorf("two seeds, one key %q", a)
	}
}

// emptySeed looks for a seed whose first drawn token is the end.
func emptySeed(t *testing.T, img table.Image) float64 {
	a := args(50, gomlxmodels.CaptionOptions{MaxTokens: 1, Decode: "nucleus", TopP: 1})
	w := start(t, stagetest.NewEnv(t, testbackend.Go(t)), a)
	f := stagetest.Captions([]table.Image{img}, 400, 0)
	for i, v := range stagetest.Run(t, w, f, stagetest.All(f), w.Batch()) {
		if v[3].Text == "end" {
			return float64(i)
		}
	}
	t.Fatal("none of 400 captions is empty")
	return 0
}
