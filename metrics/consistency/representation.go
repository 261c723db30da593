package consistency

import (
	"context"

	"antipode/datasets"
	"antipode/metrics"
)

// SCWLOptions are the options of [SCWL].
type SCWLOptions struct {
	By     []string `json:"by,omitempty" help:"text columns that define the groups"`
	Vector string   `json:"vector,omitempty" default:"full" help:"vector column of the images"`
	ImageOptions
	metrics.Intervals
	Method string `json:"method,omitempty" default:"mean" values:"mean,literal" help:"mean over pairs, or the printed formula (twice the mean)"`
}

// DWLOptions are the options of [DWL].
type DWLOptions struct {
	By     []string `json:"by,omitempty" help:"text columns that define the groups"`
	Vector string   `json:"vector,omitempty" default:"full" help:"vector column of the images"`
	ImageOptions
	metrics.Intervals
	Method string `json:"method,omitempty" default:"mean" values:"mean,literal" help:"mean over pairs, or the printed formula (twice the mean)"`
	Images string `json:"images,omitempty" default:"all" values:"all,same_seed,centroid,first" help:"images of two prompts that are compared"`
}

// SCALOptions are the options of [SCAL].
type SCALOptions struct {
	By     []string `json:"by,omitempty" help:"text columns that define the groups"`
	Vector string   `json:"vector,omitempty" default:"full" help:"vector column of the images"`
	ImageOptions
	metrics.Intervals
	Method string `json:"method,omitempty" default:"mean_uneq" values:"mean_uneq,mean_ult,mean_all,literal" help:"mean over u ≠ v, over u < v, over all pairs, or the printed formula"`
}

// SCALOverallOptions are the options of [SCALOverall].
type SCALOverallOptions struct {
	By     []string `json:"by,omitempty" help:"text columns that define the groups"`
	Vector string   `json:"vector,omitempty" default:"full" help:"vector column of the images"`
	ImageOptions
	metrics.Intervals
	Method string `json:"method,omitempty" default:"mean_pairs" values:"mean_pairs,half,literal,all" help:"variant of equation 9; all gives one row per variant"`
	Pairs  string `json:"pairs,omitempty" default:"mean_uneq" values:"mean_uneq,mean_ult,mean_all,literal" help:"variant of equation 6; see indictti-scal"`
	Of     string `json:"of,omitempty" default:"all" values:"all,indic" help:"all languages, or all except English"`
}

// scwlRow is a row of [SCWL].
type scwlRow struct {
	Group    metrics.Group
	Language string           `column:"language"`
	Score    metrics.Estimate `column:"scwl" unit:"cosine" range:"[-1, 1]; literal [-2, 2]"`
	LanguageCounts
	Vector   string `column:"vector"`
	Method   string `column:"method"`
	Interval string `column:"interval"`
}

// dwlRow is a row of [DWL].
type dwlRow struct {
	Group    metrics.Group
	Language string           `column:"language"`
	Score    metrics.Estimate `column:"dwl" unit:"1 − cosine" range:"[0, 2]; literal [-1, 3]"`
	LanguageCounts
	Vector   string `column:"vector"`
	Method   string `column:"method"`
	Interval string `column:"interval"`
}

// scalRow is a row of [SCAL].
type scalRow struct {
	Group     metrics.Group
	LanguageA string           `column:"language_a"`
	LanguageB string           `column:"language_b"`
	Kind      string           `column:"kind" help:"SCAL, or SCWL for a language with itself"`
	Score     metrics.Estimate `column:"scal" unit:"cosine" range:"[-1, 1]; literal [-2, 2]"`
	Prompts   int              `column:"n_prompts" unit:"prompts"`
	Excluded  int              `column:"n_excluded" unit:"prompts" help:"with too few images in a language"`
	Missing   int              `column:"n_missing" unit:"images"`
	Used      int              `column:"n_used" unit:"images"`
	Vector    string           `column:"vector"`
	Method    string           `column:"method"`
	Interval  string           `column:"interval"`
}

// scalOverallRow is a row of [SCALOverall].
type scalOverallRow struct {
	Group     metrics.Group
	Method    string           `column:"method"`
	Pairs     string           `column:"pairs"`
	Of        string           `column:"of"`
	Score     metrics.Estimate `column:"scal" unit:"cosine" range:"[-1, 1]; literal: times languages − 1"`
	Languages int              `column:"n_languages" unit:"languages"`
	NPairs    int              `column:"n_pairs" unit:"pairs of languages"`
	Prompts   int              `column:"n_prompts" unit:"prompts"`
	Missing   int              `column:"n_missing" unit:"images"`
	Used      int              `column:"n_used" unit:"images"`
	Vector    string           `column:"vector"`
	Interval  string           `column:"interval"`
}

