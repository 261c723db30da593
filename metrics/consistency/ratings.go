package consistency

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Rating is an annotator's rating of one translated prompt on the XSTS scale, from 1 (different meaning) to 5 (same
// meaning).
type Rating struct {
	Language, Prompt, Annotator string
	Score                       float64
}

// LanguageRatings summarizes the ratings of a language. The prompts of Mean and Agreement are in the order of Prompts.
type LanguageRatings struct {
	Language string // "" = all languages together
	Prompts  []string
	Mean     Score // mean rating, over ratings
	// share of the pairs of annotators on one item who gave the same score, over pairs; NaN = no item has two
	Agreement  Score
	Ratings    int
	Pairs      int
	Annotators int
	Below      int // items whose mean rating is below 3
}

// Ratings summarizes a user study (supplement, Figure 8): for each language, sorted, and then for all together, the
// mean rating and the percent agreement as a share in [0, 1]. The paper does not state how it computed its 74.8 %;
// this is the share of annotator pairs on the same prompt whose ratings differ by at most tolerance.
func ComputeTranslationRatings(ratings []Rating, tolerance float64) ([]LanguageRatings, error) {
	if !(tolerance >= 0) {
		return nil, fmt.Errorf("consistency: tolerance is %g; it must be at least 0", tolerance)
	}
	sorted := slices.Clone(ratings)
	slices.SortFunc(sorted, func(a, b Rating) int {
		return cmp.Or(cmp.Compare(a.Language, b.Language), cmp.Compare(a.Prompt, b.Prompt),
			cmp.Compare(a.Annotator, b.Annotator))
	})
	for i, r := range sorted {
		if !(r.Score >= 1 && r.Score <= 5) {
			return nil, fmt.Errorf("consistency: %s, prompt %q, annotator %q: a rating of %g; the scale is 1 to 5",
				r.Language, r.Prompt, r.Annotator, r.Score)
		}
		if i > 0 && r.Language == sorted[i-1].Language && r.Prompt == sorted[i-1].Prompt &&
			r.Annotator == sorted[i-1].Annotator {
			return nil, fmt.Errorf("consistency: %s, prompt %q: annotator %q rated it twice; keep one rating",
				r.Language,
				r.Prompt, r.Annotator)
		}
	}
	var names, prompts []string
	for _, r := range sorted {
		names, prompts = append(names, r.Language), append(prompts, r.Prompt)
	}
	slices.Sort(prompts)
	prompts = slices.Compact(prompts)
	names = slices.Compact(names)
	out := make([]LanguageRatings, 0, len(names)+1)
	for _, language := range append(names, "") {
		l := LanguageRatings{Language: language, Prompts: prompts, Mean: newScore(len(prompts)),
			Agreement: newScore(len(prompts))}
		annotators := map[string]bool{}
		for from := 0; from < len(sorted); {
			to := from + 1
			for to < len(sorted) && sorted[to].Language == sorted[from].Language &&
				sorted[to].Prompt == sorted[from].Prompt {
				to++
			}
			if item := sorted[from:to]; language == "" || item[0].Language == language {
				l.add(item, tolerance)
				for _, r := range item {
					annotators[r.Annotator] = true
				}
			}
			from = to
		}
		l.Annotators = len(annotators)
		l.Mean.finish(0)
		l.Agreement.finish(0)
		l.Mean.Excluded, l.Agreement.Excluded = 0, l.Mean.Prompts-l.Agreement.Prompts
		out = append(out, l)
	}
	return out, nil
}

func (l *LanguageRatings) add(item []Rating, tolerance float64) {
	k, _ := slices.BinarySearch(l.Prompts, item[0].Prompt)
	sum := 0.0
	for i, r := range item {
		sum += r.Score
		for _, other := range item[:i] {
			l.Pairs++
			l.Agreement.Counts[k]++
			if math.Abs(r.Score-other.Score) <= tolerance {
				l.Agreement.Sums[k]++
			}
		}
	}
	l.Ratings += len(item)
	l.Mean.Sums[k] += sum
	l.Mean.Counts[k] += float64(len(item))
	if sum < 3*float64(len(item)) {
		l.Below++
	}
}
