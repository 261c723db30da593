package visage

import (
	"antipode/audits"
	"antipode/datasets"
	"antipode/datasets/visage"
	"antipode/metrics"
	"antipode/metrics/significance"
)

// measures are the values of an identity that [Audit.ByRegion] averages.
var measures = append([]string{"offensiveness"}, similarities...)

// measured returns the values of identities, a row for each measure: identity, region, part, measure, value. A table
// has some of the columns of measures.
func (a Audit) measured(tables ...datasets.Table) datasets.Table {
	var all []datasets.Table
	for _, t := range tables {
		for _, m := range measures {
			if audits.Has(t, m) {
				all = append(all, t.Select("identity", m).Rename(m, "value").With("measure", m))
			}
		}
	}
	places := visage.Regions(a.Regions).Select("identity", "region", "part")
	return audits.Each(all, func(t datasets.Table) datasets.Table { return t }).
		Join(places, "identity", datasets.JoinOptions{Sparse: true}).Where("region", "present", "")
}

// compared returns a table of the measures as printed (Tables 3 to 5) and of this run, with the column from.
func (a Audit) compared(of func(measured datasets.Table) datasets.Table) datasets.Table {
	printed := of(a.measured(visage.PrintedPull(a.Regions))).With("from", "paper").With("model", "")
	if a.builtIn() && a.Regions == "" { // its peoples have no region
		return printed
	}
	several := len(a.generators()) > 1
	return printed.Concat(a.each(func(one Audit) datasets.Table {
		from := "this run"
		if several {
			from += ": " + audits.ModelName(one.generator())
		}
		tables := []datasets.Table{one.offensive()}
		if one.HasImages() {
			tables = append(tables, one.pulls())
		}
		return of(one.measured(tables...)).With("from", from)
	}))
}

// ByRegion returns the means over the identities of each region, as the paper's Tables 3 to 5 give them and of this run
// (column from; with several generators "this run: MODEL"), with bootstrap intervals over identities: offensiveness,
// s_d_s, s_d_ns, s_s_ns, mean_sim and pull in the column measure. The regions are those of Audit.Regions. Of the
// built-in world it has no rows, unless Audit.Regions maps its peoples.
func (a Audit) ByRegion() datasets.Table {
	return a.compared(func(t datasets.Table) datasets.Table {
		return metrics.Means(t, metrics.MeanOptions{By: metrics.By("measure", "region"), Unit: "identity",
			Intervals: metrics.Intervals{Resamples: max(a.Resamples, 0)}})
	})
}

// GlobalSouth tests the paper's two statements about the Global South, a stronger pull (abstract) and more similar
// images by all three measures (section 6), and its offensiveness: for each measure the mean of its identities minus
// that of the Global North, with a bootstrap interval over identities, the p-value of a permutation test, and
// significance.Decide's verdict. The intervals hold for all measures of a run together (95 %, Bonferroni). The paper
// does not define the Global South: see visage.Regions of package datasets for the definition, and [Audit.ByRegion]
// for the tables.
func (a Audit) GlobalSouth() datasets.Table {
	by := metrics.By("measure")
	return a.compared(func(t datasets.Table) datasets.Table {
		sizes := significance.EffectSizes(t, significance.EffectOptions{Group: "part", By: by, Unit: "identity",
			Against: visage.GlobalNorth, Intervals: metrics.Intervals{Level: 1 - 0.05/float64(len(measures)),
				Resamples: max(a.Resamples, 0)}})
		p := significance.PermutationTest(t, significance.TestOptions{Group: "part", By: by, Unit: "identity",
			Against: visage.GlobalNorth}).Select("measure", "p", "p_holm")
		return significance.Decide(sizes.Join(p, "measure"), datasets.Table{}, significance.VerdictOptions{On: by,
			Side: "above"})
	})
}
