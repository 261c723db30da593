package stereotypes

import (
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

// evaluate computes an operation on two tables.
func evaluate(t *testing.T, name, second string, in, other *table.Frame, options map[string]string) (*table.Frame,
	[]string, error) {
	t.Helper()
	var notes []string
	f, err := tabulartest.RunOn(name, map[string]*table.Frame{"in": in, second: other}, options, &notes)
	return f, notes, err
}

// captionFrame: two images of Veltan with two captions each, one of Norra; Sul was refused.
func captionFrame() *table.Frame {
	return &table.Frame{Columns: []table.Column{
		table.TextColumn("id", []string{"a#1", "a#2", "b#1", "b#2", "c#1", "s"}),
		table.TextColumn("image_id", []string{"a", "a", "b", "b", "c", "s"}),
		table.TextColumn("identity", []string{"Veltan", "Veltan", "Veltan", "Veltan", "Norra", "Sul"}),
		table.TextColumn("caption", []string{"a wide hat", "a kind man", "hat by the sea", "", "टोपी", ""}),
		table.TextColumn("outcome", []string{"made", "made", "made", "made", "made", "refused"}),
	}}
}

// pairFrame: hat and sea can be seen, kind cannot; hat is a stereotype of Veltan that nobody rated, sea of Norra; sea
// next to Veltan occurs twice, and the worse rating counts.
func pairFrame() *table.Frame {
	nan := math.NaN()
	return &table.Frame{Columns: []table.Column{
		table.TextColumn("identity", []string{"Veltan", "Veltan", "Norra", "Norra", "Veltan", "Veltan"}),
		table.TextColumn("attribute", []string{"hat", "kind", "sea", "टोपी", "sea", "sea"}),
		table.NumberColumn("na_stereo", []float64{3, 2, 2, 2, 1, 1}),
		table.NumberColumn("offensiveness", []float64{nan, -1, 0, -1, 2, 0}),
		table.NumberColumn("score_asia", []float64{5, 1, 4, 5, 4, 4}),
		table.NumberColumn("score_europe", []float64{5, 1, 4, 5, 4, 4}),
		table.NumberColumn("score_na", []float64{4, 4, 4, 5, 4, 4}),
	}}
}

func TestCaptionTables(t *testing.T) {
	f, _ := must.Get2(evaluate(t, "visage-captions", "attributes", captionFrame(), pairFrame(), nil))(t)
	must.Equal(t, strings.Join(f.Texts("identity"), " "), "Norra Sul Veltan")
	nan := math.NaN()
	for column, want := range map[string][]float64{"share_any": {1, nan, 0.5}, "share_stereotype": {1, nan, 0.5},
		"n_asked": {1, 1, 4}, "n_refused": {0, 1, 0},
		"n_used": {1, 0, 4}, "n_images": {1, 0, 2}, "n_attributes": {1, 0, 2}, "n_vocabulary": {3, 3, 3},
		"share_any_low": {nan, nan, 0.5}} {
		near.Check(t, column, f.Numbers(column), want, 1e-15, 0)
	}
	must.Equal(t, f.Texts("interval")[0]+f.Texts("interval")[1], "", "no interval")
	for _, c := range []struct {
		name    string
		options map[string]string
		want    string // identity, attribute, stereotype
	}{
		// of Veltan, sea: (1+1)/(3+3)·ln(5/(1+1)) = 0.305; hat: (2+1)/(3+3)·ln(5/(2+1)) = 0.255
		{"masked", nil, "Norra:टोपी:yes Veltan:masked 1 (rated offensive):no Veltan:masked 2 (not rated):yes"},
		{"shown", map[string]string{"show_offensive": "true"}, "Norra:टोपी:yes Veltan:sea:no Veltan:hat:yes"},
		{"stereotypes", map[string]string{"show_offensive": "true", "only": "stereotypes"},
			"Norra:टोपी:yes Veltan:hat:yes"},
		{"all attributes", map[string]string{"show_offensive": "true", "vocabulary": "all"},
			"Norra:टोपी:yes Veltan:kind:no Veltan:sea:no Veltan:hat:yes"},
		{"first", map[string]string{"show_offensive": "true", "top": "1"}, "Norra:टोपी:yes Veltan:sea:no"},
		{"an image for each caption", map[string]string{"image": "none", "top": "1", "show_offensive": "true"},
			"Norra:टोपी:yes Veltan:sea:no"},
	} {
		f, _ := must.Get2(evaluate(t, "visage-salience", "attributes", captionFrame(), pairFrame(), c.options))(t)
		var rows []string
		for i, id := range f.Texts("identity") {
			rows = append(rows, id+":"+f.Texts("attribute")[i]+":"+f.Texts("stereotype")[i])
		}
		must.Equal(t, strings.Join(rows, " "), c.want, c.name)
	}
	ratings := &table.Frame{Columns: append([]table.Column(nil), pairFrame().Columns[1], pairFrame().Columns[4],
		pairFrame().Columns[5], pairFrame().Columns[6])}
	f, _ = must.Get2(evaluate(t, "visage-salience", "attributes", captionFrame(), ratings, nil))(t)
	if f.Texts("stereotype")[0] != "" || !strings.HasPrefix(f.Texts("attribute")[0], "masked") {
		t.Errorf("attributes alone: %v", f)
	}
	masked := pairFrame()
	copy(masked.Column("attribute").Texts, []string{"masked 1 (not rated)", "masked ball"})
	must.Fail(tabulartest.Run("visage-visual-attributes", masked, nil))(t, "row 1", "masked")
	if _, notes, err := evaluate(t, "visage-salience", "attributes", captionFrame(), masked, nil); err != nil ||
		len(notes) != 1 || !strings.HasPrefix(notes[0], "1 rows") {
		t.Errorf("masked at the source: %v, %v", notes, err)
	}
}

func TestCaptionTableErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(in, attributes *table.Frame)
		options map[string]string
		want    string
	}{
		{"no image column", nil, map[string]string{"image": "image"}, `"image"`},
		{"blank identity", func(in, _ *table.Frame) { in.Column("identity").Texts[1] = "" }, nil, "row 2"},
		{"blank image", func(in, _ *table.Frame) { in.Column("image_id").Texts[2] = "" }, nil, "row 3"},
		{"no ratings", func(_, a *table.Frame) { a.Columns = a.Columns[:2] }, nil, "vocabulary=all"},
		{"no pairs", func(_, a *table.Frame) { a.Columns = a.Columns[1:] }, map[string]string{"only": "stereotypes"},
			"only=stereotypes"},
		{"nothing visual", nil, map[string]string{"min_score": "6"}, "no attribute"},
		{"no letter", func(_, a *table.Frame) { a.Column("attribute").Texts[0] = "??" }, nil, `"??"`},
		{"alpha", nil, map[string]string{"alpha": "-2"}, "alpha is -2"},
		{"resamples", nil, map[string]string{"resamples": "-2"}, "resamples"},
		{"idf", nil, map[string]string{"idf": "log2"}, "smooth"},
	} {
		in, attributes := captionFrame(), pairFrame()
		if c.change != nil {
			c.change(in, attributes)
		}
		must.Fail(evaluate(t, "visage-salience", "attributes", in, attributes, c.options))(t, c.want)
	}
}

