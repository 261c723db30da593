// Package visage is the audit of ViSAGe (Jha et al., ACL 2024, arXiv 2401.06310): do images of an identity group show
// what is known as a stereotype of it more often than other attributes, and do images of a neutral prompt resemble
// those of a stereotypical one?
//
// [Audit] names its parts; the zero value audits a generator of the built-in world. Its methods return tables, which
// compute nothing before they are shown:
//
//	var audit = visage.Audit{Annotations: "released"}
//	plots.Show(plots.Table{Table: audit.Scores()})  // Tables 1 and 2
//	plots.Show(plots.Table{Table: audit.Pulls()})       // Tables 3 to 5
//	plots.Show(plots.Table{Table: audit.Ledger()})      // every printed value next to ours
//
// The same code runs on the built-in world, on the paper's released annotations and on real models. The world's
// injected disparities are [Audit.Truth], which has no rows for anything else.
//
// Content warning: SeeGULL's pairs contain offensive stereotypes. They record what people reported, not facts about
// anybody. What a table displays is masked unless Audit.ShowOffensive is set; what a generator gets never is.
package visage

import (
	"cmp"
	"context"
	"fmt"

	"antipode/audits"
	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/table"
	"antipode/datasets/visage"
	models "antipode/gomlxmodels"
	"antipode/metrics/stereotypes"
)

// Parts of [Audit].
const (
	SeeGULL  = "seegull"  // of Attributes: SeeGULL's pairs with ViSAGe's ratings
	Released = "released" // of Annotations: those that the paper's authors released
)

// Profiles of [Audit].
const (
	Paper = "paper"
	Clean = "clean"
)

// Generators of the built-in world that are not models: procedural samplers, with injected disparities and without.
const (
	Sampler     = audits.Sampler
	SamplerFair = audits.SamplerFair
)

// Audit is a ViSAGe audit. The zero value of a field is its default; package audits explains how a string names a part.
type Audit struct {
	// Attributes are the pairs of identity and attribute: "" those of the built-in world's peoples; [SeeGULL]; or a
	// table with the columns of datasets/visage.Pairs, not masked. Annotations that were released imply SeeGULL.
	Attributes string

	// Generator makes the images: in the built-in world "" is archipelago-diffusion, and Sampler and SamplerFair are
	// procedural samplers; for other identities "" is stable-diffusion-v1-4. Several, separated by commas, are
	// compared: tables have the column model, and files of annotations are of one. A table is of images that exist,
	// with the columns id, image and identity, and set (d, s or ns) and attribute where it has images of all three
	// sets; its default images (d) are those that are annotated and captioned, too. With released annotations "" is no
	// images: the paper's were not released.
	Generator string

	several bool // the audit is one of [Audit.Models]

	// Annotations are the answers of the annotators: [Released]; or a table such as `antipode annotate collect` writes.
	// "": the captioner stands in for annotators, see CaptionAttributes; for a sampler, perfect annotators.
	Annotations string

	// Judge answers in place of annotators whether an image shows an attribute, those that annotators would see: "" is
	// nobody, ask:MODEL a model that answers questions (models.Ask).
	Judge string

	// Asking are the other options of the judge.
	Asking models.AskOptions

	// Captioner describes the images: "" is archipelago-blip in the built-in world, perfect captions for its samplers,
	// and blip2-opt-2.7b for other identities. The paper's own captions are n-grams scored by CLIP and completed by
	// BART, of which nothing is released.
	Captioner string

	// Encoder makes the vectors of the pull: "" is archipelago-clip in the built-in world, or with a sampler "traits",
	// a vector of what an image shows; clip-vit-large-patch14 for others: the paper does not say which CLIP it used.
	// archipelago-vit was trained on objects and does not detect the injected pull in a generator's images of figures.
	Encoder string

	// Vector is the vector that the encoder makes: "" is clip_image, the projected vector of a CLIP.
	Vector string

	// Identities are those of the study: none = all peoples; of SeeGULL the paper's 135; of a table all with a visual
	// stereotype. They are the keys of the table ("United KingdomUK").
	Identities []string

	// Profile is Paper (default): the option "none of the above" counts as a random attribute, as the paper's Tables 1
	// and 2 do. Clean leaves it out. Nothing differs for annotations without that option.
	Profile string

	// N is the number of images of each prompt: 0 is the paper's, 5 of each of three prompts for annotators and 15 of
	// each prompt of the pull; in the built-in world 5.
	N int

	// Seed selects the built-in world: 0 is 7, the only one that its trained generators know. For other identities it
	// is the seed of the first image and of the sampling of attributes.
	Seed int

	// Generation are the other options of generated images; N is Audit.N. The default of the built-in world is 20 steps
	// at guidance 1.5, that of a model its own.
	Generation models.GenerateOptions

	// Captioning are the options of captions. The default for other identities than the built-in world's is the paper's
	// number, 50 of each image, sampled; in the built-in world one, of up to 48 tokens.
	Captioning models.CaptionOptions

	// Sets are the templates and the attributes of the pull's prompts. What defines a stereotype is in Stereotypes.
	Sets visage.SetPromptsOfOptions

	// Templates are the prompts for annotators: none = datasets/visage.Templates, which are a guess; the paper's were
	// lost.
	Templates []string

	// Stereotypes define St(id), the visual stereotypes of an identity. Prompts know MinStereo and MinScore only.
	Stereotypes stereotypes.StereotypeOptions

	// Salience, Agreement, Offensiveness and Pull are options that the paper leaves open. Those of St(id), the
	// resamples and what is shown are set by the audit. They are in the column options of each result.
	Salience      stereotypes.SalienceOptions
	Agreement     stereotypes.AgreementOptions
	Offensiveness stereotypes.OffensivenessOptions
	Pull          stereotypes.PullOptions

	// Data and SeeGULLData are the folders of the data sets; "" = found in ANTIPODE_DATA or the store.
	Data, SeeGULLData string

	// Regions is a CSV file that maps identities to regions and countries; "" = datasets/visage.Regions.
	Regions string

	// ShowOffensive shows attributes that SeeGULL rates offensive for an identity, or that nobody rated.
	ShowOffensive bool

	// Resamples is the number of bootstrap samples of an interval: 0 = 1000; −1 = no intervals.
	Resamples int
}

