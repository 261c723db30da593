package consistency

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/indictti"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
)

// PoolOptions are the options of [CaptionPool].
type PoolOptions struct {
	Caption string `json:"caption,omitempty" default:"eng_caption" help:"column of the English caption"`
	Filter  string `json:"filter,omitempty" default:"strict" values:"strict,i,after-stop,both,none" help:"exempt capitalized words: none, I, those after a full stop, both; none = no filter"`
}

// poolRow is a row of [CaptionPool].
type poolRow struct {
	ID       string `column:"id"`
	Caption  string `column:"caption"`
	Kept     bool   `column:"kept"`
	Reason   string `column:"reason"`
	Word     string `column:"word" help:"the capitalized word"`
	Captions int    `column:"n_captions" help:"in the languages needed"`
	URL      string `column:"url"`
}

var (
	withID      = datasets.Columns("id:text")
	inLanguages = datasets.Input{Role: "languages", Columns: datasets.Columns("code:text", "caption_source:text"),
		Optional: true, About: "languages and the source of their captions; default: the paper's 31"}
)

const captionCitation = citation + ", section 3.1 and supplement"

var captionPool = datasets.Define(datasets.Operation[PoolOptions, poolRow]{
	Name: "indictti-pool", Title: "captions that prompts can be selected from, with the reason for the others",
	Version: 1, Citation: captionCitation,
	Inputs: []datasets.Input{{Role: "in", Columns: withID,
		About: "captions in the layout of LAION-COCO-NLLB, or with one column per language"}, inLanguages},
	Compute: computePool,
})

// CaptionPool is the table operation indictti-pool: whether each caption can be a prompt, and if not the reason
// (supplement of the paper). captions is a table in the layout of LAION-COCO-NLLB (id, eng_caption, captions as JSON
// pairs of code and text), or with one column per language. A caption is left out if it has a capitalized word other
// than the first ([PoolOptions.Filter]), has no English text, repeats the English text of another, lacks a caption in
// a language whose source is NLLB, or has no image (an empty column url or image). Next, embed the column caption and
// call [SelectPrompts].
//
// languages is a table of languages, code and caption_source, as datasets/indictti.LanguageTable; a zero table is that
// of the paper. Without a language whose source is NLLB, captions needs no captions but the English ones.
func CaptionPool(captions, languages datasets.Table, options ...PoolOptions) datasets.Table {
	return captionPool.Table(map[string]datasets.Table{"in": captions, "languages": languages}, options...)
}

// SetOptions are the options of [PromptSets].
type SetOptions struct {
	Sets string `json:"sets,omitempty" default:"full=1000,midjourney=200,dalle3=50,common=40" help:"names and sizes, largest first"`
	Seed int64  `json:"seed,omitempty" help:"seed of the samples"`
}

var promptSets = datasets.Define(datasets.Operation[SetOptions, struct{}]{
	Name: "indictti-subsets", Title: "nested sets of prompts", Version: 1, Citation: captionCitation,
	Inputs: []datasets.Input{{Role: "in", Columns: withID, About: "one row per prompt"},
		{Role: "common", Columns: withID, Optional: true, About: "prompts that are in every set"}},
	Columns: func(o SetOptions) []table.ColumnSpec {
		names, _, _ := parseSets(o.Sets) // an invalid list is an error when the operation runs
		columns := datasets.Columns("id:text")
		for _, n := range names {
			columns = append(columns, table.ColumnSpec{Name: n, Kind: table.KindText})
		}
		return columns
	},
	Frame: computeSets,
})

// PromptSets is the table operation indictti-subsets: nested sets of prompts (section 3.2 of the paper). prompts has
// a column id; the result has one column per set, yes or no. The prompts of common are in every set; the zero Table =
// none.
func PromptSets(prompts, common datasets.Table, options ...SetOptions) datasets.Table {
	return promptSets.Table(map[string]datasets.Table{"in": prompts, "common": common}, options...)
}

// Sources are the inputs of [Prompts].
type Sources struct {
	Prompts  datasets.Table // id and caption (English), from [SelectPrompts]
	Captions datasets.Table // the caption data set, as for [CaptionPool]; the zero Table = none
	// Translations has id, language, text and optionally source, for languages that the data set lacks, or in place of
	// its captions; the zero Table = none. See [CheckTranslations].
	Translations datasets.Table
	// Languages has code, caption_source and script, as datasets/indictti.LanguageTable; the zero Table = the paper's
	// 31.
	Languages datasets.Table
}

// promptTableRow is a row of [Prompts].
type promptTableRow struct {
	ID            string `column:"id" help:"PROMPT-LANGUAGE"`
	PromptID      string `column:"prompt_id"`
	Language      string `column:"language"`
	Script        string `column:"script"`
	Prompt        string `column:"prompt" help:"the caption in the language"`
	Caption       string `column:"caption" help:"the English caption"`
	CaptionSource string `column:"caption_source" help:"original, NLLB, IndicTrans2 or the label of the translation"`
	Outcome       string `column:"outcome" help:"ok, or skipped without a text"`
	Reason        string `column:"reason"`
}

