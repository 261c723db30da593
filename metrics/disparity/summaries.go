package disparity

import (
	"antipode/metrics"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/prdc"
)

var (
	regionColumns  = datasets.Columns("vector:text", "precision:number", "coverage:number")
	regionInput    = []metrics.Input{{Role: "in", Columns: regionColumns, About: "scores by region"}}
	componentInput = []metrics.Input{{Role: "in", Columns: regionColumns,
		About: "scores by region of object_only and background_only"}}
)

// RegionOptions are the options of the summaries of scores by region.
type RegionOptions struct {
	Region string `json:"region,omitempty" default:"region" help:"column that names the regions"`
}

// regionSummaryRow is a row of the result of [RegionSummary].
type regionSummaryRow struct {
	Vector string `column:"vector"`
	Score  string `column:"score"`
	Aggregate
	AverageLow  float64 `column:"average_low" unit:"share" range:"[0, 1]"`
	AverageHigh float64 `column:"average_high" unit:"share" range:"[0, 1]"`
	WorstLow    float64 `column:"worst_low" unit:"share" range:"[0, 1]"`
	WorstHigh   float64 `column:"worst_high" unit:"share" range:"[0, 1]"`
}

var regionSummary = metrics.Define(metrics.Definition[RegionOptions, regionSummaryRow]{
	Name: "region-summary", Version: 2, Inputs: regionInput,
	Title:     "average, worst and best region, ratio and span of each score",
	Unit:      "share of images; ratio",
	Range:     "[0, 1]; ratio [1, ∞)",
	Direction: "higher is better; ratio and span: lower is more even",
	Citation:  "Sureddy et al. 2024 (Decomposed-DIG), section 4 and Table 1",
	Compute: func(_ context.Context, call *metrics.Call, o RegionOptions) (out []regionSummaryRow, err error) {
		for _, score := range regionScores {
			vectors, values, err := byRegion(call, "in", o.Region, score)
			if err != nil {
				return nil, err
			}
			for _, v := range vectors {
				a, err := summarize(values[v])
				if err != nil {
					return nil, fmt.Errorf("%s of %s: %w", score, v, err)
				}
				row := regionSummaryRow{Vector: v, Score: score, Aggregate: a}
				row.interval(call.Inputs["in"], o.Region)
				out = append(out, row)
			}
		}
		return out, nil
	},
})

// interval fills in the intervals, from those of the regions; NaN where the scores have none.
func (r *regionSummaryRow) interval(in *table.Frame, region string) {
	value, low, high := in.Numbers(r.Score), in.Numbers(r.Score+"_low"), in.Numbers(r.Score+"_high")
	r.AverageLow, r.AverageHigh, r.WorstLow, r.WorstHigh = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if low == nil || high == nil {
		return
	}
	var below, above float64 // sums of squares
	for i, v := range in.Texts("vector") {
		if v != r.Vector {
			continue
		}
		below += (value[i] - low[i]) * (value[i] - low[i])
		above += (high[i] - value[i]) * (high[i] - value[i])
		if in.Texts(region)[i] == r.WorstRegion {
			r.WorstLow, r.WorstHigh = low[i], high[i]
		}
	}
	n := float64(r.Regions)
	r.AverageLow, r.AverageHigh = r.Average-math.Sqrt(below)/n, r.Average+math.Sqrt(above)/n
}

// RegionSummary summarizes scores by region (section 4 of Decomposed-DIG): a row for each vector and score
// (precision, coverage), all regions with the same weight:
//
//	average = mean of the regions    worst, best = minimum, maximum; of equal regions the first by name is reported
//	ratio   = best / worst (no value where worst is 0)    span = best − worst
//	variance, sd over the n_regions regions
//
// Where the scores have intervals, so has the average: the regions' images are disjoint, so the squares of their
// intervals' halves add up. The interval of worst is that of the region with the lowest score, without a correction for
// its selection.
//
// scores is a result of [PrecisionCoverage] by one column, of one vector or several (Concat). A region that occurs
// twice or has no score is an error.
func RegionSummary(scores datasets.Table, options ...RegionOptions) datasets.Table {
	return regionSummary.Of(scores, options...)
}

// templateDeltaRow is a row of the result of [TemplateDeltas].
type templateDeltaRow struct {
	Vector       string  `column:"vector"`
	Score        string  `column:"score"`
	Of           string  `column:"of" help:"average, worst region, region that was worst, region"`
	Region       string  `column:"region"`
	Percent      string  `column:"percent" help:"delta_percent as printed"`
	Original     float64 `column:"original" unit:"share" range:"[0, 1]"`
	Changed      float64 `column:"changed" unit:"share" range:"[0, 1]"`
	Delta        float64 `column:"delta" unit:"difference of shares" range:"[-1, 1]"`
	DeltaPercent float64 `column:"delta_percent" unit:"percent"`
}