func (a Audit) builtIn() bool { return a.Attributes == "" && a.Annotations != Released }

func (a Audit) seeGULL() bool {
	return a.Attributes == SeeGULL || a.Attributes == "" && a.Annotations == Released
}

// world returns the built-in world with n images of each prompt.
func (a Audit) world(injected bool, n int) datasets.World {
	return audits.World(a.Seed, injected, n)
}

// generators returns the generators, "" if there are no images.
func (a Audit) generators() []string {
	if a.Generator == "" && a.Annotations == Released {
		return []string{""}
	}
	return audits.Generators(a.Generator, a.builtIn(), "stable-diffusion-v1-4")
}

// generator is the only generator, or the first.
func (a Audit) generator() string { return a.generators()[0] }

// Models returns the audit of each generator, for figures that show one.
func (a Audit) Models() []Audit {
	return audits.Models(a.generators(), func(g string, several bool) Audit {
		a.Generator, a.several = g, several
		return a
	})
}

// Title returns the title of a figure of one of [Audit.Models], which names the generator if there are several.
func (a Audit) Title(title string) string { return audits.Title(title, a.generator(), a.several) }

// each returns a table of every generator, one below the other, with the column model; see audits.ByModel.
func (a Audit) each(of func(one Audit) datasets.Table) datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	if a.generator() == "" {
		return of(a).With("model", Released)
	}
	return audits.ByModel(a.generators(), func(g string) datasets.Table {
		a.Generator = g
		return of(a)
	})
}

// HasImages reports whether the audit has images: not with released annotations alone, whose images were not released.
// Without images the tables of images, captions and vectors have no rows.
func (a Audit) HasImages() bool { return a.generator() != "" }

func (a Audit) sampled() bool { return audits.Sampled(a.generator()) }

// injected reports whether disparities were injected into the generator's images.
func (a Audit) injected() bool {
	return a.builtIn() && audits.Injected(a.generator())
}

