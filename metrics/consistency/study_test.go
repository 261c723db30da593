package consistency

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

func TestCapitalized(t *testing.T) {
	for _, c := range []struct {
		caption, word string
		exempt        Capitals
	}{
		{"A man in a brown jacket", "", Capitals{}},
		{"A man at the Eiffel tower", "Eiffel", Capitals{}},
		{"two dogs and I", "I", Capitals{}},
		{"two dogs and I.", "", Capitals{I: true}},
		{"A dog. The cat sleeps", "The", Capitals{}},
		{"A dog. The cat sleeps", "", Capitals{AfterStop: true}},
		{"A dog. The cat in Delhi", "Delhi", Capitals{I: true, AfterStop: true}},
		{"a sign that says \"Stop\"", "", Capitals{}}, // the word's first character is a quotation mark
		{"a view of Édimbourg", "Édimbourg", Capitals{}},
		{"", "", Capitals{}},
		{"DVD", "", Capitals{}},
	} {
		must.Equal(t, Capitalized(c.caption, c.exempt), c.word, c.caption, c.exempt)
	}
}

// TestLeastSimilar: the closed form is the mean over pairs; the selected sample has the lowest mean and is
// reproducible.
func TestLeastSimilar(t *testing.T) {
	rng := near.Rand(t, 40)
	var pool [][]float32
	for range 30 {
		pool = append(pool, vector(rng, 5))
	}
	s := must.Get(LeastSimilar(pool, 6, 50, 9))(t)
	sum := 0.
	for i, a := range s.Rows {
		for _, b := range s.Rows[:i] {
			sum += phi(pool[a], pool[b]) / 15
		}
	}
	if math.Abs(sum-s.Mean) > 1e-12 || s.Mean != slices.Min(s.Means) || s.Means[s.Sample] != s.Mean ||
		len(s.Means) != 50 || len(s.Rows) != 6 || len(slices.Compact(slices.Clone(s.Rows))) != 6 {
		t.Errorf("%+v, by loops %v", s, sum)
	}
	must.EqualSlices(t, must.Get(LeastSimilar(pool, 6, 50, 9))(t).Rows, s.Rows, "equal seeds, other rows")
	if other, err := LeastSimilar(pool, 6, 50, 10); err != nil || slices.Equal(other.Means, s.Means) {
		t.Errorf("different seeds, equal samples: %v", err)
	}
	// every caption is sampled about equally often
	sampled := make([]int, 30)
	for seed := range 600 {
		one := must.Get(LeastSimilar(pool, 6, 1, int64(seed)))(t)
		for _, r := range one.Rows {
			sampled[r]++
		}
	}
	if slices.Min(sampled) < 75 || slices.Max(sampled) > 170 { // 120 expected, standard deviation 9.8
		t.Errorf("sampled %v times", sampled)
	}
	whole := 0.0
	for i := range pool {
		for j := range i {
			whole += phi(pool[i], pool[j]) / (30 * 29 / 2)
		}
	}
	must.Near(t, must.Get(LeastSimilar(pool, 30, 1, 0))(t).Mean, whole, 1e-12, "the whole pool")
	for _, bad := range [][2]int{{1, 5}, {31, 5}, {6, 0}} {
		must.Fail(LeastSimilar(pool, bad[0], bad[1], 0))(t)
	}
	pool[3] = make([]float32, 5)
	must.Fail(LeastSimilar(pool, 6, 5, 0))(t, "row 4: the vector is all zeros")
}

func captions(rows int) *table.Frame {
	var ids, texts []string
	var vectors [][]float32
	for i := range rows {
		ids, texts = append(ids, fmt.Sprintf("c%02d", i)), append(texts, fmt.Sprintf("a image of %d things", i))
		vectors = append(vectors, []float32{1, float32(i % 7), float32(i % 5)})
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("caption", texts),
		table.VectorColumn("text", vectors)}}
}

