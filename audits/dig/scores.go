package dig

import (
	"strings"

	"antipode/audits"
	"antipode/datasets"
	"antipode/datasets/digin"
	"antipode/datasets/geode"
	models "antipode/gomlxmodels"
	"antipode/metrics"
	"antipode/metrics/disparity"
	"antipode/metrics/significance"
)

// vectors are those that the paper calls Full-image, Obj-only and BG-only.
var vectors = []string{models.Full, "object_only", "background_only"}

// Generated returns the generated images of a template with their masks and vectors.
func (a Audit) Generated(template string) datasets.Table {
	return a.embed(a.segment(a.Images(template)))
}

// Sets returns the reference images and the generated images of a template, with their vectors.
func (a Audit) Sets(template string) metrics.Sets {
	return metrics.Sets{Real: a.Reference(), Generated: a.Generated(template)}
}

// Examples returns n reference images and n generated images of each template in each region, at random (the paper's
// Figure 2): image, mask, object, region, and set, which is "reference" or the template, with several generators
// "TEMPLATE, MODEL".
func (a Audit) Examples(n int) datasets.Table {
	some := func(images datasets.Table, set string) datasets.Table {
		return images.Select("image", "mask", "object", "region").Sample(n, "region", 1).With("set", set)
	}
	out := some(a.Reference(), "reference")
	for _, one := range a.Models() {
		for _, t := range one.Templates() {
			set := t
			if one.several {
				set += ", " + audits.ModelName(one.Generator)
			}
			out = out.Concat(some(one.Generated(t), set))
		}
	}
	return out
}

// Templates returns the templates of which there are images: Original, New and Audit.Template, or Original alone for a
// table of images without the column template.
func (a Audit) Templates() []string {
	if g := a.generator(); audits.IsTable(g) && !audits.Has(audits.Existing(g), "template") {
		return []string{Original}
	}
	if a.Template != "" {
		return []string{Original, New, a.Template}
	}
	return []string{Original, New}
}

func (a Audit) comparison() disparity.Comparison {
	c := a.Comparison
	c.Profile = a.settings().Name
	return c
}

// scores returns the scores of a template by groups, of all vectors.
func (a Audit) scores(template string, by ...string) datasets.Table {
	sets := a.Sets(template)
	var all []datasets.Table
	for _, v := range vectors {
		all = append(all, disparity.PrecisionCoverage(sets, disparity.PrecisionCoverageOptions{By: by, Vector: v,
			Intervals:  metrics.Intervals{Resamples: a.Resamples},
			Comparison: a.comparison()}))
	}
	return all[0].Concat(all[1:]...).With("template", template)
}

// each returns a table of every generator and template, one below the other.
func (a Audit) each(of func(one Audit, template string) datasets.Table) datasets.Table {
	return a.models(func(one Audit) datasets.Table {
		return audits.Each(one.Templates(), func(t string) datasets.Table { return of(one, t) })
	})
}

// Scores returns precision and coverage by model, region, vector (full, object_only, background_only) and template:
// what the paper's Figures 4 and 12 show. See disparity.PrecisionCoverage for the columns.
func (a Audit) Scores() datasets.Table {
	return a.each(func(one Audit, t string) datasets.Table { return one.scores(t, "region") })
}

// Summary returns average, worst and best region by template, vector and score (Figures 3 and 9); see
// disparity.RegionSummary.
func (a Audit) Summary() datasets.Table {
	return a.each(func(one Audit, t string) datasets.Table {
		return disparity.RegionSummary(one.scores(t, "region")).With("template", t)
	})
}

// PaperTable returns the paper's Table "1", its only one, in its layout, by model; see disparity.PaperTable. Without
// images of the template New it has the row Orig. alone.
func (a Audit) PaperTable(number string) datasets.Table {
	if err := audits.CheckTable("dig", number, "1"); err != nil {
		return datasets.Failed(err)
	}
	return a.models(func(one Audit) datasets.Table {
		if len(one.Templates()) > 1 {
			return disparity.PaperTable(one.change(New))
		}
		return disparity.PaperTable(one.change(Original)).Head(1)
	})
}

