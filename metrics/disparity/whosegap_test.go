package disparity

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics"
	"antipode/metrics/interval"
)

// groupsOf is n images of each of four groups, whose vectors have a mean of their own; those of the last are
// replaced by change, where it is not nil.
func groupsOf(seed uint64, n int, change func(v []float32)) *table.Frame {
	r := rand.New(rand.NewPCG(seed, 9))
	var ids, groups []string
	var vectors [][]float32
	for g, name := range []string{"a", "b", "c", "d"} {
		for i := range n {
			v := make([]float32, 6)
			for j := range v {
				v[j] = float32(r.NormFloat64())
			}
			if change != nil && name == "d" {
				change(v)
			}
			v[g] += 4
			ids, groups = append(ids, fmt.Sprint(seed, name, i)), append(groups, name)
			vectors = append(vectors, v)
		}
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("region", groups),
		table.VectorColumn("full", vectors)}}
}

// narrow shrinks a vector, as where an image shows less than those of the other groups.
func narrow(v []float32) {
	for i := range v {
		v[i] /= 4
	}
}

// trust is a table of texts.
func trust(columns []string, values ...string) *table.Frame {
	f := &table.Frame{}
	for i, c := range columns {
		f.Columns = append(f.Columns, table.TextColumn(c, values[i:i+1]))
	}
	return f
}

// TestGapSources: the side that a fault is injected into, what other tables add, and what is refused.
func TestGapSources(t *testing.T) {
	const n = 120
	camera := trust([]string{"region", "covariate", "flagged"}, "d", "jpeg_quality", "yes")
	masks := trust([]string{"region", "vector", "score", "verdict"}, "d", "full", "coverage", Explained)
	for _, c := range []struct {
		name       string
		real, made func([]float32)
		more       []*table.Frame
		want       string
	}{
		{"fair", nil, nil, nil, NoGap},
		{"few images generated", nil, narrow, nil, FromGenerator},
		{"few images photographed", narrow, nil, nil, FromReference},
		{"another camera", narrow, nil, []*table.Frame{camera}, FromCamera},
		{"a generator's fault, and another camera", nil, narrow, []*table.Frame{camera}, FromGenerator},
		{"masks", nil, narrow, []*table.Frame{camera, masks}, FromSegmenter},
	} {
		f, _, err := evaluate(t, ask{Metric: "whose-gap", By: []string{"region"}, Options: options("resamples", "100",
			"scores",
			"coverage")}, append([]*table.Frame{groupsOf(1, n, c.real), groupsOf(2, n, c.made)}, c.more...)...)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := f.Texts("verdict"); got[3] != c.want || slices.ContainsFunc(got[:3], func(v string) bool {
			return v != NoGap && v != AboveOthers
		}) {
			t.Errorf("%s: %s, want %s\n%s", c.name, got, c.want, datasets.Format(f, 0))
		}
		if x := f.Numbers("ceiling_gap")[3]; !(x > -0.2 && x < 0.2) {
			t.Errorf("%s: the ceiling's gap is %v", c.name, x)
		}
	}
	// Three images of the last group, whose halves are too few to compare, and two groups alone.
	all, fewer := groupsOf(1, n, nil), groupsOf(2, n, narrow).Slice(0, 3*n+3)
	for _, c := range []struct {
		real, made *table.Frame
		known      int
		note       string
	}{{all, fewer, 3, "too few images to compare the sides"}, {all.Slice(0, 2*n), fewer.Slice(0, 2*n), 0, ""}} {
		f, notes, err := evaluate(t, ask{Metric: "whose-gap", By: []string{"region"}, Options: options("resamples",
			"100", "scores",
			"coverage", "cells", "none")}, c.real, c.made)
		must.Do(t, err)
		for i, v := range f.Numbers("side") {
			must.Equal(t, math.IsNaN(v), i >= c.known, "side", i, "of", f.Len(), "groups is", v)
		}
		if !strings.Contains(fmt.Sprint(notes), c.note) {
			t.Errorf("%v, want %s", notes, c.note)
		}
	}
	kinds := func(f *table.Frame) *table.Frame { // a second grouping column
		return f.With(table.TextColumn("kind", slices.Repeat([]string{"x"}, f.Len())))
	}
	f, _ := must.Get2(evaluate(t, ask{Metric: "whose-gap", By: []string{"region", "kind"}, Options: options("resamples",
		"100")}, kinds(groupsOf(1, n, narrow)), kinds(groupsOf(2, n, nil)), kinds(camera)))(t)
	must.Equal(t, f.Texts("verdict")[3], FromCamera, "two grouping columns")
	copies := gapSourceRow{Gap: metrics.Exact(0.5)}
	copies.decide()
	must.Equal(t, copies.Verdict, interval.Undecided, "a gap without an interval")
}

