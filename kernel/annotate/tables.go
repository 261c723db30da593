package annotate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/entigen"
	"antipode/datasets/table"
	"antipode/datasets/visage"
	"antipode/metrics/concepts"
)

// tables make the table of each task.
var tables = map[string]func(c *collector) *table.Frame{Visage: visageTable, Visual: visualTable,
	Entigen: entigenTable, Failures: failuresTable, TagTask: tagsTable, Translations: translationsTable,
	Question: questionTable}

// frame collects rows whose columns are known when they are added.
type frame struct {
	columns []table.ColumnSpec
	rows    []map[string]any
}

func (f *frame) add(row map[string]any) { f.rows = append(f.rows, row) }

// table returns the rows as columns; a value that a row lacks is "" or none.
func (f *frame) table() *table.Frame {
	out := table.NewFrame(f.columns)
	for _, row := range f.rows {
		for i := range out.Columns {
			value := row[out.Columns[i].Name]
			if number, is := value.(*float64); is && number != nil {
				value = *number
			}
			out.Columns[i].AddAny(value)
		}
	}
	return out
}

// columns parses NAME or NAME:KIND, separated by spaces.
func columns(specs string) *frame {
	f := &frame{}
	for _, spec := range strings.Fields(specs) {
		name, kind, _ := strings.Cut(spec, ":")
		f.columns = append(f.columns, table.ColumnSpec{Name: name, Kind: cmp.Or(table.Kind(kind), table.KindText)})
	}
	return f
}

// copied returns a row with the columns that the subject carries.
func (s *subject) copied() map[string]any {
	row := map[string]any{}
	for name, v := range s.Texts {
		row[name] = v
	}
	for name, v := range s.Numbers {
		row[name] = v
	}
	return row
}

// ratings returns the single answers: of a question with any number of options, a row for each option shown.
func (c *collector) ratings() *table.Frame {
	f := columns("id item question rater:number label note")
	numeric := true
	add := func(v vote, question, label string) {
		item := c.Subjects[v.subject].ID + "/" + question
		f.add(map[string]any{"id": fmt.Sprintf("%s#%d", item, v.rater), "item": item, "question": question,
			"rater": float64(v.rater), "label": label, "note": v.note})
		_, err := strconv.ParseFloat(label, 64)
		numeric = numeric && (err == nil || label == "")
	}
	for _, v := range c.votes {
		a := &c.Asks[v.ask]
		if !a.Many {
			label := c.unsureLabel(a)
			if !v.unsure {
				label = a.Options[v.picked[0]].Label
			}
			add(v, a.Name, label)
			continue
		}
		for _, o := range v.shown {
			label := "no"
			if v.unsure {
				label = ""
			} else if slices.Contains(v.picked, o) {
				label = a.Options[o].Label
			}
			add(v, a.Options[o].Text, label)
		}
	}
	if numeric {
		f.columns[table.Position(f.columns, "label")].Kind = table.KindNumber
		for _, row := range f.rows {
			if x, err := strconv.ParseFloat(row["label"].(string), 64); err == nil {
				row["label"] = x
			}
		}
	}
	return f.table()
}

// unsureLabel is the label of a rater who could not judge: an answer of its own in ENTIGEN, and in ViSAGe's rating of
// attributes.
func (c *collector) unsureLabel(a *ask) string {
	switch c.Task {
	case Entigen:
		return entigen.NoGroup
	case Visual:
		return "3"
	}
	return ""
}

func visageTable(c *collector) *table.Frame {
	f := columns("id image_id rater:number identity image_number:number attribute selected:number box_left:number " +
		"box_top:number box_right:number box_bottom:number " + strings.Join(pairColumns, ":number ") + ":number")
	for _, v := range c.votes {
		if v.unsure {
			continue
		}
		a, sub := &c.Asks[v.ask], &c.Subjects[v.subject]
		for _, o := range v.shown {
			row := sub.copied()
			row["id"] = fmt.Sprintf("%s/%s#%d", sub.ID, a.Options[o].Text, v.rater)
			row["image_id"], row["rater"], row["attribute"] = sub.ID, float64(v.rater), a.Options[o].Text
			row["selected"] = 0.0
			if slices.Contains(v.picked, o) {
				row["selected"] = 1.0
			}
			if box, has := v.boxes[o]; has {
				for i, name := range []string{"box_left", "box_top", "box_right", "box_bottom"} {
					row[name] = math.Round(box[i]*visage.ImageSize*10) / 10
				}
			}
			for i, name := range a.Columns {
				row[name] = a.Options[o].Values[i]
			}
			f.add(row)
		}
	}
	return f.table()
}

func visualTable(c *collector) *table.Frame {
	f := columns("id attribute score_asia:number score_europe:number score_na:number")
	scores := map[int]map[string]any{}
	for _, v := range c.votes {
		if scores[v.subject] == nil {
			name := c.Subjects[v.subject].ID
			scores[v.subject] = map[string]any{"id": name, "attribute": name}
		}
		score, label := 3.0, ""
		if !v.unsure {
			label = c.Asks[v.ask].Options[v.picked[0]].Label
			score, _ = strconv.ParseFloat(label, 64) // the labels of the task are numbers
		}
		scores[v.subject][[]string{"", "score_asia", "score_europe", "score_na"}[v.rater]] = score
	}
	left := 0
	for _, at := range slices.Sorted(maps.Keys(scores)) {
		if len(scores[at]) == 5 {
			f.add(scores[at])
		} else {
			left++
		}
	}
	if left > 0 {
		c.note("%d attributes are left out of the table: they do not have three scores", left)
	}
	return f.table()
}

