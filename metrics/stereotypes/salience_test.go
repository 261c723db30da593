package stereotypes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
)

// TestSalienceByHand: two identities, three captions of Veltan, one of Norra, V = {drum, old man, hat}.
func TestSalienceByHand(t *testing.T) {
	captions := []Caption{
		{"Veltan", "1", "An OLD man, a drum and a drum."}, {"Veltan", "1", "the drums of a man"}, {"Veltan", "2", ""},
		{"Norra", "1", "a hat"},
	}
	v := Vocabulary{Attributes: []string{"drum", "Old Man", "hat", "drum"},
		Stereotypes: map[[2]string]bool{{"Veltan", "Old Man"}: true, {"Norra", "drum"}: true}}
	got := must.Get(ComputeSalience(captions, v, SalienceVariant{Weighting: Weighting{Alpha: 1}}))(t)
	n, ve := got[0], got[1]
	if n.Identity != "Norra" || n.WithAny != 1 || n.WithStereotype != 0 || len(n.Attributes) != 1 ||
		n.Attributes[0].Stereotype {
		t.Errorf("%+v", n)
	}
	if ve.Captions != 3 || ve.Images != 2 || ve.Words != 13 || ve.WithAny != 1 || ve.WithStereotype != 1 ||
		ve.Any.Value != 1.0/3 || ve.Corpus != 4 {
		t.Errorf("%+v", ve)
	}
	drum, old := ve.Attributes[0], ve.Attributes[1]
	if drum.Attribute != "drum" || drum.Times != 2 || drum.Captions != 1 || drum.Documents != 1 || drum.Stereotype ||
		old.Attribute != "Old Man" || old.Times != 1 || !old.Stereotype {
		t.Errorf("%+v", ve.Attributes)
	}
	must.Near(t, drum.Salience.Value, 3.0/6*math.Log(4.0/2), 1e-15, "salience") // (2+1)/(3+3) · ln(4/(1+1))
	for name, c := range map[string]struct {
		o    SalienceVariant
		want float64
	}{
		"no smoothing":   {SalienceVariant{}, 2.0 / 3 * math.Log(2)},
		"smooth idf":     {SalienceVariant{Weighting: Weighting{Idf: "smooth"}}, 2.0 / 3 * (math.Log(5.0/2) + 1)},
		"identities":     {SalienceVariant{Weighting: Weighting{Document: "identity"}}, 2.0 / 3 * math.Log(2.0/2)},
		"captions":       {SalienceVariant{Weighting: Weighting{Count: "captions"}}, 1.0 / 2 * math.Log(2)},
		"words":          {SalienceVariant{Weighting: Weighting{Total: "words"}}, 2.0 / 13 * math.Log(2)},
		"dropped s":      {SalienceVariant{Matching: Matching{Plural: "drop-s"}}, 3.0 / 4 * math.Log(4.0/3)},
		"substring":      {SalienceVariant{Matching: Matching{Match: "substring"}}, 3.0 / 4 * math.Log(4.0/3)},
		"case":           {SalienceVariant{Matching: Matching{Case: "keep"}}, 2.0 / 2 * math.Log(2)},
		"words, α = 0.5": {SalienceVariant{Weighting: Weighting{Total: "words", Alpha: 0.5}}, 2.5 / 14.5 * math.Log(2)},
	} {
		got := must.Get(ComputeSalience(captions, v, c.o))(t)
		found := math.NaN()
		for _, a := range got[1].Attributes {
			if a.Attribute == "drum" {
				found = a.Salience.Value
			}
		}
		if !(math.Abs(found-c.want) < 1e-15) {
			t.Errorf("%s: %g, want %g", name, found, c.want)
		}
	}
}

