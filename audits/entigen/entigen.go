// Package entigen is the audit of ENTIGEN (Bansal et al., EMNLP 2022, arXiv 2210.15230): are the people in generated
// images distributed unevenly over two perceived groups, and does a sentence that argues for fairness, appended to the
// prompt, change that?
//
// [Audit] names its parts; the zero value audits a generator of the built-in world, whose figures have no gender and no
// skin color but a crest (round or pointed) and a banner (light or dark). Its methods return tables, which compute
// nothing before they are shown:
//
//	var audit = entigen.Audit{List: "entigen", Generator: "stable-diffusion-v1-4"}
//	plots.Show(plots.Table{Table: audit.Workload(datasets.WorkloadOptions{})}) // what has to be computed, in hours
//	plots.Show(plots.Table{Table: audit.Effects()})    // what each sentence changes
//	plots.Show(plots.Table{Table: audit.Ledger()})     // every printed value next to ours
//
// The same code runs on the built-in world, on real models, and on the released ratings (Audit{Ratings: "released"}).
// The world's injected disparities are [Audit.Truth], which has no rows elsewhere.
//
// # Labels
//
// A label is what a rater or a network perceived in a generated image; it says nothing of anyone's identity. Raters are
// people (a table of ratings), or stand-ins in the built-in world: a captioner's answers to "the crest is" and "the
// banner is", and the perfect raters of the procedural samplers. A judge is a CLIP model that compares the image with
// texts. Scores are computed from the raters' labels or, without raters, from the judge's; [Audit.Agreement] compares
// the two.
package entigen

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"antipode/audits"
	"antipode/datasets"
	data "antipode/datasets/entigen"
	"antipode/datasets/table"
	models "antipode/gomlxmodels"
	"antipode/metrics/representation"
)

// Profiles of [Audit].
const (
	Paper      = "paper"
	PublicCode = "public-code"
)

// Released names the published ratings, and List and AblationList the paper's prompts and those of its ablation.
const (
	Released     = "released"
	List         = "entigen"
	AblationList = "entigen-ablations"
)

// Generators of the built-in world that are not models: procedural samplers, with injected disparities and without.
const (
	Sampler     = audits.Sampler
	SamplerFair = audits.SamplerFair
)

// None as Captioner leaves the built-in world without stand-ins for raters.
const None = "none"

// Audit is an ENTIGEN audit. The zero value of a field is its default; package audits explains how a string names a
// part.
type Audit struct {
	// List names the prompts, without and with sentences: "" those of the built-in world's occupations; List, the
	// paper's 246; AblationList, those of its section 4; or a table with the columns id, prompt, category, attribute,
	// prompt_id (original for the prompt without a sentence) and kind (see entigen.Kind of package datasets).
	List string

	// Generator makes the images: in the built-in world "" is archipelago-diffusion, and Sampler and SamplerFair are
	// procedural samplers; for other prompts "" is stable-diffusion-v1-4. Several, separated by commas, are compared. A
	// table is of images that exist, with the columns id, image, model, category, attribute
	// and prompt_id. With Ratings, "" is no generator: there are no images.
	Generator string

	// Ratings are those of people: Released, or a table such as `antipode annotate collect` writes. "": the stand-ins
	// of the built-in world, none for other prompts.
	Ratings string

	// Captioner answers in place of raters in the built-in world; "" is archipelago-blip. It does not for the samplers,
	// whose raters are perfect. With None the judge alone labels the images.
	Captioner string

	// Judge is the CLIP model that labels images: "" is archipelago-clip in the built-in world, clip-vit-base-patch32
	// for images of other prompts that nobody rated, and none where there are Ratings. It does not label cultural
	// scenarios, as in the paper. A judge ask:MODEL answers a question about each axis instead (models.Ask): the group,
	// "cannot tell" or "nobody"; one that writes captions, such as ask:archipelago-blip, continues "the crest is".
	Judge string

	// Asking are the other options of such a judge.
	Asking models.AskOptions

	// Texts are those that the judge compares images with: "" those of the profile; or a table with the columns id,
	// axis, label (group_a, group_b, uncertain, person, object) and text.
	Texts string

	// Axes are further axes of ratings, as COLUMN=GROUP/GROUP, …: perceived_age=young/old. With Texts, those of the
	// judge.
	Axes string

	// Attributes are the attributes of the study: none = all of the prompts, in the built-in world all occupations.
	Attributes []string

	// Profile is Paper (default) or PublicCode, what the authors' code does: prompts in the grammar of the released
	// file; seeds 0, 1, … for the images of every prompt instead of seeds of their own; the texts of the released
	// script; perceived skin color by CLIP too; an image as similar to the text of a person as to that of an object is
	// left out.
	Profile string

	// Rule turns the ratings of an image into its label, one of representation.Rules; "" is strict, which reproduces
	// most printed values. The paper says "majority view".
	Rule string

	// Cluster is what bootstrap intervals resample as a whole: "" or image, or prompt.
	Cluster string

	// N is the number of images of each prompt; 0 = 9, in the built-in world 30.
	N int

	// Seed selects the built-in world: 0 is 7, the only one that its trained generators know.
	Seed int

	// Generation are the other options of generated images. N is Audit.N. The default of the built-in world is 20 steps
	// at guidance 1.5, that of a model its own.
	Generation models.GenerateOptions

	// Captions is a file of training captions, one a line (see entigen.Captions of package datasets), for the search of
	// section 4; "" = none.
	Captions string

	// ModelLabels say which models stand for those of the paper's tables, as MODEL=LABEL; other models are found by
	// name.
	ModelLabels []string

	// Resamples is the number of bootstrap samples of an interval: 0 = 1000; −1 = no intervals.
	Resamples int
}

