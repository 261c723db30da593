package indictti

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	data "antipode/datasets/indictti"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// CaptionPool is the metric indictti-pool: which captions prompts may be drawn from, and why the others not (supplement of the paper). captions
// is a table in the layout of LAION-COCO-NLLB (id, eng_caption, captions as JSON pairs of code and text) or with a column for each code. A caption is left out that has a capitalised word but the first
// ([Filter]), has no English text, repeats another's English text, lacks a caption that the data set should have (languages whose source is NLLB), or has no picture (the column url or
// image is there and empty). Columns: id, caption, kept (yes or no), reason, word (the capitalised one), n_captions (of the languages needed), url. What follows is an embedding of
// the column caption, then [SelectPrompts].
func CaptionPool(captions datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-pool", captions, settings)
}

// PromptSets is the metric indictti-subsets: nested sets of prompts drawn by [metrics.SeedOf] (section 3.2 of the paper). prompts has a column id; the result adds for each of
// the sets (names and sizes, largest first; by default full 1000, midjourney 200, dalle3 50, common 40) a column with yes or no.
func PromptSets(prompts datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Of("indictti-subsets", prompts, settings)
}

// CommonSet is [PromptSets] with a common set that is given, as a table with a column id: it is in every set.
func CommonSet(prompts, common datasets.Table, settings ...metrics.Setting) datasets.Table {
	return tabular.Table("indictti-subsets", map[string]datasets.Table{"in": prompts, "common": common}, settings)
}

// Sets are the names and sizes of [PromptSets], "full=1000,midjourney=200", largest first.
func Sets(list string) metrics.Setting { return tabular.Set("sets", list) }

// Sources are the tables behind [PromptTable].
type Sources struct {
	Prompts      datasets.Table  // the chosen ones: id and caption (English), as [SelectPrompts] gives them
	Captions     datasets.Table  // the caption data set, in the layout that [CaptionPool] reads
	Translations *datasets.Table // id, language, caption and, where there is one, caption_source: languages that the data set lacks; nil = none
	Languages    *datasets.Table // code, caption_source and script, as datasets/indictti.LanguageTable gives them; nil = the paper's 31
}

// PromptTable is the metric indictti-captions: the prompts in every language, a row each: id (PROMPT-LANGUAGE), prompt_id, language, script, prompt (the text that is asked with, no template
// around it), caption (English), caption_source (original, NLLB, IndicTrans2 or the translations' own label), outcome (ok, or skipped where there is no text) and reason.
// Captions of languages whose source is NLLB come from the data set, others from the translations.
func PromptTable(s Sources, settings ...metrics.Setting) datasets.Table {
	inputs := map[string]datasets.Table{"in": s.Prompts, "captions": s.Captions}
	if s.Translations != nil {
		inputs["translations"] = *s.Translations
	}
	if s.Languages != nil {
		inputs["languages"] = *s.Languages
	}
	return tabular.Table("indictti-captions", inputs, settings)
}

const defaultSets = "full=1000,midjourney=200,dalle3=50,common=40"

var (
	inLanguages  = metrics.Input{Role: "languages", Columns: datasets.Columns("code:text", "caption_source:text"), Optional: true, About: "languages with the source of their captions; without it the paper's 31"}
	filterOption = metrics.Option{Name: "filter", Default: "strict", Values: []string{"strict", "i", "after-stop", "both", "none"}, About: "captions with a capitalised word but the first are left out; exempt are the word I, words after a full stop, both; none = no rule"}
)

func init() {
	register := func(name, title, direction string, inputs []metrics.Input, options []metrics.Option, columns func(metrics.Args) []client.ColumnSpec, compute func(context.Context, metrics.Call) (*client.Frame, error)) {
		metrics.Register(metrics.Metric{Info: metrics.Info{Name: name, Title: title, Direction: direction, Citation: citation + ", section 3.1 and supplement"}, Version: 1, Inputs: inputs, Options: options,
			Columns: columns, Compute: compute})
	}
	released := datasets.Columns("id:text")
	register("indictti-pool", "which captions prompts may be drawn from, with the reason where not", "none",
		[]metrics.Input{{Role: "in", Columns: released, About: "captions in the layout of LAION-COCO-NLLB, or a column for each code"}, inLanguages},
		[]metrics.Option{{Name: "caption", Default: data.EnglishColumn, About: "the column of the English caption"}, filterOption},
		tabular.Fixed("=id", "=caption", "=kept", "=reason", "=word", "n_captions", "=url"), captionPool)
	register("indictti-subsets", "nested sets of prompts", "none",
		[]metrics.Input{{Role: "in", Columns: released, About: "one row for each prompt"}, {Role: "common", Columns: released, Optional: true, About: "prompts that are in every set"}},
		[]metrics.Option{{Name: "sets", Default: defaultSets, About: "names and sizes, largest first"}},
		setColumns, promptSets)
	register("indictti-captions", "the prompts in every language, with the source of each text", "none",
		[]metrics.Input{{Role: "in", Columns: datasets.Columns("id:text", "caption:text"), About: "the chosen prompts: id and English caption"},
			{Role: "captions", Columns: released, About: "captions in the layout of LAION-COCO-NLLB, or a column for each code"},
			{Role: "translations", Columns: datasets.Columns("id:text", "language:text", "caption:text"), Optional: true, About: "captions of the languages that the data set lacks"}, inLanguages},
		nil, tabular.Fixed("=id", "=prompt_id", "=language", "=script", "=prompt", "=caption", "=caption_source", "=outcome", "=reason"), promptTable)
}

