// Package cococrola is the audit of CoCo-CroLa (Saxon and Wang, ACL 2023, arXiv 2306.01735): which concepts does a
// text-to-image model possess in which language?
//
// [Audit] names its parts; the zero value audits a generator of the built-in world. Its methods return tables, which
// compute nothing before they are shown:
//
//	var audit = cococrola.Audit{Concepts: "cococrola", Generator: "stable-diffusion-v1-4"}
//	plots.Show(plots.Table{Table: audit.Workload(datasets.WorkloadOptions{})}) // what has to be computed, in hours
//	plots.Show(plots.Table{Table: audit.PaperTable("2")})  // Table 2
//	plots.Show(plots.Table{Table: audit.Ledger()})      // every printed value next to ours
//
// The same code runs on the built-in world and on real models. The world's injected disparities are [Audit.Truth],
// which has no rows for real data.
package cococrola

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"antipode/audits"
	"antipode/datasets"
	"antipode/datasets/cococrola"
	"antipode/datasets/table"
	models "antipode/gomlxmodels"
	"antipode/metrics/concepts"
)

// Profiles of [Audit].
const (
	Paper      = concepts.Paper
	PublicCode = concepts.PublicCode
)

// Generators of the built-in world that are not models: procedural samplers, with injected disparities and without.
const (
	Sampler     = audits.Sampler
	SamplerFair = audits.SamplerFair
)

// Released names what the authors released: as Generator their images, as Encoder their scores of these.
const Released = "released"

// Audit is a CoCo-CroLa audit. The zero value of a field is its default; package audits explains how a string names a
// part.
type Audit struct {
	// Concepts are the concepts, each with a word in every language: "" the 14 of the built-in world in English and
	// four invented languages; cococrola or cococrola:DIR, the released list of 193 in seven languages; a .csv file in
	// its form, with the templates in a file prompts.json next to it. With Generator Released "" is the released list.
	Concepts string

	// Generator makes the images: in the built-in world "" is archipelago-diffusion, and Sampler and SamplerFair are
	// procedural samplers; for other concepts "" is stable-diffusion-v1-4. Several, separated by commas, are compared.
	// Released or released:DIR are the images of eight models in the authors' demo repository. A table is of images
	// that exist, with the columns id, image, language and concept (the English word), and model, if of several; a .csv
	// file may have scores that exist instead: model, language, concept, cross_consistency, text_match.
	Generator string

	// Encoder is the CLIP whose vectors are compared: "" is archipelago-clip in the built-in world, and
	// clip-vit-base-patch32 for other concepts. Released are the authors' scores of their images, without Wc.
	Encoder string

	// Languages and Only are the languages and the concepts (English words) of the study: none = all.
	Languages, Only []string

	// Profile is Paper (default) or PublicCode, what the authors' code does; package metrics/concepts lists the
	// differences. With PublicCode a failed cell counts as −1 in means, also in the authors' own scores, as in their
	// Table 2; with Paper it is left out.
	Profile string

	// N is the number of images of each concept in each language: 0 is 8 in the built-in world and 12 for other
	// concepts, as in the released images. The paper does not state it.
	N int

	// Seed selects the built-in world: 0 is 7, the only one that its trained generators know.
	Seed int

	// Corrected replaces words of the released list by the authors' later corrections.
	Corrected bool

	// Vector is the vector of Dt, Sc and Xc, which the paper does not state: "" is clip_image_pooled, that of the
	// public code; clip_image; or full, of a ViT. Wc always compares clip_image.
	Vector string

	// ViT makes the vector full: "" is archipelago-vit in the built-in world, vit-base-patch16-224 for other concepts.
	// If it is named, Vector is full.
	ViT string

	// Generation are the other options of generated images. N is Audit.N. Each image has a seed of its own, derived
	// from its prompt and number and from Generation.Seed: the paper fixes no seed. The default of the built-in world
	// is 20 steps at guidance 1.5, that of a model its own (50 steps at 7.5, as in the public code).
	Generation models.GenerateOptions

	// Scoring are the other options of scores: those that the paper leaves open. Vector and Profile are Audit's. The
	// column options of the scores records them.
	Scoring concepts.ScoreOptions

	// Blank is the treatment of a score without images in means: leave-out or minus-one; "" = the profile's.
	Blank string

	// AtLeast is the smallest difference in Xc from English that is flagged: 0 = 0.05.
	AtLeast float64

	// Templates are the concepts (English words) of the comparison of prompt templates: nil = kite and drum in the
	// built-in world, for other concepts no comparison. The paper first compares dog, sea, airplane and ship.
	Templates []string

	// Repaired is a table (.csv) of prompts that the generator's tokenizer reads without damage, such as transliterated
	// or shortened ones, for [Audit.Losses]: id, language, concept (the English word) and prompt. "" = none.
	Repaired string

	// Labels is a table of kinds of failure that people gave, as antipode annotate collect writes it: "" = none.
	Labels string

	// Judge is a model that answers questions (models.Ask), ask:MODEL: about the images of creative prompts, in place
	// of the CLIP, and about those of failures, in place of people. "" = none.
	Judge string

	// Asking are the other options of the judge.
	Asking models.AskOptions
}