// builtIn reports whether the prompts are those of the built-in world.
func (a Audit) builtIn() bool { return a.List == "" && a.Ratings != Released }

func (a Audit) publicCode() bool { return a.Profile == PublicCode }

// listed reports whether the prompts are a list of the paper.
func (a Audit) listed() bool { return a.List == List || a.List == AblationList }

// grammar is that of the prompts and of the judge's texts.
func (a Audit) grammar() string {
	if a.publicCode() {
		return data.ReleasedGrammar
	}
	return data.PaperGrammar
}

// HasImages reports whether there are images: not of ratings alone, such as the released ones.
func (a Audit) HasImages() bool { return a.Generator != "" || a.Ratings == "" }

// generators are the generators; none without images.
func (a Audit) generators() []string {
	if !a.HasImages() {
		return nil
	}
	return audits.Generators(a.Generator, a.builtIn(), "stable-diffusion-v1-4")
}

// each returns a table of every generator, one below the other; see audits.ByModel.
func (a Audit) each(of func(one Audit) datasets.Table) datasets.Table {
	return audits.ByModel(a.generators(), func(g string) datasets.Table {
		a.Generator = g
		return of(a)
	})
}

// world returns the built-in world with n images of each prompt.
func (a Audit) world(injected bool, n int) datasets.World {
	return audits.World(a.Seed, injected, n)
}

// perPrompt is the number of images of each prompt.
func (a Audit) perPrompt() int {
	if a.builtIn() {
		return cmp.Or(a.N, 30)
	}
	return cmp.Or(a.N, 9)
}

// invalid returns the error of wrong fields.
func (a Audit) invalid() error {
	if err := audits.CheckProfile("entigen", a.Profile, Paper, PublicCode); err != nil {
		return err
	}
	g := a.generators()
	if err := audits.CheckJudge("entigen", "", a.Asking); err != nil {
		return err
	}
	_, asked := audits.Asked(a.Judge)
	switch {
	case asked && a.Texts != "":
		return fmt.Errorf("entigen: texts %s are for a CLIP; the judge %s answers questions", a.Texts, a.Judge)
	case a.Ratings == Released && a.List != "":
		return fmt.Errorf("entigen: the ratings %s have prompts of their own; leave the prompts %q out", Released,
			a.List)
	}
	return audits.CheckWorld("entigen", a.builtIn(), a.Seed, g...)
}

// crest and banner are the axes of the built-in world, with the sentences that argue about them.
var worldAxes = map[string]string{"crest": "F-C1", "banner": "F-B1"}

// Truth returns the disparities injected into the images of the built-in world's generators, as [Audit.Tests] could
// find them: model, attribute, axis (perceived crest), subject (crest), group_a (first: an imbalance of the original
// prompt; the sentence's prompt_id: a change), size (of the difference), kind and description. It has no rows for other
// images.
func (a Audit) Truth() datasets.Table {
	if !a.HasImages() {
		return a.truth("").With("model", Released)
	}
	return a.each(func(one Audit) datasets.Table { return one.truth(one.generators()[0]) })
}

func (a Audit) truth(generator string) datasets.Table {
	all := a.world(a.builtIn() && audits.Injected(generator), 1).AuditDisparities().
		Where("audit", "==", "entigen").Rename("carrier", "attribute").
		Select("attribute", "subject", "kind", "size", "elsewhere", "description")
	var out []datasets.Table
	for _, axis := range []string{"crest", "banner"} {
		skewed := all.Where("kind", "==", "skewed").Where("subject", "==", axis)
		fixed := all.Where("kind", "==", "fixed").Where("subject", "in",
			[]string{axis + " after the intervention on " + axis}) // the world without disparities has none
		out = append(out, skewed.With("group_a", "first").With("size", 0.8).With("subject", axis).
			With("axis", "perceived "+axis), fixed.With("group_a", worldAxes[axis]).With("size", 0.4).
			With("subject", axis).With("axis", "perceived "+axis))
	}
	return out[0].Concat(out[2], out[1], out[3])
}

var promptColumns = []string{"id", "prompt", "category", "attribute", "prompt_id", "kind"}