func TestAgreement(t *testing.T) {
	salient := &table.Frame{Columns: []table.Column{
		table.TextColumn("identity", []string{"Veltan", "Veltan", "Veltan", "Norra", "Sul"}),
		table.TextColumn("attribute", []string{"sea", "hat", "drum", "hat", "hat"}),
		table.NumberColumn("rank", []float64{3, 1, 2, 1, 1}),
		table.TextColumn("stereotype", []string{"yes", "yes", "no", "yes", "yes"})}}
	seen := &table.Frame{Columns: []table.Column{
		table.TextColumn("identity", []string{"Veltan", "Veltan", "Norra"}),
		table.TextColumn("attribute", []string{"hat", "sea", "hat"}),
		table.NumberColumn("likelihood", []float64{0.5, 0.2, 0.9})}}
	for _, c := range []struct {
		options              map[string]string
		share, used, without float64
	}{{nil, 2.0 / 3, 3, 1}, {map[string]string{"threshold": "0.2"}, 1, 3, 1},
		{map[string]string{"threshold": "0.6", "top": "1"}, 0.5, 2, 1}} {
		f, _ := must.Get2(evaluate(t, "visage-salience-agreement", "likelihoods", salient, seen, c.options))(t)
		if s, low, high := f.Numbers("share")[0], f.Numbers("share_low")[0], f.Numbers("share_high")[0]; s != c.share ||
			f.Numbers("n_used")[0] != c.used || f.Numbers("n_without")[0] != c.without || !(low <= s && s <= high) {
			t.Errorf("%v: %g [%g, %g] of %g, %g without", c.options, s, low, high, f.Numbers("n_used")[0],
				f.Numbers("n_without")[0])
		}
	}
	for i, f := range []*table.Frame{salient, seen} {
		name := f.Column("attribute").Texts
		name[i] = "masked 1 (not rated)"
		must.Fail(evaluate(t, "visage-salience-agreement", "likelihoods", salient, seen,
			nil))(t, []string{"row 1", "row 2"}[i], "is masked")
		name[i] = "hat"
	}
	salient.Column("stereotype").Texts = make([]string, 5)
	f, _ := must.Get2(evaluate(t, "visage-salience-agreement", "likelihoods", salient, seen, nil))(t)
	must.Equal(t, f.Numbers("n_used")[0], 0, "captions without a stereotype")
	must.Near(t, f.Numbers("share")[0], math.NaN(), 0, "captions without a stereotype")
}

