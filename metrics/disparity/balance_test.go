package disparity

import (
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
)

// Most images of the south, and nearly all of its bags, lack a mask at random: without Balance the south covers less,
// with it there is no gap.
func TestBalance(t *testing.T) {
	r := near.Rand(t, 31)
	real, gen := cloud(1, 320, 0), cloud(2, 640, 0)
	vectors := slices.Clone(gen.Vectors("object_only"))
	left := map[string]int{}
	for i, region := range gen.Texts("region") {
		drop := map[string]float64{"bag": 0.95, "car": 0.6}[gen.Texts("object")[i]]
		if region == "south" && r.Float64() < drop {
			vectors[i] = nil
		} else if region == "south" {
			left[gen.Texts("object")[i]]++
		}
	}
	patches := slices.Clone(gen.Numbers("object_patches"))
	for i, v := range vectors {
		if v == nil {
			patches[i] = math.NaN()
		}
	}
	gen = gen.With(table.VectorColumn("object_only", vectors), table.NumberColumn("object_patches", patches))
	balanced := options("vector", "object_only", "unmasked", "drop", "scores", "coverage", "balance", "true")
	gap := func(o map[string]string, real, gen *table.Frame) (flagged string, gap, n float64) {
		t.Helper()
		f, _ := must.Get2(evaluate(t, ask{Metric: "region-gaps", By: []string{"region"}, Options: o}, real, gen))(t)
		return f.Texts("flagged")[1], f.Numbers("gap")[1], f.Numbers("n_generated")[1] - f.Numbers("n_generated")[0]
	}
	alone := options("vector", "object_only", "unmasked", "drop", "scores", "coverage")
	if flagged, g, _ := gap(alone, real, gen); flagged != "yes" || g > -0.2 {
		t.Errorf("at different numbers: flagged %s, gap %v", flagged, g)
	}
	flagged, g, differ := gap(balanced, real, gen)
	must.Equal(t, flagged, "no", "at equal numbers: flagged")
	must.Equal(t, differ, 0, "at equal numbers: flagged")

	order := r.Perm(gen.Len())
	if _, again, _ := gap(balanced, real, gen.Pick(order)); again != g {
		t.Errorf("rows in another order: gap %v, before %v", again, g)
	}
	balanced["seed"] = "5"
	if _, other, _ := gap(balanced, real, gen); other == g {
		t.Errorf("another seed has the same gap %v", g)
	}
	var fewer []int // reference images: without the first of the south
	for i, region := range real.Texts("region") {
		if region == "north" || i > 30 {
			fewer = append(fewer, i)
		}
	}
	o := options("vector", "object_only", "unmasked", "drop", "balance", "true", "resamples", "-1")
	for _, cells := range []string{"object", "none"} {
		o["cells"] = cells
		f, notes := must.Get2(evaluate(t, ask{Metric: "precision-coverage", By: []string{"region"}, Options: o},
			real.Pick(fewer), gen))(t)
		used, reals := f.Numbers("n_used"), f.Numbers("n_real")
		if want := float64(left["bag"] + left["car"]); used[0] != want || used[1] != want || reals[0] != reals[1] {
			t.Errorf("cells %s: %v used of %v, %v real", cells, used, left, reals)
		}
		if strings.Contains(strings.Join(notes, " "), "balance them") {
			t.Errorf("cells %s: notes %q", cells, notes)
		}
	}
	var north []int // the south has no generated image
	for i := 0; i < gen.Len(); i += 2 {
		north = append(north, i)
	}
	f, _ := must.Get2(evaluate(t, ask{Metric: "precision-coverage", By: []string{"region"}, Options: o}, real,
		gen.Pick(north)))(t)
	must.Equal(t, f.Numbers("n_generated")[0], 320, "images of the only group that has some")
}
