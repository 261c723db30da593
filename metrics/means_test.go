package metrics

import (
	"image"
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// Units are resampled whole: where the rows of a prompt are alike, intervals over prompts are wider than over rows.
func TestMeans(t *testing.T) {
	var groups, prompts []string
	var values, twos []float64
	for i := range 120 {
		groups, prompts = append(groups, string(rune('k'+i%2))), append(prompts, string(rune('a'+i/10)))
		values, twos = append(values, float64(i/10)+0.01*float64(i%10)), append(twos, 2)
	}
	values[0] = math.NaN()
	f := &table.Frame{Columns: []table.Column{table.TextColumn("model", groups), table.TextColumn("prompt", prompts),
		table.NumberColumn("value", values), table.NumberColumn("two", twos)}}
	means := func(f *table.Frame, options map[string]string) *table.Frame {
		t.Helper()
		out, _ := must.Get2(evaluate(t, ask{Metric: "clustered-mean", By: []string{"model"}, Options: options}, f))(t)
		return out
	}
	rows, units := means(f, nil), means(f, map[string]string{"unit": "prompt"})
	half := means(f, map[string]string{"unit": "prompt", "over": "two", "resamples": "0"})
	width := func(f *table.Frame) float64 { return f.Numbers("value_high")[1] - f.Numbers("value_low")[1] }
	if !slices.Equal(units.Numbers("n_units"), []float64{12, 12}) ||
		!slices.Equal(units.Numbers("n_rows"), []float64{59, 60}) ||
		!slices.Equal(units.Numbers("n_missing"), []float64{1, 0}) || !(width(units) > 1.2*width(rows)) {
		t.Errorf("%s\n%s", datasets.Format(units, 0), datasets.Format(rows, 0))
	}
	if got := units.Numbers("value")[1]; math.Abs(got-5.55) > 1e-9 || math.Abs(half.Numbers("value")[1]-got/2) > 1e-9 ||
		!math.IsNaN(half.Numbers("value_low")[1]) {
		t.Errorf("%s\n%s", datasets.Format(units, 0), datasets.Format(half, 0))
	}
	one := means(f.Pick([]int{2, 4}), map[string]string{"unit": "prompt"})
	zero := means(f.With(table.NumberColumn("two", make([]float64, 120))), map[string]string{"over": "two"})
	if !math.IsNaN(one.Numbers("value_low")[0]) || one.Texts("interval")[0] != "" ||
		math.IsNaN(one.Numbers("value")[0]) || !math.IsNaN(zero.Numbers("value")[0]) ||
		!math.IsNaN(zero.Numbers("value_low")[0]) {
		t.Errorf("one unit, denominators of 0:\n%s\n%s", datasets.Format(one, 0), datasets.Format(zero, 0))
	}
	must.Equal(t, means(f.Pick(nil), nil).Len(), 0, "an empty table")
	twice := f.Pick([]int{0, 1}).With(table.TextColumn("id", []string{"x", "x"}))
	infinite := f.Pick([]int{0}).With(table.NumberColumn("value", []float64{math.Inf(1)}))
	for want, in := range map[string]*table.Frame{"row 1 has the same id": twice, "the value is infinite": infinite} {
		must.Fail(evaluate(t, ask{Metric: "clustered-mean"}, in))(t, want)
	}
}

func TestPerImageColumns(t *testing.T) {
	images := datasets.New("test", nil, datasets.Columns("id:text", "image:image", "region:text"))
	for name, c := range map[string]struct {
		got  datasets.Table
		want string
	}{
		"image": {PerImage(images, "brightness", func(image.Image) float64 { return 1 }, By("region")),
			"region brightness brightness_low brightness_high n_rows n_units n_missing interval"},
		"row": {PerRow(images, "length", func(r datasets.Row) float64 { return float64(len(r.Text("id"))) }, nil),
			"length length_low length_high n_rows n_units n_missing interval"},
		"value":       {PerRow(images, "value", func(datasets.Row) float64 { return 1 }, nil), "value value_low"},
		"two options": {PerRow(images, "a", nil, nil, MeanOptions{}, MeanOptions{}), "give at most one"},
		"no region":   {PerRow(images, "a", nil, By("nosuch")), `no such column: "nosuch"`},
	} {
		var got []string
		for _, column := range c.got.Columns() {
			got = append(got, column.Name)
		}
		text := strings.Join(got, " ")
		if err := c.got.Err(); err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %s, want %s", name, text, c.want)
		}
	}
}
