package segment

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/modeltest"
	"antipode/test/stagetest"
)

// boxArgs are those of a detector and a segmenter, the small random models of tools/pyref/boxes_stage.py.
func boxArgs(t *testing.T) gomlxmodels.SegmentArgs {
	t.Helper()
	segmenter := must.Get(filepath.Abs("../../sam/testdata/other-shape"))(t)
	a := defaults()
	a.Model, a.Detector = segmenter, modeltest.Computed(t, "../../groundingdino/testdata/shared")
	a.Profile, a.BoxThreshold, a.TextThreshold, a.Boxes = gomlxmodels.ProfileTransformers, 0.25, 0.25, "union"
	return a
}

// owlArgs are those of an OWLv2 and a SAM 2.1.
func owlArgs(t *testing.T) gomlxmodels.SegmentArgs {
	a := boxArgs(t)
	a.Model, a.Detector = modeltest.Computed(t, "../../sam2/testdata/windows"),
		modeltest.Computed(t, "../../owlv2/testdata/wide")
	a.BoxThreshold, a.TextThreshold = 0, 0
	return a
}

// Boxes, labels, scores and masks are those of transformers; rules for boxes follow from the masks of each.
func TestBoxesEqualReference(t *testing.T) {
	t.Run("GroundingDINO and SAM", func(t *testing.T) { equalReference(t, boxArgs(t), "boxes.json") })
	t.Run("OWLv2 and SAM 2.1", func(t *testing.T) { equalReference(t, owlArgs(t), "owl_boxes.json") })
}

func equalReference(t *testing.T, a gomlxmodels.SegmentArgs, golden string) {
	text := must.Get(os.ReadFile(testFile(golden)))(t)
	var cases []struct {
		Image, Cell     string
		Threshold, Best float64
		Size            [2]int
		Boxes           []struct {
			Object, Label, Mask         string
			Score, IoU, Stability, Area float64
			Box                         [4]float64
		}
	}
	must.Do(t, json.Unmarshal(text, &cases))
	for _, c := range cases {
		a.BoxThreshold = c.Threshold
		side := float64(max(c.Size[0], c.Size[1]))
		for _, rule := range []string{"union", "best", "largest"} {
			a.Boxes = rule
			got := result(t, start(t, a), row(testFile(c.Image), map[string]string{"object": c.Cell}))[0]
			what := fmt.Sprintf("%s, %s, %s", c.Image, c.Cell, rule)
			var list []listed
			if err := json.Unmarshal([]byte(got["boxes"].Text), &list); err != nil || len(list) != len(c.Boxes) {
				t.Fatalf("%s: boxes %s, %v, want %d", what, got["boxes"].Text, err, len(c.Boxes))
			}
			want := mask.New(c.Size[1], c.Size[0])
			var area, iou, stability float64
			chosen := map[string]int{} // of each object
			for i, w := range c.Boxes {
				g := list[i]
				if g.Object != w.Object || g.Label != w.Label || math.Abs(g.Score-w.Score) > 1e-4 ||
					math.Abs(*g.IoU-w.IoU) > 1e-3 {
					t.Errorf("%s: box %d is %+v, want %+v", what, i, g, w)
				}
				for k := range 4 {
					must.Near(t, g.Box[k], w.Box[k], 1e-3*side, what, "box", i, "is at", g.Box, "want", w.Box)
				}
				best, seen := chosen[w.Object]
				if !seen || rule == "largest" && w.Area > c.Boxes[best].Area {
					chosen[w.Object] = i
				}
			}
			for i, w := range c.Boxes {
				if rule != "union" && chosen[w.Object] != i {
					continue
				}
				b := must.Get(mask.Decode(table.Mask{Size: c.Size, Counts: w.Mask}))(t)
				for p, object := range b.Pix {
					want.Pix[p] = want.Pix[p] || object
				}
				area, iou, stability = area+w.Area, iou+w.Area*w.IoU, stability+w.Area*w.Stability
			}
			b := must.Get(mask.Decode(got["mask"].Mask))(t)
			differ := 0
			for p := range want.Pix {
				if b.Pix[p] != want.Pix[p] {
					differ++
				}
			}
			if float64(differ) > 0.001*float64(len(want.Pix)) {
				t.Errorf("%s: %d of %d pixels differ", what, differ, len(want.Pix))
			}
			share := float64(want.Area()) / float64(len(want.Pix))
			for name, v := range map[string][2]float64{"mask_score": {iou / area, 1e-3},
				"stability_score": {stability / area, 1e-2}, "box_score": {c.Best, 1e-5}, "mask_area": {share, 1e-3}} {
				must.Near(t, got[name].Number, v[0], v[1], what, name)
			}
			border, outcome := got["touches_border"].Number == 1, got["outcome"].Text
			must.Equal(t, border, want.TouchesBorder(), what)
			must.Equal(t, outcome, "ok", what)
		}
	}
}

