package entigen

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/kernel/client"
)

// Options of [Ratings].
type Options struct {
	Dir string `json:"dir,omitempty"` // folder of the data set; "" = found, see [manifest.Find]
}

var textColumns = []string{"id", "model", "category", "folder", "prompt_id", "kind", "attribute", "picture", "perceived_gender", "perceived_skin_colour", "perceived_culture"}
var numberColumns = []string{"rater", "person", "as_described"}

// Ratings is the table of the human ratings, one row for each rater and picture: id, model, category (profession, object, culture), folder,
// prompt_id (original, P-G1, …; a folder's own name where the paper reports nothing), kind (what the added sentence is about), attribute, picture, perceived_gender,
// perceived_skin_colour and perceived_culture (a group, "no group", or empty where not asked), rater (1 to 3), person and as_described (1 or 0; no
// value where not asked).
func Ratings(o Options) datasets.Table {
	o.Dir = manifest.Here(Name, o.Dir)
	var specs []client.ColumnSpec
	for _, n := range textColumns {
		specs = append(specs, client.ColumnSpec{Name: n, Kind: client.Text})
	}
	for _, n := range numberColumns {
		specs = append(specs, client.ColumnSpec{Name: n, Kind: client.Number})
	}
	return datasets.New("entigen-ratings", o, specs).Named("ENTIGEN ratings")
}

// Sheets is the table of the files that [Ratings] reads: file, sheet (what it is about), form ("upstream" or "normalised") and rows.
func Sheets(o Options) datasets.Table {
	o.Dir = manifest.Here(Name, o.Dir)
	return datasets.New("entigen-files", o, []client.ColumnSpec{{Name: "file", Kind: client.Text}, {Name: "sheet", Kind: client.Text}, {Name: "form", Kind: client.Text}, {Name: "rows", Kind: client.Number}}).Named("ENTIGEN files")
}

func init() {
	manifest.RegisterTable("entigen-ratings", func() datasets.Table { return Ratings(Options{}) })
	source("entigen-ratings", func(rows []Rating, _ Report) *datasets.Frame { return Frame(rows) })
	source("entigen-files", fileFrame)
}

func source(op string, read func([]Rating, Report) *datasets.Frame) {
	datasets.RegisterSource(op, func(_ context.Context, raw json.RawMessage, env datasets.SourceEnv) (*datasets.Frame, error) {
		var o Options
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &o); err != nil {
				return nil, fmt.Errorf("entigen: %w", err)
			}
		}
		dir, err := manifest.Dir(Name, o.Dir, env.Home)
		if err != nil {
			return nil, err
		}
		rows, report, err := Load(os.DirFS(dir))
		if err != nil {
			return nil, err
		}
		return read(rows, report), nil
	})
}

func fileFrame(_ []Rating, report Report) *datasets.Frame {
	f := &datasets.Frame{Columns: []client.Column{client.TextColumn("file", nil), client.TextColumn("sheet", sheets), client.TextColumn("form", nil), client.NumberColumn("rows", nil)}}
	for i, u := range report.Used {
		f.Columns[0].Texts = append(f.Columns[0].Texts, u.Path)
		f.Columns[2].Texts = append(f.Columns[2].Texts, string(u.Form))
		f.Columns[3].Numbers = append(f.Columns[3].Numbers, float64(report.Rows[i]))
	}
	return f
}

// Frame is the table of ratings in memory; see [Ratings].
func Frame(rows []Rating) *datasets.Frame {
	rows = Sorted(rows)
	texts, numbers := make([][]string, len(textColumns)), make([][]float64, len(numberColumns))
	yes := map[bool]float64{true: 1}
	for _, r := range rows {
		for i, v := range []string{fmt.Sprintf("%s#%d", r.Picture(), r.Rater), r.Model, r.Category, r.Folder, r.Prompt, Kind(r.Prompt), r.Attribute, r.Picture(), r.Gender, r.Skin, r.Scene} {
			texts[i] = append(texts[i], v)
		}
		person := yes[r.Person]
		if r.Category == Culture {
			person = math.NaN()
		}
		for i, v := range []float64{float64(r.Rater), person, yes[r.Described]} {
			numbers[i] = append(numbers[i], v)
		}
	}
	f := &datasets.Frame{}
	for i, n := range textColumns {
		f.Columns = append(f.Columns, client.TextColumn(n, texts[i]))
	}
	for i, n := range numberColumns {
		f.Columns = append(f.Columns, client.NumberColumn(n, numbers[i]))
	}
	return f
}
