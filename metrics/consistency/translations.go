package consistency

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/indictti"
	"antipode/datasets/table"
)

var inTranslations = datasets.Columns("id:text", "language:text", "text:text")

// aboutTranslations describes a table of translations.
const aboutTranslations = "translations: id of the prompt, language, text, and optionally source (who or what " +
	"translated)"

// TranslationProblem is a row of [CheckTranslations].
type TranslationProblem struct {
	ID       string `column:"id" help:"PROMPT-LANGUAGE"`
	PromptID string `column:"prompt_id"`
	Language string `column:"language"`
	Problem  string `column:"problem" help:"missing, empty, duplicate, untranslated, wrong script, unknown prompt, unknown language"`
	Detail   string `column:"detail"`
	Prompt   string `column:"prompt" help:"the translation"`
}

var checkTranslations = datasets.Define(datasets.Operation[struct{}, TranslationProblem]{
	Name: "indictti-translations", Title: "translations of prompts that are missing or look wrong", Version: 1,
	Citation: captionCitation,
	Inputs: []datasets.Input{{Role: "in", Columns: inTranslations, About: aboutTranslations, RepeatedIDs: true},
		{Role: "prompts", Columns: datasets.Columns("id:text", "caption:text"),
			About: "the selected prompts: id and English caption"}, inLanguages},
	Compute: func(_ context.Context, call *datasets.Call, _ struct{}) ([]TranslationProblem, error) {
		list, err := languages(call)
		if err != nil {
			return nil, err
		}
		var rows []TranslationProblem
		translations, prompts := translationsOf(call.Inputs["in"]), promptsOf(call.Inputs["prompts"])
		problems := indictti.CheckTranslations(translations, prompts, list)
		for _, p := range problems {
			rows = append(rows, TranslationProblem{p.ID + "-" + p.Language, p.ID, p.Language, p.Problem, p.Detail,
				p.Text})
		}
		call.Notef("%d translations of %d prompts; %s", len(translations), len(prompts), summary(problems))
		return rows, nil
	},
})

// CheckTranslations is the table operation indictti-translations: the problems of a table of translations (id,
// language, text, source) of prompts (id and English caption), one row each: a prompt without a translation into one of
// the languages, an empty or repeated one, the English caption itself, and a text whose letters are mostly of another
// script than the language's; see [indictti.CheckTranslations]. languages is as for [Prompts]. A machine
// translation without a problem here may still be wrong: [TranslationRatings] evaluates ratings by speakers.
func CheckTranslations(translations, prompts, languages datasets.Table) datasets.Table {
	return checkTranslations.Table(map[string]datasets.Table{"in": translations, "prompts": prompts,
		"languages": languages})
}

func translationsOf(f *table.Frame) []indictti.Translation {
	rows := make([]indictti.Translation, f.Len())
	sources := f.Texts("source")
	for i := range rows {
		rows[i] = indictti.Translation{ID: f.Texts("id")[i], Language: f.Texts("language")[i], Text: f.Texts("text")[i]}
		if sources != nil {
			rows[i].Source = sources[i]
		}
	}
	return rows
}

func promptsOf(f *table.Frame) []indictti.Prompt {
	rows := make([]indictti.Prompt, f.Len())
	for i := range rows {
		rows[i] = indictti.Prompt{ID: f.Texts("id")[i], Caption: f.Texts("caption")[i]}
	}
	return rows
}

// summary counts problems by kind.
func summary(problems []indictti.Problem) string {
	var kinds []string
	counts := map[string]int{}
	for _, p := range problems {
		if counts[p.Problem]++; !slices.Contains(kinds, p.Problem) {
			kinds = append(kinds, p.Problem)
		}
	}
	if len(kinds) == 0 {
		return "no problem found"
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", counts[kind], kind)
	}
	return "problems: " + strings.Join(kinds, ", ")
}
