package datasets

import (
	"errors"
	"fmt"
	"slices"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

func init() { operation.Verb("questions", questions) }

type questionArgs struct {
	On string `json:"on,omitempty"`
	Of string `json:"of"` // the column of the images' ids
}

// Questions returns a row for each image of this table and each question of another one: what a model is asked about
// the images. The row has the columns of both, the id IMAGE#QUESTION, and the ids of its image and question in the
// columns image_id (row_id where this table has an image_id) and, unless it is one of the questions' columns,
// question_id. With a column on, a question is only asked about the images with an equal value, for example those of
// its prompt; images without a question are left out, with a note.
func (t Table) Questions(questions Table, on ...string) Table {
	a, err := questionArgs{Of: "image_id"}, error(nil)
	if len(on) > 1 {
		err = errors.New("Questions: give one column")
	} else if len(on) == 1 {
		a.On = on[0]
	}
	if table.Position(t.columns, a.Of) >= 0 {
		a.Of = "row_id"
	}
	t, questions = t.need("id", table.KindText), questions.need("id", table.KindText)
	if a.On != "" {
		t, questions = t.need(a.On, table.KindText), questions.need(a.On, table.KindText)
	}
	columns := append(slices.Clone(t.columns), table.ColumnSpec{Name: a.Of, Kind: table.KindText})
	for _, c := range a.added(questions.columns) {
		if table.Position(columns, c.Name) >= 0 {
			err = fmt.Errorf("Questions: both tables have a column %q; Select the columns that are needed from one",
				c.Name)
		}
		columns = append(columns, c)
	}
	out := New("questions", a, columns, t, questions)
	if out.open = t.open || questions.open; err != nil {
		return out.failed(err)
	}
	return out
}

func (a questionArgs) added(columns []table.ColumnSpec) []table.ColumnSpec {
	out := slices.DeleteFunc(slices.Clone(columns), func(c table.ColumnSpec) bool {
		return c.Name == "id" || c.Name == a.On
	})
	if table.Position(out, "question_id") < 0 {
		out = append(out, table.ColumnSpec{Name: "question_id", Kind: table.KindText})
	}
	return out
}

func questions(call *Call, a questionArgs, in []*Frame) (*Frame, error) {
	if len(in) != 2 {
		return nil, errors.New("Questions takes two tables")
	}
	names := []string{"id"}
	if a.On != "" {
		names = append(names, a.On)
	}
	var texts [2]map[string][]string
	for i, f := range call.Labels(names[1:], in) {
		texts[i] = map[string][]string{}
		for _, name := range names {
			c, err := f.Need(name, table.KindText)
			if err != nil {
				return nil, err
			}
			texts[i][name] = c.Texts
		}
	}
	var rows [2][]int
	var ids, images, asked []string
	without := 0
	of := map[string][]int{} // questions by value; all of them are of "" without a column
	for q := range texts[1]["id"] {
		value := ""
		if a.On != "" {
			value = texts[1][a.On][q]
		}
		of[value] = append(of[value], q)
	}
	if a.On != "" {
		delete(of, "") // no value
	}
	for i, image := range texts[0]["id"] {
		value := ""
		if a.On != "" {
			value = texts[0][a.On][i]
		}
		for _, q := range of[value] {
			question := texts[1]["id"][q]
			rows[0], rows[1] = append(rows[0], i), append(rows[1], q)
			ids, images, asked = append(ids, image+"#"+question), append(images, image), append(asked, question)
		}
		if len(of[value]) == 0 {
			without++
		}
	}
	if without > 0 {
		call.Notef("questions: %d of %d images have no question and are left out", without, in[0].Len())
	}
	out := in[0].Pick(rows[0]).With(table.TextColumn("id", ids), table.TextColumn(a.Of, images))
	other := in[1].Pick(rows[1])
	for _, c := range a.added(in[1].Specs()) {
		switch column := other.Column(c.Name); {
		case out.Has(c.Name):
			return nil, fmt.Errorf("Questions: both tables have a column %q", c.Name)
		case column == nil:
			out = out.With(table.TextColumn(c.Name, asked))
		default:
			out = out.With(*column)
		}
	}
	return out, nil
}
