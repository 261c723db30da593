package representation

import (
	"fmt"
	"math"
	"os"
	"testing"

	data "antipode/datasets/entigen"
	"antipode/datasets/manifest"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

func released(t *testing.T) *table.Frame {
	t.Helper()
	return tabulartest.Released(t, data.Name, "entigen-ratings", data.Options{})
}

func TestPaperTablesComeOut(t *testing.T) {
	f := tabulartest.Evaluate(t, "entigen-cells", released(t), nil)
	equal, of := map[string]int{}, map[string]int{}
	differ := map[string]string{}
	for i, tab := range f.Numbers("table") {
		kind := "diversity"
		if tab == 3 {
			kind = "quality"
		}
		of[kind]++
		if f.Numbers("equal")[i] == 1 {
			equal[kind]++
			continue
		}
		name := fmt.Sprintf("%g %s %s %s", tab, f.Texts("prompt_id")[i], f.Texts("axis")[i], f.Texts("model")[i])
		differ[name] = fmt.Sprintf("%s %.3f", f.Texts("printed")[i], f.Numbers("value")[i])
	}
	if of["diversity"] != 81 || equal["diversity"] != 72 || of["quality"] != 24 || equal["quality"] != 24 {
		t.Errorf("equal %v of %v; want 72 of 81 diversity and 24 of 24 quality", equal, of)
	}
	want := map[string]string{
		"1 original perceived gender Stable Diffusion": "0.82 0.765",
		"1 P-G1 perceived gender Stable Diffusion":     "0.68 0.667",
		"1 P-S2 perceived gender minDALL-E":            "0.38 0.600",
		"1 P-S2 perceived gender Stable Diffusion":     "0.71 0.571",
		"6 original perceived gender DALL-E-mini":      "0.69 1.000",
		"2 C-1 perceived culture DALL-E-mini":          "0.7 0.583",
		"2 C-2 perceived culture DALL-E-mini":          "0.6 0.700",
		"2 C-2 perceived culture minDALL-E":            "0.71 0.684",
		"2 C-I2 perceived culture DALL-E-mini":         "1 0.895",
	}
	for name, values := range want {
		must.Equal(t, differ[name], values, name)
	}
	must.Equal(t, len(differ), len(want), "these differ")
}

func TestUsableCounts(t *testing.T) {
	f := tabulartest.Evaluate(t, "entigen-bias", released(t), nil)
	got := map[string][2]float64{}
	for i := range f.Len() {
		name := f.Texts("category")[i] + "," + f.Texts("prompt_id")[i] + "," + f.Texts("axis")[i] + "," +
			f.Texts("model")[i] + "," + f.Texts("attribute")[i]
		got[name] = [2]float64{f.Numbers("n_group_a")[i], f.Numbers("n_group_b")[i]}
		must.Equal(t, f.Numbers("n_asked")[i], 9, name, "images")
	}
	text := must.Get(os.ReadFile("testdata/usable_counts.csv"))(t)
	want := must.Get(manifest.ReadSheet("usable_counts.csv", text, "category", "prompt_id", "axis", "model",
		"attribute", "n_group_a", "n_group_b"))(t)
	must.Equal(t, [2]int{want.Len(), len(got)}, [2]int{201, 201}, "expected counts found")
	for row, v := range want.Rows {
		a, errA := want.Number(row, 5)
		b, errB := want.Number(row, 6)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		name := v[0] + "," + v[1] + "," + v[2] + "," + v[3] + "," + v[4]
		must.Equal(t, got[name], [2]float64{a, b}, name)
	}
}

// TestQualityReadings: the count of images as described hits none of the printed values of Table 3, all of them too
// high.
func TestQualityReadings(t *testing.T) {
	in := released(t)
	f := tabulartest.Evaluate(t, "entigen-quality", in, nil)
	described := map[string]float64{}
	for i := range f.Len() {
		described[f.Texts("category")[i]+f.Texts("prompt_id")[i]+f.Texts("model")[i]] = f.Numbers(
			"quality_as_described")[i]
	}
	cells := tabulartest.Evaluate(t, "entigen-cells", in, map[string]string{"table": "3"})
	for i := range cells.Len() {
		name := cells.Texts("category")[i] + cells.Texts("prompt_id")[i] + cells.Texts("model")[i]
		if printed, err := ParsePrinted(cells.Texts("printed")[i]); err != nil || !(described[name] > printed.Value) {
			t.Errorf("%s: as described %g, printed %g (%v)", name, described[name], printed.Value, err)
		}
	}
	must.Equal(t, cells.Len(), 24, "cells")
}

func TestDiversityTable(t *testing.T) {
	in := released(t)
	f := tabulartest.Evaluate(t, "entigen-diversity", in, nil)
	must.Equal(t, f.Len(), 7*6+4*6+5*3, "rows")
	for i := range f.Len() {
		v, low, high := f.Numbers("diversity")[i], f.Numbers("diversity_low")[i], f.Numbers("diversity_high")[i]
		if math.IsNaN(v) {
			t.Errorf("row %d: not available", i)
			continue
		}
		if !(0 <= low && low <= v && v <= high && high <= 1) {
			t.Errorf("row %d: %g in [%g, %g]", i, v, low, high)
		}
		if f.Texts("prompt_id")[i] == data.Original && f.Numbers("change")[i] != 0 {
			t.Errorf("row %d: the original differs from itself by %g", i, f.Numbers("change")[i])
		}
	}
	all := tabulartest.Evaluate(t, "entigen-diversity", in, map[string]string{"prompts": "all", "resamples": "0"})
	if all.Len() <= f.Len() {
		t.Errorf("prompts=all gives %d rows, reported ones %d", all.Len(), f.Len())
	}
	for _, tab := range []string{"1", "2", "3", "6"} {
		f := tabulartest.Evaluate(t, "entigen-table", in, map[string]string{"table": tab})
		must.Equal(t, f.Len(), map[string]int{"1": 7, "2": 5, "3": 8, "6": 4}[tab], "table", tab, "has")
	}
}

// TestHeadlineFlips are the two readings of claim 11 that section 10 of the data's description settles.
func TestHeadlineFlips(t *testing.T) {
	f := tabulartest.Evaluate(t, "entigen-bias", released(t), nil)
	found := 0
	for i := range f.Len() {
		model, prompt, attribute := f.Texts("model")[i], f.Texts("prompt_id")[i], f.Texts("attribute")[i]
		if f.Texts("axis")[i] != data.PerceivedGender {
			continue
		}
		switch {
		case model == data.SD && prompt == "P-G1" && attribute == "police officer":
			found++
			must.Equal(t, f.Texts("change")[i], "flipped")
			must.Equal(t, f.Numbers("n_used")[i], 3)
		case model == data.DALLEMini && prompt == "O-G1" && attribute == "makeup":
			found++
			if f.Texts("change")[i] != "reduced" || math.Abs(f.Numbers("bias")[i]+1.0/3) > 1e-12 {
				t.Errorf("DALL-E-mini, makeup: %s to %g", f.Texts("change")[i], f.Numbers("bias")[i])
			}
		}
	}
	must.Equal(t, found, 2, "of the two cells found")
}
