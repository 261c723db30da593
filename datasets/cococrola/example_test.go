package cococrola_test

import (
	"context"
	"fmt"

	"antipode/datasets/cococrola"
)

func ExampleTemplate_Fill() {
	fmt.Println(cococrola.Template{Language: "en", ID: "main", Text: "a photograph of $$$"}.Fill("moon"))
	// Output: a photograph of moon
}

func ExampleTemplateVariants() {
	for _, t := range cococrola.TemplateVariants()[:3] {
		fmt.Println(t.Language, t.ID, t.Text)
	}
	// Output:
	// en 1 a photograph of $$$
	// en 2 an image of $$$
	// en 3 a photo of $$$
}

func ExampleFindCollisions() {
	concepts := []cococrola.Concept{
		{Name: "moon", Words: map[string]string{"en": "moon", "ja": "月"}},
		{Name: "month", Words: map[string]string{"en": "month", "ja": "月"}},
	}
	for _, c := range cococrola.FindCollisions(concepts, []string{"en", "ja"}) {
		fmt.Println(c.Kind, c.Word, c.Languages, c.Concepts)
	}
	// Output: one word, several concepts 月 [ja] [moon month]
}

func ExampleBuildList() {
	list, err := cococrola.BuildList(context.Background(), cococrola.ListOptions{
		Languages: []string{"en", "es"},
		Added:     []string{"moon", "hike"},
		Translators: []cococrola.Translator{cococrola.RecordedTranslator{Service: "A",
			Answers: map[string]map[string]string{"moon": {"es": "La luna"}}}},
		Synsets: cococrola.RecordedSynsets{
			"moon": {{POS: "noun", Terms: map[string][]string{"es": {"luna"}}}},
			"hike": {{POS: "verb"}},
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range list {
		fmt.Println(c.Word, c.Words["es"], c.Step, c.Reason)
	}
	// Output:
	// hike  noun test not a noun (verb)
	// moon luna
}

func ExamplePrintedTable() {
	cells, err := cococrola.PrintedTable()
	fmt.Println(len(cells), cells[0].Model, cells[0].Language, cells[0].Xc, cells[0].Wc, err)
	// Output: 80 DALL-E Mega en 81 28 <nil>
}