var promptTable = datasets.Define(datasets.Operation[struct{}, promptTableRow]{
	Name: "indictti-captions", Title: "the prompts in every language, with the source of each text", Version: 2,
	Citation: captionCitation,
	Inputs: []datasets.Input{{Role: "in", Columns: datasets.Columns("id:text", "caption:text"),
		About: "the selected prompts: id and English caption"},
		{Role: "captions", Columns: withID, Optional: true,
			About: "captions in the layout of LAION-COCO-NLLB, or with one column per language"},
		{Role: "translations", Columns: inTranslations, Optional: true, About: aboutTranslations, RepeatedIDs: true},
		inLanguages},
	Compute: computePromptTable,
})

// Prompts is the table operation indictti-captions: the prompts in every language, one row each. Captions of
// languages whose source is NLLB come from the data set, unless the translations have them; others come from the
// translations.
func Prompts(s Sources) datasets.Table {
	return promptTable.Table(map[string]datasets.Table{"in": s.Prompts, "captions": s.Captions,
		"translations": s.Translations, "languages": s.Languages})
}

// languages reads the table "languages"; the default is the paper's.
func languages(call *datasets.Call) ([]indictti.Language, error) {
	f := call.Inputs["languages"]
	if f == nil {
		return indictti.Languages(), nil
	}
	codes, sources, scripts := f.Texts("code"), f.Texts("caption_source"), f.Texts("script")
	var out []indictti.Language
	for i, code := range codes {
		l := indictti.Language{Code: code, Source: sources[i]}
		if scripts != nil {
			l.Script = scripts[i]
		}
		if l.Script == "" {
			_, l.Script, _ = strings.Cut(code, "_")
		}
		if code == "" || slices.Contains(codes[:i], code) {
			return nil, fmt.Errorf("table %q, row %d: the code %q is blank or occurs twice", "languages",
				f.RowNumber(i), code)
		}
		out = append(out, l)
	}
	return out, nil
}

// translated returns a function that reads the captions of a row, by code.
func translated(f *table.Frame, role string) (func(row int) (map[string]string, error), error) {
	if pairs := f.Texts(indictti.CaptionsColumn); pairs != nil {
		return func(row int) (map[string]string, error) {
			out, err := indictti.Captions(pairs[row])
			if err != nil {
				return nil, tabular.BadRow(f, row, indictti.CaptionsColumn, "%v", err)
			}
			return out, nil
		}, nil
	}
	wide := false
	for _, c := range f.Columns {
		_, script, two := strings.Cut(c.Name, "_")
		wide = wide || c.Kind == table.KindText && two && len(script) == 4
	}
	if !wide {
		return nil, fmt.Errorf("table %q has no captions: neither a text column %q with JSON pairs of code "+
			"and caption, nor columns named by code, such as hin_Deva", role, indictti.CaptionsColumn)
	}
	return func(row int) (map[string]string, error) {
		out := map[string]string{}
		for _, c := range f.Columns {
			if c.Kind == table.KindText && c.Texts[row] != "" {
				out[c.Name] = c.Texts[row]
			}
		}
		return out, nil
	}, nil
}

func computePool(_ context.Context, call *datasets.Call, o PoolOptions) ([]poolRow, error) {
	in := tabular.Read(call, "in")
	in.UniqueIDs()
	f, english := in.Frame, in.Texts(o.Caption)
	if in.Err != nil {
		return nil, in.Err
	}
	list, err := languages(call)
	if err != nil {
		return nil, err
	}
	captions := func(int) (map[string]string, error) { return nil, nil }
	if slices.ContainsFunc(list, func(l indictti.Language) bool { return l.Source == indictti.NLLB }) {
		if captions, err = translated(f, "in"); err != nil {
			return nil, err
		}
	}
	ids, urls, images := f.Texts("id"), f.Texts(indictti.URLColumn), f.Images("image")
	rows := make([]poolRow, f.Len())
	first, kept := map[string]string{}, 0
	for _, row := range sortedByID(ids) { // of equal captions the smallest id is kept, whatever the order of rows
		texts, err := captions(row)
		if err != nil {
			return nil, err
		}
		var lacking []string
		have := 0
		for _, l := range list {
			if l.Source == indictti.NLLB && texts[l.Code] == "" {
				lacking = append(lacking, l.Code)
			} else if l.Source == indictti.NLLB {
				have++
			}
		}
		caption, url := english[row], tabular.Text(f, indictti.URLColumn, row)
		word, reason := refused(o.Filter, caption), ""
		switch other, twice := first[caption]; {
		case strings.TrimSpace(caption) == "":
			reason = "no English caption"
		case word != "":
			reason = "capitalized word"
		case len(lacking) > 0:
			reason = "no caption in " + strings.Join(lacking, ", ")
		case urls != nil && url == "" || images != nil && images[row] == (table.Image{}):
			reason = "no image"
		case twice:
			reason = "repeats " + other
		default:
			first[caption] = ids[row]
			kept++
		}
		rows[row] = poolRow{ids[row], caption, reason == "", reason, word, have, url}
	}
	if kept < f.Len() {
		call.Notef("%d of %d captions are kept; see the column reason for the others", kept, f.Len())
	}
	return rows, nil
}