var scwl = metrics.Define(metrics.Definition[SCWLOptions, scwlRow]{
	Name: "indictti-scwl", Title: "similarity of the images of one prompt within a language",
	Version: 3, Unit: cosine, Range: "[-1, 1]; literal [-2, 2]", Direction: "higher is more consistent",
	Citation: citation + ", equations 10 and 11", Inputs: onlyImages,
	Compute: func(_ context.Context, call *metrics.Call, o SCWLOptions) ([]scwlRow, error) {
		return withinLanguages(call, selection{By: o.By, Vector: o.Vector, ImageOptions: o.ImageOptions,
			Intervals: o.Intervals}, o.Method, func(p Images) ([]Score, error) {
			return ComputeSCWL(p, Normalizer(o.Method))
		})
	},
})

// SCWL is the metric indictti-scwl, Self-Consistency Within Language (equations 10 and 11), one row per language:
//
//	SCWL(l) = mean over prompts k of the mean over images u < v of φ(f(i(k,l,u)), f(i(k,l,v)))
//
// Cosine in [−1, 1], higher is more consistent, whether the images are correct or not. n_excluded counts prompts with
// one image. The other columns are those of [CLGC].
func SCWL(images datasets.Table, options ...SCWLOptions) datasets.Table {
	return scwl.Of(images, options...)
}

var dwl = metrics.Define(metrics.Definition[DWLOptions, dwlRow]{
	Name: "indictti-dwl", Title: "1 minus the similarity of the images of different prompts within a language",
	Version: 3, Unit: cosine, Range: "[0, 2]; literal [-1, 3]", Direction: "higher is more varied",
	Citation: citation + ", equation 12", Inputs: onlyImages,
	Compute: func(_ context.Context, call *metrics.Call, o DWLOptions) ([]dwlRow, error) {
		s := selection{By: o.By, Vector: o.Vector, ImageOptions: o.ImageOptions, Intervals: o.Intervals}
		s.aligned = o.Images == string(SameSeed)
		rows, err := withinLanguages(call, s, o.Method+", "+o.Images, func(p Images) ([]Score, error) {
			return ComputeDWL(p, DWLImages(o.Images), Normalizer(o.Method))
		})
		var out []dwlRow
		for _, r := range rows {
			out = append(out, dwlRow(r))
		}
		return out, err
	},
})

// DWL is the metric indictti-dwl, Distinctiveness Within Language (equation 12), one row per language:
//
//	DWL(l) = 1 − mean over prompts a < b of φ(f(i(a,l)), f(i(b,l)))
//
// In [0, 2], higher is more varied; it depends on how related the prompts are. The columns are those of [CLGC]; for the
// interval see [ComputeDWL].
func DWL(images datasets.Table, options ...DWLOptions) datasets.Table {
	return dwl.Of(images, options...)
}

func withinLanguages(call *metrics.Call, s selection, method string,
	score func(Images) ([]Score, error)) (out []scwlRow, err error) {
	err = eachGroup(call, s, func(g *group) ([]Score, error) { return score(g.images) },
		func(g *group, scores []Score) error {
			for _, r := range g.byLanguage(s, scores) {
				out = append(out, scwlRow{r.Group, r.Language, r.Score, r.LanguageCounts, s.Vector, method,
					r.Interval})
			}
			return nil
		})
	return out, err
}

var scal = metrics.Define(metrics.Definition[SCALOptions, scalRow]{
	Name: "indictti-scal", Title: "similarity of the images of one prompt between two languages",
	Version: 3, Unit: cosine, Range: "[-1, 1]; literal [-2, 2]", Direction: "higher is more similar",
	Citation: citation + ", equations 6 and 7, Figure 3", Inputs: onlyImages,
	Compute: func(_ context.Context, call *metrics.Call, o SCALOptions) (out []scalRow, err error) {
		s := selection{By: o.By, Vector: o.Vector, ImageOptions: o.ImageOptions, Intervals: o.Intervals}
		s.aligned = o.Method != string(MeanAll)
		err = eachGroup(call, s, func(g *group) ([][]Score, error) {
			return ComputeSCAL(g.images, PairNormalizer(o.Method))
		}, func(g *group, scores [][]Score) error {
			for a, from := range g.images.Languages {
				for b, to := range g.images.Languages {
					kind := "SCAL"
					if a == b {
						kind = "SCWL"
					}
					v := scores[a][b]
					e := g.boot.estimate(v)
					out = append(out, scalRow{g.values, from, to, kind, e, v.Prompts, v.Excluded, v.Missing, v.Images,
						o.Vector, o.Method, s.Label("prompts", e)})
				}
			}
			return nil
		})
		return out, err
	},
})

