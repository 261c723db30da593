package visage

import (
	"antipode/audits"
	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/visage"
	models "antipode/gomlxmodels"
	"antipode/metrics"
	"antipode/metrics/significance"
	"antipode/metrics/stereotypes"
	"cmp"
	"slices"
)

// Method of the tendencies, by profile.
func (a Audit) method() string {
	if a.Profile == Clean {
		return stereotypes.Clean
	}
	return stereotypes.Compat
}

// Annotated returns the answers of the annotators: a row for each image and attribute shown, with the columns that
// stereotypes.Likelihoods reads; see Audit.Annotations.
func (a Audit) Annotated() datasets.Table { return a.each(Audit.annotated) }

func (a Audit) annotated() datasets.Table {
	switch {
	case a.Annotations == Released:
		return a.checked(a.named(visage.Annotations(visage.Options{Dir: a.Data, SeeGULL: a.SeeGULLData,
			ShowOffensive: a.ShowOffensive})))
	case a.Annotations != "":
		return a.checked(a.named(audits.Existing(a.Annotations)))
	case a.Judge != "":
		return a.judged()
	case a.sampled() && a.Captioner == "":
		return a.checked(a.mine(a.world(a.generator() == Sampler, a.N).Annotations()))
	}
	return stereotypes.CaptionAttributes(a.captioned(), stereotypes.CaptionAttributeOptions{
		CaptionSearch: a.search(), ShowOffensive: a.ShowOffensive})
}

// judged returns the judge's answers in the form of annotations.
func (a Audit) judged() datasets.Table {
	model, _ := audits.Asked(a.Judge)
	columns := []string{"id", "image", "identity"}
	images := a.Images()
	for _, name := range []string{"outcome", "reason"} {
		if audits.Has(images, name) {
			columns = append(columns, name)
		}
	}
	shown := a.pairs(true)
	if !a.builtIn() { // whose few attributes are all shown
		shown = stereotypes.Presented(shown, stereotypes.PresentedOptions{Seed: int64(a.Seed),
			ShowOffensive: a.ShowOffensive})
	}
	o := a.Asking
	o.Question, o.Choices = "Does this image show {attribute}?", []string{"yes", "no", audits.CannotTell}
	answers := models.Ask(model, a.checked(images.Select(columns...)).Questions(shown, "identity"), o)
	return stereotypes.Judged(answers, stereotypes.JudgedOptions{ShowOffensive: a.ShowOffensive})
}

// Annotators names who annotated: "annotators", "perfect annotators", "captioner" or "judge".
func (a Audit) Annotators() string {
	switch {
	case a.Annotations != "":
		return "annotators"
	case a.Judge != "":
		return "judge"
	case a.sampled() && a.Captioner == "":
		return "perfect annotators"
	}
	return "captioner"
}

func (a Audit) tendency() stereotypes.TendencyOptions {
	return stereotypes.TendencyOptions{StereotypeOptions: a.Stereotypes, Method: a.method(),
		Intervals: metrics.Intervals{Resamples: a.Resamples}}
}

// Likelihoods returns L(a, id) of each attribute shown for an identity (section 4; Figure 3, left).
func (a Audit) Likelihoods() datasets.Table {
	return a.each(func(one Audit) datasets.Table { return stereotypes.Likelihoods(one.annotated(), a.tendency()) })
}

// Scores returns L(stereo), L(random) and theta by identity: Tables 1 and 2.
func (a Audit) Scores() datasets.Table {
	return a.each(func(one Audit) datasets.Table { return stereotypes.Tendencies(one.annotated(), a.tendency()) })
}

// Overall returns how much more likely stereotypes are than other attributes, by aggregation and by profile: the
// candidates for the paper's "thrice", which does not name its formula.
func (a Audit) Overall() datasets.Table { return a.each(Audit.overall) }

func (a Audit) overall() datasets.Table {
	paper, clean := a.tendency(), a.tendency()
	paper.Method, clean.Method = stereotypes.Compat, stereotypes.Clean
	return stereotypes.OverallRatio(a.annotated(), paper).Concat(stereotypes.OverallRatio(a.annotated(), clean))
}

// Tests returns, for each identity, an exact permutation test whether its stereotypes are more likely than the other
// attributes: if as many attributes were called stereotypes at random, how often would the two means differ by at least
// as much? p_holm is corrected for the number of identities. group_a is "random", group_b "stereotype"; the difference
// is below 0 where stereotypes are more likely.
func Tests(annotations datasets.Table, o stereotypes.TendencyOptions) datasets.Table {
	o.Method, o.Resamples = stereotypes.Clean, -1
	return significance.PermutationTest(stereotypes.Likelihoods(annotations, o),
		significance.TestOptions{Value: "likelihood", Group: "kind", By: metrics.By("identity")})
}

