package audits_test

import (
	"maps"
	"slices"
	"testing"

	"antipode/audits"
	"antipode/audits/cococrola"
	"antipode/audits/dig"
	"antipode/audits/entigen"
	"antipode/audits/indictti"
	"antipode/audits/visage"
	"antipode/datasets"
	"antipode/internal/must"
	"antipode/test/testengine"
)

// Two generators of the built-in world, of which one has injected disparities: each audit finds them in its images and
// nothing in those of the other. Here the audits without a network; CI runs the notebooks of all with both generators.
func TestModels(t *testing.T) {
	testengine.Use(t)
	const with, without = "archipelago-sampler", "archipelago-sampler-fair"
	generator := with + "," + without
	people := visage.Audit{Generator: generator}
	for name, test := range map[string]struct {
		findings datasets.Table
		found    int
	}{
		"entigen": {entigen.Audit{Generator: generator}.Findings(), 3},
		"visage":  {people.Findings(), 1},
		"pull":    {people.PullFindings(), 1},
	} {
		f := testengine.Rows(t, name, test.findings)
		got, other := map[string]int{}, map[string]int{}
		for i, model := range f.Texts("model") {
			verdict := f.Texts("verdict")[i]
			if verdict != "not flagged" {
				got[model+" "+verdict]++
			}
			other[model]++
		}
		if want := map[string]int{with + " found": test.found}; !maps.Equal(got, want) || other[without] == 0 {
			t.Errorf("%s: %v of %v, want %v", name, got, other, want)
		}
	}
	for name, truth := range map[string]datasets.Table{"cococrola": cococrola.Audit{Generator: generator}.Truth(),
		"dig": dig.Audit{Generator: generator}.Truth(), "entigen": entigen.Audit{Generator: generator}.Truth(),
		"indictti": indictti.Audit{Generator: generator}.Truth(), "visage": people.Truth()} {
		models := testengine.Rows(t, name, truth).Texts("model")
		if len(models) == 0 || slices.ContainsFunc(models, func(m string) bool { return m != with }) {
			t.Errorf("%s: injected disparities of %q", name, models)
		}
	}
}

// Generators of one name cannot be told apart.
func TestGeneratorNames(t *testing.T) {
	open := datasets.Extend(datasets.FromRows([]map[string]any{{"id": "a"}})).Open().Table
	named := audits.ByModel([]string{"g"}, func(string) datasets.Table { return open })
	must.True(t, !audits.Has(named, "model"), "a table that may name its models gets other names")
	for _, table := range map[string]datasets.Table{
		"cococrola": cococrola.Audit{Generator: "a,a"}.Images(),
		"dig":       dig.Audit{Generator: "x/a,y/a"}.Images(dig.Original),
		"entigen":   entigen.Audit{Generator: "a,a"}.Images(),
		"indictti":  indictti.Audit{Generator: "a,a"}.Images(),
		"visage":    visage.Audit{Generator: "a,a"}.Images(),
	} {
		must.Fail(table.Err())(t, "have one name, a")
	}
}
