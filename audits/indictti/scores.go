package indictti

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"antipode/audits"
	"antipode/datasets"
	data "antipode/datasets/indictti"
	models "antipode/gomlxmodels"
	"antipode/metrics"
	"antipode/metrics/consistency"
	"antipode/metrics/significance"
	"antipode/metrics/tokens"
)

// Prompt sets of scores; see Scores.
const (
	Complete = "complete" // of each model its own prompts
	Common   = "common"   // those that all models have
)

var byModel = metrics.By("model")

// references returns the reference images, or captions, by prompt_id.
func references(t datasets.Table) datasets.Table { return t.Rename("id", "prompt_id") }

// inputs are the tables of a correctness score: images and references, with the columns of their vectors.
type inputs struct {
	images, references      datasets.Table
	vector, referenceVector string
}

// captioned returns the inputs of CLGC: the images' captions and the English captions, in the sentence encoder.
func (a Audit) captioned() inputs {
	v := a.textVector()
	return inputs{a.embedText(a.Captioned(), "caption"), references(a.embedText(a.References(), "english")), v, v}
}

// embedded returns the inputs of IGC.
func (a Audit) embedded() inputs {
	v := a.imageVector()
	if !a.grounded() {
		return inputs{a.embed(a.Images()), datasets.Failed(fmt.Errorf("indictti: the captions come without " +
			"reference images, which IGC needs; fetch them with `antipode data images --in TABLE --url url` and name " +
			"the result in Audit.Photos")), v, v}
	}
	return inputs{a.embed(a.Images()), references(a.embed(a.References())), v, v}
}

// joined returns the inputs of LGC: images and English captions in the joint space.
func (a Audit) joined() inputs {
	v, text := a.jointVectors()
	images, o := a.Images(), models.EmbedOptions{Vector: v, Pooling: a.options().JointPooling}
	if o.Pooling == "projected_max" {
		o.Against = "english"
		if !audits.Has(images, "english") {
			images = images.Join(references(a.References()).Select("prompt_id", "english"), "prompt_id")
		}
	}
	return inputs{models.Embed(a.joint(), images, o), references(models.EmbedText(a.joint(), a.References(), "english",
		models.EmbedTextOptions{Vector: text})), v, text}
}

// CLGC returns the similarity of the images' captions to the English caption, by model and language, with the columns
// encoder and captioner that name the models. set is Complete or Common, as for the other scores. See package
// consistency for the other columns.
func (a Audit) CLGC(set string) datasets.Table {
	in, o := a.captioned(), a.options()
	return consistency.CLGC(in.images, in.references, consistency.CLGCOptions{By: byModel, Vector: in.vector,
		ReferenceVector: in.referenceVector, Empty: o.Empty, ImageOptions: a.of(set), Intervals: a.intervals()}).
		With("encoder", a.textEncoder()).With("captioner", a.captionedBy())
}

// IGC returns the similarity of the images to the reference image.
func (a Audit) IGC(set string) datasets.Table {
	in := a.embedded()
	return consistency.IGC(in.images, in.references, a.correctness(in, set)).With("encoder", a.encoder())
}

// LGC returns the similarity of the images to the English caption.
func (a Audit) LGC(set string) datasets.Table {
	in := a.joined()
	return consistency.LGC(in.images, in.references, consistency.LGCOptions(a.correctness(in, set))).
		With("encoder", a.joint())
}

func (a Audit) correctness(in inputs, set string) consistency.IGCOptions {
	return consistency.IGCOptions{By: byModel, Vector: in.vector, ReferenceVector: in.referenceVector,
		ImageOptions: a.of(set), Intervals: a.intervals()}
}

// of selects the images of a set of prompts.
func (a Audit) of(set string) consistency.ImageOptions {
	return consistency.ImageOptions{Missing: a.options().Missing, Prompts: set}
}

func (a Audit) intervals() metrics.Intervals { return metrics.Intervals{Resamples: a.Resamples} }