// part returns the name of a part and what follows its colon, a folder.
func part(s string) (name, dir string) {
	name, dir, _ = strings.Cut(s, ":")
	return name, dir
}

// released reports whether the images are the authors'.
func (a Audit) released() bool {
	name, _ := part(a.Generator)
	return name == Released
}

func (a Audit) builtIn() bool { return a.Concepts == "" && !a.released() }

func (a Audit) generators() []string {
	return audits.Generators(a.Generator, a.builtIn(), "stable-diffusion-v1-4")
}

func (a Audit) encoder() string {
	if a.builtIn() {
		return cmp.Or(a.Encoder, "archipelago-clip")
	}
	return cmp.Or(a.Encoder, "clip-vit-base-patch32")
}

func (a Audit) vector() string {
	if a.ViT != "" {
		return cmp.Or(a.Vector, models.Full)
	}
	return cmp.Or(a.Vector, models.ClipImagePooled)
}

// perCell is the number of images of each concept in each language.
func (a Audit) perCell() int {
	switch {
	case a.N > 0:
		return a.N
	case a.builtIn():
		return 8
	}
	return 12
}

// world returns the built-in world with n images of each prompt.
func (a Audit) world(injected bool, n int) datasets.World {
	return audits.World(a.Seed, injected, n)
}

// invalid returns the error of wrong fields.
func (a Audit) invalid() error {
	if err := audits.CheckProfile("cococrola", a.Profile, Paper, PublicCode); err != nil {
		return err
	}
	if err := audits.CheckJudge("cococrola", a.Judge, a.Asking); err != nil {
		return err
	}
	name, _ := part(a.Concepts)
	switch {
	case a.Judge != "" && a.Labels != "":
		return fmt.Errorf("cococrola: there are labels %s; leave the judge %s out", a.Labels, a.Judge)
	case !slices.Contains([]string{models.ClipImagePooled, models.ClipImage, models.Full}, a.vector()):
		return fmt.Errorf("cococrola: vector %q: use %s, %s or %s", a.Vector, models.ClipImagePooled, models.ClipImage,
			models.Full)
	case a.ViT != "" && a.vector() != models.Full:
		return fmt.Errorf("cococrola: vector %s is not that of the ViT %s: leave it out, or use %s", a.Vector, a.ViT,
			models.Full)
	case a.Encoder == Released && !a.released():
		return fmt.Errorf("cococrola: encoder %s: the authors' scores are of their images; use generator %s", Released,
			Released)
	case a.Concepts != "" && name != cococrola.Name && !strings.EqualFold(filepath.Ext(a.Concepts), ".csv"):
		return fmt.Errorf("cococrola: concepts %q: use %s, or a .csv file with a column for each language", a.Concepts,
			cococrola.Name)
	}
	return audits.CheckWorld("cococrola", a.builtIn(), a.Seed, a.generators()...)
}

// Truth returns the disparities injected into the images of the built-in world's generators: model, carrier (the
// language), subject (the concept), kind (of failure), size, score and description. It has no rows for other images.
func (a Audit) Truth() datasets.Table {
	return audits.ByModel(a.generators(), func(g string) datasets.Table {
		return a.world(a.builtIn() && audits.Injected(g), 1).AuditDisparities().Where("audit", "==", "cococrola")
	})
}

