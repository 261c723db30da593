package indictti

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"antipode/audits"
	"antipode/datasets"
	data "antipode/datasets/indictti"
	"antipode/datasets/manifest"
	"antipode/datasets/table"
	"antipode/internal/glob"
	"antipode/metrics/consistency"
)

// isPrompts reports whether the captions are a table with a row for each caption and language.
func (a Audit) isPrompts() bool {
	return strings.EqualFold(filepath.Ext(a.Captions), ".csv") && audits.Has(a.file(a.Captions), "language")
}

func (a Audit) file(path string) datasets.Table {
	return audits.Existing(path, datasets.ImagesOptions{FileOptions: datasets.FileOptions{RepeatedIDs: true}})
}

// released returns the files of LAION-COCO-NLLB in a folder: those of the test split or, without them, all.
func released(dir string) datasets.Table {
	where := manifest.Here("laion_coco_nllb", dir)
	if where == "" {
		return datasets.Failed(errors.New("laion_coco_nllb: the data set is not on this machine; " +
			"`antipode data pull laion_coco_nllb` explains how to get it, and laion_coco_nllb:DIR names its folder"))
	}
	for _, names := range []string{"data/test-*.parquet", "test-*.parquet", "data/*.parquet", "*.parquet"} {
		if files := glob.In(where, names); len(files) > 0 {
			return data.Released(files...)
		}
	}
	return datasets.Failed(fmt.Errorf("laion_coco_nllb: no Parquet file in %s or in its folder data", where))
}

// source returns the captions (id, eng_caption and, with photos, image), the translations, and the languages.
func (a Audit) source() (captions, translations, languages datasets.Table) {
	name, dir, _ := strings.Cut(a.Captions, ":")
	listed := func(t datasets.Table, source string) datasets.Table { // the languages of a table of translations
		return t.Count("language").Rename("language", "code").With("caption_source", source)
	}
	switch {
	case a.builtIn():
		world := a.world(false, 1)
		captions = world.CaptionReferences().Select("prompt_id", "image", "caption").Rename("prompt_id", "id").
			Rename("caption", data.EnglishColumn)
		all := world.Captions().Select("prompt_id", "language", "prompt").Rename("prompt_id", "id").
			Rename("prompt", "text")
		return captions, all.Where("language", "!=", data.English), a.chosen(listed(all, "built-in world"))
	case a.isPrompts():
		all := datasets.Extend(a.file(a.Captions)).Need("text", table.KindText).Table
		columns := []string{"id", "text"}
		if audits.Has(all, "image") {
			columns = append(columns, "image")
		}
		captions = all.Where("language", "==", data.English).Select(columns...).Rename("text", data.EnglishColumn)
		return a.withPhotos(captions), all.Where("language", "!=", data.English), a.chosen(listed(all, "table"))
	case name == "laion_coco_nllb":
		captions = released(dir)
	default:
		captions = audits.Existing(a.Captions)
	}
	if a.Translations != "" {
		translations = a.file(a.Translations)
	}
	return a.withPhotos(captions), translations, a.chosen(data.LanguageTable(data.Options{Languages: a.languageFile()}))
}

// withPhotos adds the reference images; the pool leaves out captions without one.
func (a Audit) withPhotos(captions datasets.Table) datasets.Table {
	if a.Photos == "" {
		return captions
	}
	photos := datasets.Extend(datasets.Images(a.Photos)).Need("image", table.KindImage).Table
	return captions.Join(photos.Select("id", "image"), "id")
}

// grounded reports whether there are reference images.
func (a Audit) grounded() bool {
	if a.builtIn() || a.Photos != "" {
		return true
	}
	captions, _, _ := a.source()
	return audits.Has(captions, "image")
}

func (a Audit) languageFile() string {
	if strings.EqualFold(filepath.Ext(a.Languages), ".csv") {
		return a.Languages
	}
	return ""
}

// chosen returns the languages of the study.
func (a Audit) chosen(languages datasets.Table) datasets.Table {
	if a.Languages == "" || a.languageFile() != "" {
		return languages
	}
	codes := datasets.SplitColumns(a.Languages)
	return languages.NeedValues("code", codes).Where("code", "in", append(codes, data.English))
}

// LanguageTable returns the languages of the study: code, caption_source and, of the paper's, name, script, family and
// speakers.
func (a Audit) LanguageTable() datasets.Table {
	_, _, languages := a.source()
	return languages
}

// Pool returns the captions that prompts can be selected from, and the reasons for the others; see
// consistency.CaptionPool.
func (a Audit) Pool() datasets.Table {
	if err := a.invalid(); err != nil {
		return datasets.Failed(err)
	}
	captions, _, languages := a.source()
	return consistency.CaptionPool(captions, languages, consistency.PoolOptions{Filter: a.options().Filter})
}

// Selected returns the selected captions: id, caption and, if not all of the pool are, the mean similarity of their
// sample and the median of all samples; see consistency.SelectPrompts.
func (a Audit) Selected() datasets.Table {
	kept, size, o := a.Pool().Where("kept", "==", "yes").Select("id", "caption"), a.Size, a.options()
	if size == 0 && (a.builtIn() || a.isPrompts()) {
		return kept
	}
	return consistency.SelectPrompts(a.embedText(kept, "caption"), consistency.PromptOptions{
		N: cmp.Or(size, 1000), Samples: o.Samples, Vector: a.textVector(), Filter: "none", Seed: int64(a.Seed)})
}

// Sets returns nested sets of the selected captions (consistency.PromptSets): in proportion to the paper's 1000 ⊃ 200
// ⊃ 50 ⊃ 40, for generators that are too costly for all of them.
func (a Audit) Sets() datasets.Table {
	n := cmp.Or(a.Size, 1000)
	switch all := a.Size == 0; {
	case all && a.builtIn():
		n = 40
	case all && a.isPrompts():
		f, err := a.Selected().Rows(context.Background())
		if err != nil {
			return datasets.Failed(err)
		}
		n = f.Len()
	}
	part := func(of int) int { return max(n/of, 1) }
	return consistency.PromptSets(a.Selected(), datasets.Table{}, consistency.SetOptions{Seed: int64(a.Seed),
		Sets: fmt.Sprintf("full=%d,midjourney=%d,dalle3=%d,common=%d", n, part(5), part(20), part(25))})
}

// Prompts returns the selected captions in every language: id, prompt_id, language, script, prompt, english (the
// caption in English), caption_source and outcome (skipped where a caption is missing).
func (a Audit) Prompts() datasets.Table {
	captions, translations, languages := a.source()
	sources := consistency.Sources{Prompts: a.Selected(), Translations: translations, Languages: languages}
	if !a.builtIn() && !a.isPrompts() {
		sources.Captions = captions
	}
	return consistency.Prompts(sources).Rename("caption", "english")
}

// within returns the rows of a table whose value in a column is one of those of another table. The column mark, which
// is added, is of this call alone.
func within(t, of datasets.Table, column, mark string) datasets.Table {
	return t.Join(of.Select(column).With(mark, "yes"), column).Where(mark, "==", "yes")
}

// References returns what images are compared with, a row for each selected caption: id (the prompt_id of images),
// english and, where there are reference images, image.
func (a Audit) References() datasets.Table {
	captions, _, _ := a.source()
	columns := []string{"id", data.EnglishColumn}
	if a.grounded() {
		columns = append(columns, "image")
	}
	return within(captions.Select(columns...), a.Selected(), "id", "selected").Rename(data.EnglishColumn, "english")
}
