package concepts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"

	"gonum.org/v1/gonum/floats"
)

// ShownOptions are the options of [Shown].
type ShownOptions struct {
	Joint string `json:"joint,omitempty" default:"clip_image" help:"image vectors in the space of the words"`
	Text  string `json:"text,omitempty" default:"clip_text" help:"vector column of the words"`
}

// shownRow is a row of [Shown].
type shownRow struct {
	Model        string           `column:"model"`
	Language     string           `column:"language"`
	PromptID     string           `column:"prompt_id"`
	Concept      string           `column:"concept"`
	Shown        metrics.Estimate `column:"shown" unit:"share of images" range:"[0, 1]"`
	All          metrics.Estimate `column:"all_shown" unit:"share of images" range:"[0, 1]" help:"that show every concept of the prompt"`
	Predicted    string           `column:"possessed" help:"the concept, by the scores: yes, no, or blank if unknown"`
	AllPredicted string           `column:"all_possessed" help:"yes if all concepts of the prompt are, no if one is not, blank if unknown"`
	Images       int              `column:"n_images" unit:"images"`
	Words        int              `column:"n_words" unit:"concepts" help:"whose words are ranked; 0 by a judge"`
}

var shown = metrics.Define(metrics.Definition[ShownOptions, shownRow]{
	Name:    "cococrola-shown",
	Title:   "share of the images of creative prompts that show each concept, by a CLIP",
	Version: 1, Unit: "share of images", Range: "[0, 1]", Direction: "higher is better",
	Citation: citation + ", section 5.6; the measurement is an addition",
	Inputs: []metrics.Input{
		{Role: "in", Columns: datasets.Columns("model:text", "language:text", "prompt_id:text", "concepts:text"),
			About: "the images of creative prompts, with their concepts (A, B, …) and vectors"},
		{Role: "words", Columns: datasets.Columns("concept:text"),
			About: "the words of all concepts of the study in one language, with their vectors"},
		{Role: "scores", Columns: inScores[0].Columns, Optional: true, About: inScores[0].About}},
	Compute: computeShown,
})

// Shown measures what the possession of concepts only suggests (section 5.6, Figure 10): whether the images of a
// creative prompt show its concepts. An image shows a concept if the concept's word is among the k of all words that
// are most similar to it, k being the number of concepts of the prompt. Intervals are Wilson's. A prompt with a concept
// that is not among the words is left out, with a note. words are the words of the study's concepts in one language,
// and both tables have vectors of one CLIP. scores are those of [ConceptScores], whose possession should foretell what
// is shown; they may be missing.
func Shown(images, words, scores datasets.Table, options ...ShownOptions) datasets.Table {
	return shown.Table(map[string]datasets.Table{"in": images, "words": words, "scores": scores}, options...)
}

func computeShown(_ context.Context, call *metrics.Call, o ShownOptions) (out []shownRow, err error) {
	in, w := tabular.Read(call, "in"), tabular.Read(call, "words")
	names, texts, vectors, lists := w.Texts("concept"), w.Vectors(o.Text), in.Vectors(o.Joint), in.Texts("concepts")
	groups := in.SortedGroups([]string{"model", "language", "prompt_id"})
	if err := cmp.Or(in.Err, w.Err); err != nil {
		return nil, err
	}
	possessed, err := readPossessed(call)
	if err != nil {
		return nil, err
	}
	words := make([][]float64, len(texts))
	for i, v := range texts {
		unit, reason := tabular.Unit(v)
		if reason == "" && len(v) != len(texts[0]) {
			reason = fmt.Sprintf("it has %d numbers, others have %d: use one model", len(v), len(texts[0]))
		}
		if reason != "" {
			return nil, tabular.BadRow(w.Frame, i, o.Text, "%s", reason)
		}
		if slices.Contains(names[:i], names[i]) {
			return nil, tabular.BadRow(w.Frame, i, "concept", "%q has another word: keep those of one language",
				names[i])
		}
		words[i] = unit
	}
	for _, g := range groups {
		concepts := datasets.SplitColumns(lists[g.Rows[0]])
		if at := slices.IndexFunc(concepts, func(c string) bool { return !slices.Contains(names, c) }); at >= 0 {
			call.Notef("prompt %s is left out: %q is not among the words", g.By[2], concepts[at])
			continue
		}
		n, all, each := 0, 0, make([]int, len(concepts))
		for _, row := range g.Rows {
			if vectors[row] == nil {
				continue
			}
			unit, reason := tabular.Unit(vectors[row])
			if reason == "" && len(words) > 0 && len(unit) != len(words[0]) {
				reason = fmt.Sprintf("it has %d numbers, those of the words have %d: use one model", len(unit),
					len(words[0]))
			}
			if reason != "" {
				return nil, tabular.BadRow(in.Frame, row, o.Joint, "%s", reason)
			}
			n++
			top, hits := nearestWords(unit, words, names, len(concepts)), 0
			for i, c := range concepts {
				if slices.Contains(top, c) {
					each[i]++
					hits++
				}
			}
			if hits == len(concepts) {
				all++
			}
		}
		if n == 0 {
			continue
		}
		out = append(out, possessed.rows(g.By, concepts, each, all, n, len(words))...)
	}
	return out, nil
}

// possession are the scores by model and cell.
type possession map[string]map[Cell]Scored

// readPossessed reads the scores, if there are any.
func readPossessed(call *metrics.Call) (possession, error) {
	if f := call.Inputs["scores"]; f != nil {
		scores, err := readScored(f)
		return byModel(scores), err
	}
	return nil, nil
}

// rows returns the rows of a prompt, by model, language and prompt: each of n images shows concept i, and all all.
func (p possession) rows(by, concepts []string, each []int, all, n, words int) (out []shownRow) {
	every, _ := allPossessed(p[by[0]], by[1], concepts)
	for i, c := range concepts {
		out = append(out, shownRow{Model: by[0], Language: by[1], PromptID: by[2], Concept: c, Shown: share(each[i], n),
			All: share(all, n), Predicted: p[by[0]][Cell{by[1], c}].Possessed, AllPredicted: every, Images: n,
			Words: words})
	}
	return out
}

// nearestWords returns the names of the k words that are most similar to an image; of equally similar ones the first
// by name.
func nearestWords(image []float64, words [][]float64, names []string, k int) []string {
	order := make([]int, len(words))
	similarity := make([]float64, len(words))
	for i, w := range words {
		order[i], similarity[i] = i, floats.Dot(image, w)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(similarity[b], similarity[a]), strings.Compare(names[a], names[b]))
	})
	top := make([]string, min(k, len(order)))
	for i := range top {
		top[i] = names[order[i]]
	}
	return top
}

func share(k, n int) metrics.Estimate {
	w := interval.Wilson(k, n, 0.95)
	return metrics.Estimate{Value: w.Value, Low: w.Low, High: w.High}
}