var templateDeltas = metrics.Define(metrics.Definition[RegionOptions, templateDeltaRow]{
	Name: "template-deltas", Version: 1,
	Inputs: []metrics.Input{{Role: "original", Columns: regionColumns, About: "scores of the original template"},
		{Role: "changed", Columns: regionColumns, About: "scores of the new template"}},
	Title:     "change of average and worst region between two templates or models",
	Unit:      "difference of shares; percent",
	Range:     "[-1, 1]; (-∞, ∞)",
	Direction: "positive is better",
	Citation:  "Sureddy et al. 2024 (Decomposed-DIG), section 4 and Table 1",
	Compute:   computeDeltas,
})

// TemplateDeltas compares the scores of two templates or models (Table 1 of Decomposed-DIG), for each vector and
// score: of the average, of the worst region, of the region that was worst before, and of every region:
//
//	delta = changed − original    delta_percent = 100 · delta / original (no value where original is 0)
//
// The worst regions of the two may differ, as in the paper's "+52 %"; the column region names them. Both tables must
// have the same regions.
func TemplateDeltas(original, changed datasets.Table, options ...RegionOptions) datasets.Table {
	return templateDeltas.Table(map[string]datasets.Table{"original": original, "changed": changed}, options...)
}

// disparityRatioRow is a row of the result of [DisparityRatios].
type disparityRatioRow struct {
	Name       string  `column:"name"`
	Formula    string  `column:"formula"`
	Ratio      float64 `column:"ratio" unit:"background / object" range:"[0, ∞)"`
	Background float64 `column:"background"`
	Object     float64 `column:"object"`
}

var disparityRatios = metrics.Define(metrics.Definition[RegionOptions, disparityRatioRow]{
	Name: "disparity-ratios", Version: 1, Inputs: componentInput,
	Title: "disparity of backgrounds over that of objects, by each formula the paper may mean",
	Unit:  "ratio", Range: "[0, ∞)", Direction: "above 1: backgrounds differ more",
	Citation: "Sureddy et al. 2024 (Decomposed-DIG), introduction and section 4.2",
	Compute: func(_ context.Context, call *metrics.Call, o RegionOptions) (out []disparityRatioRow, err error) {
		d, err := decomposed(call, "in", o.Region)
		if err != nil {
			return nil, err
		}
		out, err = candidates(d)
		return out, bothVectors(err)
	},
})

// DisparityRatios returns numbers for "backgrounds carry larger regional disparities" (introduction and section 4.2
// of Decomposed-DIG). The paper's 1.7× has no definition; these are the candidates, each ratio = background /
// object with both numbers:
//
//	ratio-of-ratios, coverage   (best / worst of backgrounds) / (best / worst of objects): as the paper's 2×, 1.2×
//	span ratio, coverage        (best − worst) / (best − worst)
//	span ratio, precision       the same of precision: the paper's "about 1.5×"
//
// scores holds the regions' scores of object_only and of background_only (Concat).
func DisparityRatios(scores datasets.Table, options ...RegionOptions) datasets.Table {
	return disparityRatios.Of(scores, options...)
}

// tagShareRow is a row of the result of [TagShares].
type tagShareRow = prdc.TagShare

var tagShares = metrics.Define(metrics.Definition[struct{}, tagShareRow]{
	Name: "tag-shares", Version: 2,
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("id:text"), About: "the images"},
		{Role: "tags", Columns: datasets.Columns("id:text", "tag:text"), About: "a row for each tag of an image, " +
			"which the column image_id names if there is one, else id"}},
	Title: "share of inspected images that have each manual tag",
	Unit:  "share of inspected images", Range: "[0, 1]", Direction: "none",
	Citation: "Sureddy et al. 2024 (Decomposed-DIG), section 4.3",
	Compute:  computeTagShares,
})

// TagShares counts manual tags (section 4.3 of Decomposed-DIG): for each tag the share of the inspected images that
// have it. tags has a row for each tag, with the columns tag and image_id, or id where there is no image_id; an empty
// tag means that the image was inspected and has none. Ids in a file are unique: a file with several tags of an image
// needs image_id. Images without a row in tags count as not inspected, and a note gives their number.
func TagShares(images, tags datasets.Table) datasets.Table {
	return tagShares.Table(map[string]datasets.Table{"in": images, "tags": tags})
}

// objectMeanRow is a row of the result of [ObjectMeans].
type objectMeanRow struct {
	Object    string  `column:"object"`
	Vector    string  `column:"vector"`
	Missing   string  `column:"missing" help:"regions without a score"`
	Precision float64 `column:"precision" unit:"share" range:"[0, 1]"`
	Coverage  float64 `column:"coverage" unit:"share" range:"[0, 1]"`
	Regions   int     `column:"n_regions"`
}

