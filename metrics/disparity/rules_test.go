package disparity

import (
	"testing"

	"antipode/internal/must"
)

// An empty component never passes, whatever the threshold; small ones follow their own rule.
func TestSmallComponents(t *testing.T) {
	images := []ruledImage{{Vector: []float32{1}, Patches: 0}, {Vector: []float32{2}, Patches: 24},
		{Vector: []float32{3}, Patches: 25}}
	paper, code := Paper(), PublicCode()
	for _, c := range []struct {
		rules maskRules
		rows  []int
		miss  int
	}{
		{paper.Rules(backgroundOnly, realSide), []int{1, 2}, 0}, {code.Rules(backgroundOnly, realSide), []int{2}, 0},
		{paper.Rules(backgroundOnly, generatedSide), []int{0, 1, 2}, 1},
		{code.Rules(backgroundOnly, generatedSide), []int{0, 1, 2}, 2},
		{paper.Rules(objectOnly, realSide), []int{1, 2}, 0}, {paper.Rules(fullImage, realSide), []int{0, 1, 2}, 0},
	} {
		p := must.Get(c.rules.Prepare(images))(t)
		must.EqualSlices(t, p.Rows, c.rows, c.rules)
		must.Equal(t, p.Missed, c.miss, c.rules)
		for i, row := range p.Rows {
			if v := p.Vectors[i]; v != nil && v[0] != float32(row+1) {
				t.Errorf("row %d has vector %v", row, v)
			}
		}
	}
	rules := paper.Rules(backgroundOnly, generatedSide)
	p, _ := rules.Prepare(images)
	p.Count(p)
	if w := p.Warnings(rules, backgroundOnly, "background_only"); len(w) != 1 ||
		w[0] != "background_only: 2 of 6 generated images have an empty or too small component and count as misses" {
		t.Errorf("%v", w)
	}
	must.Fail((maskRules{Side: realSide, Unmasked: miss}).Prepare([]ruledImage{{Unmasked: true}}))(t) // a real miss
	// no full vector
	must.Fail((maskRules{Side: realSide, Unmasked: useFull}).Prepare([]ruledImage{{Unmasked: true}}))(t)
	// unknown rule
	must.Fail((maskRules{Side: realSide, Unmasked: "ignore"}).Prepare([]ruledImage{{Unmasked: true}}))(t)
}

func TestProfiles(t *testing.T) {
	p := must.Get(findProfile("paper"))(t)
	must.Equal(t, len(p.Classes), 24)
	must.Equal(t, p.ClassCount*len(p.Regions)*p.N, 24480)
	must.Equal(t, p.BackgroundUnmasked, useFull)
	c, err := findProfile("public-code")
	if err != nil || c.ClassCount*len(c.Regions)*c.N != 21672 || c.BackgroundUnmasked != miss ||
		c.MinBackgroundPatches != 25 || c.K != 3 {
		t.Errorf("%+v, %v", c, err)
	}
	must.Fail(findProfile("mine"))(t)
}