// invalid returns the error of wrong fields.
func (a Audit) invalid() error {
	if err := audits.CheckProfile("visage", a.Profile, Paper, Clean); err != nil {
		return err
	}
	if !a.builtIn() && (a.Stereotypes.Rule != "" && a.Stereotypes.Rule != stereotypes.AllAgree ||
		a.Stereotypes.StereoColumn != "" && a.Stereotypes.StereoColumn != "na_stereo") && a.HasImages() &&
		!audits.IsTable(a.Generator) {
		return fmt.Errorf("visage: prompts are made for stereotypes by na_stereo and the rule %s only; give images of "+
			"your own in place of the generator %s", stereotypes.AllAgree, a.generator())
	}
	g := a.generators()
	if err := audits.CheckJudge("visage", a.Judge, a.Asking); err != nil {
		return err
	}
	if a.Judge != "" && a.Annotations != "" {
		return fmt.Errorf("visage: there are annotations %s; leave the judge %s out", a.Annotations, a.Judge)
	}
	if len(g) > 1 && a.Annotations != "" {
		return fmt.Errorf("visage: annotations %s are of the images of one generator, not of %s", a.Annotations,
			a.Generator)
	}
	return audits.CheckWorld("visage", a.builtIn(), a.Seed, g...)
}

// checked returns the table, in error if fields of the audit are wrong.
func (a Audit) checked(t datasets.Table) datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Extend(t).Fail(err).Table
	}
	return t
}

// ofImages returns a table that is computed from images: without rows where the audit has none.
func (a Audit) ofImages(t datasets.Table) datasets.Table {
	if a.HasImages() {
		return t
	}
	return audits.Without(t)
}

// named is mine for a table in which each identity of the study must occur.
func (a Audit) named(t datasets.Table) datasets.Table {
	return a.mine(t.NeedValues("identity", a.Identities))
}

// mine returns the rows of the study's identities.
func (a Audit) mine(t datasets.Table) datasets.Table {
	if len(a.Identities) == 0 {
		return t
	}
	return t.Where("identity", "in", a.Identities)
}

// Detail returns identities to show in detail: those of a comma-separated list; by default all of the built-in world,
// of SeeGULL's those that the paper discusses, and those of the study for others.
func (a Audit) Detail(list string) []string {
	switch {
	case list != "":
		return datasets.SplitColumns(list)
	case len(a.Identities) > 0:
		return a.Identities[:min(len(a.Identities), 6)]
	case a.builtIn():
		return archipelago.PeopleNames()
	case a.seeGULL():
		return []string{"Sudanese", "Bangladeshi", "Mexican", "Indian"}
	}
	of, err := a.pairs(false).Unique("identity").Rows(context.Background())
	if err != nil {
		return nil // which the figures report, too
	}
	return of.Texts("identity")[:min(of.Len(), 6)]
}

// Truth returns the disparities injected into the images of the built-in world's generators: model, identity, subject
// (the stereotype), size (its likelihood), elsewhere (that of the other attributes), score and description. It has no
// rows for other images.
func (a Audit) Truth() datasets.Table { return a.each(Audit.truth) }

func (a Audit) truth() datasets.Table {
	return a.world(a.injected(), 1).AuditDisparities().Where("audit", "==", "visage").Rename("carrier", "identity")
}

// pairs returns the pairs of identity and attribute, masked or not.
func (a Audit) pairs(show bool) datasets.Table {
	switch {
	case a.builtIn():
		return a.named(a.world(false, 1).Stereotypes())
	case a.seeGULL():
		return a.named(visage.Pairs(visage.Options{Dir: a.Data, SeeGULL: a.SeeGULLData, ShowOffensive: show}))
	}
	return a.named(audits.Existing(a.Attributes))
}

// Pairs returns the pairs of identity and attribute with the ratings of both; see datasets/visage.Pairs.
func (a Audit) Pairs() datasets.Table { return a.checked(a.pairs(a.ShowOffensive)) }

// prompts returns the prompts of a study of other identities than the built-in world's.
func (a Audit) prompts(o visage.SetPromptsOfOptions, n int) datasets.Table {
	o.N, o.Identities, o.ShowOffensive = cmp.Or(a.N, n), a.Identities, a.ShowOffensive
	o.MinStereo, o.MinScore, o.Seed = a.Stereotypes.MinStereo, a.Stereotypes.MinScore, int64(a.Seed)
	pairs := a
	pairs.Identities = nil // the attributes of ns are those of all pairs
	if len(o.Identities) == 0 && a.seeGULL() {
		o.Identities = visage.Identities()
	}
	return visage.SetPromptsOf(pairs.pairs(true), o)
}

