package entigen

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

const level = 0.95

func init() {
	in := metrics.Input{Role: "in", About: "one row for each rater and picture, as datasets/entigen gives them; also perceived_gender, perceived_skin_colour, perceived_culture as far as they were asked"}
	for _, n := range []string{"model", "category", "prompt_id", "attribute", "picture"} {
		in.Columns = append(in.Columns, client.ColumnSpec{Name: n, Kind: client.Text})
	}
	in.Columns = append(in.Columns, client.ColumnSpec{Name: "person", Kind: client.Number}, client.ColumnSpec{Name: "as_described", Kind: client.Number})
	base := []metrics.Option{
		{Name: "rule", Default: string(Strict), About: "how three raters' votes become a picture's label", Values: Rules},
		{Name: "prompts", Default: "reported", About: "prompts that the paper has rows for and others with a hyphen in their id, or all", Values: []string{"reported", "all"}},
		{Name: "axes", About: "further axes, as COLUMN=GROUP/GROUP, …: perceived_age=young/old"},
	}
	draws := metrics.Option{Name: "draws", Default: "1000", About: "bootstrap draws; 0 = no intervals"}
	cluster := metrics.Option{Name: "cluster", Default: string(ByPicture), About: "draws take pictures within attributes, or whole prompts (attributes) with their pictures", Values: []string{string(ByPicture), string(ByPrompt)}}
	few := metrics.Option{Name: "min_used", Default: "10", About: "usable pictures under which a score carries a warning"}
	table := metrics.Option{Name: "table", Default: "all", About: "of the paper", Values: []string{"all", "1", "2", "3", "6"}}
	one := []metrics.Option{{Name: "table", Default: "1", About: "of the paper", Values: []string{"1", "2", "3", "6"}},
		{Name: "judges", Default: "human", About: "people's ratings alone, or also the columns by CLIP, from the table clip", Values: []string{"human", "both"}},
		{Name: "decimals", Default: "2", About: "of the values"},
		{Name: "rounding", Default: "round", About: "values are rounded, or cut, to their decimals; the paper does both", Values: []string{"round", "cut"}}}
	clip := metrics.Input{Role: "clip", Optional: true, Columns: in.Columns[:5], About: "labels by CLIP, as entigen-clip-labels gives them; only with judges=both"}
	register := func(m metrics.Metric, source string, options ...metrics.Option) {
		if m.Options = append(slices.Clone(base), options...); m.Inputs == nil {
			m.Inputs = []metrics.Input{in}
		}
		m.Version, m.Citation = 2, citation+source
		metrics.Register(m)
	}
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-diversity", Title: "how unevenly pictures fall into two perceived groups, over a category's attributes", Unit: "share", Range: "[0, 1]", Direction: "lower is more diverse"},
		Columns: fixed("=category", "=prompt_id", "=kind", "=axis", "=model", "diversity", "diversity_low", "diversity_high", "change", "n_group_a", "n_group_b", "n_asked", "n_used", "n_attributes", "=no_usable_picture", "=warning", "=rule", "=interval"),
		Compute: diversity}, "equation 1, Tables 1, 2, 6", draws, cluster, few)
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-bias", Title: "which of two perceived groups an attribute's pictures lean to", Unit: "difference of shares", Range: "[-1, 1]", Direction: "positive: man, light-skinned, Western"},
		Columns: fixed("=category", "=prompt_id", "=kind", "=axis", "=model", "=attribute", "bias", "bias_low", "bias_high", "=change", "n_group_a", "n_group_b", "n_asked", "n_used", "=warning", "=rule", "=interval"),
		Compute: bias}, "equation 2, Figure 3", few)
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-quality", Title: "good pictures per attribute, by two readings of good", Unit: "pictures", Range: "[0, pictures per attribute]", Direction: "higher is better"},
		Columns: fixed("=category", "=prompt_id", "=kind", "=model", "quality_usable", "quality_usable_low", "quality_usable_high", "quality_as_described", "quality_as_described_low", "quality_as_described_high",
			"n_asked", "n_used", "n_as_described", "n_attributes", "=rule", "=interval"),
		Compute: quality}, "Table 3", draws, cluster)
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-cells", Title: "every human value of the paper's tables beside the same from the ratings", Unit: "share; pictures in Table 3", Range: "[0, 1]; [0, 9]", Direction: "none"},
		Columns: fixed("table", "=category", "=prompt_id", "=axis", "=model", "=printed", "value", "n_used", "equal", "=feasible", "=rule"),
		Compute: paperCells}, "Tables 1, 2, 3, 6", table)
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-table", Title: "a table of the paper in its own layout, from the ratings; printed values in brackets where they differ", Unit: "share; pictures in Table 3", Range: "[0, 1]; [0, 9]", Direction: "none"},
		Inputs: []metrics.Input{in, clip}, Columns: layoutColumns, Compute: layout}, "Tables 1, 2, 3, 6", one...)
	register(metrics.Metric{Info: metrics.Info{Name: "entigen-interventions", Title: "each added sentence against the original prompt, on its own axis and on the others", Unit: "difference of shares", Range: "[-1, 1]", Direction: "below 0: more diverse"},
		Columns: fixed("=category", "=prompt_id", "=kind", "=axis", "=model", "=relation", "diversity_original", "diversity", "change", "change_low", "change_high", "=improves",
			"n_reduced", "n_flipped", "n_increased", "n_unchanged", "n_not_available", "=flipped", "n_used_original", "n_used", "n_asked", "=warning", "=rule", "=interval"),
		Compute: interventions}, "Tables 1, 2, 6", draws, few)
	other(metrics.Metric{Info: metrics.Info{Name: "entigen-controls", Title: "cells whose diversity score a sentence lowers, beside irrelevant sentences as a control", Unit: "share of cells", Range: "[0, 1]", Direction: "none"},
		Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("category:text", "prompt_id:text", "kind:text", "axis:text", "model:text", "diversity:number"),
			About: "one row for each cell, as entigen-diversity or the printed tables give them; also judge"}},
		Columns: fixed("=judge", "=category", "=axis", "=relation", "share_improved", "n_improved", "n_equal", "n_worse", "n_used", "n_not_available"), Compute: controls}, "Tables 1, 2, 6")
	ratings := in
	ratings.Role = "ratings"
	labels := metrics.Input{Role: "in", Columns: in.Columns, About: "one row for each picture, as entigen-clip-labels gives them"}
	axis := metrics.Option{Name: "axis", Default: data.PerceivedGender, About: "which labels are compared", Values: []string{data.PerceivedGender, data.PerceivedSkin}}
	other(metrics.Metric{Info: metrics.Info{Name: "entigen-clip-agreement", Title: "how far perceived groups by CLIP are those by people, by two definitions", Unit: "share of pictures; kappa", Range: "[0, 1]; kappa at most 1", Direction: "higher is better"},
		Inputs: []metrics.Input{labels, ratings}, Columns: fixed("=definition", "=scope", "=model", "=attribute", "agreement", "agreement_low", "agreement_high", "kappa", "kappa_low", "kappa_high",
			"n_agree", "n_used", "n_asked", "n_without_clip", "=axis", "=rule", "=interval"), Compute: clipAgreement}, "evaluation of CLIP against people", base[0], axis, draws)
	other(metrics.Metric{Info: metrics.Info{Name: "entigen-clip-confusion", Title: "perceived groups by people against those by CLIP, counted", Unit: "pictures", Range: "[0, ∞)", Direction: "none"},
		Inputs: []metrics.Input{labels, ratings}, Columns: fixed("=scope", "=model", "=attribute", "=human", "=clip", "n", "n_human", "share_of_human", "=axis", "=rule"), Compute: clipConfusion}, "evaluation of CLIP against people", base[0], axis)
}