func parseSets(list string) (names []string, sizes []int, err error) {
	for _, entry := range datasets.SplitColumns(list) {
		name, size, ok := strings.Cut(entry, "=")
		n := 0
		if _, scanErr := fmt.Sscanf(size, "%d", &n); !ok || name == "" || name == "id" || scanErr != nil ||
			fmt.Sprint(n) != size || slices.Contains(names, name) {
			return nil, nil, fmt.Errorf("sets is %q; %q is not NAME=SIZE, or the name occurs twice", list, entry)
		}
		names, sizes = append(names, name), append(sizes, n)
	}
	return names, sizes, nil
}

func computeSets(_ context.Context, call *datasets.Call, o SetOptions) (*table.Frame, error) {
	names, sizes, err := parseSets(o.Sets)
	if err != nil {
		return nil, err
	}
	var common []string
	if f := call.Inputs["common"]; f != nil {
		common = f.Texts("id")
	}
	ids := call.Inputs["in"].Texts("id")
	sets, err := indictti.Nested(ids, sizes, common, o.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s; change the option sets", strings.TrimPrefix(err.Error(), "indictti: "))
	}
	out := &table.Frame{Columns: []table.Column{table.TextColumn("id", ids)}}
	for i, name := range names {
		c := table.TextColumn(name, make([]string, len(ids)))
		for row, id := range ids {
			c.Texts[row] = "no"
			if _, found := slices.BinarySearch(sets[i], id); found {
				c.Texts[row] = "yes"
			}
		}
		out.Columns = append(out.Columns, c)
	}
	return out, nil
}

// ownTranslations returns the translations that the user gives, by prompt and language.
func ownTranslations(call *datasets.Call, list []indictti.Language) (map[[2]string]indictti.Translation, error) {
	own, f := map[[2]string]indictti.Translation{}, call.Inputs["translations"]
	if f == nil {
		return own, nil
	}
	translations := translationsOf(f)
	for i, t := range translations {
		k := [2]string{t.ID, t.Language}
		if _, twice := own[k]; twice {
			return nil, fmt.Errorf("table %q, row %d: the prompt %q has two translations into %s; remove one",
				"translations", f.RowNumber(i), t.ID, t.Language)
		}
		own[k] = t
	}
	problems := slices.DeleteFunc(indictti.CheckTranslations(translations, promptsOf(call.Inputs["in"]), list),
		func(p indictti.Problem) bool { // prompts that were not selected; rows without a text are rows of the result
			return p.Problem == indictti.UnknownPrompt || p.Problem == indictti.Missing
		})
	if len(problems) > 0 {
		call.Notef("%s; indictti-translations lists them", summary(problems))
	}
	return own, nil
}

func computePromptTable(_ context.Context, call *datasets.Call, _ struct{}) ([]promptTableRow, error) {
	list, err := languages(call)
	if err != nil {
		return nil, err
	}
	captions := func(int) (map[string]string, error) { return nil, nil }
	var at map[string]int
	if set := call.Inputs["captions"]; set != nil {
		if captions, err = translated(set, "captions"); err != nil {
			return nil, err
		}
		at = positions(set.Texts("id"))
	}
	own, err := ownTranslations(call, list)
	if err != nil {
		return nil, err
	}
	in := tabular.Read(call, "in")
	if in.UniqueIDs(); in.Err != nil {
		return nil, in.Err
	}
	var rows []promptTableRow
	lacking := map[string]int{}
	for i, id := range in.Texts("id") {
		english := in.Texts("caption")[i]
		texts := map[string]string{}
		if row, known := at[id]; known {
			if texts, err = captions(row); err != nil {
				return nil, err
			}
		}
		for _, l := range list {
			text, from := texts[l.Code], l.Source
			t, given := own[[2]string{id, l.Code}]
			switch {
			case l.Code == indictti.English || l.Source == indictti.Original:
				text = english
			case given && strings.TrimSpace(t.Text) != "":
				text, from = t.Text, cmp.Or(t.Source, l.Source)
				if t.Source == "" && l.Source == indictti.NLLB {
					from = "translation"
				}
			case l.NeedsTranslations():
				text = ""
			}
			outcome, reason := "ok", ""
			if text == "" {
				outcome, reason = "skipped", fmt.Sprintf("no caption in %s from %s", l.Code, l.Source)
				lacking[l.Code]++
			}
			rows = append(rows, promptTableRow{id + "-" + l.Code, id, l.Code, l.Script, text, english, from, outcome,
				reason})
		}
	}
	if len(lacking) > 0 {
		call.Notef("%d of %d languages lack captions of some prompts; see the column reason", len(lacking), len(list))
	}
	return rows, nil
}