func entigenTable(c *collector) *table.Frame {
	f := columns("id model category prompt_id kind attribute image_id rater:number person:number as_described:number")
	if !slices.ContainsFunc(c.Subjects, func(s subject) bool { return s.Texts["kind"] != "" }) {
		f.columns = slices.DeleteFunc(f.columns, func(c table.ColumnSpec) bool { return c.Name == "kind" })
	}
	for _, a := range c.Asks {
		if strings.HasPrefix(a.Name, "perceived_") && table.Position(f.columns, a.Name) < 0 {
			f.columns = append(f.columns, table.ColumnSpec{Name: a.Name, Kind: table.KindText})
		}
	}
	rows := map[[2]int]map[string]any{}
	for _, v := range c.votes {
		at := [2]int{v.subject, v.rater}
		if rows[at] == nil {
			row := c.Subjects[v.subject].copied()
			id := c.Subjects[v.subject].ID
			row["id"], row["image_id"], row["rater"] = fmt.Sprintf("%s#%d", id, v.rater), id, float64(v.rater)
			for _, ask := range c.Subjects[v.subject].Asks { // where an answer before excludes the question
				if a := &c.Asks[ask]; strings.HasPrefix(a.Name, "perceived_") {
					row[a.Name] = entigen.NoGroup
				}
			}
			rows[at] = row
			f.add(row)
		}
		switch a := &c.Asks[v.ask]; {
		case v.unsure:
			rows[at][a.Name] = entigen.NoGroup
		case slices.Contains(f.columns, table.ColumnSpec{Name: a.Name, Kind: table.KindNumber}):
			rows[at][a.Name] = map[string]float64{"1": 1, "0": 0}[a.Options[v.picked[0]].Label]
		default:
			rows[at][a.Name] = a.Options[v.picked[0]].Label
		}
	}
	return f.table()
}

// byOption counts for each subject the raters who judged it, and those who picked each option.
func (c *collector) byOption() (judged map[int]int, picked map[int]map[int]int, order []int) {
	judged, picked = map[int]int{}, map[int]map[int]int{}
	for _, v := range c.votes {
		if picked[v.subject] == nil {
			picked[v.subject] = map[int]int{}
			order = append(order, v.subject)
		}
		if v.unsure {
			continue
		}
		judged[v.subject]++
		for _, o := range v.picked {
			picked[v.subject][o]++
		}
	}
	return judged, picked, order
}

func failuresTable(c *collector) *table.Frame {
	f := columns("id model language concept kind n_raters:number n_agree:number")
	judged, picked, order := c.byOption()
	successes, open := 0, 0
	for _, at := range order {
		row := c.Subjects[at].copied()
		row["id"], row["kind"], row["n_raters"], row["n_agree"] = c.Subjects[at].ID, "", float64(judged[at]), 0.0
		label := ""
		for o, n := range picked[at] {
			if 2*n > judged[at] {
				label = c.Asks[c.Subjects[at].Asks[0]].Options[o].Label
				row["n_agree"] = float64(n)
			}
		}
		switch {
		case label == possessed:
			successes++
			continue
		case slices.Contains(concepts.Kinds[:3], label):
			row["kind"] = label
		default:
			open++
		}
		f.add(row)
	}
	if successes > 0 {
		c.note("%d concepts are no failure by the majority, and have no row", successes)
	}
	if open > 0 {
		c.note("%d concepts have no majority: their kind is blank", open)
	}
	return f.table()
}

func tagsTable(c *collector) *table.Frame {
	f := columns("id image_id tag n_raters:number n_agree:number")
	judged, picked, order := c.byOption()
	for _, at := range order {
		if judged[at] == 0 {
			continue
		}
		sub := &c.Subjects[at]
		add := func(tag string, n int) {
			f.add(map[string]any{"id": sub.ID + "#" + tag, "image_id": sub.ID, "tag": tag,
				"n_raters": float64(judged[at]), "n_agree": float64(n)})
		}
		tagged := false
		for o, option := range c.Asks[sub.Asks[0]].Options {
			if n := picked[at][o]; 2*n > judged[at] {
				add(option.Text, n)
				tagged = true
			}
		}
		if !tagged {
			add("", 0)
		}
	}
	return f.table()
}

func translationsTable(c *collector) *table.Frame {
	f := columns("id language prompt_id annotator rating:number")
	for _, v := range c.votes {
		if v.unsure {
			continue
		}
		sub := &c.Subjects[v.subject]
		rating, _ := strconv.ParseFloat(c.Asks[v.ask].Options[v.picked[0]].Label, 64) // the labels are numbers
		f.add(map[string]any{"id": fmt.Sprint(sub.ID, "#", v.rater), "annotator": fmt.Sprint("rater ", v.rater),
			"language": sub.Texts["language"], "prompt_id": sub.Texts["prompt_id"], "rating": rating})
	}
	return f.table()
}