// Deltas returns the changes from Original to each other template, of Table 1 (its rows Delta and Delta (%)) and of
// each region; no rows without images of another template.
func (a Audit) Deltas() datasets.Table { return a.models(Audit.deltas) }

func (a Audit) deltas() datasets.Table {
	others := a.Templates()[1:]
	if len(others) == 0 {
		return a.change(Original).Head(0).With("template", New)
	}
	return audits.Each(others, func(t string) datasets.Table { return a.change(t).With("template", t) })
}

// change returns the changes from Original to a template.
func (a Audit) change(template string) datasets.Table {
	return disparity.TemplateDeltas(a.scores(Original, "region"), a.scores(template, "region"))
}

// ByObject returns the scores of each object, by vector and template: the means over the regions (Figures 10 and 11).
func (a Audit) ByObject() datasets.Table {
	a.Resamples = -1 // means have no intervals
	return a.each(func(one Audit, t string) datasets.Table {
		return disparity.ObjectMeans(one.scores(t, "object", "region")).With("template", t)
	})
}

// TagShares returns the share of the inspected images of the template Original that have each tag of Audit.Tags (the
// paper's section 4.3); no rows without it.
func (a Audit) TagShares() datasets.Table {
	if a.Tags == "" {
		return audits.NoRows(datasets.Columns("tag:text", "share:number", "n_tagged:number", "n_inspected:number"))
	}
	return a.models(func(one Audit) datasets.Table {
		return disparity.TagShares(one.Images(Original), datasets.Images(a.Tags, datasets.ImagesOptions{
			FileOptions: datasets.FileOptions{RepeatedIDs: true}}))
	})
}

// gapLevel is the level of each of the two families of gaps, of objects and of backgrounds: 95 % for both.
const gapLevel = 0.975

// Gaps returns, for the template Original, the gaps in coverage between each region and the mean of the regions without
// an injected disparity, of background_only and object_only, with intervals that hold for all regions together.
func (a Audit) Gaps() datasets.Table { return a.models(Audit.gaps) }

func (a Audit) gaps() datasets.Table {
	sets := a.Sets(Original)
	gaps := func(vector string) datasets.Table {
		return disparity.GapsToControls(sets, a.Truth(), disparity.GapsOptions{By: metrics.By("region"), Vector: vector,
			Scores: []string{"coverage"}, Comparison: a.comparison(), SkipFew: a.skipFew,
			Intervals: a.family()})
	}
	return gaps("background_only").Concat(gaps("object_only"))
}

// Least is the smallest gap in coverage that [Audit.Findings] calls found where the truth is not known.
const Least = 0.05

// Findings returns the gaps with what is known of them: in the built-in world whether each disparity injected into the
// generator's images was found and each other region not flagged; for other photos found, not found or undecided, see
// significance.Decide.
func (a Audit) Findings() datasets.Table { return a.models(Audit.findings) }

func (a Audit) findings() datasets.Table {
	if a.builtIn() {
		return disparity.InjectedVerdicts(a.gaps(), a.Truth())
	}
	return significance.Decide(a.Gaps().Select("model", "region", "vector", "score", "gap", "gap_low",
		"gap_high", "flagged").
		With("injected", "not known"), datasets.Table{}, significance.VerdictOptions{
		On: metrics.By("region", "vector"), Estimate: "gap", AtLeast: Least})
}

// Acquisition returns how the reference images of each region were taken and stored, compared with the other regions
// and, of what an image shows, with the generated images of the template Original; see disparity.Acquisition.
func (a Audit) Acquisition() datasets.Table { return a.models(Audit.acquisition) }

func (a Audit) acquisition() datasets.Table {
	return disparity.Acquisition(a.Reference(), a.Images(Original),
		disparity.AcquisitionOptions{By: metrics.By("region")})
}

