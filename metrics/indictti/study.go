package indictti

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

func init() {
	captions := datasets.Columns("id:text", "caption:text")
	metrics.Register(metrics.Metric{
		Info: metrics.Info{Name: "indictti-score-drop", Title: "drop of a score from English to the mean of the other languages, from a table of scores", Unit: "the score's", Range: "the score's, doubled",
			Direction: "0 is no drop", Citation: citation + ", sections 5 and 6"},
		Version: 1, Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("language:text"), About: "one row for each language, as the scores by language give them or as printed"}},
		Options: []metrics.Option{scoreColumn, english}, Columns: byColumns("=score", "drop", "english", "others", "n_languages"), Compute: scoreDrop,
	})
	metrics.Register(metrics.Metric{
		Info:    metrics.Info{Name: "indictti-filter", Title: "which captions the rule of capitals keeps", Direction: "none", Citation: citation + ", supplement"},
		Version: 1, Inputs: []metrics.Input{{Role: "in", Columns: captions, About: "one row for each English caption"}}, Options: []metrics.Option{filterOption},
		Columns: tabular.Fixed("=id", "=caption", "=kept", "=word"), Compute: captionFilter,
	})
	metrics.Register(metrics.Metric{
		Info:    metrics.Info{Name: "indictti-prompts", Title: "the draw of captions that are least alike", Unit: "cosine", Range: "[-1, 1]", Direction: "lower is more varied", Citation: citation + ", supplement"},
		Version: 1, Inputs: []metrics.Input{{Role: "in", Columns: captions, About: "one row for each English caption, with its sentence vector"}},
		Options: []metrics.Option{{Name: "vector", Default: "text", About: "the vector column of the captions"}, {Name: "size", Default: "1000", About: "captions to choose"},
			{Name: "iterations", Default: "1000", About: "draws to choose from"}, filterOption},
		Columns: tabular.Fixed("=id", "=caption", "mean_similarity", "median_similarity", "draw", "n_draws", "n_pool", "n_asked"), Compute: selectPrompts,
	})
	metrics.Register(metrics.Metric{
		Info: metrics.Info{Name: "indictti-ratings", Title: "mean rating and agreement on translations, by language", Unit: "XSTS; share of annotator pairs", Range: "[1, 5]; [0, 1]", Direction: "higher is better",
			Citation: citation + ", supplement, Figure 8"},
		Version: 1, Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("language:text", "prompt_id:text", "annotator:text", "rating:number"), About: "one row for each rating"}},
		Options: []metrics.Option{{Name: "tolerance", Default: "0", Values: []string{"0", "1"}, About: "the largest difference of ratings that counts as agreement"}, drawsOption, levelOption},
		Columns: tabular.Fixed("=language", "rating", "rating_low", "rating_high", "agreement", "agreement_low", "agreement_high", "n_prompts", "n_used", "n_pairs", "n_annotators", "n_below_3", "=interval"), Compute: ratingsTable,
	})
}

func scoreDrop(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	column := call.Options["score"]
	numbers, err := f.Need(column, client.Number)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "in", err)
	}
	type scores struct {
		group   *group
		english float64
		others  []float64
		seen    map[string]bool
	}
	var order []*scores
	index := map[string]*scores{}
	for i, language := range f.Texts("language") {
		var values []string
		for _, by := range call.By {
			c, err := f.Need(by, client.Text)
			if err != nil {
				return nil, fmt.Errorf("table %q: %w", "in", err)
			}
			values = append(values, c.Texts[i])
		}
		key := strings.Join(values, "\x00")
		s := index[key]
		if s == nil {
			s = &scores{group: &group{values: values}, english: math.NaN(), seen: map[string]bool{}}
			index[key] = s
			order = append(order, s)
		}
		if s.seen[language] {
			return nil, fmt.Errorf("%srow %d: the language %q has a score already; group by the column that tells them apart", s.group.name(call.By), i+1, language)
		}
		s.seen[language] = true
		if language == call.Options["english"] {
			s.english = numbers.Numbers[i]
		} else {
			s.others = append(s.others, numbers.Numbers[i])
		}
	}
	var out [][]any
	var notes metrics.GroupNotes
	for _, s := range order {
		d, n := Drop(s.english, s.others)
		if math.IsNaN(d) {
			notes.Add(fmt.Sprintf("there is no drop without a score of English (%s) and of another language", call.Options["english"]), s.group.label())
		}
		less, _ := Drop(0, s.others) // minus their mean, also where there is no English
		out = append(out, row(s.group, column, d, s.english, -less, n))
	}
	notes.Tell(call)
	return tabular.Result("indictti-score-drop", call, out)
}

