package representation

import (
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/internal/must"
)

// TestBiasNamesItsGroups: the direction, which figures show in their captions, names the groups of the axes given.
func TestBiasNamesItsGroups(t *testing.T) {
	ratings := datasets.New("any", nil, append(ratingsIn.Columns, columnsOf("perceived_banner:text")...))
	paper := Bias(ratings)
	own := Bias(ratings,
		BiasOptions{Labeling: Labeling{Axes: "perceived_banner=light/dark, perceived_crest=round/pointed"}})
	must.Equal(t, datasets.Extend(paper).Operation().Direction, "positive: man, light-skinned, Western",
		"the paper's axes")
	for _, made := range []datasets.Table{own, own.Where("axis", "==", "perceived banner"), own.Concat(own)} {
		got := datasets.Extend(made).Operation().Direction
		if got != "positive: light (perceived banner), round (perceived crest)" || strings.Contains(got, "man") {
			t.Errorf("%q", got)
		}
	}
}
