package metrics

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics/hypersphere"
	"antipode/metrics/regions"
)

// missing is "no value" in a number column.
var missing = math.NaN()

// RegionSummary is the metric region-summary (section 4 of Decomposed-DIG): a row for each vector and score (precision, coverage) with the regions taken together, each weighing the same:
//
//	average = mean of the regions    worst, best = minimum, maximum (worst_region, best_region; of equals the first by name)
//	ratio   = best / worst (no value where worst is 0)    span = best − worst    variance, sd over the n_regions regions
//
// scores is what [PrecisionCoverage] gave, of one vector or several (Concat), by one column; the option region names it. A region that occurs twice, or has no score, is an error.
func RegionSummary(scores datasets.Table, settings ...Setting) datasets.Table {
	return Score(newArgs("region-summary", settings), map[string]datasets.Table{"in": scores})
}

// TemplateDeltas is the metric template-deltas (Table 1 of Decomposed-DIG): the scores of two templates or models, for each vector and score of the average, of the worst region, of the region that was
// worst before, and of every region:
//
//	delta = changed − original    delta_percent = 100 · delta / original (no value where original is 0)    percent: the same without decimals, as printed
//
// The worst regions of the two may differ, as in the paper's "+52 %"; region names them. Both tables must have the same regions.
func TemplateDeltas(original, changed datasets.Table, settings ...Setting) datasets.Table {
	return Score(newArgs("template-deltas", settings), map[string]datasets.Table{"original": original, "changed": changed})
}

// DisparityRatios is the metric disparity-ratios: numbers for "backgrounds carry larger regional disparities" (introduction and section 4.2 of Decomposed-DIG), the candidates for its undefined 1.7×
// side by side, each ratio = background / object with both numbers:
//
//	ratio-of-ratios, coverage   (best / worst of backgrounds) / (best / worst of objects): the one that fits the paper's 2× and 1.2×
//	span ratio, coverage        (best − worst) / (best − worst)
//	span ratio, precision       the same of precision; the paper's "about 1.5×"
//
// scores holds the regions' scores of object_only and of background_only (Concat).
func DisparityRatios(scores datasets.Table, settings ...Setting) datasets.Table {
	return Score(newArgs("disparity-ratios", settings), map[string]datasets.Table{"in": scores})
}

// TagShares is the metric tag-shares (hand counts of section 4.3 of Decomposed-DIG): for each tag the share of the images looked at that carry it, in [0, 1], with n_tagged and n_looked_at. tags has the
// columns id and tag, a row for each tag; an empty tag = looked at, none given. Images of table without an entry count as not looked at, and a note says how many.
func TagShares(table, tags datasets.Table, settings ...Setting) datasets.Table {
	return Score(newArgs("tag-shares", settings), map[string]datasets.Table{"in": table, "tags": tags})
}

// ObjectMeans is the metric object-means: scores by object and region taken together by object, the unweighted mean over the n_regions regions that have a score (definition "per region" of Figures 10
// and 11 of Decomposed-DIG; missing names the others). The other definition, one manifold for all regions, is [PrecisionCoverage] by object alone.
func ObjectMeans(scores datasets.Table, settings ...Setting) datasets.Table {
	return Score(newArgs("object-means", settings), map[string]datasets.Table{"in": scores})
}

