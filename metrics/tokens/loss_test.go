package tokens

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

var level = AttributeOptions{Level: 0.95, Family: 0.95}

// images returns the scores of four images.
func images(rng *rand.Rand, mean float64) (out []float64) {
	for range 4 {
		out = append(out, mean+0.01*rng.NormFloat64())
	}
	return out
}

// made returns prompts, half of which have a cause that costs 0.2, where the generator loses 0.1.
func made(rng *rand.Rand, n int) (out []Prompt) {
	for i := range n {
		concept, p := 0.6+0.1*rng.NormFloat64(), Prompt{}
		left := concept - 0.1 - 0.03*rng.NormFloat64()
		if i%2 == 0 {
			p.Causes, left = "cut", left-0.2
		}
		p.Reference, p.Scores = images(rng, concept), images(rng, left)
		out = append(out, p)
	}
	return out
}

func find(t *testing.T, parts []Part, cause string) Part {
	t.Helper()
	for _, p := range parts {
		if p.Cause == cause {
			return p
		}
	}
	t.Fatalf("no part %s", cause)
	return Part{}
}

// TestPartsSum: the parts sum to the loss, whatever they are compared with.
func TestPartsSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{"others", "repaired", "several", "refused", "a single prompt"} {
		prompts := made(rng, 20)
		for i := range prompts {
			p := &prompts[i]
			switch {
			case name == "repaired" && p.Causes != "":
				p.Repaired = images(rng, p.Scores[0]+0.15)
			case name == "several" && i%3 == 0:
				p.Causes += "unknown"
			case name == "refused" && i < 4:
				p.Refused, p.ReferenceRefused = 0.25*float64(i+1), 0.1
				if i == 3 {
					p.Scores = nil // all refused
				}
			case name == "a single prompt" && i == 1:
				p.Causes = "special"
			}
		}
		parts := Attribute(prompts, level)
		sum := 0.0
		for _, p := range parts[1:] {
			sum += p.Loss.Value
		}
		if all := parts[0]; all.Cause != All || math.Abs(all.Loss.Value-sum) > 1e-12 || len(parts) < 3 {
			t.Errorf("%s: the loss is %v, its parts sum to %v: %+v", name, all.Loss, sum, parts)
		}
		if name == "a single prompt" {
			if p := find(t, parts, "special"); p.Flagged || !math.IsNaN(p.Loss.Low) {
				t.Errorf("a cause of one prompt has an interval: %+v", p)
			}
		}
	}
}

// TestAttribute: a cause of half of the prompts that costs 0.2 costs 0.1 of the mean.
func TestAttribute(t *testing.T) {
	prompts := made(rand.New(rand.NewPCG(2, 2)), 200)
	parts := Attribute(prompts, level)
	near.Check(t, "cut", []float64{find(t, parts, "cut").Loss.Value}, []float64{0.1}, 0, 0.01)
	near.Check(t, "generator", []float64{find(t, parts, Generator).Loss.Value}, []float64{0.1}, 0, 0.01)
	near.Check(t, "share", []float64{find(t, parts, "cut").Share.Value}, []float64{0.5}, 0, 0.03)
	if verdict := parts[0].Verdict; verdict != "generator, cut" && verdict != "cut, generator" {
		t.Errorf("verdict %s", verdict)
	}
	one := Attribute([]Prompt{{Scores: []float64{0.2}, Reference: []float64{0.9}}}, level)[0]
	must.Equal(t, one.Verdict+": "+one.Rule, "undecided: too few images for an interval")
	all := func() Part { return Attribute(prompts, level)[0] }
	these := all()
	for i := range prompts { // of one image each nothing is known about these prompts alone
		prompts[i].Scores = prompts[i].Scores[:1]
	}
	if alike := all(); alike.Loss.High-alike.Loss.Low < 3*(these.Loss.High-these.Loss.Low) {
		t.Errorf("prompts like these %v, these %v", alike.Loss, these.Loss)
	}
	// the generator loses more of the prompts that are cut, and cutting costs nothing: only a repair shows it
	for i := range prompts {
		if p := &prompts[i]; p.Causes != "" {
			p.Repaired = p.Scores
		}
	}
	if p := find(t, Attribute(prompts, level), "cut"); p.Method != ByRepair || p.Flagged || p.Loss.Value != 0 {
		t.Errorf("a repair that changes nothing: %+v", p)
	}
	for i := range prompts { // no prompt to compare with
		prompts[i].Causes, prompts[i].Repaired = "cut", nil
	}
	parts = Attribute(prompts, level)
	if p := find(t, parts, Generator); !math.IsNaN(p.Loss.Value) || p.Low != 0 || p.High < parts[0].Loss.Value {
		t.Errorf("bounds of the generator: %+v", p)
	}
	if all := parts[0]; all.Verdict != "undecided" || !strings.Contains(all.Rule, "without cut") {
		t.Errorf("verdict %s: %s", all.Verdict, all.Rule)
	}
}

// TestLossTable: counts become causes, those of the reference language too are none, refusals are counted, and a
// language of other prompts is noted and changes nothing.
func TestLossTable(t *testing.T) {
	f := &table.Frame{}
	var id, language, prompt, outcome []string
	var value, cut, unknown []float64
	rng := rand.New(rand.NewPCG(3, 3))
	for _, l := range []string{"en", "xx", "yy"} {
		for _, u := range "abcdefgh" {
			for k := range 4 {
				id, language = append(id, l+string(u)+string(rune('0'+k))), append(language, l)
				prompt = append(prompt, strings.Trim(l, "enx")+string(u))
				v, o, c, n := 0.8+0.01*rng.NormFloat64(), "ok", 0., 0.
				if l == "xx" && u < 'e' {
					v, c = v-0.4, 3
				}
				if u == 'h' { // in both languages
					n = 1
				}
				if l == "xx" && k == 3 {
					o, v = "refused", math.NaN()
				}
				value, outcome, cut, unknown = append(value, v), append(outcome, o), append(cut, c), append(unknown, n)
			}
		}
	}
	f.Columns = []table.Column{table.TextColumn("id", id), table.TextColumn("language", language),
		table.TextColumn("prompt_id", prompt), table.TextColumn("outcome", outcome),
		table.NumberColumn("value", value), table.NumberColumn("prompt_cut", cut),
		table.NumberColumn("prompt_unknown", unknown)}
	var notes []string
	r := must.Get(tabulartest.RunOn("language-loss", map[string]*table.Frame{"in": f}, nil, &notes))(t)
	alone := must.Get(tabulartest.Run("language-loss", f.Pick(rand.Perm(64)), nil))(t)
	near.Check(t, "lows without yy", r.Numbers("loss_low"), alone.Numbers("loss_low"), 1e-9, 0)
	must.Has(t, strings.Join(notes, "; "), "8 prompts have no image to compare with; by language: yy")
	must.Equal(t, strings.Join(r.Texts("cause"), " "), "all refused cut generator")
	must.Equal(t, r.Texts("verdict")[0], "cut, refused", "verdict")
	near.Check(t, "cut", []float64{r.Numbers("loss")[2]}, []float64{0.2}, 0, 0.01)
	near.Check(t, "refused", []float64{r.Numbers("loss")[1]}, []float64{0.25 * 0.6}, 0, 0.01)
	must.Equal(t, r.Numbers("n_refused")[0], 8, "refused images")
	// without the reference language
	must.Fail(tabulartest.Run("language-loss", f, map[string]string{"against": "de"}))(t, `"de"`)
}
