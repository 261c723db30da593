package cococrola

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
)

// scoresOf runs cococrola-scores as the backend does; words may be nil.
func scoresOf(pictures, words *client.Frame, options map[string]string, seed int64) (*client.Frame, error) {
	args, frames := metrics.Args{Metric: "cococrola-scores", Roles: []string{"in"}, Options: options, Seed: seed}, []*client.Frame{pictures}
	if words != nil {
		args.Roles, frames = append(args.Roles, "words"), append(frames, words)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return metrics.Evaluate(context.Background(), raw, frames, metrics.Call{})
}

func evaluate(t *testing.T, g golden, options map[string]string) *client.Frame {
	t.Helper()
	pictures, words := g.frame(t)
	f, err := scoresOf(pictures, words, options, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestConstructors: each table form knows its columns at once, and refuses a table that lacks one.
func TestConstructors(t *testing.T) {
	pictures, words := small(2)
	scores := ConceptScores(Tables{datasets.FromFrame(pictures), datasets.FromFrame(words)}, Profile(PublicCode), Source("en"), Reading("self", string(Literal)), Draws(0))
	means := LanguageMeans(scores)
	for name, made := range map[string]datasets.Table{"scores": scores, "no words": ConceptScores(Tables{Images: datasets.FromFrame(pictures)}), "means": means, "table": PaperTable(means), "cells": PaperCells(means), "wins": ColumnWins(means),
		"ranking": Ranking(scores), "correlations": LanguageCorrelations(scores), "failures": Failures(scores)} {
		if made.Err() != nil || len(made.Columns()) == 0 {
			t.Errorf("%s: %v, %d columns", name, made.Err(), len(made.Columns()))
		}
	}
	if !slices.ContainsFunc(PaperTable(means, Reading("languages", "en,hi")).Columns(), func(c client.ColumnSpec) bool { return c.Name == "HI Wc" }) {
		t.Error("the table has no column for an added language")
	}
	for _, bad := range []datasets.Table{ConceptScores(Tables{Images: datasets.FromFrame(words)}), Ranking(means), ConceptScores(Tables{Images: datasets.FromFrame(pictures), Words: datasets.FromFrame(&client.Frame{Columns: words.Columns[:1]})}), ConceptScores(Tables{Images: datasets.FromFrame(pictures)}, Reading("selv", "literal"))} {
		if bad.Err() == nil {
			t.Error("a table that cannot be made is not in error")
		}
	}
}