// languages are those of the table "languages", or the paper's.
func languages(call metrics.Call) ([]data.Language, error) {
	f := call.Inputs["languages"]
	if f == nil {
		return data.Languages(), nil
	}
	codes, sources, scripts := f.Texts("code"), f.Texts("caption_source"), f.Texts("script")
	var out []data.Language
	for i, code := range codes {
		l := data.Language{Code: code, Source: sources[i]}
		if scripts != nil {
			l.Script = scripts[i]
		}
		if l.Script == "" {
			_, l.Script, _ = strings.Cut(code, "_")
		}
		if code == "" || slices.Contains(codes[:i], code) {
			return nil, fmt.Errorf("table %q, row %d: the code %q is empty or occurs twice", "languages", i+1, code)
		}
		out = append(out, l)
	}
	return out, nil
}

// translated gives the captions of a row by code.
func translated(f *client.Frame, role string) (func(row int) (map[string]string, error), error) {
	if pairs := f.Texts(data.CaptionsColumn); pairs != nil {
		return func(row int) (map[string]string, error) {
			out, err := data.Captions(pairs[row])
			if err != nil {
				return nil, client.BadRow{Row: row + 1, ID: f.Texts("id")[row], Column: data.CaptionsColumn, Reason: err.Error()}
			}
			return out, nil
		}, nil
	}
	wide := false
	for _, c := range f.Columns {
		_, script, two := strings.Cut(c.Name, "_")
		wide = wide || c.Kind == client.Text && two && len(script) == 4
	}
	if !wide {
		return nil, fmt.Errorf("table %q holds no captions: neither a text column %q with pairs of code and caption (JSON), nor columns named by code, such as hin_Deva", role, data.CaptionsColumn)
	}
	return func(row int) (map[string]string, error) {
		out := map[string]string{}
		for _, c := range f.Columns {
			if c.Kind == client.Text && c.Texts[row] != "" {
				out[c.Name] = c.Texts[row]
			}
		}
		return out, nil
	}, nil
}

func captionPool(_ context.Context, call metrics.Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	english, err := f.Need(call.Options["caption"], client.Text)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "in", err)
	}
	list, err := languages(call)
	if err != nil {
		return nil, err
	}
	captions, err := translated(f, "in")
	if err != nil {
		return nil, err
	}
	ids, urls, images := f.Texts("id"), f.Texts(data.URLColumn), f.Images("image")
	order := make([]int, f.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(ids[a], ids[b]) }) // of equal captions the least id stays, whatever the rows' order
	rows := make([][]any, f.Len())
	first, kept := map[string]string{}, 0
	for i, row := range order {
		if i > 0 && ids[row] == ids[order[i-1]] {
			return nil, client.BadRow{Row: row + 1, ID: ids[row], Column: "id", Reason: "the id occurs twice"}
		}
		texts, err := captions(row)
		if err != nil {
			return nil, err
		}
		var lacking []string
		have := 0
		for _, l := range list {
			if l.Source == data.NLLB && texts[l.Code] == "" {
				lacking = append(lacking, l.Code)
			} else if l.Source == data.NLLB {
				have++
			}
		}
		caption, url := english.Texts[row], ""
		if urls != nil {
			url = urls[row]
		}
		word, reason := refuse(call, caption), ""
		switch other, twice := first[caption]; {
		case strings.TrimSpace(caption) == "":
			reason = "no English caption"
		case word != "":
			reason = "capitalised word"
		case len(lacking) > 0:
			reason = "no caption in " + strings.Join(lacking, ", ")
		case urls != nil && url == "" || images != nil && images[row] == (client.Image{}):
			reason = "no picture"
		case twice:
			reason = "repeats " + other
		default:
			first[caption] = ids[row]
			kept++
		}
		answer := "yes"
		if reason != "" {
			answer = "no"
		}
		rows[row] = []any{ids[row], caption, answer, reason, word, have, url}
	}
	if kept < f.Len() && call.Note != nil {
		call.Note("%d of %d captions stay; the column reason says why the others do not", kept, f.Len())
	}
	return tabular.Result("indictti-pool", call, rows)
}