// A row without a box is unmasked with the highest score seen, one whose shape the detector cannot take is failed, and
// a row depends on no other.
func TestBoxOutcomes(t *testing.T) {
	a := boxArgs(t)
	a.BoxThreshold = 0.9999999
	file := testFile("rgb-61x40.png")
	cat := map[string]string{"object": "cat"}
	got := result(t, start(t, a), row(file, cat))[0]
	if got["outcome"].Text != "unmasked" || !strings.HasPrefix(got["reason"].Text,
		`no box of "cat" reaches 0.9999999; the highest score is 0.99`) || got["boxes"].Text != "[]" ||
		!math.IsNaN(got["mask_score"].Number) || got["mask_area"].Number != 0 || !(got["box_score"].Number > 0.9) {
		t.Errorf("without a box: %v", got)
	}
	const words = "cat बिल्ली बिल्ली"
	got = result(t, start(t, a), row(file, map[string]string{"object": words}))[0]
	if !strings.HasSuffix(got["reason"].Text, fmt.Sprintf("and most words of %q are unknown to it", words)) {
		t.Errorf("unknown words: %v", got)
	}
	a.BoxThreshold, a.Profile = 0.5, gomlxmodels.ProfileLangSAM2024
	w := start(t, a)
	rows := []stage.Row{row(file, cat),
		row("", map[string]string{"object": "", "outcome": "refused", "reason": "policy"}),
		row(testFile("rgb-20x130.png"), map[string]string{"object": "CAT|dog "}),
		row(file, map[string]string{"object": " Cat."})}
	all := result(t, w, rows...)
	for i, r := range rows {
		must.Equal(t, fmt.Sprint(result(t, w, r)[0]), fmt.Sprint(all[i]), "row", i,
			"its result depends on its neighbors")
	}
	if all[1]["outcome"].Text != "refused" || all[1]["boxes"].Text != "" || !math.IsNaN(all[1]["box_score"].Number) ||
		all[1]["mask"].Mask.Counts != "" {
		t.Errorf("a refused row: %v", all[1])
	}
	if all[0]["mask"].Mask != all[3]["mask"].Mask || all[0]["mask"].Mask.Counts == "" {
		t.Errorf(`"cat" and " Cat." differ: %v, %v`, all[0], all[3])
	}
	if got := result(t, w, row(testFile("narrow.png"), cat))[0]; got["outcome"].Text != "failed" ||
		!strings.Contains(got["reason"].Text, "too narrow") || !math.IsNaN(got["mask_area"].Number) {
		t.Errorf("a narrow image: %v", got)
	}
	if column, err := w.Rows(1).Prepare(t.Context(), 0, row(file, map[string]string{"object": strings.Repeat("dog car ",
		99)})); err == nil || column != "object" || !strings.Contains(err.Error(), "tokens") {
		t.Errorf("a caption that is too long: %q, %v", column, err)
	}
}

