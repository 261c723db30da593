package concepts

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Answers of a judge about the image of a failure, next to the concept and the one with the nearest images.
const (
	otherObject = "another object"
	sceneAlone  = "a scene without a clear object"
	cannotTell  = "cannot tell"
)

// shownQuestion is a row of [ShownQuestions].
type shownQuestion struct {
	ID       string `column:"id"`
	PromptID string `column:"prompt_id"`
	Concept  string `column:"concept"`
	Question string `column:"question"`
	Choices  string `column:"choices"`
}

var shownQuestions = datasets.Define(metrics.Definition[struct{}, shownQuestion]{
	Name: "cococrola-shown-questions", Title: "questions whether an image of a creative prompt shows its concepts",
	Version: 1, Citation: citation + ", section 5.6; the measurement is an addition",
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("prompt_id:text", "concepts:text"),
		About: "creative prompts, with their concepts (A, B, …)"}},
	Compute: func(_ context.Context, call *metrics.Call, _ struct{}) (out []shownQuestion, err error) {
		f := call.Inputs["in"]
		for i, prompt := range f.Texts("prompt_id") {
			for _, c := range datasets.SplitColumns(f.Texts("concepts")[i]) {
				row := shownQuestion{prompt + "/" + c, prompt, c, "Does this image show " + c + "?",
					"yes|no|" + cannotTell}
				if !slices.Contains(out, row) { // the same prompt in several languages
					out = append(out, row)
				}
			}
		}
		return out, nil
	},
})

// ShownQuestions is the table operation cococrola-shown-questions: what a judge is asked about the images of creative
// prompts, a row for each prompt and concept, for images.Questions(…, "prompt_id").
func ShownQuestions(prompts datasets.Table) datasets.Table { return shownQuestions.Of(prompts) }

var shownByJudge = metrics.Define(metrics.Definition[struct{}, shownRow]{
	Name:    "cococrola-shown-by-judge",
	Title:   "share of the images of creative prompts that show each concept, by a judge",
	Version: 2, Unit: "share of images", Range: "[0, 1]", Direction: "higher is better",
	Citation: citation + ", section 5.6; the measurement is an addition",
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("model:text", "language:text", "prompt_id:text",
		"image_id:text", "concept:text", "answer:text"),
		About: "answers to the questions of cococrola-shown-questions"},
		{Role: "scores", Columns: inScores[0].Columns, Optional: true, About: inScores[0].About}},
	Compute: computeShownByJudge,
})

// ShownByJudge is [Shown] by a judge's answers ([gomlxmodels.Ask]) to [ShownQuestions]. An image of which a question
// has neither the answer yes nor no is left out, with a note.
func ShownByJudge(answers, scores datasets.Table) datasets.Table {
	return shownByJudge.Table(map[string]datasets.Table{"in": answers, "scores": scores})
}

func computeShownByJudge(_ context.Context, call *metrics.Call, _ struct{}) (out []shownRow, err error) {
	in := tabular.Read(call, "in")
	images, names, answers := in.Texts("image_id"), in.Texts("concept"), in.Texts("answer")
	groups := in.SortedGroups([]string{"model", "language", "prompt_id"})
	if in.Err != nil {
		return nil, in.Err
	}
	possessed, err := readPossessed(call)
	if err != nil {
		return nil, err
	}
	var notes metrics.GroupNotes
	for _, g := range groups {
		shown, unclear := map[string]map[string]bool{}, map[string]bool{}
		var concepts, order []string
		for _, row := range g.Rows {
			image := images[row]
			if shown[image] == nil {
				shown[image], order = map[string]bool{}, append(order, image)
			}
			if !slices.Contains(concepts, names[row]) {
				concepts = append(concepts, names[row])
			}
			shown[image][names[row]] = answers[row] == "yes"
			unclear[image] = unclear[image] || answers[row] != "yes" && answers[row] != "no"
		}
		n, all, each := 0, 0, make([]int, len(concepts))
		for _, image := range order {
			if unclear[image] || len(shown[image]) < len(concepts) {
				continue
			}
			n++
			hits := 0
			for i, c := range concepts {
				if shown[image][c] {
					each[i]++
					hits++
				}
			}
			if hits == len(concepts) {
				all++
			}
		}
		if n < len(order) {
			notes.Add("%d images are left out: a question about them has no answer", strings.Join(g.By, ", "),
				len(order)-n)
		}
		if n > 0 {
			out = append(out, possessed.rows(g.By, concepts, each, all, n, 0)...)
		}
	}
	notes.AddTo(call, "model", "language", "prompt_id")
	return out, nil
}

// failureQuestion is a row of [FailureQuestions].
type failureQuestion struct {
	ID       string `column:"id"`
	Nearest  string `column:"nearest"`
	Question string `column:"question"`
	Choices  string `column:"choices"`
}

