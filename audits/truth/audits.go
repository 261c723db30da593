package truth

import (
	"antipode/audits/cococrola"
	"antipode/audits/entigen"
	"antipode/datasets"
	models "antipode/gomlxmodels"
	"antipode/metrics"
	"antipode/metrics/concepts"
	"antipode/metrics/consistency"
	"antipode/metrics/disparity"
	"antipode/metrics/distribution"
	"antipode/metrics/power"
	"antipode/metrics/significance"
	"antipode/metrics/stereotypes"
)

// audit is one of the five audits: its pool, the injected disparities, sample sizes per cell, and what is a finding.
type audit struct {
	name     string
	pool     string
	run      func(pool datasets.Table) datasets.Table
	injected datasets.Table
	whole    int   // units in a cell of the pool
	study    int   // units per cell of a single study
	sizes    []int // units per cell of the power curve
	options  power.Options
}

// audits returns the five audits. A finding is significant and at least as large as a difference that matters,
// because a trained generator is never exactly balanced.
func (t Test) audits() []audit {
	if t.Scores {
		return t.scores()
	}
	return []audit{
		{"Decomposed-DIG", "regions", t.decomposedDIG, t.injectedRegions(), 16, 8, []int{2, 4, 8, 12},
			power.Options{Cells: []string{"region", "object"}, Subject: []string{"region", "vector"}, Value: "gap",
				Sign: "below", Least: 0.05}},
		{"CoCo-CroLa", "concepts", t.cocoCroLa, t.injectedConcepts(), 18, 15, []int{6, 9, 12, 15},
			power.Options{Cells: []string{"language", "concept"}, Subject: []string{"group_a", "concept"},
				Value: "difference", Sign: "below", Least: 0.15, P: "p"}},
		{"IndicTTI", "captions", t.indicTTI, t.injectedCaptions(), 40, 20, []int{7, 8, 12, 20},
			power.Options{Unit: "prompt_id", Subject: []string{"group_a"}, Value: "difference", Sign: "below",
				Least: 0.05, P: "p"}},
		{"ViSAGe", "peoples", viSAGe, t.injectedPeoples(), 60, 54, []int{15, 30, 45, 54},
			power.Options{Cells: []string{"identity"}, Unit: "image_id", Subject: []string{"identity"},
				Value: "theta",
				Sign:  "above", Null: 1, Least: 1, P: "p"}},
		{"ENTIGEN", "occupations", entiGen, t.injectedOccupations(), 40, 30, []int{12, 18, 24, 30},
			power.Options{Cells: []string{"attribute", "prompt_id"},
				Subject: []string{"attribute", "axis", "group_a"},
				Value:   "difference", Least: 0.3, P: "p"}},
	}
}

// decomposedDIG returns the gaps in coverage of backgrounds and objects, in two families at 97.5 %.
func (t Test) decomposedDIG(pool datasets.Table) datasets.Table {
	sets := metrics.Sets{Real: embed(t.world(false, 0).Reference()), Generated: pool}
	gaps := func(vector string) datasets.Table {
		return disparity.Gaps(sets, disparity.GapsOptions{By: metrics.By("region"), Vector: vector,
			Scores: []string{"coverage"}, Intervals: metrics.Intervals{Level: 0.975}})
	}
	return gaps("background_only").Concat(gaps("object_only"))
}

// scores returns audits that compare backgrounds and objects of the islands by one score each; the first is
// Decomposed-DIG's coverage. Of the others a finding is a gap whose simultaneous interval excludes 0, to the side of a
// worse score.
func (t Test) scores() []audit {
	one := t
	one.Scores = false
	coverage := one.audits()[0]
	coverage.name, coverage.sizes = "coverage", []int{4, 8}
	out := []audit{coverage}
	for _, score := range []struct {
		name, sign string
		of         func(sets metrics.Sets, s distribution.Sampling) datasets.Table
	}{
		{"frechet-distance", "above", func(sets metrics.Sets, s distribution.Sampling) datasets.Table {
			return distribution.FrechetDistance(sets, distribution.FrechetOptions{Sampling: s})
		}},
		{"kid", "above", func(sets metrics.Sets, s distribution.Sampling) datasets.Table {
			return distribution.KID(sets, distribution.KernelOptions{Sampling: s})
		}},
		{"cmmd", "above", func(sets metrics.Sets, s distribution.Sampling) datasets.Table {
			return distribution.CMMD(sets, distribution.KernelOptions{Sampling: s})
		}},
		{"image-retrieval", "below", func(sets metrics.Sets, s distribution.Sampling) datasets.Table {
			return distribution.ImageRetrieval(sets, distribution.RetrievalOptions{Sampling: s})
		}},
		{"vendi", "below", func(sets metrics.Sets, s distribution.Sampling) datasets.Table {
			return distribution.VendiScore(sets.Generated, distribution.VendiOptions{Sampling: s})
		}},
	} {
		run := func(pool datasets.Table) datasets.Table {
			sets := metrics.Sets{Real: embed(t.world(false, 0).Reference()), Generated: pool}
			of := func(vector string) datasets.Table {
				return score.of(sets, distribution.Sampling{By: metrics.By("region"), Vector: vector, Samples: 5,
					Intervals: metrics.Intervals{Level: 0.975, Resamples: 60}})
			}
			columns := []string{"region", "vector", "gap", "gap_low", "gap_high"}
			return of("background_only").Select(columns...).Concat(of("object_only").Select(columns...))
		}
		out = append(out, audit{score.name, "regions", run, t.injectedRegions(), 16, 8, coverage.sizes,
			power.Options{Cells: coverage.options.Cells, Subject: coverage.options.Subject, Value: "gap",
				Sign: score.sign}})
	}
	return out
}

