package clipscore

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

func frame(images, texts [][]float32, ids ...string) *table.Frame {
	image, text := table.Column{Vectors: images}, table.Column{Vectors: texts}
	image.ColumnSpec, text.ColumnSpec = datasets.Columns("clip_image:vector")[0],
		datasets.Columns("clip_text:vector")[0]
	f := &table.Frame{Columns: []table.Column{image, text}}
	if len(ids) > 0 {
		f.Columns = append(f.Columns, table.TextColumn("id", ids))
	}
	return f
}

// The scores are torchmetrics' own; see testdata/reference.py.
func TestTorchmetrics(t *testing.T) {
	var list []struct {
		Images, Texts [][]float32
		Each          []float64
		Score         float64
	}
	text, err := os.ReadFile("testdata/reference.json")
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil || len(list) != 3 {
		t.Fatal(len(list), err)
	}
	for n, c := range list {
		whole := tabulartest.Evaluate(t, "clip-score", frame(c.Images, c.Texts), map[string]string{"method": "mean"})
		must.Near(t, whole.Numbers("clip_score")[0], c.Score, 1e-4, "set", n)
		paper, each := tabulartest.Evaluate(t, "clip-score", frame(c.Images, c.Texts),
			map[string]string{"weight": "2.5"}),
			0.0
		for i := range c.Each {
			each += 0.025 * max(c.Each[i], 0) / float64(len(c.Each))
			must.Near(t, c.Each[i], 100*must.Get(Cosine(c.Images[i], c.Texts[i]))(t), 1e-4, "set", n, "image", i)
		}
		value, low, high := paper.Numbers("clip_score")[0], paper.Numbers("clip_score_low")[0],
			paper.Numbers("clip_score_high")[0]
		must.Near(t, value, each, 1e-6, "set", n, "by the paper's formula")
		if len(c.Each) == 1 && !math.IsNaN(low) || len(c.Each) > 1 && !(low < value && value < high) {
			t.Errorf("set %d: %v in [%v, %v]", n, value, low, high)
		}
	}
}

// Groups, missing vectors, prompts resampled whole, and errors.
func TestTable(t *testing.T) {
	x, y := []float32{1, 0}, []float32{0, 1}
	f := frame([][]float32{x, x, nil, y}, [][]float32{x, y, x, x}, "a", "b", "c", "d")
	one := must.Get(tabulartest.Run("clip-score", f, nil, "id"))(t)
	if s := one.Numbers("clip_score"); s[0] != 100 || s[1] != 0 || !math.IsNaN(s[2]) ||
		one.Numbers("n_missing")[2] != 1 {
		t.Errorf("image by image: %v", s)
	}
	whole := tabulartest.Evaluate(t, "clip-score", f, nil)
	must.Equal(t, whole.Numbers("clip_score")[0], 100.0/3, "the whole")
	must.Equal(t, whole.Numbers("n_used")[0], 3, "the whole")
	must.Equal(t, whole.Numbers("n_missing")[0], 1, "the whole")
	f.Columns = append(f.Columns, table.TextColumn("prompt_id", []string{"p", "p", "p", "p"}))
	if same := tabulartest.Evaluate(t, "clip-score", f, nil); !math.IsNaN(same.Numbers("clip_score_low")[0]) ||
		same.Texts("interval")[0] != "" {
		t.Error("one prompt has an interval")
	}
	for _, c := range []struct {
		a, b []float32
		says string
	}{{x, []float32{1}, "one model"}, {x, []float32{0, 0}, "clip_text: a vector has norm 0"},
		{[]float32{0, 0}, x, "clip_image: a vector has norm 0"},
		{x, []float32{float32(math.NaN()), 0}, "not finite"},
		{x, []float32{float32(math.Inf(1)), 0}, "not finite"}} {
		must.Fail(tabulartest.Run("clip-score", frame([][]float32{c.a}, [][]float32{c.b}, "a"), nil))(t, c.says,
			`row 1 (id "a")`)
	}
}
