package cococrola

import (
	"cmp"

	"antipode/audits"
	"antipode/datasets"
	"antipode/datasets/cococrola"
	models "antipode/gomlxmodels"
	"antipode/metrics"
	"antipode/metrics/concepts"
	"antipode/metrics/consistency"
	"antipode/metrics/significance"
	"antipode/metrics/tokens"
)

// embed adds the vectors of the scores to images that do not come with them: that of Dt, Sc and Xc, and clip_image.
func (a Audit) embed(images datasets.Table) datasets.Table {
	for _, v := range []string{a.vector(), models.ClipImage} {
		encoder, o := a.encoder(), models.EmbedOptions{Vector: v}
		if v == models.Full {
			encoder = cmp.Or(a.ViT, "vit-base-patch16-224")
			if a.builtIn() {
				encoder = cmp.Or(a.ViT, models.ArchipelagoViT)
			}
		}
		if !audits.Has(images, v) {
			images = models.Embed(encoder, images, o)
		}
	}
	return images
}

// Embedded returns the images with their vectors: the one of Dt, Sc and Xc, and clip_image, that of Wc.
func (a Audit) Embedded() datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	return a.each(func(one Audit) datasets.Table { return one.embed(one.images()) })
}

// Words returns the concepts' words with the vector clip_text: in English, or in all languages if Scoring.Word names
// another.
func (a Audit) Words() datasets.Table {
	one := a
	one.Languages = nil // the English words are those of Wc in any language
	if a.Scoring.Word == "" {
		if !a.builtIn() {
			one.Languages = []string{concepts.English}
		}
		return models.EmbedText(a.encoder(), one.Prompts().Where("language", "==", concepts.English), "word",
			models.EmbedTextOptions{Vector: models.ClipText})
	}
	return models.EmbedText(a.encoder(), one.Prompts(), "word", models.EmbedTextOptions{Vector: models.ClipText})
}

// Scores returns Dt, Sc, Xc, Wc and possession of each concept in each language, by generator; see
// concepts.ConceptScores for the columns. A table of scores that exist is returned as it is.
func (a Audit) Scores() datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	return a.each(Audit.scores)
}

func (a Audit) scores() datasets.Table {
	g := a.generators()[0]
	if a.Encoder == Released {
		_, dir := part(g)
		failures := cococrola.FailuresBlank
		if a.Blank == concepts.MinusOne || a.Blank == "" && a.Profile == PublicCode {
			failures = cococrola.FailuresMinusOne
		}
		return a.selected(cococrola.DemoScores(cococrola.DemoOptions{Dir: dir, Failures: failures,
			Concepts: a.list().Concepts}))
	}
	if isScores(g) {
		return a.selected(audits.Existing(g))
	}
	return concepts.ConceptScores(concepts.Tables{Images: a.embed(a.images()), Words: a.Words()}, a.options())
}

func (a Audit) options() concepts.ScoreOptions {
	o := a.Scoring
	o.Vector, o.Joint, o.Profile = a.vector(), models.ClipImage, cmp.Or(a.Profile, Paper)
	o.Source = cmp.Or(o.Source, "en,CogView 2=zh,cogview2=zh")
	return o
}

// Means returns the means over concepts by generator and language, the averages, and the share of concepts possessed.
func (a Audit) Means() datasets.Table {
	blank := a.Blank
	if a.Encoder == Released { // failures that count are −1 already, and Wc, which was not released, is blank
		blank = concepts.LeaveOut
	}
	return concepts.LanguageMeans(a.Scores(), concepts.MeanOptions{Profile: cmp.Or(a.Profile, Paper), Blank: blank,
		Intervals: metrics.Intervals{Seed: a.Scoring.Seed, Resamples: max(a.Scoring.Resamples, 0)}})
}

