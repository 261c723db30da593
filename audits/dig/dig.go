// Package dig is the audit of Decomposed-DIG (Sureddy et al. 2024, arXiv 2406.11988): are the objects and the
// backgrounds of some regions less realistic, or less diverse, than those of others?
//
// [Audit] names its parts; the zero value audits a generator of the built-in world. Its methods return tables, which
// compute nothing before they are shown:
//
//	var audit = dig.Audit{Photos: "geode", Generator: "stable-diffusion-v1-5"}
//	plots.Show(plots.Table{Table: audit.Workload(datasets.WorkloadOptions{})}) // what has to be computed, in hours
//	plots.Show(plots.Table{Table: audit.PaperTable("1")}) // Table 1
//	plots.Show(plots.Table{Table: audit.Ledger()})     // every printed value next to ours
//
// The same code runs on the built-in world and on real models. The world's injected disparities are [Audit.Truth],
// which has no rows for real data.
package dig

import (
	"cmp"
	"fmt"
	"strings"

	"antipode/audits"
	"antipode/datasets"
	"antipode/datasets/digin"
	"antipode/datasets/dollarstreet"
	"antipode/datasets/geode"
	models "antipode/gomlxmodels"
	"antipode/metrics/disparity"
)

// Original and New are the two prompt templates that the paper compares.
const (
	Original = digin.InRegion
	New      = digin.Adjectival
)

// Profiles of [Audit].
const (
	Paper      = "paper"
	PublicCode = "public-code"
)

// Generators of the built-in world that are not models: procedural samplers, with injected disparities and without.
const (
	Sampler     = audits.Sampler
	SamplerFair = audits.SamplerFair
)

// fair ends the names of the built-in world's generators without injected disparities.
const fair = "-fair"

// Audit is a Decomposed-DIG audit. The zero value of a field is its default; package audits explains how a string names
// a part.
type Audit struct {
	// Photos are the reference images, with the columns id, image, object and region: "" those of the built-in world;
	// geode, dollarstreet; or a table.
	Photos string

	// Generator makes the images: in the built-in world "" is archipelago-diffusion, and Sampler and SamplerFair are
	// procedural samplers; for other photos "" is stable-diffusion-v1-5. Several, separated by commas, are compared. A
	// table is of images that exist, with the columns id, image, object and region, and template where it has images of
	// both templates.
	Generator string

	several bool // the audit is one of [Audit.Models]
	skipFew bool // a choice of [Audit.Sensitivity] may leave a region without images

	// Segmenter makes the masks. "": images that come with masks keep them, others are segmented by
	// archipelago-clipseg in the built-in world, and by langsam for other photos. A name: all images are.
	Segmenter string

	// Encoder makes the vectors: "" is archipelago-vit in the built-in world, vit-base-patch16-224 for other photos.
	Encoder string

	// Objects are the objects of the study: none = those of the profile, 24 or 27 of GeoDE, and all of other photos.
	Objects []string

	// Profile is Paper (default) or PublicCode, what the authors' code does: 172 images of each object in each region
	// instead of 170, of DIG In's 27 objects instead of 24 (the code's own 21 are not published), the middle square of
	// an image with the mean and deviation of ImageNet, patches of the resized mask, at least 25 background patches,
	// unmasked images missed by both components, and no reference images whose vectors are equal.
	Profile string

	// N is the number of images of each object in each region, of both sets: 0 is the profile's, in the built-in world
	// 12 generated images (and 32 reference images). Of a table of generated images N are sampled; 0 takes all.
	N int

	// Tags is a table of tags that people gave the images of the template Original (id, image_id, tag), as antipode
	// annotate collect writes it: "" = none.
	Tags string

	// Seed selects the built-in world: 0 is 7, the only one that its trained generators know.
	Seed int

	// Generation are the other options of generated images. N is Audit.N. Each image has a seed of its own, derived
	// from its prompt, template and number and from Generation.Seed. The default of the built-in world is 20 steps at
	// guidance 1.5, that of a model its own.
	Generation models.GenerateOptions

	// Segmentation are the other options of masks, such as thresholds and the detector of a SAM.
	Segmentation models.SegmentOptions

	// Embedding are the other options of vectors: how patches are hidden, what their pixels become, and which are the
	// object's. Empty fields are the profile's.
	Embedding models.EmbedOptions

	// Comparison are k and the boundary of the balls, and the treatment of images without a mask. Its Profile is
	// Audit.Profile.
	Comparison disparity.Comparison

	// Template is a third prompt template, compared next to Original and New: slots {object}, {region}, {adjective}
	// and, for the regions of GeoDE, {country}. Not in the built-in world, whose generators know one template.
	Template string

	// Resamples is the number of half-samples of an interval: 0 = 200; −1 = no intervals.
	Resamples int
}

