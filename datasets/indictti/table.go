package indictti

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/kernel/client"
)

// Citation of the study.
const Citation = "Mittal et al., ECCV 2024, Navigating Text-to-Image Generative Bias across Indic Languages"

// Options of the tables. The zero value is the paper's.
type Options struct {
	Languages string `json:"languages,omitempty"` // a table of languages of one's own (CSV); "" = the paper's 31
	Tables    []int  `json:"tables,omitempty"`    // printed tables kept; none = all
}

// absolute makes a file mean the same to a backend with another working directory.
func (o Options) absolute() Options {
	if o.Languages != "" {
		if abs, err := filepath.Abs(o.Languages); err == nil {
			o.Languages = abs
		}
	}
	return o
}

// List is the table of languages that the options name.
func (o Options) List() ([]Language, error) {
	if o.Languages == "" {
		return Languages(), nil
	}
	data, err := os.ReadFile(o.Languages)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table of languages: %w", err)
	}
	return ReadLanguages(filepath.Base(o.Languages), data)
}

var (
	languageColumns = datasets.Columns("code:text", "name:text", "script:text", "script_label:text", "family:text", "subfamily:text", "speakers:number", "scheduled:text", "caption_source:text", "order:number", "note:text")
	planColumns     = datasets.Columns("model:text", "prompts:number", "languages:number", "pictures_each:number", "images:number", "note:text")
	printedColumns  = datasets.Columns("table:text", "score:text", "model:text", "language:text", "value:number", "printed:text", "state:text")
)

// LanguageTable is the table of languages: code, name, script, script_label, family, subfamily, speakers (millions, no value = no figure), scheduled, caption_source, order (the
// column of the result tables, English 0) and note.
func LanguageTable(o Options) datasets.Table {
	return datasets.New("indictti-languages", o.absolute(), languageColumns).Named("IndicTTI languages")
}

// PlanTable is the dry run of the study, [Plan]: model, prompts, languages, pictures_each, images and note.
func PlanTable(o Options) datasets.Table {
	return datasets.New("indictti-plan", o.absolute(), planColumns).Named("IndicTTI, pictures asked for")
}

// Printed is the table of [PrintedCells]: table (its number), score (clgc, igc or lgc), model, language, value (100 times the score; no value = not legible), printed and state
// ("" = legible, lost, cut, uncertain).
func Printed(o Options) datasets.Table {
	return datasets.New("indictti-printed", o.absolute(), printedColumns).Named("IndicTTI tables, as printed")
}

func init() {
	manifest.Register(manifest.Manifest{
		Name: "laion_coco_nllb", Title: "LAION-COCO-NLLB: captions of LAION-COCO in 200 languages", Origin: "https://huggingface.co/datasets/visheratin/laion-coco-nllb", Version: "as offered on the page",
		Licence: "CC BY-NC 4.0 (see the page)", Citation: "Visheratin, NLLB-CLIP: train performant multilingual image retrieval model on a budget, arXiv 2309.01859",
		Warning: "not fetched: get data/train-*.parquet and data/test-*.parquet from the page into a folder called laion_coco_nllb, set ANTIPODE_DATA to the folder above, and read them with indictti.Released or --in FILE; the captions were translated by a machine",
		Files:   []manifest.File{{Path: "data", Columns: []string{"id", "url", "eng_caption", "captions", "score"}, Optional: "parquet files from the page; their number and names differ by version"}},
	})
	source("indictti-languages", LanguageTable, func(o Options) (*datasets.Frame, error) {
		list, err := o.List()
		if err != nil {
			return nil, err
		}
		f := empty(languageColumns)
		for i, l := range list {
			add(f, l.Code, l.Name, l.Script, l.ScriptLabel, l.Family, l.Subfamily, l.Speakers, l.Scheduled, l.Source, float64(i), l.Note)
		}
		return f, nil
	})
	source("indictti-plan", PlanTable, func(o Options) (*datasets.Frame, error) {
		list, err := o.List()
		if err != nil {
			return nil, err
		}
		f := empty(planColumns)
		for _, a := range Plan(len(list)) {
			add(f, a.Model, float64(a.Prompts), float64(a.Languages), float64(a.Each), float64(a.Images()), a.Note)
		}
		return f, nil
	})
	source("indictti-printed", Printed, func(o Options) (*datasets.Frame, error) {
		numbers := o.Tables
		if len(numbers) == 0 {
			numbers = Tables
		}
		f := empty(printedColumns)
		for _, n := range numbers {
			cells, err := PrintedTable(n)
			if err != nil {
				return nil, err
			}
			for _, c := range cells {
				add(f, fmt.Sprint(c.Table), c.Score, c.Model, c.Language, c.Value, c.Printed, c.State)
			}
		}
		return f, nil
	})
}

// source registers an operation, and its table with default options under the operation's name.
func source(op string, table func(Options) datasets.Table, frame func(Options) (*datasets.Frame, error)) {
	datasets.RegisterSource(op, func(_ context.Context, raw json.RawMessage, _ datasets.SourceEnv) (*datasets.Frame, error) {
		var o Options
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &o); err != nil {
				return nil, fmt.Errorf("indictti: %w", err)
			}
		}
		return frame(o)
	})
	manifest.RegisterTable(op, func() datasets.Table { return table(Options{}) })
}

func empty(specs []client.ColumnSpec) *datasets.Frame {
	f := &datasets.Frame{}
	for _, s := range specs {
		f.Columns = append(f.Columns, client.Column{ColumnSpec: s})
	}
	return f
}

// add puts a row's values, text or number, into the columns in their order.
func add(f *datasets.Frame, values ...any) {
	for i, v := range values {
		switch c := &f.Columns[i]; v := v.(type) {
		case string:
			c.Texts = append(c.Texts, v)
		case float64:
			c.Numbers = append(c.Numbers, v)
		}
	}
}