var objectMeans = metrics.Define(metrics.Definition[RegionOptions, objectMeanRow]{
	Name: "object-means", Version: 2, // 1 had the mean of coverage over regions without precision, too
	Inputs: []metrics.Input{{Role: "in", About: "scores by object and region",
		Columns: append(slices.Clone(regionColumns), table.ColumnSpec{Name: "object", Kind: table.KindText})}},
	Title: "mean over regions of each object's score",
	Unit:  "share of images", Range: "[0, 1]", Direction: "higher is better",
	Citation: "Sureddy et al. 2024 (Decomposed-DIG), Figures 10 and 11",
	Compute:  computeObjectMeans,
})

// ObjectMeans summarizes scores by object and region: for each object the unweighted mean over the regions that
// have both scores (the definition "per region" of Figures 10 and 11 of Decomposed-DIG). A region without generated
// images has no precision; its coverage, 0, does not count either, so that both means are over the same regions. The
// other definition, one manifold for all regions, is [PrecisionCoverage] by object alone.
func ObjectMeans(scores datasets.Table, options ...RegionOptions) datasets.Table {
	return objectMeans.Of(scores, options...)
}

// byRegion returns a score's values by region, for each vector in order of appearance.
func byRegion(call *metrics.Call, role, region, score string) (vectors []string, values map[string][]regionScore,
	err error) {
	in := tabular.Read(call, role)
	names, numbers, groups := in.Texts(region), in.Numbers(score), in.Groups([]string{"vector"})
	values = map[string][]regionScore{}
	for _, g := range groups {
		vectors = append(vectors, g.By[0])
		for _, i := range g.Rows {
			if in.Err == nil {
				values[g.By[0]] = append(values[g.By[0]], regionScore{Region: names[i], Value: numbers[i]})
			}
		}
	}
	return vectors, values, in.Err
}

func computeDeltas(_ context.Context, call *metrics.Call, o RegionOptions) (out []templateDeltaRow, err error) {
	for _, score := range regionScores {
		vectors, original, err := byRegion(call, "original", o.Region, score)
		if err != nil {
			return nil, err
		}
		_, changed, err := byRegion(call, "changed", o.Region, score)
		if err != nil {
			return nil, err
		}
		for _, v := range vectors {
			rows, err := compareTemplates(original[v], changed[v])
			if err != nil {
				return nil, fmt.Errorf("%s of %s: %w", score, v, err)
			}
			for _, row := range rows {
				row.Vector, row.Score = v, score
				out = append(out, row)
			}
		}
	}
	return out, nil
}

func computeObjectMeans(_ context.Context, call *metrics.Call, o RegionOptions) (out []objectMeanRow, err error) {
	in := tabular.Read(call, "in")
	names, groups := in.Texts(o.Region), in.Groups([]string{"vector"})
	if in.Err != nil {
		return nil, in.Err
	}
	objects, precision, coverage := in.Frame.Texts("object"), in.Frame.Numbers("precision"),
		in.Frame.Numbers("coverage")
	for _, g := range groups {
		slices.SortFunc(g.Rows, func(a, b int) int {
			return cmp.Or(cmp.Compare(objects[a], objects[b]), cmp.Compare(names[a], names[b]))
		})
		first := len(out)
		for k, i := range g.Rows {
			if len(out) == first || out[len(out)-1].Object != objects[i] {
				out = append(out, objectMeanRow{Object: objects[i], Vector: g.By[0]})
			} else if before := g.Rows[k-1]; names[before] == names[i] {
				return nil, tabular.BadRow(in.Frame, i, o.Region, "%q has two scores of %s", names[i], objects[i])
			}
			m := &out[len(out)-1]
			switch {
			case !math.IsNaN(precision[i]) && !math.IsNaN(coverage[i]):
				m.Precision, m.Coverage, m.Regions = m.Precision+precision[i], m.Coverage+coverage[i], m.Regions+1
			case m.Missing == "":
				m.Missing = names[i]
			default:
				m.Missing += ", " + names[i]
			}
		}
		for i := range out[first:] {
			m := &out[first+i]
			m.Precision, m.Coverage = m.Precision/float64(m.Regions), m.Coverage/float64(m.Regions)
		}
	}
	return out, nil
}

func computeTagShares(_ context.Context, call *metrics.Call, _ struct{}) (out []tagShareRow, err error) {
	tags := prdc.Tags{}
	f := call.Inputs["tags"]
	ids := f.Texts("image_id")
	if ids == nil {
		ids = f.Texts("id")
	}
	for i, id := range ids {
		if tag := f.Texts("tag")[i]; tag != "" {
			tags[id] = append(tags[id], tag)
		} else if tags[id] == nil {
			tags[id] = []string{}
		}
	}
	images := labels(call.Inputs["in"], tabular.Read(call, "in").Groups(nil)[0].Rows)
	shares, missing := tags.Shares(images)
	if missing > 0 {
		call.Notef("%d images have no row among the tags: they count as not inspected", missing)
	}
	for _, image := range images {
		delete(tags, image.ID)
	}
	if len(tags) > 0 {
		call.Notef("%d tagged images are not in the table of images", len(tags))
	}
	return shares, nil
}
