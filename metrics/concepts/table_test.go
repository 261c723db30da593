package concepts

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/metrics/internal/tabulartest"
)

// scoresOf runs cococrola-scores as the backend does; words may be nil.
func scoresOf(images, words *table.Frame, options map[string]string, seed int64) (*table.Frame, error) {
	given := map[string]string{"seed": strconv.FormatInt(seed, 10)}
	maps.Copy(given, options)
	return tabulartest.RunOn("cococrola-scores", map[string]*table.Frame{"in": images, "words": words}, given)
}

func evaluate(t *testing.T, g golden, options map[string]string) *table.Frame {
	t.Helper()
	images, words := g.frame(t)
	f := must.Get(scoresOf(images, words, options, 1))(t)
	must.Do(t, f.Check())
	return f
}

// TestConstructors: the columns of a table are known before it runs, and a missing input column is an error.
func TestConstructors(t *testing.T) {
	images, words := small(2)
	means := LanguageMeans(ConceptScores(Tables{datasets.FromFrame(images), datasets.FromFrame(words)}))
	if !slices.ContainsFunc(PaperTable(means, TableOptions{Languages: []string{"en", "hi"}}).Columns(),
		func(c table.ColumnSpec) bool { return c.Name == "HI Wc" }) {
		t.Error("the table has no column for an added language")
	}
	for _, bad := range []datasets.Table{ConceptScores(Tables{Images: datasets.FromFrame(words)}), Ranking(means),
		ConceptScores(Tables{Images: datasets.FromFrame(images),
			Words: datasets.FromFrame(&table.Frame{Columns: words.Columns[:1]})}),
		ConceptScores(Tables{Images: datasets.FromFrame(images)}, ScoreOptions{Self: "yes"})} {
		if bad.Err() == nil {
			t.Error("an invalid table has no error")
		}
	}
}

// TestModelsOfVectors: scores name the models of their vectors, and vectors of two models are an error.
func TestModelsOfVectors(t *testing.T) {
	stamped := func(models ...string) (*table.Frame, *table.Frame) {
		images, words := small(2)
		column := func(name, model string, f *table.Frame) *table.Frame {
			return f.With(table.TextColumn(name, slices.Repeat([]string{model}, f.Len())))
		}
		return column("clip_image_model", models[1], column("full_model", models[0], images)),
			column("clip_text_model", models[2], words)
	}
	images, words := stamped("vit", "clip", "clip")
	f := must.Get(scoresOf(images, words, map[string]string{"resamples": "-1"}, 1))(t)
	must.Equal(t, f.Texts("vector_model")[0], "vit", "models")
	must.Equal(t, f.Texts("joint_model")[0], "clip", "models")
	images.Texts("full_model")[1] = "other"
	must.Fail(scoresOf(images, words, nil, 1))(t, "not comparable") // two models of the vectors
	images, words = stamped("vit", "clip", "altclip")
	must.Fail(scoresOf(images, words, nil, 1))(t, "need one model") // words of another model
}