// PaperTable returns the means in the layout of Table "2".
func (a Audit) PaperTable(number string) datasets.Table {
	if err := audits.CheckTable("cococrola", number, "2"); err != nil {
		return datasets.Failed(err)
	}
	languages := a.Languages
	switch {
	case languages != nil:
	case a.builtIn():
		languages = []string{"en", "qaa_Latn", "qab_Deva", "qac_Arab", "qad_Hani"}
	case a.list().Concepts != "":
		for _, c := range datasets.CSV(a.Concepts).Columns() {
			languages = append(languages, c.Name)
		}
	default:
		languages = cococrola.Languages
	}
	return concepts.PaperTable(a.Means(), concepts.TableOptions{
		Languages: append(append([]string{}, languages...), cococrola.Average)})
}

// PaperCells returns the cells of Table 2 as printed next to ours; see concepts.PaperCells. It has no rows in the
// built-in world, whose values are not comparable.
func (a Audit) PaperCells() datasets.Table {
	if a.builtIn() {
		return audits.NoRows(datasets.Columns("model:text", "language:text", "score:text", "printed:number",
			"value:number", "difference:number"))
	}
	return concepts.PaperCells(a.Means())
}

// figures are the concepts of Figures 1 and 8.
var figures = []string{"dog", "airplane", "face", "rabbit", "snow", "guitar", "prince", "ticket", "eye"}

// Examples returns n images of each concept in each language, at random (Figure 1); of the whole released list those of
// the concepts in Figures 1 and 8.
func (a Audit) Examples(n int) datasets.Table {
	if !a.builtIn() && a.list().Concepts == "" && a.Only == nil {
		a.Only = figures
	}
	return a.each(func(one Audit) datasets.Table { return one.images().Sample(n, "concept,language", 1) })
}

// Differences returns the differences of each language from English in Xc, concept by concept, by generator, with
// bootstrap intervals over concepts that hold for all languages of a generator together (95 %, Bonferroni).
func (a Audit) Differences() datasets.Table {
	return significance.EffectSizes(a.Scores(), significance.EffectOptions{Value: "cross_consistency",
		Group: "language", By: metrics.By("model"), Against: concepts.English, Unit: "concept", Family: true,
		Intervals: metrics.Intervals{Seed: a.Scoring.Seed}}).Rename("group_a", "language")
}

// Findings returns the differences with what is known of them. In the built-in world p_holm is the smallest of
// [Audit.Tests] among a language's concepts that are worse than in English, and the verdict tells whether the language
// with the disparity injected into the generator's images was found and no other was flagged: a language is flagged if
// p_holm is at most 0.05 and its difference at least Audit.AtLeast below zero. Elsewhere the interval of the difference
// decides between found, not found and undecided; see significance.Decide.
func (a Audit) Findings() datasets.Table {
	o := significance.VerdictOptions{On: []string{"language"}, Side: "below", AtLeast: cmp.Or(a.AtLeast, 0.05)}
	if !a.builtIn() || a.scored() {
		o.On = metrics.By("model", "language")
		return significance.Decide(a.Differences(), datasets.Table{}, o)
	}
	o.P = "p_holm"
	return a.each(func(one Audit) datasets.Table {
		worst := one.Tests().Where("difference", "<", 0).GroupBy("language").Min("p_holm")
		return significance.Verdicts(one.Differences().Join(worst.Select("language", "p_holm"), "language"),
			one.Truth().Rename("carrier", "language"), o)
	})
}

// ConceptTests tests for each concept and language whether its images are less similar to the concept's word than the
// images in English are: permutation tests of single images, by concept. images has id, language, concept and the
// vector; words has concept and a vector clip_text in the same space.
func ConceptTests(images, words datasets.Table, vector string) datasets.Table {
	return significance.PermutationTest(matches(images, words, vector), significance.TestOptions{Value: "igc",
		Group: "language", Against: concepts.English, By: metrics.By("prompt_id"), Resamples: 4000}).
		Rename("prompt_id", "concept")
}

