package representation

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/metrics"
)

// DiversityOptions are the options of [Diversity].
type DiversityOptions struct {
	Labeling
	MinUsed int    `json:"min_used" default:"10" none:"-1" min:"0" help:"a score of fewer usable images has a warning"`
	Cluster string `json:"cluster" default:"image" values:"image,prompt" help:"what the bootstrap resamples as a whole"`
	metrics.Intervals
}

// Diversity is the metric entigen-diversity (Bansal et al., EMNLP 2022, equation 1; Tables 1, 2, 6): one row for
// each category, prompt, axis and model.
//
//	DS = Σ_k |a_k − b_k| / Σ_k (a_k + b_k)    over the category's attributes k, in [0, 1]; lower is more diverse
//
// No value where no image is usable. change is DS minus that of the original prompt. n_group_a is Σ a_k, n_group_b is
// Σ b_k, n_used their sum, n_asked all images; no_usable_image lists attributes without one, warning marks few images.
func Diversity(ratings datasets.Table, options ...DiversityOptions) datasets.Table {
	return diversity.Of(ratings, options...)
}

type diversityRow struct {
	cellRow
	Diversity  metrics.Estimate `column:"diversity" unit:"share" range:"[0, 1]"`
	Change     float64          `column:"change" unit:"difference of shares" range:"[-1, 1]" help:"from the original prompt"`
	A          int              `column:"n_group_a" unit:"images"`
	B          int              `column:"n_group_b" unit:"images"`
	Asked      int              `column:"n_asked" unit:"images"`
	Used       int              `column:"n_used" unit:"images"`
	Attributes int              `column:"n_attributes" unit:"attributes"`
	Empty      string           `column:"no_usable_image" help:"attributes without a usable image"`
	Warning    string           `column:"warning"`
	Rule       string           `column:"rule"`
	Interval   string           `column:"interval"`
	noted
}

var diversity = score(4, metrics.Definition[DiversityOptions, diversityRow]{
	Name: "entigen-diversity", Title: "how unevenly images fall into two perceived groups, over a " +
		"category's attributes",
	Unit: "share", Range: "[0, 1]", Direction: "lower is more diverse", Citation: "equation 1, Tables 1, 2, 6",
	Inputs: []metrics.Input{ratingsIn},
	Compute: func(_ context.Context, call *metrics.Call, o DiversityOptions) ([]diversityRow, error) {
		all, err := cells(call, "in", o.Labeling)
		original := map[key]float64{}
		for _, c := range all {
			if c.prompt == data.Original {
				original[c.key] = ComputeDiversity(c.counts).Value
			}
		}
		var out []diversityRow
		for _, c := range all {
			d := ComputeDiversity(c.counts)
			before, known := original[c.original()]
			if !known {
				before = math.NaN()
			}
			score, err := Bootstrap(c.counts, diversityValue, Resampling{o.Intervals, c.String(), o.Cluster, 1})
			if err != nil {
				return nil, err
			}
			out = append(out, diversityRow{cellRow: c.row(), Diversity: score,
				Change: d.Value - before, A: d.First, B: d.Second, Asked: d.Asked, Used: d.Usable,
				Attributes: len(c.counts), Empty: strings.Join(d.Empty, ", "), Warning: warning(d.Usable, o.MinUsed),
				Rule: o.Rule, Interval: intervals(o.Intervals, o.Cluster)})
		}
		return out, err
	},
})

func diversityValue(n []Counts) float64 { return ComputeDiversity(n).Value }

// BiasOptions are the options of [Bias].
type BiasOptions struct {
	Labeling
	MinUsed int     `json:"min_used" default:"10" none:"-1" min:"0" help:"a score of fewer usable images has a warning"`
	Level   float64 `json:"level" default:"0.95" min:">0" max:"<1" help:"confidence level of the intervals"`
}

// Bias is the metric entigen-bias (Bansal et al., EMNLP 2022, equation 2; Figure 3): one row for each attribute,
// prompt, axis and model.
//
//	bias = (a_k − b_k) / (a_k + b_k)    in [-1, 1]; above 0: more images of the axis's first group
//
// The first group is man, light-skinned or Western on the paper's axes, and the first one named in the option Axes. No
// value where no image is usable. change compares it with the original prompt's, see [Change]; the interval is
// [BiasInterval].
func Bias(ratings datasets.Table, options ...BiasOptions) datasets.Table {
	return bias.Of(ratings, options...)
}

type biasRow struct {
	cellRow
	Attribute string           `column:"attribute"`
	Bias      metrics.Estimate `column:"bias" unit:"difference of shares" range:"[-1, 1]"`
	Change    string           `column:"change" help:"from the original prompt"`
	A         int              `column:"n_group_a" unit:"images"`
	B         int              `column:"n_group_b" unit:"images"`
	Asked     int              `column:"n_asked" unit:"images"`
	Used      int              `column:"n_used" unit:"images"`
	Warning   string           `column:"warning"`
	Rule      string           `column:"rule"`
	Interval  string           `column:"interval"`
	noted
}

