package embed

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/blip2"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/modeltest"
	"antipode/test/stagetest"
	"antipode/test/testbackend"
)

// blip2Folder is one that tools/pyref/blip2.py makes.
func blip2Folder(name string) string {
	dir, _ := filepath.Abs(filepath.Join("../../blip2/testdata", name))
	return dir
}

func blip2Args(folder, vector, pooling, text string) gomlxmodels.EmbedArgs {
	return gomlxmodels.EmbedArgs{Model: blip2Folder(folder), EmbedOptions: gomlxmodels.EmbedOptions{Masking: "drop",
		Fill: "none", PatchRule: "any", Vector: vector, Pooling: pooling, Against: text}}
}

// TestBLIP2 embeds image files and their captions, and compares the vectors with those that package blip2 computes from
// the pixels of transformers' processor.
func TestBLIP2(t *testing.T) {
	backend := testbackend.Go(t)
	g := modeltest.Open(t, blip2Folder("retrieval"))
	m := must.Get(blip2.Open(blip2Folder("retrieval")))(t)
	scene := stagetest.Scenes(t, 1)[0]
	captions := []string{"a red house by the sea", "", "", "two children on a horse"}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c", "d"}),
		table.ImageColumn("image", []table.Image{stagetest.Image(t, g.Image("picture")), scene, {}, scene}),
		table.TextColumn("caption", captions), table.TextColumn("outcome", []string{"", "", "refused", ""})}}
	env := stagetest.NewEnv(t, backend)
	run := func(vector, pooling, text string, size int) map[int][]table.Value {
		w := stagetest.Start(t, env, gomlxmodels.EmbedOp, blip2Args("retrieval", vector, pooling, text))
		return stagetest.Run(t, w, f, stagetest.All(f), size)
	}
	rgb := must.Get(stage.ReadImage(scene))(t)
	striped := must.Get(m.Prepare(rgb))(t)
	pixels := [][]float32{g.Values("processed"), striped}
	want := func(p blip2.Pooling) [][]float32 {
		e := must.Get(blip2.NewEncoder(backend, m, p, blip2.Options{}))(t)
		defer e.Close()
		return must.Get(e.EncodeImages(t.Context(), pixels))(t)
	}
	texts := run(gomlxmodels.Blip2Text, "auto", "caption", 4)
	if v := texts[0]; v[1].Number != 6 || v[3].Number != 0 || texts[3][3].Number != 1 || v[4].Number != 0 ||
		texts[2][0].Vector != nil || texts[1][0].Vector == nil || !math.IsNaN(texts[2][1].Number) {
		t.Errorf("texts: %+v", texts)
	}
	for _, pooling := range []string{"pooled", "patches", "queries", "projected", "projected_first", "projected_max",
		"auto"} {
		against, kind := "", blip2.Pooling(pooling)
		switch pooling {
		case "projected_max":
			against, kind = "caption", blip2.All
		case "auto":
			kind = blip2.Projected
		}
		got := run(gomlxmodels.Blip2Image, pooling, against, 4)
		expected := want(kind)
		for row, i := range map[int]int{0: 0, 1: 1, 3: 1} {
			v := expected[i]
			if kind == blip2.All {
				v = blip2.Closest(v, texts[row][0].Vector)
			}
			near.Check(t, pooling, got[row][0].Vector, v, 1e-4, 1e-4*near.Scale(v))
		}
		if got[2][0].Vector != nil {
			t.Errorf("%s: a refused image has a vector", pooling)
		}
		for i, v := range run(gomlxmodels.Blip2Image, pooling, against, 1) {
			near.Check(t, pooling+" alone", v[0].Vector, got[i][0].Vector, 1e-5, 1e-6)
		}
	}
}

// TestBLIP2Keys checks what item keys and digests depend on.
func TestBLIP2Keys(t *testing.T) {
	env := stagetest.NewEnv(t, nil)
	image := table.Image{Path: "x", SHA256: "s"}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b"}),
		table.ImageColumn("image", []table.Image{image, image}),
		table.TextColumn("caption", []string{"a house", "a horse"})}}
	digests := map[string]bool{}
	for _, pooling := range []string{"pooled", "patches", "queries", "projected", "projected_first", "projected_max"} {
		w := stagetest.Start(t, env, gomlxmodels.EmbedOp, blip2Args("retrieval", gomlxmodels.Blip2Image, pooling,
			map[bool]string{true: "caption"}[pooling == "projected_max"]))
		digests[w.Digest()] = true
		must.Equal(t, w.Key(stage.Row{Frame: f}) == w.Key(stage.Row{Frame: f, Index: 1}), (pooling != "projected_max"),
			pooling, "one image with two texts has equal keys")
		err := w.Check(f.Specs()[:2])
		if pooling == "projected_max" && (err == nil || !strings.Contains(err.Error(), `"caption"`)) ||
			pooling != "projected_max" && err != nil {
			t.Errorf("%s without texts: %v", pooling, err)
		}
	}
	must.Equal(t, len(digests), 6, "six poolings", "digests")
}

// TestBLIP2Errors: what the model or the settings rule out is said at once, in one line.
func TestBLIP2Errors(t *testing.T) {
	for _, c := range []struct{ folder, vector, pooling, text, want string }{
		{"opt", gomlxmodels.Blip2Image, "projected", "", "needs the projection"},
		{"opt", gomlxmodels.Blip2Image, "projected_max", "caption", "needs the projection"},
		{"opt", gomlxmodels.Blip2Image, "mean", "", "is one of pooled, patches, queries, projected, projected_first, " +
			"projected_max"},
		{"opt", gomlxmodels.Blip2Text, "", "caption", "which the folder is not"},
		{"retrieval", gomlxmodels.Blip2Text, "queries", "caption", "is projected"},
		{"retrieval", "", "", "", "makes the vectors blip2_image and blip2_text"},
		{"../../vit/testdata/hf-pooler-odd", "", "patches", "", "is its class token"},
		{"../../blip/testdata/base", gomlxmodels.Blip2Image, "", "", "is not a BLIP-2"},
	} {
		must.Fail(stagetest.Open(t, stagetest.NewEnv(t, nil), gomlxmodels.EmbedOp,
			blip2Args(c.folder, c.vector, c.pooling, c.text)))(t, c.want)
	}
	for _, name := range []string{"opt", "old-hub", "opt-350m"} { // whatever their language model
		if _, err := stagetest.Open(t, stagetest.NewEnv(t, nil), gomlxmodels.EmbedOp,
			blip2Args(name, gomlxmodels.Blip2Image, "", "")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
