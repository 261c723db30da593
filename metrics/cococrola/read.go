package cococrola

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/kernel/client"
	"antipode/metrics"
)

// counts are the pictures of a cell that were asked for and refused.
type counts struct{ asked, refused int }

// input is what the tables of cococrola-scores hold: a set a model, each with a cell for every language and concept of the table.
type input struct {
	sets   []Set
	counts map[string]map[Cell]counts
	rows   map[string]int // of a picture, by id
	words  map[Cell]int   // row of a word
	worded bool           // models are named with the wording of their prompts
}

// mark divides a model's name from the wording of its prompts.
const mark = " / "

// asked is the model behind a name with a wording.
func (in *input) asked(name string) string {
	if !in.worded {
		return name
	}
	return name[:strings.LastIndex(name, mark)]
}

func readInput(call metrics.Call) (*input, error) {
	f := call.Inputs["in"]
	vectors, err := f.Need(call.Options["vector"], client.Vector)
	if err != nil {
		return nil, err
	}
	in := &input{counts: map[string]map[Cell]counts{}, rows: map[string]int{}, words: map[Cell]int{}}
	words, err := in.readWords(call)
	if err != nil {
		return nil, err
	}
	var joint [][]float32
	if words != nil {
		c, err := f.Need(call.Options["joint"], client.Vector)
		if err != nil {
			return nil, err
		}
		joint = c.Vectors
	}
	models, languages, concepts, ids, outcome := f.Texts("model"), f.Texts("language"), f.Texts("concept"), f.Texts("id"), f.Texts("outcome")
	if column := call.Options["wording"]; column != "" {
		c, err := f.Need(column, client.Text)
		if err != nil {
			return nil, err
		}
		in.worded, models = true, slices.Clone(models)
		for i, wording := range c.Texts {
			if models[i] != "" {
				models[i] += mark + wording
			}
		}
	}
	grid := map[Cell]bool{}
	for i := range models {
		for _, l := range []struct{ column, value string }{{"model", models[i]}, {"language", languages[i]}, {"concept", concepts[i]}} {
			if l.value == "" {
				return nil, client.BadRow{Row: i + 1, ID: idOf(ids, i), Column: l.column, Reason: "it is blank; every picture needs a model, a language and a concept"}
			}
		}
		grid[Cell{languages[i], concepts[i]}] = true
	}
	all := cross(grid)
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
		made := true
		if outcome != nil {
			made = !slices.Contains([]string{"refused", "failed", "skipped"}, outcome[i])
			if outcome[i] == "refused" {
				n.refused++
			}
		}
		in.counts[m][c] = n
		id := idOf(ids, i)
		if _, twice := in.rows[id]; twice {
			return nil, client.BadRow{Row: i + 1, ID: id, Column: "id", Reason: fmt.Sprintf("row %d has the same id; ids must be unique", in.rows[id]+1)}
		}
		in.rows[id] = i
		if !made {
			continue
		}
		image := Image{ID: id, Vector: vectors.Vectors[i]}
		if joint != nil {
			image.Joint = joint[i]
		}
		s.Images[c] = append(s.Images[c], image)
	}
	slices.SortFunc(order, compareModels)
	for _, m := range order {
		in.sets = append(in.sets, *sets[m])
	}
	return in, nil
}

// idOf is a picture's id, its place in a table without ids.
func idOf(ids []string, row int) string {
	if ids == nil {
		return fmt.Sprintf("row %09d", row+1)
	}
	return ids[row]
}

// cross is every language with every concept.
func cross(grid map[Cell]bool) (all []Cell) {
	languages, concepts := map[string]bool{}, map[string]bool{}
	for c := range grid {
		languages[c.Language], concepts[c.Concept] = true, true
	}
	for l := range languages {
		for c := range concepts {
			all = append(all, Cell{l, c})
		}
	}
	return all
}

// readWords gives the text vectors of the table "words"; nil where there is none.
func (in *input) readWords(call metrics.Call) (map[Cell][]float32, error) {
	f := call.Inputs["words"]
	if f == nil {
		return nil, nil
	}
	c, err := f.Need(call.Options["text"], client.Vector)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "words", err)
	}
	out := map[Cell][]float32{}
	languages, concepts := f.Texts("language"), f.Texts("concept")
	for i, v := range c.Vectors {
		if v == nil {
			continue
		}
		cell := Cell{languages[i], concepts[i]}
		if _, twice := out[cell]; twice {
			return nil, fmt.Errorf("table %q, row %d: the word of concept %q in language %q occurs twice", "words", i+1, cell.Concept, cell.Language)
		}
		out[cell], in.words[cell] = v, i
	}
	return out, nil
}

// locate says which row of which table an error of [Score] is about.
func (in *input) locate(err error, call metrics.Call, word string) error {
	var bad *ImageError
	if !errors.As(err, &bad) {
		return err
	}
	if bad.ID == "" {
		return fmt.Errorf("table %q, row %d (concept %q), column %s: %s", "words", in.words[Cell{word, bad.Concept}]+1, bad.Concept, call.Options["text"], bad.Reason)
	}
	column := call.Options["vector"]
	if bad.Joint {
		column = call.Options["joint"]
	}
	return client.BadRow{Row: in.rows[bad.ID] + 1, ID: bad.ID, Column: column, Reason: bad.Reason}
}

// readScored reads a table of scores, as cococrola-scores gives it. Columns of scores that it lacks are blank.
func readScored(f *client.Frame) ([]Scored, error) {
	models, languages, concepts := f.Texts("model"), f.Texts("language"), f.Texts("concept")
	possessed := f.Texts("possessed")
	rows := make([]Scored, f.Len())
	seen := map[Scored]int{}
	for i := range rows {
		key := Scored{Model: models[i], Cell: Cell{languages[i], concepts[i]}}
		if other, twice := seen[key]; twice {
			return nil, client.BadRow{Row: i + 1, ID: key.Concept, Column: "concept", Reason: fmt.Sprintf("row %d scores this concept for the same model and language", other+1)}
		}
		seen[key] = i
		rows[i] = key
		for name, into := range map[string]*float64{"inverse_distinctiveness": &rows[i].Dt, "self_consistency": &rows[i].Sc, "cross_consistency": &rows[i].Xc, "text_match": &rows[i].Wc} {
			if *into = math.NaN(); f.Numbers(name) != nil {
				*into = f.Numbers(name)[i]
			}
		}
		if possessed != nil {
			rows[i].Possessed = possessed[i]
		}
		if !slices.Contains([]string{Yes, No, Unknown}, rows[i].Possessed) {
			return nil, client.BadRow{Row: i + 1, ID: key.Concept, Column: "possessed", Reason: fmt.Sprintf("%q is none of yes, no and blank", rows[i].Possessed)}
		}
	}
	return rows, nil
}

// scoreNames are the columns of scores that rankings and correlations take.
var scoreNames = []string{"cross_consistency", "text_match", "self_consistency", "inverse_distinctiveness"}

func scoreOf(name string) func(Scored) float64 {
	return map[string]func(Scored) float64{
		"cross_consistency": func(s Scored) float64 { return s.Xc }, "text_match": func(s Scored) float64 { return s.Wc },
		"self_consistency": func(s Scored) float64 { return s.Sc }, "inverse_distinctiveness": func(s Scored) float64 { return s.Dt },
	}[name]
}
