package consistency

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

var inCaptions = []datasets.Input{{Role: "in", Columns: datasets.Columns("id:text", "caption:text"),
	About: "one row per English caption"}}

// refused returns the word that excludes a caption under a filter.
func refused(filter, caption string) string {
	if filter == "none" {
		return ""
	}
	return Capitalized(caption, Capitals{I: filter == "i" || filter == "both",
		AfterStop: filter == "after-stop" || filter == "both"})
}

// PromptOptions are the options of [SelectPrompts].
type PromptOptions struct {
	N       int    `json:"n,omitempty" default:"1000" min:"2" help:"captions to select"`
	Samples int    `json:"samples,omitempty" default:"1000" min:"1" help:"random samples to choose from"`
	Vector  string `json:"vector,omitempty" default:"text" help:"vector column of the captions"`
	Filter  string `json:"filter,omitempty" default:"strict" values:"strict,i,after-stop,both,none" help:"exempt capitalized words: none, I, those after a full stop, both; none = no filter"`
	Seed    int64  `json:"seed,omitempty" help:"seed of the samples"`
}

// promptRow is a row of [SelectPrompts].
type promptRow struct {
	ID      string  `column:"id"`
	Caption string  `column:"caption"`
	Mean    float64 `column:"mean_similarity" unit:"cosine" range:"[-1, 1]"`
	Median  float64 `column:"median_similarity" unit:"cosine" range:"[-1, 1]" help:"over the samples"`
	Sample  int     `column:"sample" help:"number of the selected sample, from 0"`
	Samples int     `column:"n_samples"`
	Pool    int     `column:"n_pool" unit:"captions"`
	Asked   int     `column:"n_asked" unit:"captions"`
}

var selectPrompts = datasets.Define(datasets.Operation[PromptOptions, promptRow]{
	Name: "indictti-prompts", Title: "the sample of captions with the lowest mean similarity",
	Version: 2, Unit: "cosine", Range: "[-1, 1]", Citation: citation + ", supplement", Inputs: inCaptions,
	Planned: true, Compute: computePrompts,
})

// SelectPrompts is the table operation indictti-prompts: of many random samples of N captions, the one with the lowest
// mean cosine over pairs (section 3.1 and supplement of the paper). captions has id, caption and the sentence vector of
// each English caption. Captions with a capitalized word ([Capitalized]), without text or vector, and repeated ones are
// left out first. The result does not depend on the order of rows.
func SelectPrompts(captions datasets.Table, options ...PromptOptions) datasets.Table {
	return selectPrompts.Of(captions, options...)
}

// sortedByID returns the indices of rows in the order of their ids.
func sortedByID(ids []string) []int {
	rows := sequence(len(ids))
	slices.SortStableFunc(rows, func(a, b int) int { return strings.Compare(ids[a], ids[b]) })
	return rows
}

func computePrompts(_ context.Context, call *datasets.Call, o PromptOptions) ([]promptRow, error) {
	in := tabular.Read(call, "in")
	in.UniqueIDs()
	ids, captions, given := in.Texts("id"), in.Texts("caption"), in.Vectors(o.Vector)
	if in.Err != nil {
		return nil, in.Err
	}
	var pool []int
	var vectors [][]float32
	var capitals, copies, without int
	seen := map[string]bool{}
	for _, row := range sortedByID(ids) {
		v := given[row]
		switch {
		case refused(o.Filter, captions[row]) != "":
			capitals++
			continue
		case v == nil && !call.Planned || strings.TrimSpace(captions[row]) == "":
			without++
			continue
		case seen[captions[row]]:
			copies++
			continue
		}
		seen[captions[row]] = true
		if call.Planned { // some vectors are missing
			pool = append(pool, row)
			continue
		}
		if _, err := length(v, len(append(vectors, v)[0])); err != nil {
			return nil, tabular.BadRow(in.Frame, row, o.Vector, "%v", err)
		}
		pool, vectors = append(pool, row), append(vectors, v)
	}
	if len(pool) < len(ids) {
		call.Notef("%d of %d captions are in the pool: %d have a capitalized word, %d no text or vector, %d "+
			"repeat another", len(pool), len(ids), capitals, without, copies)
	}
	if len(pool) < o.N {
		return nil, fmt.Errorf("cannot select %d captions: %d of %d are in the pool; lower n, or add captions", o.N,
			len(pool), len(ids))
	}
	chosen, median := Selection{}, 0.0
	for i := range o.N { // planned: as many captions as will be selected
		chosen.Rows = append(chosen.Rows, i)
	}
	if !call.Planned {
		var err error
		if chosen, err = LeastSimilar(vectors, o.N, o.Samples, o.Seed); err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "consistency: "))
		}
		median = interval.Quantile(slices.Sorted(slices.Values(chosen.Means)), 0.5)
	}
	var out []promptRow
	for _, i := range chosen.Rows {
		out = append(out, promptRow{ids[pool[i]], captions[pool[i]], chosen.Mean, median, chosen.Sample, o.Samples,
			len(pool), len(ids)})
	}
	return out, nil
}