// A result that is no number fails its own row, whichever model returned it, and the run continues.
func TestNotFinite(t *testing.T) {
	copied := t.TempDir()
	must.Do(t, os.CopyFS(copied, os.DirFS(boxArgs(t).Model)))
	spoil := func(dir, tensor string, from, to int) {
		list := modeltest.Tensors(t, dir)
		i := slices.IndexFunc(list, func(x weights.Tensor) bool { return x.Name == tensor })
		for k := from; k < to; k++ {
			list[i].Data[k] = math.MaxFloat32
		}
		modeltest.Save(t, dir, list)
	}
	const dog, width = 1107, 16 // the token, and the width of its embedding
	detector := boxArgs(t)
	spoil(detector.Detector, "model.text_backbone.embeddings.word_embeddings.weight", dog*width, (dog+1)*width)
	segmenter := boxArgs(t)
	segmenter.Model = copied
	spoil(copied, "vision_encoder.neck.layer_norm2.weight", 0, 8)
	for _, c := range []struct {
		args       gomlxmodels.SegmentArgs
		cell, want string // part of the reason; "" = ok
	}{
		{detector, "cat", ""},
		{detector, "dog", "groundingdino/join: the network gave NaN"},
		{detector, "cat|dog", "groundingdino/join: the network gave NaN"},
		{segmenter, "cat", "sam/masks: box 1: the network gave "},
	} {
		got := result(t, start(t, c.args), row(testFile("rgb-61x40.png"), map[string]string{"object": c.cell}))[0]
		outcome := "failed"
		if c.want == "" {
			outcome = "ok"
		}
		if got["outcome"].Text != outcome || !strings.Contains(got["reason"].Text, c.want) ||
			(got["mask"].Mask.Counts == "") != (outcome == "failed") {
			t.Errorf("%s: %v, want %q", c.cell, got, c.want)
		}
	}
}

// Every argument changes the digest, and models of the wrong kind are reported with what is missing.
func TestOpenBoxes(t *testing.T) {
	digests := map[string]bool{}
	base, owl := boxArgs(t), owlArgs(t)
	changes := []func(*gomlxmodels.SegmentArgs){
		func(*gomlxmodels.SegmentArgs) {}, func(a *gomlxmodels.SegmentArgs) { a.BoxThreshold = 0.4 },
		func(a *gomlxmodels.SegmentArgs) { a.TextThreshold = 0.4 },
		func(a *gomlxmodels.SegmentArgs) { a.Boxes = "best" },
		func(a *gomlxmodels.SegmentArgs) { a.Profile = gomlxmodels.ProfileLangSAM2024 },
		func(a *gomlxmodels.SegmentArgs) {
			a.Detector = modeltest.Computed(t, "../../groundingdino/testdata/apart-window7")
		},
	}
	for _, change := range changes {
		a := base
		change(&a)
		digests[start(t, a).Digest()] = true
	}
	must.Equal(t, len(digests), len(changes), "digests for", "settings")
	for _, c := range []struct {
		change func(*gomlxmodels.SegmentArgs)
		want   string
	}{
		{func(a *gomlxmodels.SegmentArgs) {
			a.Detector, a.Profile, a.BoxThreshold, a.TextThreshold, a.Boxes = "", "", 0, 0, ""
		}, "a SAM turns boxes into masks: name the model that finds the boxes"},
		{func(a *gomlxmodels.SegmentArgs) { a.Detector = model }, `detector: `},
		{func(a *gomlxmodels.SegmentArgs) { a.Model = model }, `model_type "clipseg" is not`},
		{func(a *gomlxmodels.SegmentArgs) { a.Boxes = "some" }, `Boxes is "some"`},
		{func(a *gomlxmodels.SegmentArgs) {
			a.Model, a.Profile = owl.Model, gomlxmodels.ProfileLangSAM2024
		}, "profile langsam-2024 is of a SAM, and this is a SAM 2.1"},
		{func(a *gomlxmodels.SegmentArgs) {
			a.Detector, a.Profile = owl.Detector, gomlxmodels.ProfileLangSAM2024
		}, "profile langsam-2024 is of a GroundingDINO, and this is an OWLv2"},
		{func(a *gomlxmodels.SegmentArgs) { a.Detector = owl.Detector }, "text threshold is for a GroundingDINO"},
	} {
		a := base
		c.change(&a)
		must.Fail(stagetest.Open(t, env(t), gomlxmodels.SegmentOp, a))(t, c.want)
	}
	if !slices.ContainsFunc(start(t, base).Outputs(nil), func(c table.ColumnSpec) bool { return c.Name == "boxes" }) {
		t.Error("the column boxes is missing")
	}
}
