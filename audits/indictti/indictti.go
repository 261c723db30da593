// Package indictti is the audit of IndicTTI (Mittal et al., ECCV 2024, "Navigating Text-to-Image Generative Bias across
// Indic Languages"): how much of a caption do images keep when it is given in other languages?
//
// [Audit] names its parts; the zero value audits a generator of the built-in world. Its methods return tables, which
// compute nothing before they are shown:
//
//	var audit = indictti.Audit{Captions: "captions.parquet", Generator: "stable-diffusion-v1-5"}
//	plots.Show(plots.Table{Table: audit.Workload(datasets.WorkloadOptions{})}) // what has to be computed, in hours
//	plots.Show(plots.Table{Table: audit.Scores()})     // CLGC, IGC, LGC, SCWL and DWL by language
//	plots.Show(plots.Table{Table: audit.Ledger()})     // every printed value next to ours
//
// The same code runs on the built-in world and on real captions and models. The world's injected disparities are
// [Audit.Truth], which has no rows for real data.
package indictti

import (
	"cmp"
	"fmt"
	"slices"

	"antipode/audits"
	"antipode/datasets"
	data "antipode/datasets/indictti"
	models "antipode/gomlxmodels"
)

// Profiles of [Audit].
const (
	Paper     = "paper"   // the paper's choices; sums over pairs are divided by the number of pairs
	AsPrinted = "printed" // the same, with equations 6, 9, 10 and 12 as printed
)

// Generators of the built-in world that are not models: procedural samplers with a perfect captioner, with injected
// disparities and without.
const (
	Sampler     = audits.Sampler
	SamplerFair = audits.SamplerFair
)

// Given as [Audit.Captioner] takes the column caption of images that exist.
const Given = "given"

// Audit is an IndicTTI audit. The zero value of a field is its default; package audits explains how a string names a
// part.
type Audit struct {
	// Captions are what prompts are selected from: "" those of the built-in world; laion_coco_nllb or
	// laion_coco_nllb:DIR, the test split of the data set where DIR has it, else all its files; a Parquet file or a CSV
	// file in its layout (id, eng_caption, captions or a column for each language, image); or a CSV file with the
	// columns id, language and text (and image in the rows of English), whose captions are the prompts themselves.
	Captions string

	// Photos are the reference images, with the columns id (of the caption) and image, as `antipode data images` writes
	// them; captions without one are left out. "": the column image of Captions. Without any there is no IGC.
	Photos string

	// Translations are the captions in languages that the data set lacks: id, language, text and optionally source.
	Translations string

	// Generator makes the images: in the built-in world "" is archipelago-diffusion, and Sampler and SamplerFair are
	// procedural samplers; else "" is stable-diffusion-v1-5. A table is of images that exist, with the columns id,
	// image, language, prompt_id and seed, and optionally model, outcome and caption. Several, separated by commas, are
	// compared.
	Generator string

	// Captioner describes the images: "" is archipelago-blip in the built-in world, blip2-opt-2.7b else; images of a
	// table with a column caption keep it, as with Given.
	Captioner string

	// Encoder makes the vectors of images for IGC, SCAL, SCWL and DWL: "" is archipelago-vit or blip2-opt-2.7b.
	Encoder string

	// TextEncoder makes the vectors of texts for CLGC: "" is archipelago-clip or all-mpnet-base-v2.
	TextEncoder string

	// Joint makes the vectors of images and texts for LGC: "" is archipelago-clip or blip2-itm-vit-g.
	Joint string

	// Score is the score of Tests, Differences and Findings: "" is clgc; igc or lgc.
	Score string

	// Languages are the languages of the study besides English: "" all; a list of codes; or a CSV file of languages
	// (indictti.ReadLanguages).
	Languages string

	// Profile is Paper (default) or AsPrinted. What the authors' code does where the paper is unclear is not known
	// here.
	Profile string

	// Size is the number of captions. 0: all of the built-in world and of a table of prompts, else 1000.
	Size int

	// N is the number of images of each caption in each language; 0 = 4, in the built-in world 3.
	N int

	// Seed selects the built-in world (0 is 7, the only one that its trained generators know), and else the captions.
	Seed int

	// Generation are the other options of generated images. Images have the seeds Generation.Seed, +1, … in every
	// language and for every caption. The default of the built-in world is 20 steps at guidance 1.5; that of a
	// diffusion model DDIM with 50 steps at guidance 7.5 without a safety checker, as in the paper.
	Generation models.GenerateOptions

	// Captioning are the options of captions. The default is greedy decoding, no prefix, at most 30 tokens.
	Captioning models.CaptionOptions

	// Ratings are ratings of the translations by people (language, prompt_id, annotator, rating from 1 to 5), and Tags
	// tags of images (id, tag); "" = none. `antipode annotate` makes pages for tags.
	Ratings, Tags string

	// Options are the choices that the paper leaves open.
	Options Options

	// Resamples is the number of bootstrap resamples of an interval: 0 = 1000; −1 = no intervals.
	Resamples int
}