// matches returns the similarity of each image to the word of its concept: image_id, language, prompt_id, igc.
func matches(images, words datasets.Table, vector string) datasets.Table {
	return consistency.IGC(images.Select("id", "language", "concept", vector).Rename("id", "image_id").
		Rename("concept", "prompt_id"), words.Select("concept", models.ClipText).Rename("concept", "prompt_id"),
		consistency.IGCOptions{By: metrics.By("prompt_id", "image_id"), Vector: vector,
			ReferenceVector: models.ClipText, Intervals: metrics.Intervals{Resamples: -1}})
}

// Losses returns, for each language, how much of its loss against English in the similarity of images to the concept's
// word is due to refusals, to what the generator's tokenizer does to the prompts, and to the rest, by generator; see
// tokens.Losses. No rows for scores that exist already.
func (a Audit) Losses() datasets.Table {
	if a.scored() {
		return audits.NoRows(datasets.Columns("model:text", "language:text", "cause:text", "loss:number",
			"share:number", "verdict:text", "rule:text"))
	}
	return a.each(func(one Audit) datasets.Table {
		match := func(images datasets.Table) datasets.Table {
			each := matches(one.embed(images), one.Words(), models.ClipImage).Where("igc", "present", nil)
			return images.Join(each.Select("image_id", "igc").Rename("image_id", "id"), "id")
		}
		images, repaired := one.images(), datasets.Table{}
		if !one.released() {
			images = audits.Tokenized(one.generators()[0], images)
		}
		if a.Repaired != "" && a.Generates() {
			repaired = match(one.generate(one.seeded(datasets.CSV(a.Repaired)), one.perCell()))
		}
		return tokens.Losses(match(images), repaired, tokens.LossOptions{Value: "igc", Unit: "concept",
			By: metrics.By("model"), AtLeast: cmp.Or(a.AtLeast, 0.05)})
	})
}

// Tests returns the tests of [ConceptTests], with p-values corrected for the number of concepts and languages (Holm);
// no rows for scores that exist already. Several generators are corrected each on its own.
func (a Audit) Tests() datasets.Table {
	if a.scored() {
		return audits.NoRows(datasets.Columns("model:text", "language:text", "concept:text", "difference:number",
			"p:number", "p_holm:number", "found_holm:text"))
	}
	return a.each(func(one Audit) datasets.Table {
		return significance.AdjustP(ConceptTests(one.Embedded(), one.Words(), models.ClipImage).
			With("model", audits.ModelName(one.Generator))).Rename("group_a", "language")
	})
}

// Failures returns the concepts that are not possessed, with the kind of failure that their images suggest, and in the
// built-in world the injected kind and its language; see concepts.Failures.
func (a Audit) Failures() datasets.Table {
	return a.each(func(one Audit) datasets.Table {
		truth := one.Truth().Select("subject", "kind", "carrier").Rename("subject", "concept").
			Rename("kind", "injected")
		return one.failures().Join(truth, "concept")
	})
}

// failures are those of one generator; scores without images have no kinds.
func (a Audit) failures() datasets.Table {
	var images datasets.Table
	if !a.scored() {
		images = a.Embedded()
	}
	o := concepts.FailureOptions{Vector: a.vector(), Source: a.options().Source}
	return concepts.Failures(a.Scores(), images, o)
}

// JudgedKinds returns the kinds of failure that the judge's answers suggest; see concepts.JudgedKinds.
func (a Audit) JudgedKinds() datasets.Table {
	return a.each(func(one Audit) datasets.Table {
		images := one.Images()
		questions := concepts.FailureQuestions(one.failures(), images).Select("id", "nearest", "question", "choices")
		return concepts.JudgedKinds(one.ask(images.Join(questions, "id").Where("question", "present", nil)))
	})
}

// ask returns the judge's answers to the questions of rows.
func (a Audit) ask(rows datasets.Table) datasets.Table {
	model, _ := audits.Asked(a.Judge)
	return models.Ask(model, rows, a.Asking)
}

