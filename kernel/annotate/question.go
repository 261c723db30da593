package annotate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets/table"
)

// questionTask asks people what a model was asked: the row's question, with its choices.
func questionTask(in *table.Frame, _ Options) (*study, error) {
	s := &study{intro: []string{"You see one image at a time, and a question about it. Choose one answer."}}
	rows, err := s.imageRows(in)
	if err != nil {
		return nil, err
	}
	questions, errQ := in.Need("question", table.KindText)
	choices, errC := in.Need("choices", table.KindText)
	if err := cmp.Or(errQ, errC); err != nil {
		return nil, err
	}
	for _, row := range rows {
		a := ask{Name: "label", Text: questions.Texts[row], Unsure: "Can’t judge", Order: shuffleEach}
		for c := range strings.SplitSeq(choices.Texts[row], "|") {
			c = strings.TrimSpace(c)
			if c == "" || slices.ContainsFunc(a.Options, func(o option) bool { return o.Label == c }) {
				return nil, fmt.Errorf("row %d: choices %q: give different texts with | between them", row+1,
					choices.Texts[row])
			}
			a.Options = append(a.Options, option{c, c, nil})
		}
		s.subjects = append(s.subjects, subject{ID: in.Texts("id")[row], images: in.Images("image")[row : row+1],
			Asks: []int{s.ask(a.Text+"\x00"+choices.Texts[row], a)}})
	}
	return s, nil
}

func questionTable(c *collector) *table.Frame {
	f := columns("id label n_raters:number n_agree:number")
	judged, picked, order := c.byOption()
	open := 0
	for _, at := range order {
		row := map[string]any{"id": c.Subjects[at].ID, "n_raters": float64(judged[at])}
		for o, n := range picked[at] {
			if 2*n > judged[at] {
				row["label"], row["n_agree"] = c.Asks[c.Subjects[at].Asks[0]].Options[o].Label, float64(n)
			}
		}
		if f.add(row); row["label"] == nil {
			open++
		}
	}
	if open > 0 {
		c.note("%d images have no majority: their label is blank", open)
	}
	return f.table()
}