// refuse says which word takes a caption out under the option filter.
func refuse(call metrics.Call, caption string) string {
	rule := call.Options["filter"]
	if rule == "none" {
		return ""
	}
	return Capitalised(caption, Capitals{I: rule == "i" || rule == "both", AfterStop: rule == "after-stop" || rule == "both"})
}

func captionFilter(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	var out [][]any
	for i, caption := range f.Texts("caption") {
		word := refuse(call, caption)
		kept := "yes"
		if word != "" {
			kept = "no"
		}
		out = append(out, []any{f.Texts("id")[i], caption, kept, word})
	}
	return tabular.Result("indictti-filter", call, out)
}

func selectPrompts(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	c, err := f.Need(call.Options["vector"], client.Vector)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "in", err)
	}
	size, err := tabular.Count(call, "size")
	if err != nil {
		return nil, err
	}
	draws, err := tabular.Count(call, "iterations")
	if err != nil {
		return nil, err
	}
	ids, captions := f.Texts("id"), f.Texts("caption")
	rows := make([]int, f.Len())
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(a, b int) int { return strings.Compare(ids[a], ids[b]) }) // so that the rows' order does not matter
	var pool []int
	var vectors [][]float32
	var capitals, copies, without int
	seen := map[string]bool{}
	for i, row := range rows {
		v := c.Vectors[row]
		switch {
		case i > 0 && ids[row] == ids[rows[i-1]]:
			return nil, client.BadRow{Row: row + 1, ID: ids[row], Column: "id", Reason: "the id occurs twice"}
		case refuse(call, captions[row]) != "":
			capitals++
			continue
		case v == nil || strings.TrimSpace(captions[row]) == "":
			without++
			continue
		case seen[captions[row]]:
			copies++
			continue
		}
		seen[captions[row]] = true
		if _, err := length(v, len(append(vectors, v)[0])); err != nil {
			return nil, client.BadRow{Row: row + 1, ID: ids[row], Column: c.Name, Reason: err.Error()}
		}
		pool, vectors = append(pool, row), append(vectors, v)
	}
	if len(pool) < f.Len() && call.Note != nil {
		call.Note("%d of %d captions are the pool: %d have a capitalised word, %d no text or vector, %d repeat another", len(pool), f.Len(), capitals, without, copies)
	}
	if len(pool) < size {
		return nil, fmt.Errorf("%d captions to choose, %d are left of %d: lower size, or give more captions", size, len(pool), f.Len())
	}
	chosen, err := LeastSimilar(vectors, size, draws, call.Seed)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "indictti: "))
	}
	median := slices.Sorted(slices.Values(chosen.Means))
	var out [][]any
	for _, i := range chosen.Rows {
		out = append(out, []any{ids[pool[i]], captions[pool[i]], chosen.Mean, tabular.Quantile(median, 0.5), chosen.Draw, draws, len(pool), f.Len()})
	}
	return tabular.Result("indictti-prompts", call, out)
}

func ratingsTable(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	tolerance, err := tabular.Number(call, "tolerance")
	if err != nil {
		return nil, err
	}
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	level, err := tabular.Number(call, "level")
	if err != nil {
		return nil, err
	}
	ratings := make([]Rating, f.Len())
	for i := range ratings {
		ratings[i] = Rating{Language: f.Texts("language")[i], Prompt: f.Texts("prompt_id")[i], Annotator: f.Texts("annotator")[i], Score: f.Numbers("rating")[i]}
		if r := ratings[i]; !(r.Score >= 1 && r.Score <= 5) {
			return nil, client.BadRow{Row: i + 1, Column: "rating", Reason: fmt.Sprintf("%g is not on the scale from 1 to 5; leave the row out", r.Score)}
		}
	}
	languages, err := Ratings(ratings, tolerance)
	if err != nil {
		return nil, err
	}
	var out [][]any
	for _, l := range languages {
		boot, err := NewBootstrap(len(l.Prompts), draws, level, call.Seed)
		if err != nil {
			return nil, err
		}
		name := l.Language
		if name == "" {
			name = "all"
		}
		low, high := boot.Interval(l.Mean)
		agreeLow, agreeHigh := boot.Interval(l.Agreement)
		out = append(out, []any{name, l.Mean.Value, low, high, l.Agreement.Value, agreeLow, agreeHigh, l.Mean.Prompts, l.Ratings, l.Pairs, l.Annotators, l.Below, intervalName(call)})
	}
	return tabular.Result("indictti-ratings", call, out)
}