// captionedBy names the captioner of the images.
func (a Audit) captionedBy() string {
	var names []string
	for _, g := range a.generators() {
		name := a.captioner()
		if a.Captioner == "" && audits.Sampled(g) {
			name = "perfect"
		} else if a.given(g) {
			name = Given
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// SCWL returns the similarity of the images of one caption within a language.
func (a Audit) SCWL(set string) datasets.Table {
	o := a.options()
	return consistency.SCWL(a.embed(a.Images()), consistency.SCWLOptions{By: byModel, Vector: a.imageVector(),
		Method: o.Within, ImageOptions: a.of(set), Intervals: a.intervals()}).
		With("encoder", a.encoder())
}

// DWL returns the dissimilarity of the images of different captions within a language.
func (a Audit) DWL(set string) datasets.Table {
	o := a.options()
	return consistency.DWL(a.embed(a.Images()), consistency.DWLOptions{By: byModel, Vector: a.imageVector(),
		Method: o.Between, Images: o.Images, ImageOptions: a.of(set), Intervals: a.intervals()}).
		With("encoder", a.encoder())
}

// SCAL returns the similarity of the images of one caption in two languages, by pair of languages (Figure 3).
func (a Audit) SCAL(set string) datasets.Table {
	o := a.options()
	return consistency.SCAL(a.embed(a.Images()), consistency.SCALOptions{By: byModel, Vector: a.imageVector(),
		Method: o.Pairs, ImageOptions: a.of(set), Intervals: a.intervals()}).
		With("encoder", a.encoder())
}

// OverallSCAL returns equation 9 by model, in every variant; [Options].Overall names the one of the ledger.
func (a Audit) OverallSCAL(set string) datasets.Table {
	o := a.options()
	return consistency.SCALOverall(a.embed(a.Images()), consistency.SCALOverallOptions{By: byModel,
		Vector: a.imageVector(), Method: "all", Pairs: o.Pairs, Of: o.Of, ImageOptions: a.of(set),
		Intervals: a.intervals()}).
		With("encoder", a.encoder())
}

// Scores returns CLGC, IGC (where there are reference images), LGC, SCWL and DWL by model and language in one form:
// model, language, score, value with its interval, n (images), n_prompts, n_missing and encoder. set is Complete or
// Common.
func (a Audit) Scores(set string) datasets.Table {
	one := func(t datasets.Table, score, column string) datasets.Table {
		return t.Select("model", "language", column, column+"_low", column+"_high", "n_used", "n_prompts", "n_missing",
			"encoder", "interval").Rename(column, "value").Rename(column+"_low", "value_low").
			Rename(column+"_high", "value_high").Rename("n_used", "n").With("score", score)
	}
	out := one(a.CLGC(set), "CLGC", "clgc")
	if a.grounded() {
		out = out.Concat(one(a.IGC(set), "IGC", "igc"))
	}
	return out.Concat(one(a.LGC(set), "LGC", "lgc"), one(a.SCWL(set), "SCWL", "scwl"), one(a.DWL(set), "DWL", "dwl"))
}

// Drops returns the drop of CLGC, IGC and LGC from English to the mean of the other languages, by model.
func (a Audit) Drops(set string) datasets.Table {
	drop := func(in inputs, score string) datasets.Table {
		return consistency.DropFromEnglish(in.images, in.references,
			consistency.DropOptions(a.correctness(in, set))).With("score", score)
	}
	out := drop(a.captioned(), "CLGC")
	if a.grounded() {
		out = out.Concat(drop(a.embedded(), "IGC"))
	}
	return out.Concat(drop(a.joined(), "LGC"))
}

// perCaption returns the score by model, language and caption.
func (a Audit) perCaption() datasets.Table {
	by, once := metrics.By("model", "prompt_id"), metrics.Intervals{Resamples: -1}
	of := func(in inputs) consistency.IGCOptions {
		return consistency.IGCOptions{By: by, Vector: in.vector, ReferenceVector: in.referenceVector, Intervals: once}
	}
	switch a.score() {
	case "igc":
		in := a.embedded()
		return consistency.IGC(in.images, in.references, of(in))
	case "lgc":
		in := a.joined()
		return consistency.LGC(in.images, in.references, consistency.LGCOptions(of(in)))
	}
	in := a.captioned()
	return consistency.CLGC(in.images, in.references, consistency.CLGCOptions{By: by, Vector: in.vector,
		ReferenceVector: in.referenceVector, Empty: a.options().Empty, Intervals: once})
}

func (a Audit) score() string { return cmp.Or(a.Score, "clgc") }

// Tests compares each language with English by CLGC or Audit.Score, caption by caption: a permutation test that flips
// the signs of the differences, with Holm's correction (p_holm) over the languages of all models. A
// language is the column language; see package significance.
func (a Audit) Tests() datasets.Table {
	tests := significance.PermutationTest(a.perCaption(), significance.TestOptions{Value: a.score(), Group: "language",
		By: byModel, Unit: "prompt_id", Paired: true, Against: data.English, Seed: 1})
	return tests.Rename("group_a", "language")
}

// Differences returns the difference of the score between each language and English, with intervals that hold for all
// languages of a model together (95 %, Bonferroni).
func (a Audit) Differences() datasets.Table {
	return significance.EffectSizes(a.perCaption(), significance.EffectOptions{Value: a.score(), Group: "language",
		By: byModel, Unit: "prompt_id", Against: data.English, Family: true,
		Intervals: metrics.Intervals{Resamples: a.Resamples}}).Rename("group_a", "language")
}

// Least is the smallest drop of the score that [Audit.Findings] flags, 5 points as the paper prints it: a trained
// generator is never exactly balanced.
const Least = 0.05

// Findings returns the tests with what is known: in the built-in world whether the disparity injected into a model's
// images was found and each other language not flagged; elsewhere found, not found or undecided, see
// significance.Decide. A language is flagged if its score is below that of English by at least Least and its corrected
// p-value is at most 0.05.
func (a Audit) Findings() datasets.Table {
	o := significance.VerdictOptions{On: metrics.By("model", "language"), P: "p_holm", Side: "below", AtLeast: Least}
	if a.builtIn() {
		return significance.Verdicts(a.Tests(), a.Truth(), o)
	}
	return significance.Decide(a.Tests(), a.Differences(), o)
}

// Lowest returns the n images of each model with the lowest CLGC, with the columns caption and clgc.
func (a Audit) Lowest(n int) datasets.Table {
	in := a.captioned()
	each := consistency.CLGC(in.images, in.references, consistency.CLGCOptions{By: metrics.By("model", "id"),
		Vector: in.vector, ReferenceVector: in.referenceVector, Intervals: metrics.Intervals{Resamples: -1}}).
		Sort("clgc")
	lowest := each.Head(n)
	if g := a.generators(); len(g) > 1 {
		lowest = audits.Each(g, func(g string) datasets.Table {
			return each.Where("model", "==", audits.ModelName(g)).Head(n)
		})
	}
	return a.Captioned().Join(lowest.Select("id", "clgc"), "id").Where("clgc", "present", nil)
}

// Losses returns, for each language, how much of its loss in CLGC against English is due to refusals, to what the
// generator's tokenizer does to the prompts, such as cutting long captions, and to the rest, by model; see
// tokens.Losses.
func (a Audit) Losses() datasets.Table {
	in := a.captioned()
	each := consistency.CLGC(in.images, in.references, consistency.CLGCOptions{By: metrics.By("model", "id"),
		Vector: in.vector, ReferenceVector: in.referenceVector, Intervals: metrics.Intervals{Resamples: -1}}).
		Where("clgc", "present", nil)
	images := a.Captioned().Join(each.Select("id", "clgc"), "id")
	return audits.Each(a.generators(), func(g string) datasets.Table {
		return tokens.Losses(audits.Tokenized(g, images.Where("model", "==", audits.ModelName(g))), datasets.Table{},
			tokens.LossOptions{Value: "clgc", By: byModel, AtLeast: Least})
	})
}

// Examples returns one image of n captions in every language by every model, with prompt (in the language) and english.
func (a Audit) Examples(n int) datasets.Table {
	some := a.References().Sort("id").Head(n).Select("id", "english")
	images := a.Images()
	if !audits.Has(images, "english") {
		images = images.Join(references(some), "prompt_id")
	}
	return within(images, references(some), "prompt_id", "example").Sample(1, "model,language,prompt_id", 1)
}

// Counts returns expected, available, refused, failed and missing images and empty captions, by model and language; see
// consistency.Completeness.
func (a Audit) Counts() datasets.Table {
	return consistency.Completeness(a.Captioned(), consistency.CountOptions{By: byModel, N: a.perPrompt()})
}

// Translated returns the mean rating of the translations and the agreement of the raters, by language and for all
// (Figure 8), from Audit.Ratings; no rows without it. See consistency.TranslationRatings.
func (a Audit) Translated() datasets.Table {
	if a.Ratings == "" {
		return audits.NoRows(datasets.Columns("language:text", "rating:number", "agreement:number",
			"n_prompts:number", "n_annotators:number", "n_below_3:number"))
	}
	return consistency.TranslationRatings(a.file(a.Ratings), consistency.RatingOptions{Intervals: a.intervals()})
}

// Motifs returns the share of the inspected images that have each tag of Audit.Tags, by model and script (section 6);
// no rows without it. See consistency.Motifs.
func (a Audit) Motifs() datasets.Table {
	if a.Tags == "" {
		return audits.NoRows(datasets.Columns("model:text", "script:text", "tag:text", "share:number",
			"n_inspected:number"))
	}
	return consistency.Motifs(a.Images(), a.file(a.Tags), consistency.MotifOptions{By: byModel})
}

// MotifTests tests for each motif and script whether its share differs from that in the other scripts, corrected for
// the number of tests; no rows without Audit.Tags. See consistency.MotifTests.
func (a Audit) MotifTests() datasets.Table {
	if a.Tags == "" {
		return audits.NoRows(datasets.Columns("model:text", "script:text", "tag:text", "share:number",
			"share_others:number", "p_holm:number", "n_inspected:number"))
	}
	return consistency.MotifTests(a.Images(), a.file(a.Tags), consistency.MotifOptions{By: byModel})
}

// Claims returns the paper's findings without a number as expectations of this run, pass or FAIL; see
// consistency.Claims.
func (a Audit) Claims() datasets.Table { return consistency.Claims(a.Scores(Common), a.SCAL(Common)) }

// Printed returns the values and claims that the paper prints: paper, item, printed.
func (a Audit) Printed() datasets.Table { return data.PrintedItems() }

// Values returns our values of these; see consistency.Values. It has no rows in the built-in world, whose values are
// not comparable.
func (a Audit) Values() datasets.Table {
	if a.builtIn() {
		return audits.NoValues()
	}
	return consistency.Values(consistency.ValueTables{Complete: a.Scores(Complete), Common: a.Scores(Common),
		Pairs: a.SCAL(Common), Overall: a.OverallSCAL(Common).Where("method", "==", a.options().Overall)})
}

// PaperTable returns the cells of Table 2, 3, 4 or 6 to 11 as printed next to ours; see consistency.PaperCells.
func (a Audit) PaperTable(number string) datasets.Table {
	err := audits.CheckTable("indictti", number, "2", "3", "4", "6", "7", "8", "9", "10", "11")
	n, _ := strconv.Atoi(number)
	cells, err2 := data.PrintedTable(n)
	if err = cmp.Or(err, err2); err != nil {
		return datasets.Failed(err)
	}
	set, score := Common, cells[0].Score
	if n >= 9 {
		set = Complete
	}
	scores := map[string]func(set string) datasets.Table{"clgc": a.CLGC, "igc": a.IGC, "lgc": a.LGC}[score](set)
	return consistency.PaperCells(scores, consistency.CellOptions{Table: n, Score: score})
}

// Ledger returns Printed next to Values, with a verdict; see metrics.Ledger.
func (a Audit) Ledger() datasets.Table {
	return audits.Ledger(a.Printed(), a.Values(), a.builtIn(), "images",
		"needs another model or language, or ratings by people")
}

// Record returns the choices in effect: option, value, others (its other values) and point, what the paper leaves open.
func (a Audit) Record() datasets.Table {
	o := a.options()
	model := func(pooling string) string { return cmp.Or(pooling, "auto") }
	var rows []map[string]any
	for _, r := range [][4]string{
		{"profile", cmp.Or(a.Profile, Paper), "paper, printed", "equations as means, or as printed"},
		{"encoder", a.encoder(), "any image encoder", "f of IGC, SCAL, SCWL and DWL"},
		{"encoder pooling", model(o.Pooling), "pooled, patches, queries", "which output of BLIP-2 is f"},
		{"text encoder", a.textEncoder(), "any sentence encoder", "t of CLGC and of the selection"},
		{"captioner", a.captionedBy(), "any captioner", "c of CLGC"},
		{"decoding", fmt.Sprintf("%s, prefix %q, %d tokens", cmp.Or(a.Captioning.Decode, "greedy"),
			a.Captioning.Prefix, cmp.Or(a.Captioning.MaxTokens, 30)), "greedy, beam, nucleus", "decoding of captions"},
		{"joint", a.joint(), "any CLIP or BLIP-2 with a text tower", "features of LGC"},
		{"joint pooling", model(o.JointPooling), "projected, projected_first, projected_max",
			"how 32 queries become one vector"},
		{"filter", o.Filter, "strict, i, after-stop, both, none", "capitalized words that exclude a caption"},
		{"samples", fmt.Sprint(o.Samples), "any number", "samples of captions, of which one is taken"},
		{"seed", fmt.Sprint(a.Seed), "any number", "of the selection, or of the built-in world"},
		{"first image seed", fmt.Sprint(a.Generation.Seed), "any number", "the same in every language"},
		{"images per caption", fmt.Sprint(a.perPrompt()), "2 and more", "4 in the paper"},
		{"equation 6", o.Pairs, "mean_uneq, mean_ult, mean_all, literal", "normalizer of SCAL by pair"},
		{"equation 9", o.Overall, "mean_pairs, half, literal", "normalizer of the overall SCAL"},
		{"languages of equation 9", o.Of, "all, indic", "with English, or without"},
		{"equation 10", o.Within, "mean, literal", "normalizer of SCWL"},
		{"equation 12", o.Between, "mean, literal", "normalizer of DWL"},
		{"images of equation 12", o.Images, "all, same_seed, centroid, first", "the missing index"},
		{"empty captions", o.Empty, "keep, skip", "not mentioned in the paper"},
		{"missing images", o.Missing + "; every prompt has the same weight", "count, fail",
			"not mentioned in the paper"},
	} {
		rows = append(rows, map[string]any{"option": r[0], "value": r[1], "others": r[2], "point": r[3]})
	}
	return datasets.FromRows(rows)
}

// RunName returns the name of files that this run writes; see audits.RunName.
func (a Audit) RunName() string { return audits.RunName("indictti", a.Generator, a, Audit{}) }

// Workload returns what remains to be computed, by stage, with the time measured on probe items of each, the disk, the
// dollars, and the models and data that are missing; see datasets.Workload.
func (a Audit) Workload(o datasets.WorkloadOptions) datasets.Table {
	text, joint := a.captioned(), a.joined()
	tables := []datasets.Table{text.images, text.references, joint.images, joint.references, a.embed(a.Images())}
	tables = append(tables, a.embedded().references)
	return datasets.Workload(tables, o)
}