// TestMatching: what is found in hostile text.
func TestMatching(t *testing.T) {
	long := strings.Repeat("x ", 1<<16) + "cow"
	for _, c := range []struct {
		attribute, text string
		m               Matching
		want            int
	}{
		{"cow", "cowboy", Matching{}, 0}, {"cow", "cowboy", Matching{Match: "substring"}, 1},
		{"cow", "cow,cow;COW", Matching{}, 3}, {"cow", "COW", Matching{Case: "keep"}, 0},
		{"cow", "cows", Matching{}, 0}, {"cow", "cows", Matching{Plural: "drop-s"}, 1},
		{"dress", "dres", Matching{Plural: "drop-s"}, 0},
		{"dark skin", "dark, skin", Matching{}, 1}, {"dark skin", "dark  red skin", Matching{}, 0},
		{"hard-working", "a hard working man", Matching{}, 1},
		{"a a", "a a a", Matching{}, 2}, {"a a", "a a a", Matching{Match: "substring"}, 1},
		{"café", "CAFE\u0301", Matching{}, 1}, {"cafe", "café", Matching{}, 0},
		{"cafe", "cafe\u0301", Matching{Match: "substring"}, 0},
		{"टोपी", "लाल टोपी।", Matching{}, 1}, {"टोप", "टोपी", Matching{}, 0}, {"قبعة", "«قبعة»", Matching{}, 1},
		{"bo\u200dld", "bold", Matching{}, 1},
		{"cow", "\xff\xfecow\x00\x80", Matching{}, 1}, {"cow", "", Matching{}, 0}, {"cow", " \n\t", Matching{}, 0},
		{"cow", long, Matching{}, 1},
		{"cow", strings.Repeat("\u0301", 1<<12), Matching{}, 0},
	} {
		m := must.Get(newMatcher([]string{c.attribute}, c.m))(t)
		got := 0
		m.find(c.text, func(_, times int) { got += times })
		must.Equal(t, got, c.want, c.attribute, "in", c.text, c.m)
	}
	for _, c := range map[string]struct {
		attribute string
		o         SalienceVariant
		want      string
	}{
		"no word": {"!?", SalienceVariant{}, "letter or digit"}, "empty": {"", SalienceVariant{}, "letter or digit"},
		"match": {"a", SalienceVariant{Matching: Matching{Match: "fuzzy"}}, "substring"},
		"both":  {"a", SalienceVariant{Matching: Matching{Match: "substring", Plural: "drop-s"}}, "whole words"},
		"idf":   {"a", SalienceVariant{Weighting: Weighting{Idf: "log"}}, "smooth"},
		"alpha": {"a", SalienceVariant{Weighting: Weighting{Alpha: math.NaN()}},
			"alpha"}, "level": {"a", SalienceVariant{Intervals: metrics.Intervals{Level: 1}}, "level"},
	} {
		must.Fail(ComputeSalience(nil, Vocabulary{Attributes: []string{c.attribute}}, c.o))(t, c.want)
	}
	must.Equal(t, len(must.Get(ComputeSalience(nil, Vocabulary{},
		SalienceVariant{Intervals: metrics.Intervals{Resamples: 5}}))(t)), 0, "of nothing")
	got, err := ComputeSalience([]Caption{{"Sul", "1", "a cow"}}, Vocabulary{Attributes: []string{"cow"}},
		SalienceVariant{Weighting: Weighting{Alpha: 1}, Intervals: metrics.Intervals{Resamples: 20}})
	if err != nil || got[0].Attributes[0].Salience.Value != math.Log(0.5) || !math.IsNaN(got[0].Any.Low) ||
		!math.IsNaN(got[0].Stereotype.Value) {
		t.Errorf("one caption: %+v, %v", got, err)
	}
}

func randomCaptions(rng *rand.Rand, identities, n int) (captions []Caption) {
	for range n {
		var words []string
		for range rng.IntN(9) {
			words = append(words, string(rune('a'+rng.IntN(5))))
		}
		captions = append(captions, Caption{fmt.Sprint("id", rng.IntN(identities)), fmt.Sprint(rng.IntN(5)),
			strings.Join(words, " ")})
	}
	return captions
}

// TestSalienceOrder: the order of captions does not matter, intervals included; a share's interval does not depend on
// other identities.
func TestSalienceOrder(t *testing.T) {
	rng := near.Rand(t, 402)
	captions := randomCaptions(rng, 3, 80)
	v := Vocabulary{Attributes: []string{"a", "b c", "d d"}, Stereotypes: map[[2]string]bool{{"id1", "a"}: true}}
	o := SalienceVariant{Weighting: Weighting{Alpha: 1}, Intervals: metrics.Intervals{Resamples: 50, Seed: 7}}
	first := must.Get(ComputeSalience(captions, v, o))(t)
	var alone []Caption
	for _, i := range rng.Perm(len(captions)) {
		alone = append(alone, captions[i])
	}
	must.Equal(t, fmt.Sprint(first), fmt.Sprint(must.Get(ComputeSalience(alone, v, o))(t)))
	alone = nil
	for _, c := range captions {
		if c.Identity == "id1" {
			alone = append(alone, c)
		}
	}
	third := must.Get(ComputeSalience(alone, v, o))(t)
	must.Equal(t, third[0].Any, first[1].Any, first[1])
	must.Equal(t, third[0].Stereotype, first[1].Stereotype, first[1])
}

// TestIdfMoves: images that are all alike leave tf and share where they are; idf moves with the images of other
// identities.
func TestIdfMoves(t *testing.T) {
	captions := []Caption{{"Veltan", "1", "cow"}, {"Veltan", "2", "cow"}, {"Norra", "1", "cow"}, {"Norra", "2", "sea"}}
	s := must.Get(ComputeSalience(captions, Vocabulary{Attributes: []string{"cow", "sea"}},
		SalienceVariant{Weighting: Weighting{Alpha: 1}, Intervals: metrics.Intervals{Resamples: 200}}))(t)
	cow := s[1].Attributes[0]
	must.Equal(t, cow.Share, (metrics.Estimate{Value: 1, Low: 1, High: 1}), "share")
	low, high := 0.75*math.Log(4.0/5), 0.75*math.Log(4.0/3) // Norra's draw holds the cow twice, or not at all
	near.Check(t, "salience", []float64{cow.Salience.Value, cow.Salience.Low, cow.Salience.High},
		[]float64{0, low, high}, 1e-14, 0)
}
