package significance

import (
	"strconv"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Unit names the column of what is independent: rows of one unit (a prompt, a concept, an annotator) within a group are averaged first, and resampled together. Without it every row is a unit.
func Unit(column string) metrics.Setting { return tabular.Set("unit", column) }

// PairedBy compares the same units of two groups with one another, for example the same prompts in two languages; units that only one group has are left out and counted.
func PairedBy(unit string) metrics.Setting {
	return func(a *metrics.Args) {
		Unit(unit)(a)
		tabular.Set("design", "paired")(a)
	}
}

// Against compares every group with this one; the default is all pairs of groups.
func Against(group string) metrics.Setting { return tabular.Set("against", group) }

// Alpha is the chance of a false finding, 0.05 by default.
func Alpha(a float64) metrics.Setting { return tabular.Set("alpha", format(a)) }

// Power is the chance of seeing a gap that is there, 0.8 by default.
func Power(p float64) metrics.Setting { return tabular.Set("power", format(p)) }

func format(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// of is the table of a metric on values by group.
func of(metric string, t datasets.Table, value, group string, settings []metrics.Setting) datasets.Table {
	return tabular.Of(metric, t, append([]metrics.Setting{tabular.Set("value", value), tabular.Set("group", group)}, settings...))
}

// PermutationTest is the metric permutation-test: for each pair of groups whether their means differ by chance, two-sided: the group's names (or, with [PairedBy], the signs of the pairs'
// differences) are permuted, all ways where those are at most 20,000, else draws of them:
//
//	p = #{permutations with |difference| ≥ the observed one} / all of them,   or (hits + 1)/(draws + 1)
//
// value and group name columns; [metrics.By] splits the table first. Columns: the grouping columns, group_a, group_b, mean_a, mean_b, difference (mean_a − mean_b), p in (0, 1], p_holm and p_bh
// (the family is all tests of the table), cohens_d, cliffs_delta, n_a, n_b (units), n_left_out (units without a partner), n_missing (rows without a value), n_tests, draws, exact (yes or no), design and
// reason (why there is no p). Settings: [Unit], [PairedBy], [Against], [metrics.Draws], [metrics.SeedOf].
func PermutationTest(t datasets.Table, value, group string, settings ...metrics.Setting) datasets.Table {
	return of("permutation-test", t, value, group, settings)
}

// EffectSizes is the metric effect-size: how large the difference of each pair of groups is. difference = mean_a − mean_b and ratio = mean_a / mean_b with bootstrap intervals
// over units (a unit's values of both groups come and go together), [CohensD], [CohensH] (where all values are 0 or 1) and [CliffsDelta]; n_a, n_b, n_missing. A ratio whose mean_b is 0 has
// no value; an end that rests on such draws is blank. Settings: [Unit], [Against], [metrics.Draws] (0 = no intervals), [metrics.Level], [metrics.SeedOf].
func EffectSizes(t datasets.Table, value, group string, settings ...metrics.Setting) datasets.Table {
	return of("effect-size", t, value, group, settings)
}

// SmallestGaps is the metric smallest-gap: the smallest difference that the pair's numbers of units could have shown, in a two-sided test at [Alpha] with [Power]: gap
// of means ([SmallestMeanGap], from the pooled standard deviation sd) and, where all values are 0 or 1, the shares share_below and share_above group b's that would be told from it
// ([SmallestShareGap]); difference is the observed one, within says whether it is smaller than the gap: then "no difference found" says little. With [PairedBy], sd is that of the pairs' differences and n_a the number of pairs; shares are left
// blank. Settings: [Unit], [PairedBy], [Against].
func SmallestGaps(t datasets.Table, value, group string, settings ...metrics.Setting) datasets.Table {
	return of("smallest-gap", t, value, group, settings)
}

// AdjustP is the metric adjust-p: the table with p_holm and p_bh beside its column of p-values, and found_holm, found_bh (yes where at most [Alpha]). A family is a group of
// [metrics.By], or the whole table; n_tests is its size. Rows without a p-value are in no family. See [Holm] and [BenjaminiHochberg].
func AdjustP(t datasets.Table, p string, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("adjust-p", t, append([]metrics.Setting{tabular.Set("p", p)}, settings...))
}

// ClusteredMeans is the metric clustered-mean: the mean over rows of a column, or with [Over] the ratio Σ value / Σ over, for each group of [metrics.By], with a bootstrap interval that
// resamples whole units ([Unit], for example prompt_id). n_rows, n_units and n_missing stand beside it; under two units there is no interval.
func ClusteredMeans(t datasets.Table, value string, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("clustered-mean", t, append([]metrics.Setting{tabular.Set("value", value)}, settings...))
}

// Over names the column of the denominators of [ClusteredMeans].
func Over(column string) metrics.Setting { return tabular.Set("over", column) }