var bias = score(3, metrics.Definition[BiasOptions, biasRow]{
	Name: "entigen-bias", Title: "which of two perceived groups the images of an attribute lean to",
	Unit: "difference of shares", Range: "[-1, 1]", Direction: "positive: man, light-skinned, Western",
	DirectionOf: positiveGroups, Citation: "equation 2, Figure 3", Inputs: []metrics.Input{ratingsIn},
	Compute: func(_ context.Context, call *metrics.Call, o BiasOptions) ([]biasRow, error) {
		all, err := cells(call, "in", o.Labeling)
		type at struct {
			key
			attribute string
		}
		original := map[at]float64{}
		for _, c := range all {
			for _, n := range c.counts {
				if c.prompt == data.Original {
					original[at{c.key, n.Attribute}] = ComputeBias(n)
				}
			}
		}
		var out []biasRow
		for _, c := range all {
			for _, n := range c.counts {
				before, known := original[at{c.original(), n.Attribute}]
				if !known {
					before = math.NaN()
				}
				change := Change(before, ComputeBias(n))
				if c.prompt == data.Original {
					change = data.Original
				}
				out = append(out, biasRow{cellRow: c.row(), Attribute: n.Attribute, Bias: BiasInterval(n, o.Level),
					Change: change, A: n.First, B: n.Second, Asked: n.Usable() + n.Uncertain, Used: n.Usable(),
					Warning: warning(n.Usable(), o.MinUsed), Rule: o.Rule,
					Interval: fmt.Sprintf("%.4g %% Wilson interval", 100*o.Level)})
			}
		}
		return out, err
	},
})

// positiveGroups names the groups of positive bias on the axes that were added; "" = none was.
func positiveGroups(o BiasOptions) string {
	axes, err := Labeling{Axes: o.Axes}.axes()
	if err != nil || len(axes) == len(axisColumns) {
		return ""
	}
	var groups []string
	for _, a := range axes[len(axisColumns):] {
		groups = append(groups, a.groups[0]+" ("+a.axis+")")
	}
	return "positive: " + strings.Join(groups, ", ")
}

// QualityOptions are the options of [Quality].
type QualityOptions struct {
	Labeling
	Cluster string `json:"cluster" default:"image" values:"image,prompt" help:"what the bootstrap resamples as a whole"`
	metrics.Intervals
}

// Quality is the metric entigen-quality (Bansal et al., EMNLP 2022, Table 3): good images per attribute, for each
// category, prompt and model, in [0, images of an attribute]; higher is better. Good means with a group by the rule,
// n_used / n_attributes, which reproduces the paper's numbers with [Strict], or a person and as described by the
// majority, n_as_described / n_attributes. The axis is perceived gender, for weddings perceived culture; for a prompt
// without labels on these, the first of the option Axes, and perceived skin colour if there is no other.
func Quality(ratings datasets.Table, options ...QualityOptions) datasets.Table {
	return quality.Of(ratings, options...)
}

type qualityRow struct {
	Category   string           `column:"category"`
	Prompt     string           `column:"prompt_id"`
	Kind       string           `column:"kind"`
	Model      string           `column:"model"`
	Usable     metrics.Estimate `column:"quality_usable" unit:"images per attribute"`
	Described  metrics.Estimate `column:"quality_as_described" unit:"images per attribute"`
	Asked      int              `column:"n_asked" unit:"images"`
	Used       int              `column:"n_used" unit:"images"`
	NDescribed int              `column:"n_as_described" unit:"images"`
	Attributes int              `column:"n_attributes" unit:"attributes"`
	Rule       string           `column:"rule"`
	Interval   string           `column:"interval"`
	noted
}

var quality = score(5, metrics.Definition[QualityOptions, qualityRow]{
	Name: "entigen-quality", Title: "good images per attribute, by two definitions of good", Unit: "images",
	Range: "[0, images per attribute]", Direction: "higher is better", Citation: "Table 3",
	Inputs: []metrics.Input{ratingsIn},
	Compute: func(_ context.Context, call *metrics.Call, o QualityOptions) ([]qualityRow, error) {
		all, err := cells(call, "in", o.Labeling)
		var out []qualityRow
		best := map[key]*cell{} // by prompt
		for _, c := range all { // cells of the paper's axes come first
			if b := best[c.ofPrompt()]; b == nil || c.later() < b.later() {
				best[c.ofPrompt()] = c
			}
		}
		for _, c := range all {
			if best[c.ofPrompt()] != c {
				continue
			}
			d := ComputeDiversity(c.counts)
			r := Resampling{o.Intervals, c.String(), o.Cluster, 0}
			usable, err1 := Bootstrap(c.counts, perAttribute, r)
			described, err2 := Bootstrap(c.described, perAttribute, r)
			if err := cmp.Or(err1, err2); err != nil {
				return nil, err
			}
			out = append(out, qualityRow{Category: c.category, Prompt: c.prompt, Kind: c.kind, Model: c.model,
				Usable: usable, Described: described,
				Asked: d.Asked, Used: d.Usable, NDescribed: ComputeDiversity(c.described).Usable,
				Attributes: len(c.counts), Rule: o.Rule, Interval: intervals(o.Intervals, o.Cluster)})
		}
		return out, err
	},
})

// ofPrompt returns the key without the axis.
func (k key) ofPrompt() key {
	k.axis = ""
	return k
}

// later says which of a prompt's axes tells whether its images are good: the lowest.
func (k key) later() int {
	switch {
	case k.axis == data.PerceivedSkin:
		return 1
	case k.axis == data.PerceivedScene && k.category == data.Culture:
		return -1
	}
	return 0
}

// perAttribute returns the number of usable images per attribute.
func perAttribute(counts []Counts) float64 {
	return float64(ComputeDiversity(counts).Usable) / float64(len(counts))
}