func init() {
	scores := datasets.Columns("vector:text", "precision:number", "coverage:number")
	region := Option{Name: "region", Default: "region", About: "the column that names the regions"}
	citation := "Sureddy et al. 2024 (Decomposed-DIG), section 4 and Table 1"
	Register(Metric{
		Info:    Info{Name: "region-summary", Title: "average, worst and best region, ratio and span of each score", Unit: "share of images; ratio", Range: "[0, 1]; ratio [1, ∞)", Direction: "higher is better; ratio and span: lower is more even", Citation: citation},
		Version: 1, Inputs: []Input{{Role: "in", Columns: scores, About: "scores by region"}}, Options: []Option{region}, Compute: computeSummary,
		Columns: func(Args) []client.ColumnSpec {
			return datasets.Columns("vector:text", "score:text", "worst_region:text", "best_region:text", "average:number", "worst:number", "best:number", "ratio:number", "span:number", "variance:number", "sd:number", "n_regions:number")
		},
	})
	Register(Metric{
		Info:    Info{Name: "template-deltas", Title: "change of average and worst region between two templates or models", Unit: "difference of shares; percent", Range: "[-1, 1]; (-∞, ∞)", Direction: "positive is better", Citation: citation},
		Version: 1, Inputs: []Input{{Role: "original", Columns: scores, About: "scores of the original template"}, {Role: "changed", Columns: scores, About: "scores of the new template"}},
		Options: []Option{region}, Compute: computeDeltas,
	})
	Register(Metric{
		Info:    Info{Name: "disparity-ratios", Title: "background over object disparity, by each formula that could be meant", Unit: "ratio", Range: "[0, ∞)", Direction: "above 1: backgrounds differ more", Citation: "Sureddy et al. 2024 (Decomposed-DIG), introduction and section 4.2"},
		Version: 1, Inputs: []Input{{Role: "in", Columns: scores, About: "scores by region of object_only and background_only"}}, Options: []Option{region}, Compute: computeRatios,
	})
	Register(Metric{
		Info:    Info{Name: "object-means", Title: "mean over regions of each object's score", Unit: "share of images", Range: "[0, 1]", Direction: "higher is better", Citation: "Sureddy et al. 2024 (Decomposed-DIG), Figures 10 and 11"},
		Version: 1, Inputs: []Input{{Role: "in", Columns: append(slices.Clone(scores), client.ColumnSpec{Name: "object", Kind: client.Text}), About: "scores by object and region"}},
		Options: []Option{region}, Compute: computeObjectMeans,
	})
	Register(Metric{
		Info:    Info{Name: "tag-shares", Title: "how often hand tags were given", Unit: "share of images looked at", Range: "[0, 1]", Direction: "none", Citation: "Sureddy et al. 2024 (Decomposed-DIG), section 4.3"},
		Version: 1, Inputs: []Input{{Role: "in", Columns: datasets.Columns("id:text"), About: "the images"}, {Role: "tags", Columns: datasets.Columns("id:text", "tag:text"), About: "id and tag, a row for each tag"}},
		Compute: computeTagShares,
	})
}

// byRegion are a score's values by region, for each vector in order of appearance.
func byRegion(f *client.Frame, region, score string) (vectors []string, values map[string][]regions.Value, err error) {
	names, err := f.Need(region, client.Text)
	if err != nil {
		return nil, nil, err
	}
	numbers, err := f.Need(score, client.Number)
	if err != nil {
		return nil, nil, err
	}
	values = map[string][]regions.Value{}
	for i, vector := range f.Texts("vector") {
		if _, known := values[vector]; !known {
			vectors = append(vectors, vector)
		}
		values[vector] = append(values[vector], regions.Value{Region: names.Texts[i], Value: numbers.Numbers[i]})
	}
	return vectors, values, nil
}

var regionScores = []string{"precision", "coverage"}

func computeSummary(_ context.Context, call Call) (*client.Frame, error) {
	out := newRows([]string{"vector", "score", "worst_region", "best_region"})
	for _, score := range regionScores {
		vectors, values, err := byRegion(call.Inputs["in"], call.Options["region"], score)
		if err != nil {
			return nil, err
		}
		for _, v := range vectors {
			a, err := regions.Summarise(values[v])
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", score, v, err)
			}
			out.text(v, score, a.WorstRegion, a.BestRegion)
			for _, n := range []struct {
				name  string
				value float64
			}{{"average", a.Average}, {"worst", a.Worst}, {"best", a.Best}, {"ratio", a.Ratio}, {"span", a.Span}, {"variance", a.Variance}, {"sd", a.SD}, {"n_regions", float64(a.Regions)}} {
				out.number(n.name, n.value)
			}
		}
	}
	return out.frame(), nil
}