// FailureCounts returns the number of failures of each kind by generator and language, by rule, or by people where
// Audit.Labels has a label, or by Audit.Judge.
func (a Audit) FailureCounts() datasets.Table {
	var labels datasets.Table
	switch {
	case a.Labels != "":
		labels = audits.Existing(a.Labels)
	case a.Judge != "" && !a.scored():
		labels = a.JudgedKinds()
	}
	return concepts.FailureCounts(a.each(Audit.failures), labels)
}

// Ranking returns the n concepts with the largest values (with lowest: the smallest) of a score in each language, by
// generator. score is a column of [Audit.Scores].
func (a Audit) Ranking(score string, n int, lowest bool) datasets.Table {
	order := "descending"
	if lowest {
		order = "ascending"
	}
	return concepts.Ranking(a.Scores(), concepts.RankingOptions{Score: score, Top: n, Order: order})
}

// Ranked returns the images in a language of the n concepts with the highest values of a score (with lowest: the
// lowest), with rank, value, and set: highest or lowest, and with several generators one of them.
func (a Audit) Ranked(language, score string, n int, lowest bool) datasets.Table {
	return a.each(func(one Audit) datasets.Table {
		set := "highest"
		if lowest {
			set = "lowest"
		}
		if len(a.generators()) > 1 {
			set += ", " + one.Generator
		}
		ranks := one.Ranking(score, n, lowest).Where("language", "==", language).Select("concept", "rank", "value")
		return one.images().Where("language", "==", language).Join(ranks, "concept").Where("rank", ">=", 1).
			Sort("rank").With("set", set)
	})
}

// LowestLanguage evaluates the means and returns the language with the lowest Xc.
func (a Audit) LowestLanguage() string {
	return a.Means().Where("language", "!=", cococrola.Average).Sort("cross_consistency").Head(1).Text("language")
}

// Pairs returns a score of each concept in English and in every other language (Figure 7).
func (a Audit) Pairs(score string) datasets.Table {
	return concepts.ScorePairs(a.Scores(), concepts.ScorePairOptions{Score: score})
}

// Correlations returns Pearson's r of a score between every two languages, over concepts and generators (Figure 7).
func (a Audit) Correlations(score string) datasets.Table {
	return concepts.LanguageCorrelations(a.Scores(), concepts.CorrelationOptions{Score: score,
		Profile: cmp.Or(a.Profile, Paper), Intervals: metrics.Intervals{Seed: a.Scoring.Seed}})
}

// Wins returns the languages in which each generator has the best mean Xc or Wc (section 5.3).
func (a Audit) Wins() datasets.Table { return concepts.ColumnWins(a.Means()) }

// templatePrompts returns the prompts of the templates to compare, with the template in prompt_id: those of Appendix B,
// in the built-in world the prompt and the word alone.
func (a Audit) templatePrompts() datasets.Table {
	a.Only = a.templates()
	if !a.builtIn() {
		o := a.list()
		o.TemplateVariants, o.Languages = true, a.Languages
		return a.seeded(cococrola.Prompts(o))
	}
	words := a.selected(a.world(false, 1).Words())
	alone := words.Select("id", "concept", "language", "word").Rename("word", "prompt").With("prompt_id", "word").
		Repeat(1, "row_id", 0) // which gives other ids
	return a.seeded(words.With("prompt_id", "prompt").Concat(alone))
}

// TemplateScores returns the mean of each score by prompt template, over the concepts of Audit.Templates, and its
// spread over templates (Appendix B); no rows without concepts to compare.
func (a Audit) TemplateScores() datasets.Table {
	compare := func(one Audit) datasets.Table {
		o := one.options()
		o.Template = "prompt_id"
		images := one.embed(one.generate(one.templatePrompts(), one.perCell()))
		return concepts.CompareTemplates(concepts.ConceptScores(concepts.Tables{Images: images, Words: one.Words()}, o))
	}
	if len(a.templates()) == 0 {
		return audits.NoRows(datasets.Columns("model:text", "language:text", "template:text", "score:text",
			"mean:number", "n_used:number", "templates_range:number", "n_templates:number"))
	}
	return a.each(compare)
}