func TestPromptsTable(t *testing.T) {
	f := captions(20)
	f.Columns[1].Texts[2] = "a image of Delhi"
	f.Columns[1].Texts[5] = f.Columns[1].Texts[4]
	f.Columns[2].Vectors[8] = nil
	options := map[string]string{"n": "5", "samples": "40"}
	got := tabulartest.Evaluate(t, "indictti-prompts", f, options)
	ids := got.Texts("id")
	if len(ids) != 5 || !slices.IsSorted(ids) || slices.Contains(ids, "c02") || slices.Contains(ids, "c05") ||
		slices.Contains(ids, "c08") || got.Numbers("n_pool")[0] != 17 || got.Numbers("n_asked")[0] != 20 ||
		got.Numbers("mean_similarity")[0] >= got.Numbers("median_similarity")[0] {
		t.Errorf("%v, %v", ids, got)
	}
	moved := tabulartest.Evaluate(t, "indictti-prompts", shuffled(near.Rand(t, 41), f), options)
	must.EqualSlices(t, moved.Texts("id"), ids, "another order of the rows")
	must.Fail(tabulartest.Run("indictti-prompts", f, map[string]string{"n": "18"}))(t, "17 of 20 are in the pool")
	f.Columns[2].Vectors[9] = []float32{0, 0, 0}
	must.Fail(tabulartest.Run("indictti-prompts", f, options))(t, `row 10 (id "c09"), column text`)
	f.Columns[2].Vectors[9], f.Columns[0].Texts[9] = []float32{1, 0, 0}, "c01"
	must.Fail(tabulartest.Run("indictti-prompts", f, options))(t, "occurs twice")
}

// TestRatings by hand: hin p1 has the ratings 5 5 4 (one pair of three agrees; within 1, all), p2 3 2 (none; one);
// tam p1 only 5.
func TestRatings(t *testing.T) {
	rows := []Rating{{"hin_Deva", "p1", "a", 5}, {"hin_Deva", "p1", "b", 5}, {"hin_Deva", "p1", "c", 4},
		{"hin_Deva", "p2", "a", 3}, {"hin_Deva", "p2", "b", 2}, {"tam_Taml", "p1", "d", 5}}
	for tolerance, want := range map[float64]float64{0: 1. / 4, 1: 1} {
		got, err := ComputeTranslationRatings(rows, tolerance)
		if err != nil || len(got) != 3 {
			t.Fatal(got, err)
		}
		hin, tam, both := got[0], got[1], got[2]
		if math.Abs(hin.Mean.Value-3.8) > 1e-12 || math.Abs(hin.Agreement.Value-want) > 1e-12 || hin.Ratings != 5 ||
			hin.Pairs != 4 || hin.Annotators != 3 || hin.Below != 1 || hin.Mean.Prompts != 2 {
			t.Errorf("%+v", hin)
		}
		if tam.Mean.Value != 5 || !math.IsNaN(tam.Agreement.Value) || tam.Pairs != 0 || both.Language != "" ||
			both.Mean.Value != 4 || math.Abs(both.Agreement.Value-want) > 1e-12 || both.Annotators != 4 {
			t.Errorf("%+v, %+v", tam, both)
		}
	}
	must.Fail(ComputeTranslationRatings(append(rows, rows[0]), 0))(t, "rated it twice")
	must.Fail(ComputeTranslationRatings([]Rating{{"x", "p", "a", 6}}, 0))(t) // a rating of 6
	must.Fail(ComputeTranslationRatings(rows, math.NaN()))(t)                // a tolerance of NaN
	if got, err := ComputeTranslationRatings(nil, 0); err != nil || len(got) != 1 || !math.IsNaN(got[0].Mean.Value) {
		t.Errorf("no ratings: %v, %v", got, err)
	}
	var languages, prompts, annotators []string
	var scores []float64
	for _, r := range rows {
		languages, prompts, annotators, scores = append(languages, r.Language), append(prompts, r.Prompt),
			append(annotators, r.Annotator), append(scores, r.Score)
	}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("language", languages),
		table.TextColumn("prompt_id", prompts), table.TextColumn("annotator", annotators),
		table.NumberColumn("rating", scores)}}
	out := tabulartest.Evaluate(t, "indictti-ratings", f, nil)
	if !slices.Equal(out.Texts("language"), []string{"hin_Deva", "tam_Taml", "all"}) || out.Numbers("rating")[2] != 4 ||
		out.Numbers("n_pairs")[0] != 4 || out.Numbers("rating_low")[0] != 2.5 ||
		!math.IsNaN(out.Numbers("rating_low")[1]) || out.Texts("interval")[1] != "" {
		t.Errorf("%v", out)
	}
	f.Columns[3].Numbers[2], f.RowNumbers = math.NaN(), []int{2, 4, 6, 8, 10, 12}
	must.Fail(tabulartest.Run("indictti-ratings", f, nil))(t, "row 6")
}
