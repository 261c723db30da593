package consistency

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

const (
	citation = "Mittal et al., ECCV 2024 (IndicTTI)"
	cosine   = "cosine; the paper prints 100 times the value"
)

var imageColumns = datasets.Columns("language:text", "prompt_id:text")

var onlyImages = []metrics.Input{{Role: "in", Columns: imageColumns,
	About: "one row per image, with its vector; optionally outcome, and seed (equal seeds = equal noise)"}}

var withReference = append(onlyImages[:1:1], metrics.Input{Role: "reference", Optional: true,
	Columns: datasets.Columns("prompt_id:text"),
	About:   "one row per prompt, with the vector to compare with; required"})

// IGCOptions are the options of [IGC].
type IGCOptions struct {
	By     []string `json:"by,omitempty" help:"text columns that define the groups"`
	Vector string   `json:"vector,omitempty" default:"full" help:"vector column of the images"`
	ImageOptions
	metrics.Intervals
	ReferenceVector string `json:"reference_vector,omitempty" default:"full" help:"vector column of the references"`
}

// LGCOptions are the options of [LGC].
type LGCOptions struct {
	By     []string `json:"by,omitempty" help:"text columns that define the groups"`
	Vector string   `json:"vector,omitempty" default:"clip_image" help:"vector column of the images"`
	ImageOptions
	metrics.Intervals
	ReferenceVector string `json:"reference_vector,omitempty" default:"clip_text" help:"vector column of the English texts"`
}

// CLGCOptions are the options of [CLGC].
type CLGCOptions struct {
	By     []string `json:"by,omitempty" help:"text columns that define the groups"`
	Vector string   `json:"vector,omitempty" default:"text" help:"vector column of the images' captions"`
	ImageOptions
	metrics.Intervals
	ReferenceVector string `json:"reference_vector,omitempty" default:"text" help:"vector column of the English texts"`
	Empty           string `json:"empty,omitempty" default:"keep" values:"keep,skip" help:"images with an empty caption keep the vector of the empty text, or are left out"`
}

// DropOptions are the options of [DropFromEnglish], those of [IGC].
type DropOptions IGCOptions

// LanguageCounts are the counts behind the score of a language.
type LanguageCounts struct {
	Prompts  int `column:"n_prompts" unit:"prompts" help:"with a score"`
	Excluded int `column:"n_excluded" unit:"prompts" help:"with images but without a score"`
	Asked    int `column:"n_asked" unit:"images" help:"requested: prompts × indices"`
	Refused  int `column:"n_refused" unit:"images"`
	Missing  int `column:"n_missing" unit:"images"`
	Used     int `column:"n_used" unit:"images"`
}

// CaptionCounts are the captions of a language that say little about their images.
type CaptionCounts struct {
	Empty      int `column:"n_empty" unit:"images" help:"with an empty caption"`
	Repeated   int `column:"n_repeated" unit:"images" help:"with a caption that an image of another prompt has too"`
	Degenerate int `column:"n_degenerate" unit:"images" help:"with a caption that repeats up to three words four times"`
}

// clgcRow is a row of [CLGC].
type clgcRow struct {
	Group    metrics.Group
	Language string           `column:"language"`
	Score    metrics.Estimate `column:"clgc" unit:"cosine" range:"[-1, 1]"`
	LanguageCounts
	CaptionCounts
	Vector    string `column:"vector"`
	Reference string `column:"reference"`
	Interval  string `column:"interval"`
}

// igcRow is a row of [IGC].
type igcRow struct {
	Group    metrics.Group
	Language string           `column:"language"`
	Score    metrics.Estimate `column:"igc" unit:"cosine" range:"[-1, 1]"`
	LanguageCounts
	Vector    string `column:"vector"`
	Reference string `column:"reference"`
	Interval  string `column:"interval"`
}

// lgcRow is a row of [LGC].
type lgcRow struct {
	Group    metrics.Group
	Language string           `column:"language"`
	Score    metrics.Estimate `column:"lgc" unit:"cosine" range:"[-1, 1]"`
	LanguageCounts
	Vector    string `column:"vector"`
	Reference string `column:"reference"`
	Interval  string `column:"interval"`
}

// dropRow is a row of [DropFromEnglish].
type dropRow struct {
	Group     metrics.Group
	Drop      metrics.Estimate `column:"drop" unit:"cosine" range:"[-2, 2]"`
	English   float64          `column:"english" unit:"cosine" range:"[-1, 1]"`
	Others    float64          `column:"others" unit:"cosine" range:"[-1, 1]"`
	Languages int              `column:"n_languages" unit:"languages" help:"other languages with a score"`
	Prompts   int              `column:"n_prompts" unit:"prompts"`
	Missing   int              `column:"n_missing" unit:"images"`
	Used      int              `column:"n_used" unit:"images"`
	Vector    string           `column:"vector"`
	Reference string           `column:"reference"`
	Interval  string           `column:"interval"`
}

const faithful = "higher is more faithful"