var failureQuestions = datasets.Define(metrics.Definition[struct{}, failureQuestion]{
	Name: "cococrola-failure-questions", Title: "questions what the images of concepts show that are not possessed",
	Version: 1, Citation: citation + ", section 5.2; the measurement is an addition",
	Inputs: []metrics.Input{{Role: "in", Columns: append(slices.Clone(cellColumns),
		datasets.Columns("nearest:text")...), About: "failures, with the concept of the nearest images"},
		{Role: "images", Columns: append(slices.Clone(cellColumns), datasets.Columns("id:text")...),
			About: "the images"}},
	Compute: func(_ context.Context, call *metrics.Call, _ struct{}) (out []failureQuestion, err error) {
		f, images := call.Inputs["in"], call.Inputs["images"]
		cell := func(f *table.Frame, i int) failureKey {
			return failureKey{modelLanguage{f.Texts("model")[i], f.Texts("language")[i]}, f.Texts("concept")[i]}
		}
		nearest := map[failureKey]string{}
		for i, name := range f.Texts("nearest") {
			nearest[cell(f, i)] = name
		}
		for i, id := range images.Texts("id") {
			c := cell(images, i)
			other, failed := nearest[c]
			if !failed {
				continue
			}
			choices := []string{c.concept}
			if other != "" {
				choices = append(choices, other)
			}
			choices = append(choices, otherObject, sceneAlone, cannotTell)
			out = append(out, failureQuestion{id, other, "What does this image show?", strings.Join(choices, "|")})
		}
		return out, nil
	},
})

// FailureQuestions is the table operation cococrola-failure-questions: what a judge is asked about the images of the
// concepts that are not possessed, a row for each image with its id: whether it shows the concept, the one whose images
// are nearest, another object, or a scene alone.
func FailureQuestions(failures, images datasets.Table) datasets.Table {
	return failureQuestions.Table(map[string]datasets.Table{"in": failures, "images": images})
}

// judgedKindRow is a row of [JudgedKinds].
type judgedKindRow struct {
	Model    string `column:"model"`
	Language string `column:"language"`
	Concept  string `column:"concept"`
	Kind     string `column:"kind" help:"blank if most images show the concept, or two answers are as frequent"`
	Shown    int    `column:"n_shown" unit:"images" help:"that show the concept"`
	Nearest  int    `column:"n_nearest" unit:"images" help:"that show the concept with the nearest images"`
	Other    int    `column:"n_other" unit:"images" help:"that show another object"`
	Scene    int    `column:"n_scene" unit:"images" help:"that show a scene alone"`
	Unclear  int    `column:"n_unclear" unit:"images" help:"without one of these answers"`
}

var judgedKinds = metrics.Define(metrics.Definition[struct{}, judgedKindRow]{
	Name: "cococrola-judged-kinds", Title: "kinds of failure by a judge's answers about the images", Version: 1,
	Unit: "images", Range: "[0, images]", Direction: "none",
	Citation: citation + ", section 5.2; the measurement is an addition",
	Inputs: []metrics.Input{{Role: "in", Columns: append(slices.Clone(cellColumns), datasets.Columns("nearest:text",
		"answer:text")...), About: "answers to the questions of cococrola-failure-questions"}},
	Compute: func(_ context.Context, call *metrics.Call, _ struct{}) (out []judgedKindRow, err error) {
		in := tabular.Read(call, "in")
		nearest, answers := in.Texts("nearest"), in.Texts("answer")
		groups := in.SortedGroups([]string{"model", "language", "concept"})
		for _, g := range groups {
			row := judgedKindRow{Model: g.By[0], Language: g.By[1], Concept: g.By[2]}
			for _, i := range g.Rows {
				switch answers[i] {
				case row.Concept:
					row.Shown++
				case otherObject:
					row.Other++
				case sceneAlone:
					row.Scene++
				case cmp.Or(nearest[i], otherObject):
					row.Nearest++
				default:
					row.Unclear++
				}
			}
			most, kinds := 0, map[int]string{}
			for _, k := range []struct {
				n    int
				kind string
			}{{row.Shown, ""}, {row.Nearest, SpecificCollision}, {row.Other, NonSpecific},
				{row.Scene, GenericCollision}} {
				if _, twice := kinds[k.n]; twice {
					k.kind = ""
				}
				kinds[k.n], most = k.kind, max(most, k.n)
			}
			row.Kind = kinds[most]
			out = append(out, row)
		}
		return out, in.Err
	},
})

// JudgedKinds is the metric cococrola-judged-kinds: the kind of each failure by the most frequent of a judge's answers
// to [FailureQuestions]: the concept of the nearest images is a specific collision, another object non-specific, a
// scene alone a generic collision. The rows are labels for [FailureCounts].
func JudgedKinds(answers datasets.Table) datasets.Table { return judgedKinds.Of(answers) }