// SCAL is the metric indictti-scal, Self-Consistency Across Languages by pair (equations 6 and 7, Figure 3), one row
// per ordered pair:
//
//	SCAL(a,b) = mean over prompts k of the mean over images u ≠ v of φ(f(i(k,a,u)), f(i(k,b,v)))
//
// Cosine in [−1, 1], higher is more similar. The column kind is SCWL for a language with itself; n_excluded counts
// prompts with too few images in a language.
func SCAL(images datasets.Table, options ...SCALOptions) datasets.Table {
	return scal.Of(images, options...)
}

var scalOverall = metrics.Define(metrics.Definition[SCALOverallOptions, scalOverallRow]{
	Name: "indictti-scal-overall", Title: "similarity of the images of one prompt over all pairs of languages",
	Version: 3, Unit: cosine, Range: "[-1, 1]; half [-0.5, 0.5]; literal: times languages − 1",
	Direction: "higher is more similar", Citation: citation + ", equation 9", Inputs: onlyImages,
	Compute: computeOverall,
})

// SCALOverall is the metric indictti-scal-overall (equation 9), one number for all languages, or for all except
// English:
//
//	SCAL = mean over languages a ≠ b of SCAL(a,b)
//
// The columns method and pairs name the variants of equations 9 and 6. The interval resamples prompts for all pairs
// together.
func SCALOverall(images datasets.Table, options ...SCALOverallOptions) datasets.Table {
	return scalOverall.Of(images, options...)
}

func computeOverall(_ context.Context, call *metrics.Call, o SCALOverallOptions) (out []scalOverallRow, err error) {
	s := selection{By: o.By, Vector: o.Vector, ImageOptions: o.ImageOptions, Intervals: o.Intervals}
	s.aligned = o.Pairs != string(MeanAll)
	names := []OverallNormalizer{OverallNormalizer(o.Method)}
	if o.Method == "all" {
		names = OverallNormalizers
	}
	err = eachGroup(call, s, func(g *group) ([][]Score, error) {
		if o.Of == "indic" {
			g.images = g.images.without(o.English)
		}
		return ComputeSCAL(g.images, PairNormalizer(o.Pairs))
	}, func(g *group, scores [][]Score) error {
		row := scalOverallRow{Group: g.values, Pairs: o.Pairs, Of: o.Of, Vector: o.Vector}
		var flat []Score
		languages := map[int]bool{}
		for a := range scores {
			row.Used, row.Missing = row.Used+scores[a][a].Images, row.Missing+scores[a][a].Missing
			for b, v := range scores[a] {
				flat = append(flat, v)
				if a != b && v.Prompts > 0 {
					languages[a], languages[b], row.Prompts = true, true, max(row.Prompts, v.Prompts)
					if a < b || scores[b][a].Prompts == 0 {
						row.NPairs++
					}
				}
			}
		}
		row.Languages = len(languages)
		for _, n := range names {
			of := func(values []float64) float64 {
				v, _ := ComputeSCALOverall(square(values, len(scores)), n) // the options allow only known names
				return v
			}
			row.Method, row.Score = string(n), metrics.Exact(of(valuesOf(flat)))
			row.Score.Low, row.Score.High = g.boot.of(row.Prompts, row.Score.Value, flat, of)
			row.Interval = s.Label("prompts", row.Score)
			out = append(out, row)
		}
		return nil
	})
	return out, err
}

// square splits values into rows of n.
func square(values []float64, n int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = values[i*n : (i+1)*n]
	}
	return out
}

// without returns the images of the other languages.
func (p Images) without(language string) Images {
	out := Images{Prompts: p.Prompts}
	for l, name := range p.Languages {
		if name != language {
			out.Languages, out.Vectors = append(out.Languages, name), append(out.Vectors, p.Vectors[l])
		}
	}
	return out
}
