package concepts

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/cococrola"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

// noScores returns a table of scores without rows.
func noScores() *table.Frame { return table.NewFrame(inScores[0].Columns) }

// claimsOf returns the claims that can be computed from means, by item, and the number of values.
func claimsOf(t *testing.T, means *table.Frame) (claims map[string]string, values int) {
	t.Helper()
	f := must.Get(tabulartest.RunOn("cococrola-values", map[string]*table.Frame{"scores": noScores(), "means": means},
		nil))(t)
	claims = map[string]string{}
	for i, item := range f.Texts("item") {
		if holds := f.Texts("holds")[i]; holds != "" {
			claims[item] = holds
		} else if strings.HasPrefix(item, "Table 2") {
			values++
		}
	}
	return claims, values
}

// TestLedgerClaims: the printed Table 2 contains all its cells, and bears out the claims that follow from it but three.
func TestLedgerClaims(t *testing.T) {
	claims, values := claimsOf(t, printed(t))
	must.Equal(t, values, 158, "cells")
	var refuted []string
	for claim, holds := range claims {
		if holds == No {
			refuted = append(refuted, claim)
		}
	}
	slices.Sort(refuted)
	want := []string{"AltDiffusion m9 is best in the most columns by Xc", "CogView 2 has the lowest average Xc and Wc",
		"DALL-E Mega has the highest average Wc"}
	must.EqualSlices(t, refuted, want, "claims these do not hold")
	must.Equal(t, len(claims), 11, "claims these do not hold")
	one := printed(t)
	var rows []int
	for i, model := range one.Texts("model") {
		if model == "SD 1.4" {
			rows = append(rows, i)
		}
	}
	claims, values = claimsOf(t, one.Pick(rows))
	if values != 16 || !maps.Equal(claims, map[string]string{"English-trained models are best in English": Yes,
		"Hebrew has the lowest Xc and Wc of the languages": Yes}) {
		t.Errorf("of one model: %d values, %v", values, claims)
	}
	listed := slices.Collect(maps.Keys((&paperScores{}).claims()))
	f := must.Get(operation.EvaluatorOf("cococrola-ledger")(context.Background(), datasets.Call{}, nil, nil))(t)
	for _, claim := range listed {
		if !slices.Contains(f.Texts("item"), claim) {
			t.Errorf("PrintedItems has no claim %q", claim)
		}
	}
	if f.Len() != 158+3+len(listed)+3 || f.Texts("item")[0] != cococrola.Item("DALL-E Mega", "en", "Xc") {
		t.Errorf("%d printed items", f.Len())
	}
}