func computeDeltas(_ context.Context, call Call) (*client.Frame, error) {
	out := newRows([]string{"vector", "score", "of", "region", "percent"})
	for _, score := range regionScores {
		vectors, original, err := byRegion(call.Inputs["original"], call.Options["region"], score)
		if err != nil {
			return nil, err
		}
		_, changed, err := byRegion(call.Inputs["changed"], call.Options["region"], score)
		if err != nil {
			return nil, err
		}
		for _, v := range vectors {
			c, err := regions.Compare(original[v], changed[v])
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", score, v, err)
			}
			worst := c.OrigWorst
			if c.NewWorst != worst {
				worst += ", then " + c.NewWorst
			}
			row := func(of, region string, d regions.Delta) {
				out.text(v, score, of, region, d.PercentText())
				out.number("original", d.Orig)
				out.number("changed", d.New)
				out.number("delta", d.Delta)
				out.number("delta_percent", d.Percent)
			}
			row("average", "", c.Average)
			row("worst region", worst, c.Worst)
			row("region that was worst", c.OrigWorst, c.SameRegion)
			for _, r := range c.Regions {
				row("region", r.Region, r.Delta)
			}
		}
	}
	return out.frame(), nil
}

func computeRatios(_ context.Context, call Call) (*client.Frame, error) {
	d, err := decomposed(call.Inputs["in"], call.Options["region"])
	if err != nil {
		return nil, err
	}
	candidates, err := regions.Candidates(d)
	if err != nil {
		return nil, bothVectors(err)
	}
	out := newRows([]string{"name", "formula"})
	for _, c := range candidates {
		out.text(c.Name, c.Formula)
		out.number("ratio", c.Value)
		out.number("background", c.Background)
		out.number("object", c.Object)
	}
	return out.frame(), nil
}

func computeObjectMeans(_ context.Context, call Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	names, err := f.Need(call.Options["region"], client.Text)
	if err != nil {
		return nil, err
	}
	vectors := map[string]bool{}
	out := newRows([]string{"object", "vector", "missing"})
	for _, vector := range f.Texts("vector") {
		if vectors[vector] {
			continue
		}
		vectors[vector] = true
		means := map[string][]regions.ObjectMean{}
		for _, score := range regionScores {
			var values []regions.ObjectValue
			for i, v := range f.Texts("vector") {
				if v == vector {
					values = append(values, regions.ObjectValue{Object: f.Texts("object")[i], Region: names.Texts[i], Value: f.Numbers(score)[i]})
				}
			}
			means[score] = regions.ObjectMeans(values)
		}
		for i, m := range means["precision"] {
			out.text(m.Object, vector, strings.Join(m.Missing, ", "))
			out.number("precision", m.Mean)
			out.number("coverage", means["coverage"][i].Mean)
			out.number("n_regions", float64(len(m.Regions)))
		}
	}
	return out.frame(), nil
}

func computeTagShares(_ context.Context, call Call) (*client.Frame, error) {
	tags := hypersphere.Tags{}
	f := call.Inputs["tags"]
	for i, id := range f.Texts("id") {
		if tag := f.Texts("tag")[i]; tag != "" {
			tags[id] = append(tags[id], tag)
		} else if tags[id] == nil {
			tags[id] = []string{}
		}
	}
	in := call.Inputs["in"]
	all := side{}
	for i := range in.Len() {
		all.rows = append(all.rows, i)
	}
	shares, notSeen := tags.Shares(labels(in, all))
	if notSeen > 0 {
		call.note("%d images have no entry among the tags: they count as not looked at", notSeen)
	}
	out := newRows([]string{"tag"})
	for _, s := range shares {
		out.text(s.Tag)
		out.number("share", s.Share)
		out.number("n_tagged", float64(s.N))
		out.number("n_looked_at", float64(s.Of))
	}
	return out.frame(), nil
}