// Options are the choices that the paper leaves open and that change a number; [Audit.Record] lists those in effect.
type Options struct {
	// Filter exempts capitalized words from the rule that excludes captions: strict (default: none), i, after-stop,
	// both; none = no filter, the default in the built-in world, whose captions name islands, and of a table of
	// prompts.
	Filter string

	// Samples is the number of random samples of captions, of which the one with the least similar captions is taken;
	// default 1000.
	Samples int

	Pooling      string // of Encoder; default that of the model, for BLIP-2 the vision tower's pooled output
	JointPooling string // of Joint: default that of the model, for BLIP-2 the mean of the projected queries

	Pairs   string // variant of equation 6: mean_uneq (default), mean_ult, mean_all, literal
	Overall string // variant of equation 9: mean_pairs (default), half, literal
	Of      string // languages of the overall SCAL: all (default) or indic, without English
	Within  string // variant of equation 10: mean (default), literal
	Between string // variant of equation 12: mean (default), literal
	Images  string // images that equation 12 compares: all (default), same_seed, centroid, first
	Empty   string // images with an empty caption: keep (default) or skip
	Missing string // missing images: count (default) or fail
}

func (a Audit) builtIn() bool { return a.Captions == "" }

// or returns the name of a part: given, or its default in the built-in world or for other captions.
func (a Audit) or(given, builtIn, real string) string {
	if a.builtIn() {
		return cmp.Or(given, builtIn)
	}
	return cmp.Or(given, real)
}

func (a Audit) encoder() string { return a.or(a.Encoder, models.ArchipelagoViT, "blip2-opt-2.7b") }
func (a Audit) textEncoder() string {
	return a.or(a.TextEncoder, "archipelago-clip", "all-mpnet-base-v2")
}
func (a Audit) joint() string     { return a.or(a.Joint, "archipelago-clip", "blip2-itm-vit-g") }
func (a Audit) captioner() string { return a.or(a.Captioner, "archipelago-blip", "blip2-opt-2.7b") }

// generators returns the generators, with a unique name for each.
func (a Audit) generators() []string {
	return audits.Generators(a.Generator, a.builtIn(), "stable-diffusion-v1-5")
}

// perPrompt is the number of images of each caption in each language.
func (a Audit) perPrompt() int {
	if a.builtIn() {
		return cmp.Or(a.N, 3)
	}
	return cmp.Or(a.N, data.ImagesPerPrompt)
}

// options returns the choices in effect.
func (a Audit) options() Options {
	o, pairs, overall, mean := a.Options, "mean_uneq", "mean_pairs", "mean"
	if a.Profile == AsPrinted {
		pairs, overall, mean = "literal", "literal", "literal"
	}
	filter := "strict"
	if a.builtIn() || a.isPrompts() {
		filter = "none"
	}
	return Options{Filter: cmp.Or(o.Filter, filter), Samples: cmp.Or(o.Samples, 1000),
		Pooling: o.Pooling, JointPooling: o.JointPooling,
		Pairs: cmp.Or(o.Pairs, pairs), Overall: cmp.Or(o.Overall, overall), Of: cmp.Or(o.Of, "all"),
		Within: cmp.Or(o.Within, mean), Between: cmp.Or(o.Between, mean), Images: cmp.Or(o.Images, "all"),
		Empty: cmp.Or(o.Empty, "keep"), Missing: cmp.Or(o.Missing, "count")}
}

// invalid returns the error of wrong fields.
func (a Audit) invalid() error {
	if a.Profile != "" && a.Profile != Paper && a.Profile != AsPrinted {
		return fmt.Errorf("indictti: profile %q: use %s or %s; what the authors' code does is not known here, so "+
			"set single options of Audit.Options", a.Profile, Paper, AsPrinted)
	}
	if !slices.Contains([]string{"", "clgc", "igc", "lgc"}, a.Score) {
		return fmt.Errorf("indictti: score %q: use clgc, igc or lgc", a.Score)
	}
	return audits.CheckWorld("indictti", a.builtIn(), a.Seed, a.generators()...)
}

// world returns the built-in world with n images of each caption in each language.
func (a Audit) world(injected bool, n int) datasets.World {
	return audits.World(a.Seed, injected, n)
}

// Truth returns the disparities injected into the images of the built-in world's generators: model, language, subject,
// size, elsewhere and description. It has no rows for other images.
func (a Audit) Truth() datasets.Table {
	return a.each(func(g string) datasets.Table {
		return a.world(a.builtIn() && audits.Injected(g), 1).AuditDisparities().Where("audit", "==", "indictti").
			Rename("carrier", "language")
	})
}
