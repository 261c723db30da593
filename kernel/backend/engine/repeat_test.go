package engine

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
)

func TestRepeat(t *testing.T) {
	e := newEngine(t)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "x"}, {"id": "b", "prompt": "y"}})
	f := allRows(t, e, prompts.Repeat(3, "prompt_id", 7))
	must.Equal(t, cmp.Diff([]string{"a#1", "a#2", "a#3", "b#1", "b#2", "b#3"}, f.Texts("id")), "")
	must.Equal(t, strings.Join(f.Texts("prompt_id"), " ")+" "+strings.Join(f.Texts("prompt"), " "),
		"a a a b b b x x x y y y")
	must.Equal(t, cmp.Diff([]float64{7, 8, 9, 7, 8, 9}, f.Numbers("seed")), "")
	seeded := prompts.With("seed", 40)
	must.Equal(t, cmp.Diff([]float64{40, 41, 40, 41}, allRows(t, e, seeded.Repeat(2, "prompt_id", 7)).Numbers("seed")),
		"", "the table's own seeds")
	for want, table := range map[string]datasets.Table{
		"use 1 to": prompts.Repeat(0, "prompt_id", 0), "use another column": prompts.Repeat(2, "id", 0),
		"seed -1":              prompts.Repeat(2, "prompt_id", -1),
		"is no whole number":   prompts.With("seed", 1.5).Repeat(2, "prompt_id", 0),
		`no such column: "id"`: prompts.Select("prompt").Repeat(2, "prompt_id", 0),
	} {
		err := table.Err()
		if err == nil {
			_, err = run1(t, e, table, client.Request{})
		}
		must.Err(t, err, want)
	}
}

func TestSeedBy(t *testing.T) {
	e := newEngine(t)
	rows := datasets.FromRows([]map[string]any{{"id": "a", "concept": "boat", "language": "en", "seed": 9.0},
		{"id": "b", "concept": "boat", "language": "fr", "seed": 9.0}, {"id": "c", "concept": "kite", "language": "en",
			"seed": 9.0}})
	by := func(columns ...string) []float64 { return allRows(t, e, rows.SeedBy(columns...)).Numbers("seed") }
	shared, own := by("concept"), by("concept", "language")
	if shared[0] != shared[1] || shared[0] == shared[2] || own[0] == own[1] || own[0] == shared[0] ||
		own[1] != by("concept", "language")[1] {
		t.Errorf("by concept %v, by concept and language %v", shared, own)
	}
	for _, s := range append(shared, own...) {
		must.True(t, s >= 0 && s < 1<<31 && s == math.Trunc(s), "the seed %v", s)
	}
	got := allRows(t, e, rows.SeedBy("id").Repeat(2, "prompt_id", 0)).Numbers("seed")
	must.True(t, got[1] == got[0]+1 && got[2] != got[0], "copies have the seeds %v", got)
	must.True(t, rows.SeedBy().Err() != nil && rows.SeedBy("word").Err() != nil, "no column, or a missing one")
}