// other registers a metric that is not computed by cells.
func other(m metrics.Metric, source string, options ...metrics.Option) {
	m.Version, m.Options, m.Citation = 1, options, citation+source
	metrics.Register(m)
}

// asked are the cells of a call with its options draws and min_used.
func asked(call metrics.Call) (all []*cell, draws, least int, err error) {
	if all, err = cells(call); err != nil {
		return nil, 0, 0, err
	}
	if draws, err = tabular.Count(call, "draws"); err != nil {
		return nil, 0, 0, err
	}
	least, err = tabular.Count(call, "min_used")
	return all, draws, least, err
}

func diversity(_ context.Context, call metrics.Call) (*client.Frame, error) {
	all, draws, least, err := asked(call)
	if err != nil {
		return nil, err
	}
	original := map[key]float64{}
	for _, c := range all {
		if c.prompt == data.Original {
			original[c.key] = DiversityOf(c.counts).Value
		}
	}
	cluster := Cluster(call.Options["cluster"])
	var out [][]any
	for _, c := range all {
		d := DiversityOf(c.counts)
		d.Low, d.High = Bootstrap(c.counts, diversityValue, Resampling{c.String(), cluster, draws, level, call.Seed, 1})
		k := c.key
		k.prompt = data.Original
		before, known := original[k]
		if !known {
			before = math.NaN()
		}
		out = append(out, []any{c.category, c.prompt, c.kind, c.axis, c.model, d.Value, d.Low, d.High, d.Value - before,
			d.First, d.Second, d.Asked, d.Usable, len(c.counts), strings.Join(d.Empty, ", "), warning(d.Usable, least), call.Options["rule"], intervalName(draws, cluster)})
	}
	return result("entigen-diversity", call, out)
}

