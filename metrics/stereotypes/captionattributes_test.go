package stereotypes

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

func captionAttributesOf(t *testing.T, captions, attributes []map[string]any, options map[string]string) (*table.Frame,
	error) {
	t.Helper()
	f, _, err := evaluate(t, "visage-caption-attributes", "attributes", rowsFrame(t, captions),
		rowsFrame(t, attributes),
		options)
	return f, err
}

func rowsFrame(t *testing.T, rows []map[string]any) *table.Frame {
	t.Helper()
	plan := datasets.FromRows(rows)
	return must.Get(plan.Rows(context.Background()))(t)
}

// What captions name becomes annotations, which the likelihoods read.
func TestCaptionAttributes(t *testing.T) {
	captions := []map[string]any{
		{"identity": "X", "image_id": "1", "caption": "a figure with a star, a Bell", "outcome": "ok"},
		{"identity": "X", "image_id": "1", "caption": "a figure", "outcome": "ok"},
		{"identity": "X", "image_id": "2", "caption": "stardust", "outcome": "ok"},
		{"identity": "X", "image_id": "3", "caption": "", "outcome": "refused"},
		{"identity": "Y", "image_id": "4", "caption": "a bell", "outcome": "ok"},
	}
	var attributes []map[string]any
	for _, id := range []string{"X", "Y"} {
		for _, a := range []string{"star", "bell", "belt"} {
			attributes = append(attributes, map[string]any{"identity": id, "attribute": a,
				"na_stereo": map[bool]float64{true: 3}[a == "star"], "offensiveness": -1.0, "score_asia": 5.0,
				"score_europe": 5.0, "score_na": 5.0})
		}
	}
	f := must.Get(captionAttributesOf(t, captions, attributes, nil))(t)
	var got []string
	for i, a := range f.Texts("attribute") {
		if f.Numbers("selected")[i] == 1 {
			got = append(got, f.Texts("image_id")[i]+a)
		}
	}
	if f.Len() != 9 || !slices.Equal(got, []string{"1bell", "1star", "4bell"}) || f.Numbers("n_captions")[0] != 2 ||
		f.Numbers("n_vocabulary")[0] != 3 {
		t.Errorf("%d rows, selected %v", f.Len(), got)
	}
	likely := tabulartest.Evaluate(t, "visage-likelihood", f, map[string]string{"method": Clean, "resamples": "0",
		"min_attributes": "1"})
	for i, a := range likely.Texts("attribute") {
		if likely.Texts("identity")[i] == "X" && a == "star" &&
			(likely.Numbers("likelihood")[i] != 0.5 || likely.Texts("kind")[i] != "stereotype") {
			t.Errorf("a star's likelihood %v, %s", likely.Numbers("likelihood")[i], likely.Texts("kind")[i])
		}
	}
	must.Equal(t, must.Get(captionAttributesOf(t, captions, attributes, map[string]string{"rows": "found"}))(t).Len(),
		3, "found alone")
	unrated := pairFrame() // at first; the worse rating of a pair counts
	unrated.Column("offensiveness").Numbers[4], unrated.Column("offensiveness").Numbers[5] = math.NaN(), 2
	of, _ := must.Get2(evaluate(t, "visage-caption-attributes", "attributes", captionFrame(), unrated,
		map[string]string{"rows": "found", "show_offensive": "true"}))(t)
	must.Equal(t, of.Numbers("offensiveness")[slices.Index(of.Texts("attribute"), "sea")], 2)
	for i := range attributes {
		attributes[i]["offensiveness"] = 2.0
	}
	masked, err := captionAttributesOf(t, captions, attributes, nil)
	if err != nil || !strings.HasPrefix(masked.Texts("attribute")[0], "masked ") {
		t.Errorf("an offensive pair is shown: %v", err)
	}
	must.Fail(captionAttributesOf(t, captions, attributes,
		map[string]string{"match": "substring", "plural": "drop-s"}))(t) // a substring without its s
}
