package gomlxmodels_test

import (
	"errors"
	"fmt"
	"strings"

	"antipode/datasets"
	models "antipode/gomlxmodels"
)

// printColumns prints the names of a table's columns; nothing is computed.
func printColumns(t datasets.Table) {
	var names []string
	for _, c := range t.Columns() {
		names = append(names, c.Name)
	}
	fmt.Println(strings.Join(names, " "))
}

func prompts() datasets.Table {
	return datasets.FromRows([]map[string]any{{"id": "boat", "prompt": "boat in Velmora"}})
}

func ExampleGenerate() {
	images := models.Generate("archipelago-diffusion", prompts(), models.GenerateOptions{
		N:        4,
		Seed:     7,
		Steps:    30,
		Guidance: 1.5,
	})
	printColumns(images)
	// Output:
	// id prompt prompt_id seed image model source outcome reason safety_checker
}

// A model behind an image API needs no download. Budget limits what it may cost.
func ExampleGenerate_api() {
	images := models.Generate("api:gpt-image-2", prompts(), models.GenerateOptions{
		Width:  1024,
		Height: 1024,
		API:    models.APIOptions{Quality: "high", Budget: 2.50},
	})
	printColumns(images)
	// Output:
	// id prompt prompt_id seed image model source outcome reason safety_checker revised_prompt cost
}

// A wrong option is an error of the table.
func ExampleGenerateOptions() {
	images := models.Generate("archipelago-diffusion", prompts(), models.GenerateOptions{Steps: 5000})
	_, err := images.Plan()
	var wrong models.OptionError
	fmt.Println(errors.As(err, &wrong), wrong)
	// Output:
	// true Steps is 5000; it must be at least 1 and at most 1000
}

func ExampleSegment() {
	images := datasets.New("example", nil, datasets.Columns("id:text", "image:image", "object:text"))
	printColumns(models.Segment("archipelago-clipseg", images))
	printColumns(models.Segment("archipelago-clipseg", images, models.SegmentOptions{
		Template:   "a photo of a %s",
		Threshold:  0.4,
		Components: "largest",
		Presence:   "archipelago-clip",
	}))
	// Output:
	// id image object mask mask_score mask_area mask_components outcome reason
	// id image object mask mask_score mask_area mask_components outcome reason presence
}

func ExampleEmbed() {
	images := datasets.New("example", nil, datasets.Columns("id:text", "image:image"))
	masked := datasets.New("example", nil, datasets.Columns("id:text", "image:image", "mask:mask"))
	printColumns(models.Embed("archipelago-vit", masked))
	printColumns(models.Embed("archipelago-vit", images))
	printColumns(models.Embed("archipelago-clip", images, models.EmbedOptions{Vector: models.ClipImage}))
	// Output:
	// id image mask full object_only background_only object_patches background_patches
	// id image full
	// id image clip_image clip_image_model
}

func ExampleEmbedText() {
	texts := models.EmbedText("archipelago-clip", prompts(), "prompt", models.EmbedTextOptions{Vector: models.ClipText})
	printColumns(texts)
	// Output:
	// id prompt clip_text clip_text_tokens clip_text_words clip_text_unknown clip_text_cut clip_text_model
}

func ExampleCaption() {
	images := datasets.New("example", nil, datasets.Columns("id:text", "image:image"))
	printColumns(models.Caption("archipelago-blip", images, models.CaptionOptions{
		N:      5,
		Decode: "nucleus",
		TopP:   0.95,
	}))
	// Output:
	// id image image_id seed caption caption_tokens caption_logprob caption_stop
}

func ExampleAsk() {
	images := datasets.New("example", nil, datasets.Columns("id:text", "image:image"))
	printColumns(models.Ask("exec:./my_vlm.py", images, models.AskOptions{
		Question: "Is a person visible?",
		Choices:  []string{"yes", "no"},
		Permute:  true,
	}))
	// Output:
	// id image answer answer_p_yes answer_p_no answer_source answer_text answer_outcome answer_reason
}

// A table of questions is asked about the images of its prompts.
func ExampleAsk_questions() {
	images := datasets.New("example", nil, datasets.Columns("id:text", "image:image", "prompt_id:text"))
	questions := datasets.FromRows([]map[string]any{
		{"id": "q1", "prompt_id": "p1", "question": "Is it a boat?", "choices": "yes|no", "wanted": "yes"}})
	printColumns(models.Ask("chat:qwen3-vl", images.Questions(questions, "prompt_id"), models.AskOptions{
		Chat: models.ChatOptions{BaseURL: "http://localhost:8080/v1"},
	}))
	// Output:
	// id image prompt_id image_id choices question wanted question_id answer answer_p answer_p_wanted answer_correct answer_probabilities answer_source answer_text answer_outcome answer_reason answer_cost
}

// A length penalty of 0 is not the default: the field is a pointer.
func ExampleCaptionOptions() {
	images := datasets.New("example", nil, datasets.Columns("id:text", "image:image"))
	captions := models.Caption("archipelago-blip", images, models.CaptionOptions{
		Decode:        "beam",
		Beams:         4,
		LengthPenalty: new(0.0),
	})
	plan, err := captions.Plan()
	fmt.Println(string(plan.Args), err)
	// Output:
	// {"model":"archipelago-blip","n":1,"decode":"beam","max_tokens":20,"beams":4} <nil>
}

func ExampleKnown() {
	for _, m := range models.Known() {
		if m.Status == models.BuiltIn {
			fmt.Println(m.Name, "adds", m.Columns)
		}
	}
	// Output:
	// archipelago-vit adds full object_only background_only
	// archipelago-blip adds caption
	// archipelago-clip adds full object_only background_only clip_image clip_image_pooled clip_text
	// archipelago-clipseg adds mask mask_score mask_area mask_components
	// archipelago-diffusion adds image
	// archipelago-diffusion-fair adds image
}

func ExampleFind() {
	m, ok := models.Find("clip-vit-base-patch32")
	fmt.Println(m.Hub, m.Architecture, ok)
	fmt.Println(models.Nearest("archipelago-vti"))
	// Output:
	// openai/clip-vit-base-patch32 CLIPModel true
	// ; did you mean "archipelago-vit"?
}