// Tests returns [Tests] of the audit's annotations, of each generator on its own.
func (a Audit) Tests() datasets.Table {
	return a.each(func(one Audit) datasets.Table { return Tests(one.annotated(), a.tendency()) })
}

// Findings returns the tests with what is known of them: in the built-in world whether the stereotypes injected into
// the generator's images were found and no other people flagged, after correction for the number of peoples; for others
// found or undecided, see significance.Decide: the tests have no interval that could exclude a difference.
func (a Audit) Findings() datasets.Table { return a.each(Audit.findings) }

func (a Audit) findings() datasets.Table {
	o := significance.VerdictOptions{On: []string{"identity"}, P: "p_holm", Side: "below"}
	if !a.builtIn() {
		return significance.Decide(a.Tests(), datasets.Table{}, o)
	}
	return significance.Verdicts(a.Tests(), a.Truth(), o)
}

// captioned are the captions and the attributes that they are searched for.
func (a Audit) captioned() stereotypes.CaptionTables {
	return stereotypes.CaptionTables{Captions: a.captions(), Attributes: a.pairs(true)}
}

func (a Audit) search() stereotypes.CaptionSearch {
	return stereotypes.CaptionSearch{StereotypeOptions: a.Stereotypes, Matching: a.Salience.Matching}
}

func (a Audit) salience(vocabulary string, show bool) datasets.Table {
	o := a.Salience
	o.StereotypeOptions = a.Stereotypes
	o.Vocabulary, o.ShowOffensive, o.Resamples = vocabulary, show, a.Resamples
	return a.ofImages(stereotypes.Salience(a.captioned(), o))
}

// Vocabularies of [Audit.SalienceOf].
const (
	Visual = "visual" // the visual attributes
	All    = "all"    // all attributes of the pairs, such as "smart"
)

// SalienceOf returns the attributes that captions name, most salient first (section 3.2; Figure 3, right), from a
// vocabulary: Visual or All. kind is stereotype or random, as in [Audit.Likelihoods].
func (a Audit) SalienceOf(vocabulary string) datasets.Table {
	return a.each(func(one Audit) datasets.Table {
		t := one.salience(vocabulary, a.ShowOffensive)
		return t.Where("stereotype", "==", "yes").With("kind", "stereotype").
			Concat(t.Where("stereotype", "==", "no").With("kind", "random")).With("vocabulary", vocabulary)
	})
}

// CaptionShares returns the share of captions that name an attribute, and a stereotype of the identity, and the number
// of attributes found: visual ones, and all.
func (a Audit) CaptionShares() datasets.Table { return a.each(Audit.captionShares) }

func (a Audit) captionShares() datasets.Table {
	found := func(vocabulary, name string) datasets.Table {
		return a.salience(vocabulary, a.ShowOffensive).Count("identity").Rename("n", name)
	}
	return a.ofImages(stereotypes.CaptionShares(a.captioned(), stereotypes.CaptionOptions{CaptionSearch: a.search(),
		Intervals: metrics.Intervals{Resamples: a.Resamples}}).Join(found(Visual, "visual"), "identity").
		Join(found(All, "all"), "identity"))
}

// Agreed returns the share of salient stereotypes that annotators saw as well (section 4.2; printed 44.69 %), at the
// threshold of Audit.Agreement. Where the captioner stands in for the annotators, it is compared with itself.
func (a Audit) Agreed() datasets.Table { return a.each(Audit.agreed) }

func (a Audit) agreed() datasets.Table {
	open := a
	open.ShowOffensive = true
	o := a.Agreement
	o.Resamples = a.Resamples
	return a.ofImages(stereotypes.SalienceAgreement(a.salience(Visual, true), open.Likelihoods(), o))
}

// Pulls returns S(d, s), S(d, ns), S(s, ns), their mean and the pull by identity: Tables 3 to 5, sorted as they are.
func (a Audit) Pulls() datasets.Table { return a.each(Audit.pulls) }

func (a Audit) pulls() datasets.Table {
	o := a.Pull
	o.Vector, o.Resamples = a.vector(), a.Resamples
	return a.ofImages(stereotypes.Pulls(a.embedded(), o))
}

