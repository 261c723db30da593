package consistency

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// ScoreDropOptions are the options of [DropOfScores].
type ScoreDropOptions struct {
	By      []string `json:"by,omitempty" help:"text columns that define the groups"`
	Score   string   `json:"score,omitempty" default:"igc" help:"column of the score"`
	English string   `json:"english,omitempty" default:"en" help:"code of English in the column language"`
}

// scoreDropRow is a row of [DropOfScores].
type scoreDropRow struct {
	Group     metrics.Group
	Score     string  `column:"score"`
	Drop      float64 `column:"drop"`
	English   float64 `column:"english"`
	Others    float64 `column:"others"`
	Languages int     `column:"n_languages" unit:"languages" help:"other languages with a score"`
}

var scoreDrop = metrics.Define(metrics.Definition[ScoreDropOptions, scoreDropRow]{
	Name:    "indictti-score-drop",
	Title:   "drop of a score from English to the mean of the other languages, from a table of scores",
	Version: 1, Unit: "the score's", Range: "the score's, doubled", Direction: "0 is no drop",
	Citation: citation + ", sections 5 and 6",
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("language:text"),
		About: "one row per language, such as the scores by language or a printed table"}},
	Compute: computeScoreDrop,
})

// DropOfScores is the metric indictti-score-drop: [DropFromEnglish] from a table of scores by language, for example a
// printed one, and so without an interval. Languages without a value are left out of the mean.
func DropOfScores(scores datasets.Table, options ...ScoreDropOptions) datasets.Table {
	return scoreDrop.Of(scores, options...)
}

func computeScoreDrop(_ context.Context, call *metrics.Call, o ScoreDropOptions) ([]scoreDropRow, error) {
	in := tabular.Read(call, "in")
	scores, groups := in.Numbers(o.Score), in.Groups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	var out []scoreDropRow
	var notes metrics.GroupNotes
	for _, rows := range groups {
		if len(rows.Rows) == 0 {
			continue
		}
		g := &group{values: rows.By}
		english, others, seen := math.NaN(), []float64{}, map[string]bool{}
		for _, i := range rows.Rows {
			language := in.Frame.Texts("language")[i]
			if seen[language] {
				return nil, fmt.Errorf("%srow %d: the language %q has two scores; group by the column that differs",
					g.name(o.By), in.Frame.RowNumber(i), language)
			}
			seen[language] = true
			if language == o.English {
				english = scores[i]
			} else {
				others = append(others, scores[i])
			}
		}
		d, n := ComputeDrop(english, others)
		if math.IsNaN(d) {
			notes.Add(fmt.Sprintf("no drop: the score of English (%s) or of all other languages is missing", o.English),
				g.label())
		}
		less, _ := ComputeDrop(0, others) // minus their mean, also without English
		out = append(out, scoreDropRow{g.values, o.Score, d, english, -less, n})
	}
	notes.AddTo(call, o.By...)
	return out, nil
}

// RatingOptions are the options of [TranslationRatings].
type RatingOptions struct {
	Tolerance float64 `json:"tolerance,omitempty" min:"0" max:"1" help:"largest difference of ratings that counts as agreement: 0 or 1"`
	metrics.Intervals
}

// ratingRow is a row of [TranslationRatings].
type ratingRow struct {
	Language   string           `column:"language"`
	Rating     metrics.Estimate `column:"rating" unit:"XSTS" range:"[1, 5]"`
	Agreement  metrics.Estimate `column:"agreement" unit:"share of annotator pairs" range:"[0, 1]"`
	Prompts    int              `column:"n_prompts" unit:"prompts"`
	Used       int              `column:"n_used" unit:"ratings"`
	Pairs      int              `column:"n_pairs" unit:"pairs of ratings"`
	Annotators int              `column:"n_annotators" unit:"annotators"`
	Below      int              `column:"n_below_3" unit:"prompts" help:"with a mean rating below 3"`
	Interval   string           `column:"interval"`
}

var translationRatings = metrics.Define(metrics.Definition[RatingOptions, ratingRow]{
	Name: "indictti-ratings", Title: "mean rating and agreement on translations, by language",
	Version: 3, Unit: "XSTS; share of annotator pairs", Range: "[1, 5]; [0, 1]", Direction: "higher is better",
	Citation: citation + ", supplement, Figure 8",
	Inputs: []metrics.Input{{Role: "in", About: "one row per rating",
		Columns: datasets.Columns("language:text", "prompt_id:text", "annotator:text", "rating:number")}},
	Compute: computeRatings,
})

// TranslationRatings is the metric indictti-ratings: mean XSTS rating (1 to 5) and percent agreement (a share in [0,
// 1]) of the user study, by language and for all (Figure 8), with intervals over prompts; see
// [ComputeTranslationRatings].
func TranslationRatings(ratings datasets.Table, options ...RatingOptions) datasets.Table {
	return translationRatings.Of(ratings, options...)
}

func computeRatings(_ context.Context, call *metrics.Call, o RatingOptions) ([]ratingRow, error) {
	f := call.Inputs["in"]
	ratings := make([]Rating, f.Len())
	for i := range ratings {
		ratings[i] = Rating{Language: f.Texts("language")[i], Prompt: f.Texts("prompt_id")[i],
			Annotator: f.Texts("annotator")[i], Score: f.Numbers("rating")[i]}
		if r := ratings[i]; !(r.Score >= 1 && r.Score <= 5) {
			return nil, tabular.BadRow(f, i, "rating", "%g is not on the scale from 1 to 5; remove the row", r.Score)
		}
	}
	languages, err := ComputeTranslationRatings(ratings, o.Tolerance)
	if err != nil {
		return nil, err
	}
	var out []ratingRow
	for _, l := range languages {
		boot, err := resample(o.Intervals, len(l.Prompts))
		if err != nil {
			return nil, err
		}
		name := cmp.Or(l.Language, "all")
		rating, agreement := boot.estimate(l.Mean), boot.estimate(l.Agreement)
		out = append(out, ratingRow{name, rating, agreement, l.Mean.Prompts, l.Ratings, l.Pairs, l.Annotators, l.Below,
			o.Label("prompts", rating, agreement)})
	}
	return out, nil
}