func (a Audit) builtIn() bool { return a.Photos == "" }

func (a Audit) publicCode() bool { return a.Profile == PublicCode }

// settings returns the parameters of the profile.
func (a Audit) settings() disparity.Profile {
	if a.publicCode() {
		return disparity.PublicCode()
	}
	return disparity.Paper()
}

// world returns the built-in world with n reference images of each object in each region.
func (a Audit) world(injected bool, n int) datasets.World {
	return audits.World(a.Seed, injected, n)
}

func (a Audit) generators() []string {
	return audits.Generators(a.Generator, a.builtIn(), "stable-diffusion-v1-5")
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

// models returns a table of every generator, one below the other, with the column model.
func (a Audit) models(of func(one Audit) datasets.Table) datasets.Table {
	return audits.ByModel(a.generators(), func(g string) datasets.Table {
		a.Generator = g
		return of(a)
	})
}

// perCell is the number of generated images of each object in each region.
func (a Audit) perCell() int {
	switch {
	case a.N > 0:
		return a.N
	case a.builtIn():
		return 12
	}
	return a.settings().N
}

// injected reports whether disparities were injected into the generator's images.
func (a Audit) injected() bool {
	return a.builtIn() && audits.Injected(a.generator())
}

// invalid returns the error of wrong fields.
func (a Audit) invalid() error {
	if err := audits.CheckProfile("dig", a.Profile, Paper, PublicCode); err != nil {
		return err
	}
	if a.builtIn() && a.Template != "" {
		return fmt.Errorf("dig: template %q: the generators of the built-in world know one template; name photos",
			a.Template)
	}
	return audits.CheckWorld("dig", a.builtIn(), a.Seed, a.generators()...)
}

// Truth returns the disparities injected into the images of the built-in world's generators: model, region, component,
// kind, size, score and description. It has no rows for other images.
func (a Audit) Truth() datasets.Table {
	return a.models(func(one Audit) datasets.Table { return one.world(one.injected(), 1).InjectedDisparities() })
}

// objects returns the objects of the study, or none for all objects of the photos.
func (a Audit) objects() []string {
	switch name, _, _ := strings.Cut(a.Photos, ":"); {
	case len(a.Objects) > 0:
		return a.Objects
	case name != geode.Name:
		return nil
	case a.publicCode():
		return digin.Objects27()
	}
	return digin.Objects24()
}

// Candidates returns the reference images of the study's objects, before segmentation and sampling.
func (a Audit) Candidates() datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	photos := datasets.Extend(audits.Images(a.Photos, a.world(false, 0).Reference(),
		audits.Set{Name: geode.Name, Images: func(dir string) datasets.Table {
			return geode.Photos(geode.Options{Dir: dir})
		}},
		audits.Set{Name: dollarstreet.Name, Images: func(dir string) datasets.Table {
			return dollarstreet.Photos(dollarstreet.Options{Dir: dir})
		}})).Need("object", "").Need("region", "").Table
	if objects := a.objects(); objects != nil {
		photos = photos.NeedValues("object", a.Objects).Where("object", "in", objects)
	}
	return photos
}

// segment adds masks to images; see Audit.Segmenter.
func (a Audit) segment(images datasets.Table) datasets.Table {
	name := a.Segmenter
	switch {
	case name != "":
	case audits.Has(images, "mask"):
		return images
	case a.builtIn():
		name = "archipelago-clipseg"
	default:
		name = "langsam"
	}
	return models.Segment(name, images, a.Segmentation)
}