// TestCeilings: images of the reference's distribution score as much as held-out reference images, and precision is
// between its bounds, of which the first counts half of the images as misses.
func TestCeilings(t *testing.T) {
	made := groupsOf(2, 200, nil)
	outcomes := slices.Repeat([]string{"ok", "refused"}, made.Len()/2)
	f, _ := must.Get2(evaluate(t, ask{Metric: "precision-coverage"}, groupsOf(1, 200, nil),
		made.With(table.TextColumn("outcome", outcomes))))(t)
	p := f.Numbers("precision")[0]
	low, high := f.Numbers("precision_bound_low")[0], f.Numbers("precision_bound_high")[0]
	if math.Abs(low-p/2) > 1e-12 || math.Abs(high-0.5-p/2) > 1e-12 {
		t.Errorf("precision %v, bounds %v and %v", p, low, high)
	}
	for _, score := range []string{"precision", "coverage"} {
		if v, c := f.Numbers(score)[0], f.Numbers(score + "_ceiling")[0]; !(v > c-0.06 && v < c+0.06) {
			t.Errorf("%s is %v, its ceiling %v", score, v, c)
		}
	}
}

// TestAcquisition: groups of files that differ in one covariate each.
func TestAcquisition(t *testing.T) {
	dir, r := t.TempDir(), rand.New(rand.NewPCG(1, 1))
	var ids, groups []string
	var images []table.Image
	add := func(group, ending string, encode func(b *bytes.Buffer, img image.Image) error, gray bool) {
		for i := range 30 {
			img := image.NewRGBA(image.Rect(0, 0, 24, 24))
			for k := range 24 * 24 {
				v := uint8(r.IntN(256))
				c := color.RGBA{v, v, v, 255}
				if !gray {
					c.G = 255 - v
				}
				img.SetRGBA(k%24, k/24, c)
			}
			var b bytes.Buffer
			must.Do(t, encode(&b, img))
			name := filepath.Join(dir, fmt.Sprint(group, i, ending))
			must.Do(t, os.WriteFile(name, b.Bytes(), 0o600))
			ids, groups = append(ids, fmt.Sprint(group, i)), append(groups, group)
			images = append(images, table.Image{Path: name, SHA256: fmt.Sprint(group, i)})
		}
	}
	quality := func(q int) func(*bytes.Buffer, image.Image) error {
		return func(b *bytes.Buffer, img image.Image) error { return jpeg.Encode(b, img, &jpeg.Options{Quality: q}) }
	}
	asPNG := func(b *bytes.Buffer, img image.Image) error { return png.Encode(b, img) }
	add("a", ".jpg", quality(90), false)
	add("b", ".jpg", quality(90), false)
	add("c", ".jpg", quality(30), false)
	add("d", ".png", asPNG, false)
	add("e", ".jpg", quality(90), true)
	images[0].SHA256 = images[1].SHA256
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("region", groups),
		table.ImageColumn("image", images)}}
	var notes string
	flagged := func(inputs ...*table.Frame) (out []string) {
		got, all := must.Get2(evaluate(t, ask{Metric: "acquisition", By: []string{"region"}}, inputs...))(t)
		notes = strings.Join(all, "\n")
		for i, c := range got.Texts("covariate") {
			if high := got.Numbers("value_high")[i]; c == "jpeg" && high > 1 {
				t.Errorf("a share of up to %v", high)
			}
			if got.Texts("flagged")[i] == "yes" && c != "sharpness" {
				out = append(out, got.Texts("region")[i]+" "+c)
			}
			if v := got.Numbers("value")[i]; c == "jpeg_quality" && got.Texts("region")[i] == "c" && v != 30 {
				t.Errorf("the quality is %v", v)
			}
		}
		return out
	}
	if got := fmt.Sprint(flagged(f)); !strings.Contains(got, "d jpeg") || !strings.Contains(got, "c jpeg_quality") ||
		!strings.Contains(got, "e saturation") || strings.Contains(got, "copies") || strings.Contains(got, "a j") {
		t.Errorf("flagged: %s", got)
	}
	if got := fmt.Sprint(flagged(f, f)); strings.Contains(got, "saturation") {
		t.Errorf("flagged, though generated images have it too: %s", got)
	}
	if !strings.Contains(notes, "fewer than two images with a value of jpeg_quality; by region: d") {
		t.Error(notes)
	}
	got := fmt.Sprint(flagged(f, f.Slice(30, f.Len()))) // without generated images of a
	if strings.Contains(got, "e saturation") || !strings.Contains(notes, "fewer than two generated images: the gap of "+
		"saturation is that of the reference images; by region: a") {
		t.Errorf("flagged: %s, notes %s", got, notes)
	}
	must.Do(t, os.WriteFile(images[3].Path, []byte("no image"), 0o600))
	must.Fail(evaluate(t, ask{Metric: "acquisition", By: []string{"region"}}, f))(t, "a3") // a damaged file
}

