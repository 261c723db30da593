package caption

import (
	"image"
	"image/color"
	"math"
	"slices"
	"testing"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/internal/must"
	"antipode/test/stagetest"
	"antipode/test/testbackend"
)

// TestNoContent: images without anything to see are described like any other, whatever their size.
func TestNoContent(t *testing.T) {
	plain := func(w, h int, c color.Color) table.Image {
		m := image.NewNRGBA(image.Rect(0, 0, w, h))
		for i := range w * h {
			m.Set(i%w, i/w, c)
		}
		return stagetest.Image(t, m)
	}
	images := []table.Image{plain(40, 40, color.Black), plain(40, 40, color.White), plain(1, 1, color.Gray{128}),
		plain(600, 2, color.Black), plain(40, 40, color.Transparent)}
	f := stagetest.Captions(images, 1, 0)
	for _, dir := range []string{model, model2} {
		a := args(1, gomlxmodels.CaptionOptions{})
		a.Model = dir
		w := start(t, stagetest.NewEnv(t, testbackend.Go(t)), a)
		got := stagetest.Run(t, w, f, stagetest.All(f), w.Batch())
		for i, v := range got {
			if n, log := v[1].Number, v[2].Number; n < 0 || n > 9 || math.IsNaN(log) || log > 0 ||
				!slices.Contains([]string{"end", "limit"}, v[3].Text) {
				t.Errorf("image %d: %+v", i, v)
			}
		}
		if black, strip, clear := got[0], got[3], got[4]; black[0].Text != strip[0].Text ||
			black[2].Number != strip[2].Number || black[0].Text != clear[0].Text {
			t.Errorf("black squares, strips and nothing over black are prepared alike, but are %q, %q, %q",
				black[0].Text, strip[0].Text, clear[0].Text)
		}
	}
}

// TestLimit: a caption that reaches the limit says so and has as many tokens; one that ends by its last token has
// ended.
func TestLimit(t *testing.T) {
	images := stagetest.Scenes(t, 8)
	f := stagetest.Captions(images, 1, 0)
	e := stagetest.NewEnv(t, testbackend.Go(t))
	for _, dir := range []string{model, model2} {
		stops := map[string]int{}
		a := args(1, gomlxmodels.CaptionOptions{})
		a.Model, a.MaxTokens = dir, 14
		long := stagetest.Run(t, start(t, e, a), f, stagetest.All(f), 8)
		for _, most := range []int{1, 2, 5} {
			a.MaxTokens = most
			for i, v := range stagetest.Run(t, start(t, e, a), f, stagetest.All(f), 8) {
				stops[v[3].Text]++
				ends := long[i][3].Text == "end" && long[i][1].Number < float64(most) // the end is a token too
				if n := int(v[1].Number); ends != (v[3].Text == "end") || !ends && n != most || ends &&
					v[0].Text != long[i][0].Text {
					t.Errorf("limit %d, image %d: %+v; without it %+v", most, i, v, long[i])
				}
			}
		}
		if stops["limit"] == 0 {
			t.Errorf("%v: nothing reached a limit", stops)
		}
	}
}

// TestLeftOut: tokens that are special, unknown or white space alone leave no word; what is left may be empty.
func TestLeftOut(t *testing.T) {
	for dir, cases := range map[string][]struct {
		prompt, tokens []int32
		want           string
	}{
		model: {{[]int32{96}, nil, ""}, {[]int32{96}, []int32{3, 8, 3, 4, 0}, "of"}, {[]int32{96}, []int32{3}, ""},
			{[]int32{96, 7}, []int32{95, 14, 3}, "a word4 picture"}},
		model2: {{[]int32{2}, nil, ""}, {[]int32{2}, []int32{2, 1, 320}, ""}, {[]int32{2}, []int32{0, 3, 2}, ""},
			{[]int32{2}, []int32{224, 224, 202}, ""}, {[]int32{2}, []int32{260, 270, 224, 224, 10, 224}, "b [  '"}},
	} {
		m := must.Get(openModel(dir))(t)
		for _, c := range cases {
			must.Equal(t, must.Get(m.Text(c.prompt, c.tokens))(t), c.want, c.prompt, c.tokens)
		}
	}
}
