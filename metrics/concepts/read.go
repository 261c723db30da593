package concepts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// counts are the requested and refused images of a cell.
type counts struct{ asked, refused int }

// input is the content of the tables of cococrola-scores: one set per model, with a cell for every language and concept
// of the table.
type input struct {
	sets      []Set
	counts    map[string]map[Cell]counts
	rows      map[string]int // number of an image's row, by id
	words     map[Cell]int   // number of a word's row
	templates bool           // model names end in a template
}

// separator is between the name of a model and a template.
const separator = " / "

// model returns the model of a set, without the template.
func (in *input) model(name string) string {
	if !in.templates {
		return name
	}
	return name[:strings.LastIndex(name, separator)]
}

func readInput(call *metrics.Call, o ScoreOptions) (*input, error) {
	rows := tabular.Read(call, "in")
	f, vectors, templates := rows.Frame, rows.Vectors(o.Vector), rows.Texts(o.Template)
	joint := make([][]float32, f.Len())
	if call.Inputs["words"] != nil {
		joint = rows.Vectors(o.Joint)
	}
	if rows.Err != nil {
		return nil, rows.Err
	}
	call.Copies = slices.Contains(tabular.Copies(call, "in", o.Vector), true)
	in := &input{counts: map[string]map[Cell]counts{}, rows: map[string]int{}, words: map[Cell]int{},
		templates: o.Template != ""}
	words, err := in.readWords(call, o.Text)
	if err != nil {
		return nil, err
	}
	models, languages, concepts, ids := slices.Clone(f.Texts("model")), f.Texts("language"), f.Texts("concept"),
		f.Texts("id")
	for i, template := range templates {
		if models[i] != "" {
			models[i] += separator + template
		}
	}
	all, err := cellsOf(f, models, languages, concepts)
	if err != nil {
		return nil, err
	}
	sets := map[string]*Set{}
	var order []string
	for i, m := range models {
		s := sets[m]
		if s == nil {
			s = &Set{Model: m, Images: map[Cell][]Image{}, Words: words}
			for _, c := range all {
				s.Images[c] = nil
			}
			sets[m], in.counts[m] = s, map[Cell]counts{}
			order = append(order, m)
		}
		c := Cell{languages[i], concepts[i]}
		n := in.counts[m][c]
		n.asked++
		outcome := tabular.Outcome(f, i)
		if outcome == "refused" {
			n.refused++
		}
		in.counts[m][c] = n
		id := idOf(ids, i)
		if other, twice := in.rows[id]; twice {
			return nil, table.BadRow{Row: f.RowNumber(i), ID: id, Column: "id",
				Reason: fmt.Sprintf("row %d has the same id; ids must be unique", other)}
		}
		in.rows[id] = f.RowNumber(i)
		if outcome == "" {
			s.Images[c] = append(s.Images[c], Image{ID: id, Vector: vectors[i], Joint: joint[i]})
		}
	}
	slices.SortFunc(order, compareModels)
	for _, m := range order {
		in.sets = append(in.sets, *sets[m])
	}
	return in, nil
}

// cellsOf returns the cells that images may be in; a blank name is an error.
func cellsOf(f *table.Frame, models, languages, concepts []string) (all []Cell, err error) {
	for c, values := range [][]string{models, languages, concepts} {
		if i := slices.Index(values, ""); i >= 0 {
			return nil, table.BadRow{Row: f.RowNumber(i), ID: idOf(f.Texts("id"), i), Column: cellColumns[c].Name,
				Reason: "it is blank; every image needs a model, a language and a concept"}
		}
	}
	for _, l := range unique(slices.Clone(languages), strings.Compare) {
		for _, c := range unique(slices.Clone(concepts), strings.Compare) {
			all = append(all, Cell{l, c})
		}
	}
	return all, nil
}

// idOf returns an image's id, or a name for its row in a table without ids.
func idOf(ids []string, row int) string {
	if ids == nil {
		return fmt.Sprintf("row %09d", row+1)
	}
	return ids[row]
}

// readWords returns the text vectors of the table of words; nil without a table.
func (in *input) readWords(call *metrics.Call, column string) (map[Cell][]float32, error) {
	if call.Inputs["words"] == nil {
		return nil, nil
	}
	rows := tabular.Read(call, "words")
	vectors, languages, concepts := rows.Vectors(column), rows.Texts("language"), rows.Texts("concept")
	if rows.Err != nil {
		return nil, rows.Err
	}
	out := map[Cell][]float32{}
	for i, v := range vectors {
		if v == nil {
			continue
		}
		cell := Cell{languages[i], concepts[i]}
		if _, twice := out[cell]; twice {
			return nil, fmt.Errorf("table %q, row %d: the word of concept %q in language %q occurs twice", "words",
				rows.Frame.RowNumber(i), cell.Concept, cell.Language)
		}
		out[cell], in.words[cell] = v, rows.Frame.RowNumber(i)
	}
	return out, nil
}

// locate adds table, row and column to an error of [ComputeConceptScores].
func (in *input) locate(err error, o ScoreOptions, word string) error {
	var bad *ImageError
	if !errors.As(err, &bad) {
		return err
	}
	if bad.ID == "" {
		return fmt.Errorf("table %q, row %d (concept %q), column %s: %s", "words", in.words[Cell{word, bad.Concept}],
			bad.Concept, o.Text, bad.Reason)
	}
	column := o.Vector
	if bad.Joint {
		column = o.Joint
	}
	return table.BadRow{Row: in.rows[bad.ID], ID: bad.ID, Column: column, Reason: bad.Reason}
}

// readScored reads a table of scores as cococrola-scores returns it. Missing score columns are NaN.
func readScored(f *table.Frame) ([]Scored, error) {
	models, languages, concepts := f.Texts("model"), f.Texts("language"), f.Texts("concept")
	possessed := f.Texts("possessed")
	rows := make([]Scored, f.Len())
	var numbers []func(row int) float64
	for _, name := range scoreNames {
		numbers = append(numbers, tabular.NumberOf(f, name))
	}
	seen := map[Scored]int{}
	for i := range rows {
		key := Scored{Model: models[i], Cell: Cell{languages[i], concepts[i]}}
		if other, twice := seen[key]; twice {
			return nil, table.BadRow{Row: f.RowNumber(i), ID: key.Concept, Column: "concept",
				Reason: fmt.Sprintf("row %d has the same model, language and concept", f.RowNumber(other))}
		}
		seen[key] = i
		key.Xc, key.Wc, key.Sc, key.Dt = numbers[0](i), numbers[1](i), numbers[2](i), numbers[3](i)
		rows[i] = key
		if possessed != nil {
			rows[i].Possessed = possessed[i]
		}
		if !slices.Contains([]string{Yes, No, Unknown}, rows[i].Possessed) {
			return nil, table.BadRow{Row: f.RowNumber(i), ID: key.Concept, Column: "possessed",
				Reason: fmt.Sprintf("%q must be yes, no or blank", rows[i].Possessed)}
		}
	}
	return rows, nil
}

// scoreNames are the columns that rankings and correlations read.
var scoreNames = []string{"cross_consistency", "text_match", "self_consistency", "inverse_distinctiveness"}

func scoreOf(name string) func(Scored) float64 {
	return map[string]func(Scored) float64{
		"cross_consistency":       func(s Scored) float64 { return s.Xc },
		"text_match":              func(s Scored) float64 { return s.Wc },
		"self_consistency":        func(s Scored) float64 { return s.Sc },
		"inverse_distinctiveness": func(s Scored) float64 { return s.Dt },
	}[name]
}
