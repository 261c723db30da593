package indictti

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"

	"antipode/datasets"
	"antipode/datasets/internal/source"
	"antipode/datasets/manifest"
)

// Citation of the study.
const Citation = "Mittal et al., ECCV 2024, Navigating Text-to-Image Generative Bias across Indic Languages"

// Options are the options of the tables of this package. The zero value selects the paper's languages and all tables.
type Options struct {
	Languages string `json:"languages,omitempty" help:"CSV file of languages; empty = the paper's 31"`
	Tables    []int  `json:"tables,omitempty" help:"printed tables to include; none = all"`
}

// absolute makes paths independent of the working directory: the backend has another one.
func (o Options) absolute() Options {
	if o.Languages != "" {
		if abs, err := filepath.Abs(o.Languages); err == nil {
			o.Languages = abs
		}
	}
	return o
}

// List reads the languages that the options select.
func (o Options) List() ([]Language, error) {
	if o.Languages == "" {
		return Languages(), nil
	}
	data, err := os.ReadFile(o.Languages)
	if err != nil {
		return nil, fmt.Errorf("read the table of languages: %w", err)
	}
	return ReadLanguages(filepath.Base(o.Languages), data)
}

var (
	languages = define("indictti-languages", "IndicTTI languages", "code:text name:text script:text script_label:text "+
		"family:text subfamily:text speakers:number scheduled:text caption_source:text order:number note:text",
		func(o Options, f *datasets.Frame) error {
			list, err := o.List()
			for i, l := range list {
				f.Add([]string{l.Code, l.Name, l.Script, l.ScriptLabel, l.Family, l.Subfamily, l.Scheduled, l.Source,
					l.Note}, l.Speakers, float64(i))
			}
			return err
		})
	plan = define("indictti-plan", "IndicTTI images by model", "model:text prompts:number languages:number "+
		"images_per_prompt:number images:number note:text",
		func(o Options, f *datasets.Frame) error {
			list, err := o.List()
			if err != nil {
				return err
			}
			for _, a := range Plan(len(list)) {
				f.Add([]string{a.Model, a.Note}, float64(a.Prompts), float64(a.Languages), float64(a.N),
					float64(a.Images()))
			}
			return nil
		})
	printedTables = define("indictti-printed", "IndicTTI tables, as printed", "table:text score:text model:text "+
		"language:text value:number printed:text state:text",
		func(o Options, f *datasets.Frame) error {
			numbers := o.Tables
			if len(numbers) == 0 {
				numbers = Tables
			}
			for _, n := range numbers {
				cells, err := PrintedTable(n)
				if err != nil {
					return err
				}
				for _, c := range cells {
					f.Add([]string{fmt.Sprint(c.Table), c.Score, c.Model, c.Language, c.Printed, c.State}, c.Value)
				}
			}
			return nil
		})
)

func define(name, title, columns string, read func(o Options, f *datasets.Frame) error) source.Source[Options] {
	return source.Define(source.Definition[Options]{Name: name, Title: title, Columns: columns, Listed: true,
		Complete: Options.absolute,
		Read:     func(o Options, _ *datasets.Call, f *datasets.Frame) error { return read(o, f) }})
}

//go:embed claims.csv
var claims []byte

var printedItems = define("indictti-items", "IndicTTI, values and claims as printed",
	"paper:text item:text printed:text",
	func(o Options, f *datasets.Frame) error {
		cells, err := PrintedCells()
		if err != nil {
			return err
		}
		for _, c := range cells {
			if c.State == Legible {
				f.Add([]string{Citation, c.Item(), c.Printed})
			}
		}
		for _, q := range quotedValues() {
			f.Add([]string{Citation, q.Item(), q.printed()})
		}
		return source.AddPrinted(f, Citation, claims)
	})

// PrintedItems is the table of everything that the paper prints and a run can be compared with, by metrics.Ledger:
// paper, item and printed. The items are the legible cells of Tables 2–4 and 6–11, the values that the text quotes,
// and the claims without a number, for which printed names the place.
func PrintedItems() datasets.Table { return printedItems.Table() }

// LanguageTable is the table of languages: code, name, script, script_label, family, subfamily, speakers (millions; no
// value = unknown), scheduled, caption_source, order (the column in the result tables, English 0) and note.
func LanguageTable(options ...Options) datasets.Table { return languages.Table(options...) }

// PlanTable is the table of [Plan]: model, prompts, languages, images_per_prompt, images and note.
func PlanTable(options ...Options) datasets.Table { return plan.Table(options...) }

// Printed is the table of [PrintedCells]: table (the number, as text), score (clgc, igc or lgc), model, language, value
// (100 times the score; no value = not legible), printed and state ("" = legible, lost, cut, uncertain).
func Printed(options ...Options) datasets.Table { return printedTables.Table(options...) }

func init() {
	manifest.Register(manifest.Manifest{
		Name: "laion_coco_nllb", Title: "LAION-COCO-NLLB: captions of LAION-COCO in 200 languages",
		Origin: "https://huggingface.co/datasets/visheratin/laion-coco-nllb", Version: "current version of the page",
		License: "CC BY-NC 4.0 (see the page)", Citation: "Visheratin, NLLB-CLIP: train performant multilingual " +
			"image retrieval model on a budget, arXiv 2309.01859",
		Warning: "not downloaded by this command: put data/train-*.parquet and data/test-*.parquet into a folder " +
			"laion_coco_nllb, set ANTIPODE_DATA to its parent, and read them with indictti.Released or --in FILE; " +
			"the captions are machine translations",
		Files: []manifest.File{{Path: "data", Columns: []string{"id", "url", "eng_caption", "captions", "score"},
			Optional: "Parquet files from the page; number and names depend on the version"}},
	})
}
