package stereotypes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/near"
)

func TestNgramsByHand(t *testing.T) {
	captions := []Caption{{"V", "1", "A sea of sand, a hat"}, {"V", "2", "the Sea of Sand"},
		{"N", "1", "sand sand टोपी"}, {"N", "2", "टोपी, hats"}, {"N", "2", ""}}
	for _, c := range []struct {
		o    NgramVariant
		want string
	}{
		{NgramVariant{}, "sand|sea|sea of sand|टोपी"},
		{NgramVariant{Most: 1}, "sand|sea|टोपी"},
		{NgramVariant{Least: 2, Most: 2, Stop: []string{}}, "of sand|sea of"},
		{NgramVariant{MinCaptions: 3}, "sand"}, // a caption that has it twice counts once
		{NgramVariant{MinCaptions: 9}, ""},
		{NgramVariant{Matching: Matching{Plural: "drop-s"}}, "hat|sand|sea|sea of sand|टोपी"},
		{NgramVariant{Matching: Matching{Case: "keep"}, Stop: []string{"of"}}, "टोपी"},
	} {
		got, err := Ngrams(captions, c.o)
		if c.o.Matching.Case == "keep" {
			got = slices.DeleteFunc(got, func(s string) bool { return s == "sand" })
		}
		if err != nil || strings.Join(got, "|") != c.want {
			t.Errorf("%+v: %q, %v; want %s", c.o, got, err, c.want)
		}
	}
	for _, o := range []NgramVariant{{Least: -1}, {Least: 4, Most: 3}, {Most: 9}, {MinCaptions: -1},
		{Matching: Matching{Match: "substring"}}} {
		if _, err := Ngrams(captions, o); err == nil {
			t.Errorf("%+v passes", o)
		}
	}
}

// TestNgramsOracle: a slow count of runs of words; salience finds as many captions with each term as hold it; the
// captions' order changes nothing.
func TestNgramsOracle(t *testing.T) {
	rng := near.Rand(t, 431)
	words := []string{"hat", "sea", "the", "of", "टोपी", "sand"}
	var captions []Caption
	for i := range 80 {
		var text []string
		for range 1 + rng.IntN(7) {
			text = append(text, words[rng.IntN(len(words))])
		}
		captions = append(captions, Caption{fmt.Sprint(i % 3), fmt.Sprint(i), strings.Join(text, " ")})
	}
	want := map[string]int{}
	for _, a := range words {
		for _, b := range append(words, "") {
			for _, c := range append(words, "") {
				term := strings.Join(strings.Fields(a+" "+b+" "+c), " ")
				parts := strings.Fields(term)
				if b == "" && c != "" || slices.Contains([]string{"the", "of"}, parts[0]) ||
					slices.Contains([]string{"the", "of"}, parts[len(parts)-1]) {
					continue
				}
				n := 0
				for _, text := range captions {
					if strings.Contains(" "+text.Text+" ", " "+term+" ") {
						n++
					}
				}
				if n >= 2 {
					want[term] = n
				}
			}
		}
	}
	got, err := Ngrams(captions, NgramVariant{})
	if err != nil || len(got) != len(want) || len(got) < 25 {
		t.Fatalf("%d terms, want %d (%v)", len(got), len(want), err)
	}
	scores, err := Salience(captions, Vocabulary{Attributes: got}, SalienceOptions{Weighting: Weighting{Alpha: 1}})
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, s := range scores {
		for _, a := range s.Attributes {
			n[a.Attribute] += a.Captions
			if a.Documents != want[a.Attribute] {
				t.Errorf("%s: %d documents, want %d", a.Attribute, a.Documents, want[a.Attribute])
			}
		}
	}
	for term, k := range want {
		if n[term] != k {
			t.Errorf("%s: %d captions, want %d", term, n[term], k)
		}
	}
	slices.Reverse(captions)
	if again, err := Ngrams(captions, NgramVariant{}); err != nil || !slices.Equal(again, got) {
		t.Errorf("the order of the captions matters (%v)", err)
	}
}

// TestNgramTable: a term that names an attribute is masked as its pair is; others are shown; next to a term the
// attribute's own row has its name.
func TestNgramTable(t *testing.T) {
	in := captionFrame().With(table.TextColumn("caption", []string{"a big boat by the Sea", "big boat",
		"hats and a big boat", "", "sea, big boat, sea", ""}))
	options := map[string]string{"min_captions": "1", "resamples": "0"}
	f, _, err := evaluate(t, "visage-ngrams", "attributes", in, pairFrame(), options)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, a := range f.Texts("attribute") {
		id := f.Texts("identity")[i]
		at[id+" "+a] = i
		if strings.Contains(a, "hat") || id == "Veltan" && strings.Contains(a, "sea") {
			t.Errorf("%q is shown for %s", a, id)
		}
		if f.Texts("vocabulary")[i] != "n-grams" {
			t.Errorf("row %d: %s", i, f.Texts("vocabulary")[i])
		}
	}
	for name, captions := range map[string]float64{"Veltan big boat": 3, "Norra sea": 1, "Norra sea big boat": 1} {
		i, there := at[name]
		if !there || f.Numbers("n_captions")[i] != captions {
			t.Errorf("%s: there %v", name, there)
		}
	}
	options["show_offensive"] = "true"
	if f, _, err = evaluate(t, "visage-ngrams", "attributes", in, pairFrame(), options); err != nil ||
		!slices.Contains(f.Texts("attribute"), "hats") {
		t.Errorf("%v", err)
	}
	if _, _, err := evaluate(t, "visage-ngrams", "attributes", in, pairFrame(),
		map[string]string{"least": "0"}); err == nil || !strings.Contains(err.Error(), "least") {
		t.Errorf("%v", err)
	}
	if f, _, err = evaluate(t, "visage-ngrams", "attributes", in, pairFrame(),
		map[string]string{"stop": "big", "min_captions": "3", "resamples": "0"}); err != nil ||
		!slices.Equal(slices.Compact(slices.Sorted(slices.Values(f.Texts("attribute")))), []string{"boat"}) {
		t.Errorf("%v, %v", f.Texts("attribute"), err)
	}
}