// Creative returns the creative prompts of section 5.6, in the built-in world prompts of an object in a scene, with
// Xc, Wc and possession of each concept in them.
func (a Audit) Creative() datasets.Table {
	return concepts.CreativePossession(a.Scores(), a.creativePrompts())
}

func (a Audit) creativePrompts() datasets.Table {
	prompts := cococrola.Creative()
	if a.builtIn() {
		prompts = a.world(false, 1).CreativePrompts()
	}
	if a.Languages != nil {
		prompts = prompts.Where("language", "in", a.Languages)
	}
	return prompts
}

// CreativeImages returns n images of each creative prompt (Figure 10); no rows for images that exist already.
func (a Audit) CreativeImages(n int) datasets.Table {
	if !a.Generates() {
		return a.creativePrompts().Head(0)
	}
	return a.each(func(one Audit) datasets.Table { return one.generate(one.seeded(one.creativePrompts()), n) })
}

// CreativeShown returns the share of n images of each creative prompt that show each of its concepts, and all of them,
// as the CLIP sees them, or the judge, next to the possession that should foretell it (possessed, all_possessed); see
// concepts.Shown. No rows for images that exist already.
func (a Audit) CreativeShown(n int) datasets.Table {
	if !a.Generates() {
		return audits.NoRows(datasets.Columns("model:text", "language:text", "prompt_id:text", "concept:text",
			"shown:number", "all_shown:number", "n_images:number", "possessed:text", "all_possessed:text"))
	}
	if a.Judge != "" {
		asked := a.CreativeImages(n).Questions(concepts.ShownQuestions(a.creativePrompts()), "prompt_id")
		return concepts.ShownByJudge(a.ask(asked), a.Scores())
	}
	images := models.Embed(a.encoder(), a.CreativeImages(n), models.EmbedOptions{Vector: models.ClipImage})
	return concepts.Shown(images, a.Words(), a.Scores())
}

// Printed returns the values and claims that the paper prints: paper, item, printed.
func (a Audit) Printed() datasets.Table { return cococrola.PrintedItems() }

// Values returns our values of these; see concepts.Values. It has no rows in the built-in world, whose values are not
// comparable.
func (a Audit) Values() datasets.Table {
	if a.builtIn() {
		return audits.NoValues()
	}
	return concepts.Values(a.Scores(), a.Means())
}

// Claims returns the claims of the paper, and whether they hold: item, holds.
func (a Audit) Claims() datasets.Table { return audits.Claims(a.Values()) }

// Ledger returns Printed next to Values, with a verdict; see metrics.Ledger.
func (a Audit) Ledger() datasets.Table {
	return audits.Ledger(a.Printed(), a.Values(), a.builtIn(), "images",
		"needs other models or languages, or judgement by people")
}

// RunName returns the name of files that this run writes; see audits.RunName.
func (a Audit) RunName() string { return audits.RunName("cococrola", a.Generator, a, Audit{}) }

// Workload returns what remains to be computed, by stage, with the time measured on probe items of each, the disk, the
// dollars, and the models and data that are missing; see datasets.Workload.
func (a Audit) Workload(o datasets.WorkloadOptions) datasets.Table {
	if a.scored() {
		return datasets.Workload([]datasets.Table{a.Scores()}, o)
	}
	tables := []datasets.Table{a.Words(), a.CreativeImages(2)}
	for _, g := range a.generators() {
		one := a
		one.Generator = g
		tables = append(tables, one.Embedded())
		if len(a.templates()) > 0 {
			tables = append(tables, one.embed(one.generate(one.templatePrompts(), one.perCell())))
		}
	}
	return datasets.Workload(tables, o)
}