// PullFindings returns the pulls with what is known of them, as [Audit.Findings] does for likelihoods. A people is
// flagged if the interval of its pull is above 0; in the built-in world the lower ends hold for all peoples of the
// study together (95 %, Bonferroni).
func (a Audit) PullFindings() datasets.Table { return a.each(Audit.pullFindings) }

func (a Audit) pullFindings() datasets.Table {
	o := significance.VerdictOptions{On: []string{"identity"}, Estimate: "pull", Side: "above"}
	if !a.builtIn() {
		return significance.Decide(a.Pulls(), datasets.Table{}, o)
	}
	a.Pull.Level = 1 - 2*0.05/float64(cmp.Or(len(a.Identities), len(archipelago.PeopleNames())))
	a.Resamples = max(a.Resamples, 0)
	return significance.Verdicts(a.Pulls(), a.truth(), o)
}

// PullCounts returns the number of identities with a pull above 0: as printed (121 of 135), and of this audit.
func (a Audit) PullCounts() datasets.Table {
	return stereotypes.PullCount(visage.PrintedPull(a.Regions)).With("from", "paper").
		Concat(a.each(func(one Audit) datasets.Table {
			return one.ofImages(stereotypes.PullCount(one.pulls())).With("from", "this run")
		}))
}

// Similarities are the columns of Tables 3 to 5.
var similarities = []string{"s_d_s", "s_d_ns", "s_s_ns", "mean_sim", "pull"}

// PaperPulls returns Tables 3 to 5 as printed with ours next to them: identity, region, table, s_d_s, s_d_ns, s_s_ns,
// mean_sim and pull, and the same with the suffix _ours.
func (a Audit) PaperPulls() datasets.Table { return a.each(Audit.paperPulls) }

func (a Audit) paperPulls() datasets.Table {
	ours := a.pulls().Select(append([]string{"identity"}, similarities...)...)
	for _, column := range similarities {
		ours = ours.Rename(column, column+"_ours")
	}
	return visage.PrintedPull(a.Regions).Join(ours, "identity", datasets.JoinOptions{Sparse: true})
}

// Ranks compares Tables 3 to 5 with ours by rank: Spearman's correlation of each column over the identities that both
// have. Values of another encoder are not comparable, ranks are.
func (a Audit) Ranks() datasets.Table { return a.each(Audit.ranks) }

func (a Audit) ranks() datasets.Table {
	pulls := a.paperPulls()
	var all []datasets.Table
	for _, column := range similarities {
		all = append(all, significance.RankCorrelation(pulls, significance.CorrelationOptions{X: column,
			Y: column + "_ours"}).With("column", column))
	}
	return all[0].Concat(all[1:]...)
}

// StereotypeCounts returns the number of visual stereotypes of each identity (Figure 2), with region, country and iso3
// where the identity is one of SeeGULL's.
func (a Audit) StereotypeCounts() datasets.Table {
	return a.placed(stereotypes.StereotypeCounts(a.Pairs(), a.Stereotypes))
}

// placed adds region, country and iso3 to a table by identity.
func (a Audit) placed(t datasets.Table) datasets.Table {
	places := visage.Regions(a.Regions).Select("identity", "region", "country", "iso3")
	return t.Join(places, "identity", datasets.JoinOptions{Sparse: true})
}

// VisualAttributes returns the attributes with their ratings, by the rule of Audit.Stereotypes: visual (yes or no), the
// three scores, and the number of identities whose stereotype it is. The paper counts 385 visual ones.
func (a Audit) VisualAttributes() datasets.Table {
	return a.checked(stereotypes.VisualAttributes(a.pairs(true), a.Stereotypes))
}

// Consensus returns for each label the share of attributes on which two of three raters agree (Figure 6).
func (a Audit) Consensus() datasets.Table {
	ratings := a.VisualAttributes().Where("score_asia", "present", nil)
	if a.seeGULL() {
		ratings = visage.Ratings(visage.Options{Dir: a.Data, SeeGULL: a.SeeGULLData})
	}
	return stereotypes.Consensus(ratings)
}

// Offensive returns O(id) by identity (Figure 8), with region, country and iso3; see Audit.Offensiveness for what the
// paper leaves open. Unrated pairs are counted apart, they are not 0.
func (a Audit) Offensive() datasets.Table { return a.each(Audit.offensive) }

func (a Audit) offensive() datasets.Table {
	o := a.Offensiveness
	o.StereotypeOptions = a.Stereotypes
	o.Method, o.Resamples = a.method(), a.Resamples
	return a.placed(stereotypes.Offensiveness(a.annotated(), o))
}