func (a Audit) embed(images datasets.Table) datasets.Table {
	name, o := a.Encoder, a.Embedding
	if name == "" {
		name = "vit-base-patch16-224"
		if a.builtIn() {
			name = models.ArchipelagoViT
		}
	}
	if a.publicCode() {
		o.Preprocess, o.PatchRule = cmp.Or(o.Preprocess, "public-code"), cmp.Or(o.PatchRule, "resized")
	}
	return models.Embed(name, images, o)
}

// Failures returns the counts of the candidates by object and region, and whether the two filters of appendix C keep
// the object: at least as many images as the study takes of each region, and at most 100 of 1020 without a mask.
func (a Audit) Failures() datasets.Table {
	return disparity.ClassFilter(a.segment(a.Candidates()), disparity.ClassFilterOptions{MinImages: a.perCell()})
}

// Reference returns the reference images with their vectors. Of a data set: those with a mask, then N of each object in
// each region, sampled with the seed 42; the public code first drops all images whose vectors are equal.
func (a Audit) Reference() datasets.Table {
	photos := a.segment(a.Candidates())
	if a.builtIn() {
		return a.embed(photos)
	}
	photos = photos.Where("mask", "present", nil)
	sample := func(t datasets.Table) datasets.Table {
		return t.Sample(a.perCell(), "object,region", int64(a.settings().Seed))
	}
	if !a.settings().DiscardDuplicates {
		return a.embed(sample(photos))
	}
	photos = a.embed(photos)
	kept := disparity.DuplicateVectors(photos, disparity.DuplicateVectorsOptions{Vector: models.Full})
	return sample(photos.Join(kept.Select("id", "kept"), "id").Where("kept", "==", "yes"))
}

// Prompts returns a prompt of each object in each region, by a template: Original or New.
func (a Audit) Prompts(template string) datasets.Table {
	var prompts datasets.Table
	switch name, _, _ := strings.Cut(a.Photos, ":"); {
	case a.builtIn():
		prompts = a.world(false, 1).Prompts().With("template", template)
		if a.Objects != nil {
			prompts = prompts.NeedValues("object", a.Objects).Where("object", "in", a.Objects)
		}
	case name == geode.Name:
		prompts = digin.Prompts(digin.PromptOptions{Template: template, Objects: a.objects()})
	default:
		prompts = digin.PromptsOf(a.Candidates(), digin.PromptsOfOptions{Template: template})
	}
	return audits.Seeded(prompts, a.Generation.Seed, "id", "template")
}

// Images returns the generated images of a template, before segmentation, with the column model.
//
// In the built-in world the second template is a stand-in: its generators know one template only, so the images of New
// are those of the generator without injected disparities, as if the other template removed them.
func (a Audit) Images(template string) datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	return a.models(func(one Audit) datasets.Table { return one.images(template) })
}

func (a Audit) images(template string) datasets.Table {
	g, n := a.generator(), a.perCell()
	if audits.IsTable(g) {
		images := audits.Existing(g)
		if audits.Has(images, "template") {
			images = images.Where("template", "==", template)
		} else {
			images = images.With("template", template)
		}
		if objects := a.objects(); objects != nil {
			images = images.NeedValues("object", a.Objects).Where("object", "in", objects)
		}
		if a.N > 0 {
			images = images.Sample(a.N, "object,region", int64(a.settings().Seed))
		}
		return audits.Succeeded(images)
	}
	if a.injected() && template == New {
		g += fair
	}
	if audits.Sampled(g) {
		images := a.world(g == Sampler, n).Sampled()
		if a.Generator == SamplerFair && template == New { // other images than those of Original
			images = a.world(false, 2*n).Sampled().Where("seed", ">=", n)
		}
		if a.Objects != nil {
			images = images.NeedValues("object", a.Objects).Where("object", "in", a.Objects)
		}
		return audits.Succeeded(images.With("template", template).With("model", a.generator()))
	}
	o := a.Generation
	o.N, o.Seed = n, 0
	if a.builtIn() {
		o = audits.Sampling(o)
	}
	return models.Generate(g, a.Prompts(template), o)
}

// TemplateNote returns the note of figures that compare the templates: in the built-in world that the second is a
// stand-in, elsewhere nothing.
func (a Audit) TemplateNote() string {
	if a.builtIn() {
		return "A stand-in: the images of " + New + " are those of the generator without injected disparities."
	}
	return ""
}