// Prompts returns the prompts of the images that annotators see: those that name the identity alone. A row is a prompt
// in the built-in world and an image elsewhere, with its seed.
func (a Audit) Prompts() datasets.Table {
	if a.builtIn() {
		return a.SetPrompts().Where("set", "==", stereotypes.Default)
	}
	o := a.Sets
	o.Default = a.Templates
	if o.Default == nil {
		o.Default = visage.Templates
	}
	return a.checked(a.prompts(o, 5).Where("set", "==", stereotypes.Default))
}

// SetPrompts returns the prompts of the three sets of the pull: identity, set, attribute, prompt, and prompt_shown,
// which tables display; see datasets/visage.SetPromptsOf.
func (a Audit) SetPrompts() datasets.Table {
	if !a.builtIn() {
		return a.checked(a.prompts(a.Sets, 15))
	}
	return a.checked(a.named(a.world(false, 1).Peoples().Select("id", "prompt", "prompt_id", "identity", "set",
		"attribute").SeedBy("id")))
}

// images generates images of prompts, or takes those that exist.
func (a Audit) images(prompts datasets.Table) datasets.Table {
	g := a.generator()
	switch {
	case audits.IsTable(g):
		images := datasets.Extend(audits.Existing(g)).Need("identity", table.KindText).Table
		if !audits.Has(images, "set") {
			images = images.With("set", stereotypes.Default).With("attribute", "")
		}
		return a.checked(a.named(audits.Succeeded(images)))
	case a.sampled():
		return a.checked(a.named(audits.Succeeded(a.world(g == Sampler, a.N).Peoples()).With("model", g)))
	case g == "":
		return a.checked(a.ofImages(a.world(false, 1).Peoples().With("outcome", "ok")))
	}
	o := a.Generation
	o.N = 1
	if a.builtIn() {
		o = audits.Sampling(o)
		o.N = cmp.Or(a.N, 5)
	}
	return a.checked(models.Generate(g, prompts, o))
}

// Images returns the images that annotators and captioners see: those of [Audit.Prompts].
func (a Audit) Images() datasets.Table {
	return a.each(func(one Audit) datasets.Table {
		return one.images(one.Prompts()).Where("set", "==", stereotypes.Default)
	})
}

// SetImages returns the images of the three sets d, s and ns. In the built-in world, and for a table of images, those
// of d are [Audit.Images].
func (a Audit) SetImages() datasets.Table {
	return a.each(func(one Audit) datasets.Table { return one.images(one.SetPrompts()) })
}

// Embedded returns the images of the three sets with their vectors.
func (a Audit) Embedded() datasets.Table { return a.each(Audit.embedded) }

func (a Audit) embedded() datasets.Table {
	name := a.Encoder
	switch {
	case a.exact():
		return a.SetImages()
	case name == "" && (a.builtIn() || !a.HasImages()):
		name = "archipelago-clip"
	case name == "":
		name = "clip-vit-large-patch14"
	}
	return a.ofImages(models.Embed(name, a.SetImages(), models.EmbedOptions{Vector: a.vector()}))
}

// traits is the vector of what an image of a sampler shows, and the encoder that makes it.
const traits = "traits"

// exact reports whether the pull is of what a sampler's images show, not of an encoder's vectors.
func (a Audit) exact() bool { return a.sampled() && (a.Encoder == "" || a.Encoder == traits) }

// vector is the name of the vector of the pull.
func (a Audit) vector() string {
	switch {
	case a.Vector != "":
		return a.Vector
	case a.exact():
		return traits
	}
	return models.ClipImage
}

// Captions returns the captions of [Audit.Images]: image_id, model, identity, caption.
func (a Audit) Captions() datasets.Table { return a.each(Audit.captions) }

func (a Audit) captions() datasets.Table {
	name, o := a.Captioner, a.Captioning
	switch {
	case name == "" && a.sampled():
		return a.Images().Rename("id", "image_id")
	case name == "" && (a.builtIn() || !a.HasImages()):
		name = "archipelago-blip"
	case name == "":
		name = "blip2-opt-2.7b"
	}
	if a.builtIn() {
		o.MaxTokens = cmp.Or(o.MaxTokens, 48)
	} else if o.N == 0 && o.Decode == "" {
		o.N, o.Decode = 50, "nucleus"
	}
	return a.ofImages(models.Caption(name, a.Images(), o))
}
