package indictti

import (
	"math"
	"slices"
	"testing"

	"antipode/internal/must"
)

// printedBy returns the legible values of a table by model and language.
func printedBy(t *testing.T, table int) map[string]map[string]float64 {
	t.Helper()
	cells := must.Get(PrintedTable(table))(t)
	out := map[string]map[string]float64{}
	for _, c := range cells {
		if out[c.Model] == nil {
			out[c.Model] = map[string]float64{}
		}
		if c.State == Legible {
			out[c.Model][c.Language] = c.Value
		}
	}
	return out
}

func quoted(name string) map[string]float64 {
	out := map[string]float64{}
	for _, q := range quotedValues() {
		if q.Name == name {
			out[q.Model] = q.Value
		}
	}
	return out
}

// TestClaims compares the numbers claimed in the text with the printed cells, including claims that the cells do not
// support.
func TestClaims(t *testing.T) {
	clgc, igc, lgc := printedBy(t, 2), printedBy(t, 3), printedBy(t, 4)
	four := []string{"Stable Diffusion", "Alt Diffusion", "Midjourney", "Dalle3"}
	least := func(table map[string]map[string]float64, language string) (model string) {
		return slices.MinFunc(four,
			func(a, b string) int { return int(math.Copysign(1, table[a][language]-table[b][language])) })
	}
	for _, m := range four {
		if v := igc[m][English]; v < 46.58 || v > 51.21 {
			t.Errorf("English IGC of %s: %v", m, v)
		}
		if v := lgc[m][English]; v < 30.90 || v > 33.98 {
			t.Errorf("English LGC of %s: %v", m, v)
		}
		if (clgc[m][English] > 60) == (m == "Alt Diffusion") { // the text says above 60 for every model
			t.Errorf("English CLGC of %s: %v", m, clgc[m][English])
		}
	}
	for name, table := range map[string]map[string]map[string]float64{"CLGC": clgc, "IGC": igc, "LGC": lgc} {
		must.Equal(t, least(table, English), "Alt Diffusion", name, "has the lowest English value")
	}
	if clgc["Stable Diffusion"]["asm_Beng"] != 7.29 || clgc["Alt Diffusion"]["asm_Beng"] != 14.65 ||
		lgc["Dalle3"]["mni_Mtei"] != 1.52 || lgc["Dalle3"]["sat_Olck"] != 2.09 || lgc["Dalle3"]["brx_Deva"] != 12.93 {
		t.Error("quoted cells")
	}
	for _, l := range []string{"mni_Mtei", "sat_Olck"} { // "Dalle3 is best on all" does not hold in these cells
		if igc["Dalle3"][l] >= igc["Stable Diffusion"][l] || igc["Dalle3"][l] >= igc["Alt Diffusion"][l] {
			t.Errorf("IGC of %s: %v", l, igc["Dalle3"][l])
		}
	}
	better := 0
	for _, l := range Languages()[1:] {
		v, known := igc["Dalle3"][l.Code]
		if known && v > igc["Stable Diffusion"][l.Code] && v > igc["Alt Diffusion"][l.Code] &&
			v > igc["Midjourney"][l.Code] {
			better++
		}
	}
	must.Equal(t, better, 28, "Dalle3 has the best IGC in", "of 30 languages")
	for _, l := range []string{"sin_Sinh", "brx_Deva", "kas_Arab"} { // "Bengali script is lowest" is wrong here
		if clgc["Stable Diffusion"][l] >= clgc["Stable Diffusion"]["ben_Beng"] {
			t.Errorf("CLGC of %s: %v", l, clgc["Stable Diffusion"][l])
		}
	}
	for model, want := range quoted(QuotedDropIGC) {
		english, others, _ := values(t, 7, model)
		must.Near(t, english-mean(others), want, 0.0051, model, "drop")
	}
	if scal := quoted(QuotedSCAL); len(scal) != 5 || len(quoted(quotedAgreement)) != 1 ||
		len(quotedValues()) != 5+4+4+4+3 {
		t.Errorf("%d quoted values, SCAL %v", len(quotedValues()), scal)
	}
}