// TestOneNameOfAnIdentity: the United Kingdom, United KingdomUK in the data, has one name in all tables, so that they
// can be joined.
func TestOneNameOfAnIdentity(t *testing.T) {
	renamed := func(f *table.Frame) *table.Frame {
		ids := slices.Clone(f.Texts("identity"))
		for i, id := range ids {
			ids[i] = strings.Replace(id, "Veltan", "United KingdomUK", 1)
		}
		return f.With(table.TextColumn("identity", ids))
	}
	pairs := renamed(pairFrame()).Pick([]int{0, 4, 2})
	shown := pairs.With(table.NumberColumn("image_number", []float64{1, 1, 1}),
		table.NumberColumn("selected", []float64{1, 1, 1}))
	attributes := map[string]string{"show_offensive": "true", "resamples": "0"}
	shows := map[string]string{"min_attributes": "1", "resamples": "0"}
	of := func(name string, in *table.Frame, o map[string]string) *table.Frame {
		inputs := map[string]*table.Frame{"in": in}
		if in.Has("caption") {
			inputs["attributes"] = pairs
		}
		f := must.Get(tabulartest.RunOn(name, inputs, o, new([]string)))(t)
		ids := f.Texts("identity")
		if !slices.Contains(ids, "United Kingdom") || slices.Contains(ids, "United KingdomUK") {
			t.Errorf("%s names %q", name, ids)
		}
		return f
	}
	captions := renamed(captionFrame())
	of("visage-captions", captions, map[string]string{"resamples": "0"})
	of("visage-association", shown, shows)
	salient, likely := of("visage-salience", captions, attributes), of("visage-likelihood", shown, shows)
	f := must.Get(tabulartest.RunOn("visage-salience-agreement", map[string]*table.Frame{"in": salient,
		"likelihoods": likely}, map[string]string{"resamples": "0"}, new([]string)))(t)
	must.Equal(t, f.Numbers("n_without")[0], 0)
	must.Equal(t, f.Numbers("n_used")[0], 1)
}
