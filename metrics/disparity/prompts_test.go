package disparity

import (
	"slices"
	"testing"

	"antipode/datasets/digin"
	"antipode/internal/must"
)

// The prompt lists of the profile hold every object and region once, and the prompts that the paper quotes.
func TestPrompts(t *testing.T) {
	for template, quoted := range map[string][]string{digin.InRegion: {"bag in Europe", "cooking pot in Europe",
		"candle in the Americas"}, digin.Adjectival: {"European bag", "European car", "West Asian hairbrush comb"}} {
		prompts, err := digin.Build(template, Paper().Classes, digin.GeoDERegions(), 1)
		if err != nil || len(prompts) != 24*6 {
			t.Fatalf("%d prompts, %v", len(prompts), err)
		}
		for _, q := range quoted {
			if !slices.ContainsFunc(prompts, func(p digin.Prompt) bool { return p.Text == q }) {
				t.Errorf("no prompt %q", q)
			}
		}
	}
	if !slices.Equal(digin.Objects24(), Paper().Classes) {
		t.Errorf("the profile has the classes %q, the prompt lists %q", Paper().Classes, digin.Objects24())
	}
	for i, r := range digin.GeoDERegions() {
		if r.Key != Paper().Regions[i] {
			t.Errorf("region %d is %q, the profile has %q", i, r.Key, Paper().Regions[i])
		}
	}
	own := digin.GeoDERegions()
	own[1].Adjective = "Latin American"
	if p, err := digin.Build(digin.Adjectival, []string{"bag"}, own, 1); err != nil ||
		p[1].Text != "Latin American bag" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"in {region}", "{object} of {people}"} {
		must.Fail(digin.Build(bad, []string{"bag"}, own, 1))(t)
	}
}