// TestSpecifications: a fault holds under all choices, a fair world under none, values are compared, and what is
// refused.
func TestSpecifications(t *testing.T) {
	real, fair, bad := groupsOf(1, 100, nil), groupsOf(2, 100, nil), groupsOf(2, 100, narrow)
	choices := options("vectors", "full,full+other", "k", "1,3,5", "unmasked", "profile,drop", "balance", "no,yes")
	with := func(f *table.Frame) *table.Frame {
		other, answer, again := slices.Clone(f.Vectors("full")), make([]float64, f.Len()), make([]float64, f.Len())
		same, few := make([]float64, f.Len()), make([]float64, f.Len())
		for i, v := range other {
			other[i] = v[:5]
			answer[i], again[i] = float64(i%2), float64(i/2%2)
			if f.Texts("region")[i] == "d" {
				answer[i], again[i], same[i], few[i] = float64(i%8/7), float64(i%5/4), 1, math.NaN()
			}
		}
		return f.With(table.VectorColumn("full+other", other), table.NumberColumn("answer_1", answer),
			table.NumberColumn("answer_2", again), table.NumberColumn("same", same), table.NumberColumn("few", few))
	}
	all := func(name string, o map[string]string, inputs ...*table.Frame) (holds float64, flagged []string) {
		f, notes, err := evaluate(t, ask{Metric: "specifications", By: []string{"region"}, Options: o}, inputs...)
		if err != nil {
			t.Fatal(name, err)
		}
		if len(notes) != 1 || !strings.Contains(notes[0], "evaluations") {
			t.Errorf("%s: %v", name, notes)
		}
		for i, c := range f.Texts("choice") {
			if c == AllChoices && f.Texts("flagged")[i] == "yes" {
				flagged = append(flagged, f.Texts("region")[i])
			}
			if c == AllChoices {
				holds = f.Numbers("holds")[i]
			}
		}
		return holds, flagged
	}
	if holds, flagged := all("fair", choices, with(real), with(fair)); len(flagged) > 0 || holds > 0.2 {
		t.Errorf("fair: %v hold, %s", holds, flagged)
	}
	holds, flagged := all("narrow", choices, with(real), with(bad))
	if holds < 0.999 || !slices.Contains(flagged, "d") {
		t.Errorf("narrow: %v hold, %s", holds, flagged)
	}
	op := ask{Metric: "specifications", By: []string{"region"}, Options: options("values", "answer_1,answer_2")}
	f, _ := must.Get2(evaluate(t, op, real, with(fair)))(t)
	for i, region := range f.Texts("region") {
		if f.Texts("choice")[i] == AllChoices && region == "d" && (f.Texts("flagged")[i] != "yes" ||
			!(f.Numbers("z")[i] < 0) || f.Numbers("holds")[i] != 1 || f.Numbers("n_choices")[i] != 2) {
			t.Errorf("values\n%s", datasets.Format(f, 0))
		}
	}
	op.Options = options("values", "same,few") // no variance within groups, and no value of d
	f, notes := must.Get2(evaluate(t, op, real, with(fair)))(t)
	if z := f.Numbers("z"); !math.IsInf(z[len(z)-1], 1) || f.Texts("flagged")[len(z)-1] != "yes" || len(notes) != 2 ||
		notes[0] != `left out: few: group d has too few values of "few"` {
		t.Errorf("%q\n%s", notes, datasets.Format(f, 0))
	}
	op.Options = options("vectors", "full", "scores", "coverage,recall", "cells", "none")
	f, notes = must.Get2(evaluate(t, op, real, groupsOf(2, 7, nil)))(t)
	if f.Len() != 8 || !strings.HasPrefix(notes[0], `left out: full, recall: group region "a" has too few images`) {
		t.Errorf("%q\n%s", notes, datasets.Format(f, 0))
	}
	for want, o := range map[string]map[string]string{`except: there is no group "x"`: options("vectors", "full",
		"except", "x"), "need vectors": nil, "half-samples": options("vectors", "full",
		"resamples", "0"), "radius needs": options("vectors", "full", "k", "100")} {
		must.Fail(evaluate(t, ask{Metric: "specifications", By: []string{"region"}, Options: o}, real, fair))(t, want)
	}
}