var clgc = metrics.Define(metrics.Definition[CLGCOptions, clgcRow]{
	Name: "indictti-clgc", Title: "similarity of an image's caption to the English prompt, by language",
	Version: 5, // 3 gave every image the same weight
	Unit:    cosine, Range: "[-1, 1]", Direction: faithful, Citation: citation + ", equations 2 and 3",
	Inputs: withReference,
	Compute: func(_ context.Context, call *metrics.Call, o CLGCOptions) ([]clgcRow, error) {
		s := selection{By: o.By, Vector: o.Vector, ImageOptions: o.ImageOptions, Intervals: o.Intervals}
		s.empty = o.Empty
		var out []clgcRow
		err := correct(call, s, o.ReferenceVector, func(g *group, scores []Score) error {
			for l, r := range g.byLanguage(s, scores) {
				out = append(out, clgcRow{r.Group, r.Language, r.Score, r.LanguageCounts, g.captions[l], o.Vector,
					o.ReferenceVector, r.Interval})
			}
			return nil
		})
		return out, err
	},
})

// CLGC is the metric indictti-clgc, Cyclic Language-Grounded Correctness (equations 2 and 3), one row per language:
//
//	CLGC(l) = mean over prompts k and images r of φ(t(p_k), t(c(i(k,l,r))))
//
// It is the mean over prompts of the mean over a prompt's images: where images are missing, every prompt that has one
// keeps the same weight. So it is in IGC, LGC, SCWL, DWL and SCAL.
//
// captions has one row per image: language, prompt_id, the sentence vector of the caption generated from the image in
// the column text, and optionally outcome, seed and caption. english has one row per prompt: prompt_id and the
// sentence vector of its English text. Cosine in [−1, 1], higher is more faithful. The columns count prompts and
// images: n_prompts with a score, n_excluded without a reference, n_asked (prompts × indices), n_refused, n_missing,
// n_used, n_empty, n_repeated and n_degenerate (captions that say little: see [CaptionCounts]).
func CLGC(captions, english datasets.Table, options ...CLGCOptions) datasets.Table {
	return clgc.Table(map[string]datasets.Table{"in": captions, "reference": english}, options...)
}

var igc = metrics.Define(metrics.Definition[IGCOptions, igcRow]{
	Name: "indictti-igc", Title: "similarity of an image to the data set's photograph, by language",
	Version: 4, // 2 gave every image the same weight
	Unit:    cosine, Range: "[-1, 1]", Direction: faithful, Citation: citation + ", equation 4",
	Inputs: withReference, Compute: correctness,
})

// IGC is the metric indictti-igc, Image-Grounded Correctness (equation 4), one row per language:
//
//	IGC(l) = mean over prompts k and images r of φ(f(q_k), f(i(k,l,r)))
//
// images, and photographs (of the data set, one row per prompt), have vectors of one image encoder. Range and columns
// are those of [CLGC].
func IGC(images, photographs datasets.Table, options ...IGCOptions) datasets.Table {
	return igc.Table(map[string]datasets.Table{"in": images, "reference": photographs}, options...)
}

var lgc = metrics.Define(metrics.Definition[LGCOptions, lgcRow]{
	Name: "indictti-lgc", Title: "similarity of an image to the English prompt in a joint space, by language",
	Version: 5, // 3 gave every image the same weight
	Unit:    cosine, Range: "[-1, 1]", Direction: faithful, Citation: citation + ", equation 5",
	Inputs: withReference,
	Compute: func(ctx context.Context, call *metrics.Call, o LGCOptions) ([]lgcRow, error) {
		rows, err := correctness(ctx, call, IGCOptions(o))
		var out []lgcRow
		for _, r := range rows {
			out = append(out, lgcRow(r))
		}
		return out, err
	},
})

// LGC is the metric indictti-lgc, Language-Grounded Correctness (equation 5), one row per language:
//
//	LGC(l) = mean over prompts k and images r of φ(t(p_k), f(i(k,l,r)))
//
// images (column clip_image) and english (column clip_text, one row per prompt) have vectors of one joint space; the
// paper uses BLIP-2. Range and columns are those of [CLGC].
func LGC(images, english datasets.Table, options ...LGCOptions) datasets.Table {
	return lgc.Table(map[string]datasets.Table{"in": images, "reference": english}, options...)
}

func correctness(_ context.Context, call *metrics.Call, o IGCOptions) (out []igcRow, err error) {
	s := selection{By: o.By, Vector: o.Vector, ImageOptions: o.ImageOptions, Intervals: o.Intervals}
	err = correct(call, s, o.ReferenceVector, func(g *group, scores []Score) error {
		for _, r := range g.byLanguage(s, scores) {
			out = append(out, igcRow{r.Group, r.Language, r.Score, r.LanguageCounts, o.Vector, o.ReferenceVector,
				r.Interval})
		}
		return nil
	})
	return out, err
}