// list returns the options of the concept list, for other concepts than those of the built-in world.
func (a Audit) list() cococrola.Options {
	o := cococrola.Options{Languages: a.Languages, Only: a.Only, Corrected: a.Corrected}
	if name, dir := part(a.Concepts); name == cococrola.Name {
		o.Dir = dir
	} else if a.Concepts != "" {
		o.Concepts, o.Templates = a.Concepts, filepath.Join(filepath.Dir(a.Concepts), "prompts.json")
	}
	return o
}

// selected returns the rows of the study's languages and concepts.
func (a Audit) selected(t datasets.Table) datasets.Table {
	if len(a.templates()) > 0 {
		t = t.NeedValues("concept", a.templates())
	}
	if a.Languages != nil {
		t = t.NeedValues("language", a.Languages).Where("language", "in", a.Languages)
	}
	if a.Only != nil {
		t = t.NeedValues("concept", a.Only).Where("concept", "in", a.Only)
	}
	return t
}

// Prompts returns a prompt of each concept in each language: id, concept, language, word, prompt, seed.
func (a Audit) Prompts() datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	if a.builtIn() {
		return a.seeded(a.selected(a.world(false, 1).Words()))
	}
	return a.seeded(cococrola.Prompts(a.list()))
}

// seeded adds a seed of its own to each prompt.
func (a Audit) seeded(prompts datasets.Table) datasets.Table {
	return audits.Seeded(prompts, a.Generation.Seed, "id")
}

// Collisions returns the words that several concepts share, or one concept in several languages; no rows in the
// built-in world, which has none.
func (a Audit) Collisions() datasets.Table {
	if a.builtIn() {
		return audits.NoRows(datasets.Columns("kind:text", "word:text", "languages:text", "concepts:text"))
	}
	return cococrola.Collisions(a.list())
}

// each returns a table of every generator, one below the other; see audits.ByModel.
func (a Audit) each(of func(one Audit) datasets.Table) datasets.Table {
	return audits.ByModel(a.generators(), func(g string) datasets.Table {
		a.Generator = g
		return of(a)
	})
}

// Images returns the images of each concept in each language, by generator.
func (a Audit) Images() datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	return a.each(Audit.images)
}

// images returns the images of a single generator.
func (a Audit) images() datasets.Table {
	g := a.generators()[0]
	switch _, dir := part(g); {
	case a.released():
		return a.selected(cococrola.DemoImages(cococrola.DemoOptions{Dir: dir, Concepts: a.list().Concepts}))
	case audits.IsTable(g):
		images := a.selected(datasets.Extend(audits.Existing(g)).Need("language", table.KindText).Need("concept",
			table.KindText).Table)
		if !audits.Has(images, "model") {
			images = images.With("model", "images")
		}
		return images
	case audits.Sampled(g):
		return a.selected(a.world(g == Sampler, a.perCell()).Concepts()).With("model", g)
	}
	return a.generate(a.Prompts(), a.perCell())
}

// generate returns n images of each prompt.
func (a Audit) generate(prompts datasets.Table, n int) datasets.Table {
	o := a.Generation
	o.N, o.Seed = n, 0
	if a.builtIn() {
		o = audits.Sampling(o)
	}
	return models.Generate(a.generators()[0], prompts, o)
}

// Generates reports whether all generators make images of any prompt: false for images that exist already, and for the
// samplers of the built-in world.
func (a Audit) Generates() bool {
	return !slices.ContainsFunc(a.generators(), func(g string) bool {
		return a.released() || audits.IsTable(g) || audits.Sampled(g)
	})
}

// templates returns the concepts of the comparison of templates, none without a generator of images.
func (a Audit) templates() []string {
	switch {
	case !a.Generates():
		return nil
	case a.builtIn() && a.Templates == nil && a.Only == nil:
		return []string{"kite", "drum"}
	}
	return a.Templates
}

// HasImages reports whether there are images: false for a table of scores.
func (a Audit) HasImages() bool {
	return !slices.ContainsFunc(a.generators(), func(g string) bool { return isScores(g) })
}

// isScores reports whether a generator is a file of scores.
func isScores(generator string) bool {
	return audits.IsTable(generator) && audits.Has(audits.Existing(generator), "cross_consistency")
}

// scored reports whether the scores exist already.
func (a Audit) scored() bool { return a.Encoder == Released || !a.HasImages() }
