package regions

import (
	"slices"
	"testing"
)

// The lists hold every object and region once, and the prompts that the paper quotes.
func TestPrompts(t *testing.T) {
	for template, quoted := range map[string][]string{TemplateOrig: {"bag in Europe", "cooking pot in Europe", "candle in the Americas"}, TemplateNew: {"European bag", "European car", "West Asian hairbrush comb"}} {
		prompts, err := Prompts(template, Paper().Classes, RegionNames())
		if err != nil || len(prompts) != 24*6 {
			t.Fatalf("%d prompts, %v", len(prompts), err)
		}
		for _, q := range quoted {
			if !slices.ContainsFunc(prompts, func(p Prompt) bool { return p.Text == q && p.Template == template }) {
				t.Errorf("%q is not there", q)
			}
		}
	}
	for i, r := range RegionNames() {
		if r.Key != Paper().Regions[i] {
			t.Errorf("region %d is %q, the profile has %q", i, r.Key, Paper().Regions[i])
		}
	}
	own := RegionNames()
	own[1].Adjective = "Latin American"
	if p, err := Prompts(TemplateNew, []string{"bag"}, own); err != nil || p[1].Text != "Latin American bag" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, bad := range []string{"in {region}", "{object} of {people}"} {
		if _, err := Prompts(bad, []string{"bag"}, own); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}