var dropFromEnglish = metrics.Define(metrics.Definition[DropOptions, dropRow]{
	Name:    "indictti-drop",
	Title:   "drop of a correctness score from English to the mean of the other languages",
	Version: 4, // 2 gave every image the same weight
	Unit:    cosine, Range: "[-2, 2]", Direction: "0 is no drop", Citation: citation + ", sections 5 and 6",
	Inputs: withReference, Compute: computeDrop,
})

// DropFromEnglish is the metric indictti-drop: CLGC, IGC or LGC of English minus the unweighted mean of the other
// languages (sections 5 and 6 of the paper, there in points of 100 times the cosine), with an interval that resamples
// the prompts they share. The inputs are those of [CLGC], [IGC] or [LGC]; set Vector and ReferenceVector accordingly
// (default: IGC). In [−2, 2], 0 is no drop.
func DropFromEnglish(images, references datasets.Table, options ...DropOptions) datasets.Table {
	return dropFromEnglish.Table(map[string]datasets.Table{"in": images, "reference": references}, options...)
}

func computeDrop(_ context.Context, call *metrics.Call, o DropOptions) (out []dropRow, err error) {
	s := selection{By: o.By, Vector: o.Vector, ImageOptions: o.ImageOptions, Intervals: o.Intervals}
	err = correct(call, s, o.ReferenceVector, func(g *group, scores []Score) error {
		at := -1
		row := dropRow{Group: g.values, Vector: o.Vector, Reference: o.ReferenceVector}
		for l, language := range g.images.Languages {
			if language == o.English {
				at = l
			}
			row.Used, row.Missing = row.Used+scores[l].Images, row.Missing+scores[l].Missing
			row.Prompts = max(row.Prompts, scores[l].Prompts)
		}
		if at < 0 {
			return fmt.Errorf("%sno images of the language %q; name English with the option english", g.name(o.By),
				o.English)
		}
		of := func(values []float64) (d float64, languages int) {
			return ComputeDrop(values[at], slices.Concat(values[:at], values[at+1:]))
		}
		row.Drop.Value, row.Languages = of(valuesOf(scores))
		prompts := min(row.Prompts, scores[at].Prompts)
		row.Drop.Low, row.Drop.High = g.boot.of(prompts, row.Drop.Value, scores, func(values []float64) float64 {
			d, _ := of(values)
			return d
		})
		row.Interval = s.Label("prompts", row.Drop)
		row.English, row.Others = scores[at].Value, scores[at].Value-row.Drop.Value
		out = append(out, row)
		return nil
	})
	return out, err
}

// byLanguage returns a group's rows, one per language, without vector and reference.
func (g *group) byLanguage(o selection, scores []Score) (out []igcRow) {
	for l, s := range scores {
		e := g.boot.estimate(s)
		out = append(out, igcRow{Group: g.values, Language: g.images.Languages[l], Score: e,
			LanguageCounts: LanguageCounts{s.Prompts, s.Excluded, s.Images + s.Missing, g.refused[l], s.Missing,
				s.Images}, Interval: o.Label("prompts", e)})
	}
	return out
}

// references returns the vectors of a group's prompts.
func references(call *metrics.Call, column string, prompts []string) ([][]float32, error) {
	if call.Inputs["reference"] == nil {
		return nil, errors.New("no references; give the table \"reference\", one row per prompt")
	}
	in := tabular.Read(call, "reference")
	vectors, ids := in.Vectors(column), in.Texts("prompt_id")
	if in.Err != nil {
		return nil, in.Err
	}
	at, out, seen := positions(prompts), make([][]float32, len(prompts)), map[string]int{}
	for i, id := range ids {
		if before, twice := seen[id]; twice {
			return nil, fmt.Errorf("table \"reference\": rows %d and %d have the same prompt %q", before,
				in.Frame.RowNumber(i), id)
		}
		seen[id] = in.Frame.RowNumber(i)
		k, wanted := at[id]
		if !wanted || vectors[i] == nil {
			continue
		}
		if _, err := length(vectors[i], len(vectors[i])); err != nil {
			return nil, fmt.Errorf("table \"reference\", row %d (prompt %q), column %s: %w",
				in.Frame.RowNumber(i), id, column, err)
		}
		out[k] = vectors[i]
	}
	return out, nil
}

// correct scores every group against the references.
func correct(call *metrics.Call, s selection, column string, take func(g *group, scores []Score) error) error {
	var notes metrics.GroupNotes
	err := eachGroup(call, s, func(g *group) ([]Score, error) {
		refs, err := references(call, column, g.images.Prompts)
		if err != nil {
			return nil, err
		}
		if lacking := len(refs) - count(refs, func(v []float32) bool { return v != nil }); lacking > 0 {
			notes.Add("%d of %d prompts have no reference and are left out", g.label(), lacking, len(refs))
		}
		return ComputeCorrectness(g.images, refs)
	}, take)
	notes.AddTo(call, s.By...)
	return err
}

// count returns the number of elements that satisfy f.
func count[T any](list []T, f func(T) bool) (n int) {
	for _, x := range list {
		if f(x) {
			n++
		}
	}
	return n
}