// GapSources returns whose the gaps in coverage between regions are, for the template Original: the generator's, the
// reference images', their camera's or the segmenter's, by the gaps of images that have a mask; see
// disparity.GapSources, and notebooks/segmentation.ipynb for other masks.
func (a Audit) GapSources() datasets.Table { return a.models(Audit.gapSources) }

func (a Audit) gapSources() datasets.Table {
	sets := a.Sets(Original)
	return audits.Each(vectors[1:], func(vector string) datasets.Table {
		o := disparity.GapsOptions{By: metrics.By("region"), Vector: vector, Scores: []string{"coverage"},
			Comparison: a.comparison(), Intervals: a.family()}
		masked := o
		masked.Unmasked, masked.Balance, masked.SkipFew = "drop", true, true
		variants := disparity.GapVariants{Masked: disparity.Gaps(sets, masked)}
		masks := disparity.GapSensitivity(disparity.Gaps(sets, o), variants,
			disparity.GapSensitivityOptions{SkipFew: true})
		return disparity.GapSources(sets, a.acquisition(), masks, disparity.GapSourceOptions{By: o.By, Vector: vector,
			Comparison: o.Comparison, Intervals: o.Intervals})
	})
}

// family are the intervals of one of the two families of gaps.
func (a Audit) family() metrics.Intervals {
	return metrics.Intervals{Level: gapLevel, Resamples: max(a.Resamples, 0)}
}

// Ratios returns the candidates for the paper's "1.7x": how much more backgrounds differ between regions than objects.
func (a Audit) Ratios() datasets.Table {
	return a.models(func(one Audit) datasets.Table { return disparity.DisparityRatios(one.scores(Original, "region")) })
}

// Claims returns the paper's findings as expectations of this run, pass or FAIL with the two numbers; those that name
// regions only for the objects and regions of GeoDE.
func (a Audit) Claims() datasets.Table {
	name, _, _ := strings.Cut(a.Photos, ":")
	o := disparity.TrendLinesOptions{AnyRegions: name != geode.Name}
	return a.models(func(one Audit) datasets.Table {
		return disparity.TrendLines(one.scores(Original, "region"), one.changed(), o)
	})
}

// changed returns the scores by region of the template New; a zero table without images of it.
func (a Audit) changed() (scores datasets.Table) {
	if len(a.Templates()) > 1 {
		scores = a.scores(New, "region")
	}
	return scores
}

// Printed returns the values and claims that the paper prints: paper, item, printed.
func (a Audit) Printed() datasets.Table { return digin.Printed() }

// Values returns our values of these by model; see disparity.Values. It has no rows in the built-in world, whose values
// are not comparable with those of photos.
func (a Audit) Values() datasets.Table {
	if a.builtIn() {
		return audits.NoValues()
	}
	return a.models(func(one Audit) datasets.Table {
		return disparity.Values(one.scores(Original, "region"), one.changed())
	})
}

// Ledger returns Printed next to Values by model, with a verdict; see metrics.Ledger.
func (a Audit) Ledger() datasets.Table {
	return a.models(func(one Audit) datasets.Table {
		return audits.Ledger(one.Printed(), one.Values(), a.builtIn(), "images",
			"needs tags by people, other regions or images of both templates")
	})
}

// RunName returns the name of files that this run writes; see audits.RunName.
func (a Audit) RunName() string { return audits.RunName("decomposed_dig", a.Generator, a, Audit{}) }

// Workload returns what remains to be computed, by stage, with the time measured on probe items of each, the disk, the
// dollars, and the models and data that are missing; see datasets.Workload.
func (a Audit) Workload(o datasets.WorkloadOptions) datasets.Table {
	tables := []datasets.Table{a.Reference()}
	for _, one := range a.Models() {
		for _, t := range one.Templates() {
			tables = append(tables, one.Generated(t))
		}
	}
	return datasets.Workload(tables, o)
}
