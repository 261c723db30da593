package representation

import (
	"slices"
	"strings"
	"testing"

	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

func captions(texts ...string) *table.Frame {
	var ids, links []string
	for i := range texts {
		ids = append(ids, "c"+string(rune('0'+i)))
		links = append(links, "https://images.example/"+ids[i])
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("caption", texts),
		table.TextColumn("link", links)}}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		r            Matching
		text, phrase string
		want         string
	}{
		{Matching{true, true}, "Culture of cultures, culture", "culture", "0 21"},
		{Matching{true, false}, "Culture of cultures", "culture", "0 11"},
		{Matching{false, true}, "Culture culture", "culture", "8"},
		{Matching{false, false}, "aaaa", "aa", "0 2"},
		{Matching{true, true}, "ÉCOLE, école", "école", "0 8"},
		{Matching{true, true}, "संस्कृति और संस्कृतियाँ", "संस्कृति", "0"}, // the second goes on with a letter
		{Matching{}, "culture", "", ""}, {Matching{true, true}, "", "x", ""},
	} {
		var got []string
		for _, p := range c.r.Find(c.text, c.phrase) {
			got = append(got, itoa(p[0]))
			if n := p[1] - p[0]; n < len(c.phrase)-1 || n > len(c.phrase)+1 {
				t.Errorf("%q in %q: %v", c.phrase, c.text, p)
			}
		}
		must.Equal(t, strings.Join(got, " "), c.want, c.r, c.phrase, "in", c.text, got)
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// TestCaptionAnalysis: counts, co-occurrence and contexts, with the rules that were used next to them.
func TestCaptionAnalysis(t *testing.T) {
	in := captions("A jacket irrespective of color", "Irrespective of their gender, all wear makeup",
		"makeup, whatever the gender", "gendered makeup", "")
	f := tabulartest.Evaluate(t, "entigen-phrases", in, map[string]string{"queries": "irrespective of, " +
		"irrespective of their gender ,gender+makeup,none,gender + makeup"})
	if !slices.Equal(f.Texts("query"), []string{"irrespective of", "irrespective of their gender", "gender + makeup",
		"none"}) || !slices.Equal(f.Numbers("n_captions"), []float64{2, 1, 2, 0}) ||
		f.Numbers("per_million")[0] != 400000 || f.Numbers("n_used")[0] != 5 ||
		f.Texts("rules")[0] != "case ignored, whole words" {
		t.Errorf("%v %v %v", f.Texts("query"), f.Numbers("n_captions"), f.Texts("rules"))
	}
	f = tabulartest.Evaluate(t, "entigen-phrases", in, map[string]string{"queries": "gender+makeup,Irrespective",
		"keep_case": "true", "inside_words": "true"})
	must.EqualSlices(t, f.Numbers("n_captions"), []float64{3, 1})
	must.Equal(t, f.Texts("rules")[0], "case kept, inside words too")
	f = tabulartest.Evaluate(t, "entigen-contexts", in, map[string]string{"queries": "irrespective of,gender+makeup",
		"width": "9"})
	want := []string{"c0|A jacket |irrespective of| color|https://images.example/c0",
		"c1||Irrespective of| their ge|https://images.example/c1",
		"c1|of their |gender|, all wea|https://images.example/c1", "c2|ever the |gender||https://images.example/c2"}
	for i := range f.Len() {
		must.Equal(t, strings.Join([]string{f.Texts("id")[i], f.Texts("before")[i], f.Texts("match")[i],
			f.Texts("after")[i], f.Texts("link")[i]}, "|"), want[i])
	}
	must.Equal(t, f.Len(), len(want), "contexts")
	must.Fail(tabulartest.Run("entigen-phrases", in, map[string]string{"queries": "a++b"}))(t, "empty phrase")
	if f := tabulartest.Evaluate(t, "entigen-phrases", captions(), nil); f.Len() != 7 ||
		f.Numbers("n_captions")[0] != 0 {
		t.Errorf("%d queries by default", f.Len())
	}
}

func TestGaps(t *testing.T) {
	prompts, images := make([]string, 0, 10), []string{"original", "original", "P-G1", "Q-1"}
	for range 2 {
		prompts = append(prompts, "original", "P-G1", "P-I1")
	}
	all := func(v string, n int) []string { return slices.Repeat([]string{v}, n) }
	asked := &table.Frame{Columns: []table.Column{table.TextColumn("category", all(data.Profession, 6)),
		table.TextColumn("prompt_id", prompts), table.TextColumn("attribute", all("दर्ज़ी", 6))}}
	in := &table.Frame{Columns: []table.Column{table.TextColumn("model", all("m", 4)),
		table.TextColumn("category", all(data.Profession, 4)), table.TextColumn("prompt_id", images),
		table.TextColumn("attribute", all("दर्ज़ी", 4)),
		table.TextColumn("outcome", []string{"made", "made", "refused", "made"})}}
	f := must.Get(evaluate(t, "entigen-gaps", [2]string{"in", "prompts"}, in, asked, nil))(t)
	must.EqualSlices(t, f.Texts("prompt_id"), []string{"original", "P-G1", "P-I1", "Q-1"})
	must.EqualSlices(t, f.Texts("gap"), []string{"", "2 missing", "2 missing", "not requested"})
	must.EqualSlices(t, f.Numbers("n_used"), []float64{2, 0, 0, 1})
	must.EqualSlices(t, f.Numbers("n_refused"), []float64{0, 1, 0, 0})
	must.Equal(t, must.Get(evaluate(t, "entigen-gaps", [2]string{"in", "prompts"}, in, asked,
		map[string]string{"show": "gaps"}))(t).Len(), 3, "gaps")
	must.Equal(t, must.Get(evaluate(t, "entigen-gaps", [2]string{"in", "prompts"}, in.Pick([]int{0, 1, 1}), asked,
		nil))(t).Texts("gap")[0], "1 too many")
	var notes []string
	must.Get(tabulartest.RunOn("entigen-gaps", map[string]*table.Frame{"in": in.Pick(nil), "prompts": asked}, nil,
		&notes))(t)
	must.Has(t, strings.Join(notes, "; "), "no image says which model was asked")
}