func diversityValue(n []Counts) float64 { return DiversityOf(n).Value }

// intervalName says what the intervals of a table are, "" where it has none.
func intervalName(draws int, cluster Cluster) string {
	switch {
	case draws == 0:
		return ""
	case cluster == ByPrompt:
		return "95 % bootstrap interval over prompts"
	}
	return "95 % bootstrap interval over pictures within attributes"
}

// warning is what stands beside a score of few pictures: how many values it could have at all.
func warning(usable, least int) string {
	switch {
	case usable == 0:
		return "not available: no usable picture"
	case usable < least:
		return fmt.Sprintf("few usable pictures: %d", usable)
	}
	return ""
}

func bias(_ context.Context, call metrics.Call) (*client.Frame, error) {
	all, err := cells(call)
	if err != nil {
		return nil, err
	}
	least, err := tabular.Count(call, "min_used")
	if err != nil {
		return nil, err
	}
	type at struct {
		key
		attribute string
	}
	original := map[at]float64{}
	for _, c := range all {
		for _, n := range c.counts {
			if c.prompt == data.Original {
				original[at{c.key, n.Attribute}] = BiasOf(n)
			}
		}
	}
	var out [][]any
	for _, c := range all {
		for _, n := range c.counts {
			low, high := BiasInterval(n, level)
			k := c.key
			k.prompt = data.Original
			before, known := original[at{k, n.Attribute}]
			if !known {
				before = math.NaN()
			}
			change := Change(before, BiasOf(n))
			if c.prompt == data.Original {
				change = data.Original
			}
			out = append(out, []any{c.category, c.prompt, c.kind, c.axis, c.model, n.Attribute, BiasOf(n), low, high, change,
				n.First, n.Second, n.Usable() + n.Uncertain, n.Usable(), warning(n.Usable(), least), call.Options["rule"], "95 % Wilson interval"})
		}
	}
	return result("entigen-bias", call, out)
}

// good gives the quality of a cell on the axis that the paper's Table 3 rests on: perceived gender, for weddings culture.
func good(c *cell) (Quality, bool) {
	if c.axis != data.PerceivedGender && c.axis != data.PerceivedScene {
		return Quality{}, false
	}
	return Quality{perAttribute(c.counts), perAttribute(c.described)}, true
}

// perAttribute is the number of usable pictures per attribute.
func perAttribute(counts []Counts) float64 {
	return float64(DiversityOf(counts).Usable) / float64(len(counts))
}

func quality(_ context.Context, call metrics.Call) (*client.Frame, error) {
	all, err := cells(call)
	if err != nil {
		return nil, err
	}
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	cluster := Cluster(call.Options["cluster"])
	var out [][]any
	for _, c := range all {
		if q, ok := good(c); ok {
			d := DiversityOf(c.counts)
			r := Resampling{c.String(), cluster, draws, level, call.Seed, 0}
			low, high := Bootstrap(c.counts, perAttribute, r)
			lowDescribed, highDescribed := Bootstrap(c.described, perAttribute, r)
			out = append(out, []any{c.category, c.prompt, c.kind, c.model, q.Usable, low, high, q.AsDescribed, lowDescribed, highDescribed,
				d.Asked, d.Usable, DiversityOf(c.described).Usable, len(c.counts), call.Options["rule"], intervalName(draws, cluster)})
		}
	}
	return result("entigen-quality", call, out)
}