// parseSets reads names and sizes.
func parseSets(list string) (names []string, sizes []int, err error) {
	for _, entry := range datasets.SplitColumns(list) {
		name, size, ok := strings.Cut(entry, "=")
		n := 0
		if _, scanErr := fmt.Sscanf(size, "%d", &n); !ok || name == "" || name == "id" || scanErr != nil || fmt.Sprint(n) != size || slices.Contains(names, name) {
			return nil, nil, fmt.Errorf("option sets=%q: %q is not NAME=SIZE, each name once", list, entry)
		}
		names, sizes = append(names, name), append(sizes, n)
	}
	return names, sizes, nil
}

func setColumns(a metrics.Args) []client.ColumnSpec {
	list, given := a.Options["sets"]
	if !given {
		list = defaultSets
	}
	names, _, _ := parseSets(list) // a list that cannot be read is told when it is computed
	columns := []string{"=id"}
	for _, n := range names {
		columns = append(columns, "="+n)
	}
	return tabular.Specs(columns...)
}

func promptSets(_ context.Context, call metrics.Call) (*client.Frame, error) {
	names, sizes, err := parseSets(call.Options["sets"])
	if err != nil {
		return nil, err
	}
	var common []string
	if f := call.Inputs["common"]; f != nil {
		common = f.Texts("id")
	}
	ids := call.Inputs["in"].Texts("id")
	sets, err := data.Nested(ids, sizes, common, call.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s; change the option sets", strings.TrimPrefix(err.Error(), "indictti: "))
	}
	var rows [][]any
	for _, id := range ids {
		row := []any{id}
		for i := range names {
			in := "no"
			if _, found := slices.BinarySearch(sets[i], id); found {
				in = "yes"
			}
			row = append(row, in)
		}
		rows = append(rows, row)
	}
	return tabular.Result("indictti-subsets", call, rows)
}

func promptTable(_ context.Context, call metrics.Call) (*client.Frame, error) {
	list, err := languages(call)
	if err != nil {
		return nil, err
	}
	set := call.Inputs["captions"]
	captions, err := translated(set, "captions")
	if err != nil {
		return nil, err
	}
	at := positions(set.Texts("id"))
	type key struct{ id, language string }
	own, label := map[key]string{}, map[key]string{}
	if f := call.Inputs["translations"]; f != nil {
		labels := f.Texts("caption_source")
		for i, id := range f.Texts("id") {
			k := key{id, f.Texts("language")[i]}
			if _, twice := own[k]; twice {
				return nil, fmt.Errorf("table %q, row %d: the prompt %q has two translations into %s; keep one", "translations", i+1, id, k.language)
			}
			own[k] = f.Texts("caption")[i]
			if labels != nil {
				label[k] = labels[i]
			}
		}
	}
	in := call.Inputs["in"]
	var rows [][]any
	seen, lacking := map[string]bool{}, map[string]int{}
	for i, id := range in.Texts("id") {
		if seen[id] {
			return nil, client.BadRow{Row: i + 1, ID: id, Column: "id", Reason: "the id occurs twice"}
		}
		seen[id] = true
		english := in.Texts("caption")[i]
		texts := map[string]string{}
		if row, known := at[id]; known {
			if texts, err = captions(row); err != nil {
				return nil, err
			}
		}
		for _, l := range list {
			text, from, k := texts[l.Code], l.Source, key{id, l.Code}
			switch {
			case l.Code == data.English || l.Source == data.Original:
				text = english
			case l.Source != data.NLLB:
				text = own[k]
				if label[k] != "" {
					from = label[k]
				}
			}
			outcome, reason := "ok", ""
			if text == "" {
				outcome, reason = "skipped", fmt.Sprintf("no caption in %s from %s", l.Code, l.Source)
				lacking[l.Code]++
			}
			rows = append(rows, []any{id + "-" + l.Code, id, l.Code, l.Script, text, english, from, outcome, reason})
		}
	}
	if len(lacking) > 0 && call.Note != nil {
		call.Note("%d of %d languages lack captions of some prompts; the column reason says which", len(lacking), len(list))
	}
	return tabular.Result("indictti-captions", call, rows)
}