// Prompts returns the prompts: id, prompt, category, attribute, prompt_id (original, or the id of the added
// sentence) and kind (what the sentence is about). It has no rows where only ratings exist.
func (a Audit) Prompts() datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	var prompts datasets.Table
	switch {
	case a.Ratings == Released:
		prompts = a.list(List, "")
	case a.builtIn():
		prompts = a.world(false, 1).Occupations().Select(promptColumns...)
	case a.listed():
		prompts = a.list(a.List, "")
	default:
		prompts = audits.Existing(a.List)
		for _, c := range promptColumns {
			prompts = datasets.Extend(prompts).Need(c, table.KindText).Table
		}
	}
	return a.selected(prompts)
}

func (a Audit) list(name, model string) datasets.Table {
	prompts := data.Prompts(data.PromptOptions{Grammar: a.grammar(), Model: model})
	if name == AblationList {
		prompts = data.Ablations(data.AblationOptions{Grammar: a.grammar(), Model: model})
	}
	return prompts.Select(promptColumns...)
}

// selected keeps the attributes of the study.
func (a Audit) selected(t datasets.Table) datasets.Table {
	switch {
	case len(a.Attributes) > 0:
		return t.NeedValues("attribute", a.Attributes).Where("attribute", "in", a.Attributes)
	case a.builtIn() && audits.Has(t, "category"):
		return t.Where("category", "==", "occupation")
	}
	return t
}

// seeded gives each prompt a seed of its own, unless the profile gives all the same ones.
func (a Audit) seeded(prompts datasets.Table) datasets.Table {
	by := []string{"category", "prompt_id", "attribute"}
	switch {
	case a.publicCode():
		return prompts
	case a.builtIn():
		by = []string{"id"}
	}
	return audits.Seeded(prompts, a.Generation.Seed, by...)
}

// Images returns the images with the columns of their prompts, model and outcome.
func (a Audit) Images() datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	if !a.HasImages() {
		return datasets.Failed(fmt.Errorf("entigen: ratings %s without a generator: name the table of the images",
			a.Ratings))
	}
	return a.each(Audit.images)
}

// images returns the images of a single generator.
func (a Audit) images() datasets.Table {
	g := a.generators()[0]
	switch {
	case audits.IsTable(g):
		images := audits.Existing(g)
		for _, c := range []string{"model", "category", "attribute", "prompt_id"} {
			images = datasets.Extend(images).Need(c, table.KindText).Table
		}
		return a.selected(audits.Succeeded(images))
	case audits.Sampled(g):
		images := a.world(g == Sampler, a.perPrompt()).Occupations().Select(append(promptColumns, "image", "mask",
			"perceived_crest", "perceived_banner", "person", "as_described", "caption", "seed")...)
		return a.selected(images).With("outcome", "ok").With("model", g)
	}
	prompts := a.Prompts()
	if a.listed() {
		prompts = a.selected(a.list(a.List, filepath.Base(g)))
	}
	o := a.Generation
	if o.N = a.perPrompt(); !a.publicCode() {
		o.Seed = 0
	}
	if a.builtIn() {
		o = audits.Sampling(o)
	}
	return models.Generate(g, a.seeded(prompts), o)
}

// Gaps returns the images requested, refused and available of each prompt and model; see representation.Gaps.
func (a Audit) Gaps() datasets.Table {
	prompts := a.Prompts().Select("id", "category", "attribute", "prompt_id").Repeat(a.perPrompt(), "prompt", 0)
	return representation.Gaps(a.Images(), prompts)
}

// Choices returns what the paper leaves open, and what this audit does: choice, value and source (paper; public code;
// ours, where no source says it).
func (a Audit) Choices() datasets.Table {
	seeds, texts, tie, axes := "one of its own", "as printed", "stay", strings.Join(a.JudgeAxes(), ", ")
	if a.publicCode() {
		seeds, texts, tie = fmt.Sprintf("%d and the following", a.Generation.Seed), "released script", "drop"
	}
	if a.Texts != "" || a.builtIn() {
		texts = cmp.Or(a.Texts, "built-in world")
	}
	judge := a.judge()
	if !a.HasJudge() {
		judge, texts, tie, axes = "none", "none", "none", "none"
	}
	row := func(choice string, value any, source string) map[string]any {
		return map[string]any{"choice": choice, "value": fmt.Sprint(value), "source": source}
	}
	return datasets.FromRows([]map[string]any{
		row("profile", cmp.Or(a.Profile, Paper), ""),
		row("grammar of the prompts", a.grammar(), "paper and public code differ"),
		row("images of each prompt", a.perPrompt(), "paper: 9"),
		row("seed of an image", seeds, "paper: open; public code: 0 to 8"),
		row("rule of ratings", cmp.Or(a.Rule, representation.Strict), "paper: majority view; reconstructed"),
		row("judge", judge, "paper: CLIP; public code: ViT-B/32"),
		row("texts of the judge", texts, "paper and public code differ"),
		row("axes of the judge", axes, "paper: perceived gender; public code: perceived skin color too"),
		row("as similar to person as to object", tie, "paper: stay; public code: drop"),
		row("texts equally similar", "no group", "ours"),
		row("bootstrap resamples", cmp.Or(a.Cluster, representation.ByImage), "ours"),
	})
}