// cocoCroLa compares the similarity of a concept's images to reference images of the concept with that in English.
func (t Test) cocoCroLa(pool datasets.Table) datasets.Table {
	reference := embed(t.world(false, 0).Reference().Sample(4, "object,scene", 1))
	words := concepts.WordVectors(reference, concepts.WordVectorOptions{Concepts: []string{"object", "scene"}})
	return cococrola.ConceptTests(pool, words, models.Full)
}

// indicTTI compares IGC with English, caption by caption.
func (t Test) indicTTI(pool datasets.Table) datasets.Table {
	each := consistency.IGC(pool, embed(t.world(true, 3).CaptionReferences()),
		consistency.IGCOptions{By: metrics.By("prompt_id"), Intervals: metrics.Intervals{Resamples: -1}})
	tests := significance.PermutationTest(each, significance.TestOptions{Value: "igc", Group: "language",
		Unit: "prompt_id", Paired: true, Against: "en", Resamples: 2000})
	sizes := significance.EffectSizes(each, significance.EffectOptions{Value: "igc", Group: "language",
		Unit: "prompt_id", Against: "en", Intervals: metrics.Intervals{Resamples: 500, Level: 1 - 0.05/4}})
	return tests.Join(sizes.Select("group_a", "difference_low", "difference_high"), "group_a")
}

// viSAGe tests whether a people's stereotypes are more likely than its other attributes.
func viSAGe(pool datasets.Table) datasets.Table {
	likelihoods := stereotypes.Likelihoods(pool,
		stereotypes.TendencyOptions{Method: stereotypes.Clean, Intervals: metrics.Intervals{Resamples: -1}})
	tests := significance.PermutationTest(likelihoods,
		significance.TestOptions{Value: "likelihood", Group: "kind", By: metrics.By("identity")})
	theta := stereotypes.Tendencies(pool, stereotypes.TendencyOptions{Method: stereotypes.Clean,
		Intervals: metrics.Intervals{Resamples: 200}})
	return tests.Join(theta.Select("identity", "theta", "theta_low", "theta_high"), "identity")
}

// entiGen tests whether an occupation is imbalanced on an axis, and whether an added sentence changes that.
func entiGen(pool datasets.Table) datasets.Table {
	votes := func(axis, first, second string) datasets.Table {
		column := "perceived_" + axis
		labels := pool.Select("attribute", "prompt_id", "image_id", column).With("axis", axis)
		return entigen.Votes(labels, column, first, second).
			Select("attribute", "prompt_id", "image_id", "axis", "group", "seen")
	}
	answers := votes("crest", "round", "pointed").Concat(votes("banner", "light", "dark"))
	return entigen.Imbalances(answers, "attribute", "axis").Concat(entigen.Changes(answers, "attribute", "axis"))
}

// disparities returns the injected disparities of an audit, of one kind or, with "", of all.
func (t Test) disparities(audit, kind string) datasets.Table {
	out := t.world(true, 1).AuditDisparities().Where("audit", "==", audit)
	if kind != "" {
		out = out.Where("kind", "==", kind)
	}
	return out
}

// component returns the islands whose backgrounds or objects carry an injected disparity.
func (t Test) component(name string) datasets.Table {
	return t.world(true, 1).InjectedDisparities().Where("component", "==", name).Select("region", "size").
		With("vector", name+"_only")
}

func (t Test) injectedRegions() datasets.Table {
	return t.component("background").Concat(t.component("object"))
}

func (t Test) injectedConcepts() datasets.Table {
	return t.disparities("cococrola", "").Select("carrier", "subject", "size").Rename("carrier", "group_a").
		Rename("subject", "concept")
}

func (t Test) injectedCaptions() datasets.Table {
	return t.disparities("indictti", "lost object").Select("carrier").Rename("carrier", "group_a").With("size", 0.6)
}

func (t Test) injectedPeoples() datasets.Table {
	return t.disparities("visage", "").Count("carrier").Rename("carrier", "identity").With("size", 5)
}

func (t Test) injectedOccupations() datasets.Table {
	return entigen.Audit{Generator: Sampler, Seed: t.Seed}.Truth().Select("attribute", "subject", "group_a", "size").
		Rename("subject", "axis")
}