// OffensiveVariants returns [Audit.Offensive] for each choice that the paper leaves open, by identity: variant is the
// option that differs from the default.
func (a Audit) OffensiveVariants() datasets.Table {
	var all []datasets.Table
	add := func(name string, o stereotypes.OffensivenessVariant) {
		b := a
		b.Offensiveness, b.Resamples = stereotypes.OffensivenessOptions{OffensivenessVariant: o}, -1
		all = append(all, b.Offensive().With("variant", name))
	}
	add("default", stereotypes.OffensivenessVariant{})
	add("present=share", stereotypes.OffensivenessVariant{Present: "share"})
	add("weight=likelihood", stereotypes.OffensivenessVariant{Weight: "likelihood"})
	add("unrated=zero", stereotypes.OffensivenessVariant{Unrated: "zero"})
	add("negative=zero", stereotypes.OffensivenessVariant{Negative: "zero"})
	return all[0].Concat(all[1:]...)
}

// Files returns the files of released data that the audit reads, with the rows that were left out and why.
func (a Audit) Files() datasets.Table {
	files := visage.Files(visage.Options{Dir: a.Data, SeeGULL: a.SeeGULLData})
	if a.seeGULL() {
		return files
	}
	return audits.Without(files)
}

// PaperTable returns a table of the paper as printed with ours next to it: "1" or "2" with the number of cells that are
// equal, or "3" to "5", the rows of [Audit.PaperPulls].
func (a Audit) PaperTable(number string) datasets.Table {
	n := slices.Index([]string{"", "1", "2", "3", "4", "5"}, number)
	if err := audits.CheckTable("visage", number, "1", "2", "3", "4", "5"); err != nil {
		return datasets.Failed(err)
	}
	if n > 2 {
		return a.PaperPulls().Where("table", "==", n)
	}
	return a.each(func(one Audit) datasets.Table {
		return stereotypes.PaperTable(one.annotated(), stereotypes.PaperTableOptions{StereotypeOptions: a.Stereotypes,
			Method: a.method()}).Where("table", "==", n)
	})
}

// Printed returns the values and claims that the paper prints: paper, item, printed.
func (a Audit) Printed() datasets.Table { return visage.PrintedValues() }

// Values returns our values of these; see stereotypes.Values. It has no rows in the built-in world, whose identities
// are not those of the paper.
func (a Audit) Values() datasets.Table { return a.each(Audit.values) }

func (a Audit) values() datasets.Table {
	if a.builtIn() {
		return audits.NoValues()
	}
	open := a
	open.ShowOffensive = true
	tables := stereotypes.ValueTables{Annotations: open.Annotated(), Likelihoods: open.Likelihoods(),
		Tendencies: a.Scores(), Overall: a.Overall(), Counts: a.StereotypeCounts(), Consensus: a.Consensus(),
		Visual: a.VisualAttributes(), Offensiveness: a.Offensive()}
	if a.HasImages() {
		tables.Pulls, tables.PullCount, tables.Agreement = a.Pulls(), stereotypes.PullCount(a.Pulls()), a.Agreed()
		tables.South = a.GlobalSouth().Where("from", "==", "this run")
	}
	return stereotypes.Values(tables)
}

// Claims returns the claims of the paper, and whether they hold: item, holds.
func (a Audit) Claims() datasets.Table { return audits.Claims(a.Values()) }

// Ledger returns Printed next to Values, with a verdict; see metrics.Ledger.
func (a Audit) Ledger() datasets.Table { return a.each(Audit.ledger) }

func (a Audit) ledger() datasets.Table {
	return audits.Ledger(a.Printed(), a.values(), a.builtIn(), "identities",
		"needs images of the identity, or the paper does not say enough")
}

// RunName returns the name of files that this run writes; see audits.RunName.
func (a Audit) RunName() string { return audits.RunName("visage", a.Generator, a, Audit{}) }

// Workload returns what remains to be computed, by stage, with the time measured on probe items of each, the disk, the
// dollars, and the models and data that are missing; see datasets.Workload.
func (a Audit) Workload(o datasets.WorkloadOptions) datasets.Table {
	tables := []datasets.Table{a.Pairs()}
	if a.Annotations != "" {
		tables = append(tables, a.Annotated())
	}
	if a.HasImages() {
		tables = append(tables, a.Captions(), a.Embedded())
	}
	return datasets.Workload(tables, o)
}
