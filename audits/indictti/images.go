package indictti

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/audits"
	"antipode/datasets"
	data "antipode/datasets/indictti"
	"antipode/datasets/table"
	models "antipode/gomlxmodels"
)

// Images returns the generated images of all generators: id, image, model, language, prompt_id, seed, prompt and
// outcome, and caption where images come with one.
func (a Audit) Images() datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	return a.each(a.images)
}

// each returns a table of every generator, one below the other; see audits.ByModel.
func (a Audit) each(of func(generator string) datasets.Table) datasets.Table {
	return audits.ByModel(a.generators(), of)
}

// images returns the images of one generator.
func (a Audit) images(g string) datasets.Table {
	switch {
	case audits.IsTable(g):
		images := audits.Succeeded(audits.Existing(g))
		if !audits.Has(images, "model") {
			images = images.With("model", audits.ModelName(g))
		}
		images = datasets.Extend(images).Need("language", table.KindText).Need("prompt_id", table.KindText).Table
		return a.chosenOf(within(images, references(a.Selected()), "prompt_id", "selected"))
	case audits.Sampled(g):
		images := a.world(g == Sampler, a.perPrompt()).Captions().
			With("outcome", "ok").With("model", g)
		return a.chosenOf(within(images, references(a.Selected()), "prompt_id", "selected"))
	}
	return models.Generate(g, a.Prompts(), a.generation(g))
}

// chosenOf returns the images of the study's languages.
func (a Audit) chosenOf(images datasets.Table) datasets.Table {
	switch {
	case a.Languages == "":
		return images
	case a.languageFile() != "":
		of := a.LanguageTable().Rename("code", "language")
		return images.Where("language", "==", data.English).Concat(
			within(images.Where("language", "!=", data.English), of, "language", "chosen"))
	}
	codes := datasets.SplitColumns(a.Languages)
	return images.NeedValues("language", codes).Where("language", "in", append(codes, data.English))
}

// generation returns the options of a generator.
func (a Audit) generation(g string) models.GenerateOptions {
	o := a.Generation
	o.N = a.perPrompt()
	switch {
	case audits.Trained(g):
		o = audits.Sampling(o)
	case diffusion(g):
		o.Scheduler, o.Safety = cmp.Or(o.Scheduler, "ddim"), cmp.Or(o.Safety, "off")
		o.Steps, o.Guidance = cmp.Or(o.Steps, 50), cmp.Or(o.Guidance, 7.5)
	}
	return o
}

// diffusion reports whether a generator is a pipeline of diffusers.
func diffusion(g string) bool {
	if m, known := models.Find(g); known {
		return strings.HasSuffix(m.Architecture, "Pipeline")
	}
	_, err := os.Stat(filepath.Join(g, "model_index.json"))
	return err == nil
}

// Captioned returns the images with the column caption.
func (a Audit) Captioned() datasets.Table {
	o := a.Captioning
	o.MaxTokens = cmp.Or(o.MaxTokens, 30)
	return a.each(func(g string) datasets.Table {
		images := a.images(g)
		if a.given(g) {
			return images
		}
		return models.Caption(a.captioner(), images, o)
	})
}

// given reports whether the images of a generator come with their captions.
func (a Audit) given(g string) bool {
	return a.Captioner == Given || a.Captioner == "" && (audits.Sampled(g) || audits.IsTable(g) &&
		audits.Has(audits.Existing(g), "caption"))
}

// vector returns the first of several vectors that a model makes, or the first one for a model that is not known.
func vector(model string, wanted ...string) string {
	makes := models.Vectors(model)
	for _, v := range wanted {
		if slices.Contains(makes, v) {
			return v
		}
	}
	return wanted[0]
}

func (a Audit) imageVector() string {
	return vector(a.encoder(), models.Full, models.ClipImage, models.Blip2Image)
}

func (a Audit) textVector() string {
	return vector(a.textEncoder(), models.Text, models.ClipText, models.Blip2Text)
}

func (a Audit) jointVectors() (image, text string) {
	return vector(a.joint(), models.ClipImage, models.Blip2Image), vector(a.joint(), models.ClipText, models.Blip2Text)
}

// embed adds the vectors of images.
func (a Audit) embed(images datasets.Table) datasets.Table {
	return models.Embed(a.encoder(), images, models.EmbedOptions{Vector: a.imageVector(),
		Pooling: a.options().Pooling})
}

// embedText adds the sentence vectors of a text column.
func (a Audit) embedText(t datasets.Table, column string) datasets.Table {
	return models.EmbedText(a.textEncoder(), t, column, models.EmbedTextOptions{Vector: a.textVector()})
}
