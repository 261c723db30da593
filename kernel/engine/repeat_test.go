package engine

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"antipode/datasets"
	"antipode/kernel/client"
)

func TestRepeat(t *testing.T) {
	e := newEngine(t)
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "x"}, {"id": "b", "prompt": "y"}})
	f := must(t, e, prompts.Repeat(3, "prompt_id", 7))
	if diff := cmp.Diff([]string{"a#1", "a#2", "a#3", "b#1", "b#2", "b#3"}, f.Texts("id")); diff != "" {
		t.Error(diff)
	}
	if got := strings.Join(f.Texts("prompt_id"), " ") + " " + strings.Join(f.Texts("prompt"), " "); got != "a a a b b b x x x y y y" {
		t.Error(got)
	}
	if diff := cmp.Diff([]float64{7, 8, 9, 7, 8, 9}, f.Numbers("seed")); diff != "" {
		t.Error(diff)
	}
	seeded := prompts.With("seed", 40)
	if diff := cmp.Diff([]float64{40, 41, 40, 41}, must(t, e, seeded.Repeat(2, "prompt_id", 7)).Numbers("seed")); diff != "" {
		t.Errorf("the table's own seeds: %s", diff)
	}
	for want, table := range map[string]datasets.Table{
		"between 1 and": prompts.Repeat(0, "prompt_id", 0), "name the column": prompts.Repeat(2, "id", 0), "the seed -1": prompts.Repeat(2, "prompt_id", -1),
		"is no whole number": prompts.With("seed", 1.5).Repeat(2, "prompt_id", 0), `no such column: "id"`: prompts.Select("prompt").Repeat(2, "prompt_id", 0),
	} {
		err := table.Err()
		if err == nil {
			_, err = run1(t, e, table, client.Request{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
