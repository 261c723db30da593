// Package ask is the stage that asks a question about each image, with fixed choices. Its models are programs of the
// user; see package execmodel.
package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stage/execmodel"
)

// Version of the stage; see stage.Stage.
const Version = 1

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.AskOp, Version: Version, Open: open})
}

// worker asks a program one question.
type worker struct {
	*execmodel.Model
	args gomlxmodels.AskArgs
}

func open(ctx context.Context, env stage.Env, raw json.RawMessage) (stage.Worker, error) {
	w := &worker{}
	err := json.Unmarshal(raw, &w.args)
	if err == nil {
		err = w.args.Check()
	}
	if err != nil {
		return nil, err
	}
	if w.Model, err = execmodel.Open(ctx, env, w.args.Model, w.args.Exec, execmodel.Ask, nil); err != nil {
		return nil, err
	}
	return w, nil
}

func (w *worker) Label() string { return "ask " + w.Ready.Name }

func (w *worker) Digest() string {
	a := w.args
	return fmt.Sprintf("%s %q %q %q %d %v", w.Model.Digest(), a.Question, a.Choices, a.System, a.Seed, a.Permute)
}

func (w *worker) Check(columns []table.ColumnSpec) error {
	return stage.Needs("ask", columns, datasets.Columns("id:text", "image:image")...)
}

func (w *worker) Outputs([]table.ColumnSpec) []table.ColumnSpec { return w.args.Columns() }

func (w *worker) Key(row stage.Row) string {
	if img := row.Image("image"); img.Path != "" || !stage.Absent(row) {
		return img.SHA256
	}
	return "\x00absent"
}

// Prepare returns the row's items, one for each order of the choices; none = there is no image, and the outcome says
// why.
func (w *worker) Prepare(_ context.Context, row stage.Row) (any, string, error) {
	img := row.Image("image")
	if img.Path == "" && !stage.Absent(row) {
		return nil, "image", stage.ErrNoImage
	}
	var items []execmodel.Item
	for k, choices := range w.args.Orders() {
		if img.Path != "" {
			items = append(items, execmodel.Item{ID: fmt.Sprintf("%s/%d", row.Text("id"), k+1), Image: img.Path,
				SHA256: img.SHA256,
				Seed:   uint64(w.args.Seed), Question: w.args.Question, Choices: choices, System: w.args.System})
		}
	}
	if len(items) == 0 {
		return items, "", nil
	}
	return items, "image", items[0].Unchanged()
}

func (w *worker) Compute(ctx context.Context, prepared []any) ([][]table.Value, error) {
	rows := make([][]execmodel.Item, len(prepared))
	for i, p := range prepared {
		rows[i] = p.([]execmodel.Item)
	}
	answers, failed := w.RunRows(ctx, rows)
	out := make([][]table.Value, len(rows))
	for i, of := range answers {
		if of != nil {
			out[i] = w.values(of)
		}
	}
	return out, failed
}

// values returns the columns of a row from its answers, one for each order of the choices; none = no image.
func (w *worker) values(answers []execmodel.Answer) []table.Value {
	n := len(w.args.Choices)
	probabilities := slices.Repeat([]float64{math.NaN()}, n)
	answer, source, text, outcome, reason := "", "", "", "", ""
	failed := slices.IndexFunc(answers, func(a execmodel.Answer) bool { return a.Outcome != execmodel.OK })
	switch {
	case failed >= 0:
		outcome, reason = answers[failed].Result()
	case len(answers) > 0:
		first, choice := answers[0], *answers[0].Choice
		source, text, outcome, reason = first.Source, first.Text, first.Outcome, first.Reason
		if first.Probabilities != nil {
			probabilities = first.Probabilities
		}
		if len(answers) == 2 {
			choice = w.average(probabilities, choice, answers[1])
		}
		switch {
		case choice >= 0:
			answer = w.args.Choices[choice]
		default:
			reason = fmt.Sprintf("the answers to two orders of the choices differ: %q and %q",
				w.args.Choices[*first.Choice], w.args.Choices[n-1-*answers[1].Choice])
		}
		if math.IsNaN(probabilities[0]) {
			source = execmodel.FromNothing
		}
	}
	out := []table.Value{{Text: answer}}
	for _, p := range probabilities {
		out = append(out, table.Value{Number: p})
	}
	return append(out, table.Value{Text: source}, table.Value{Text: text}, table.Value{Text: outcome},
		table.Value{Text: reason})
}

// average averages the probabilities with those of an answer to the reversed choices and returns the most probable
// choice. Where there are none it returns the choice of both answers, −1 if they differ.
func (w *worker) average(probabilities []float64, choice int, reversed execmodel.Answer) int {
	n := len(probabilities)
	for i := range probabilities {
		other := math.NaN()
		if reversed.Probabilities != nil {
			other = reversed.Probabilities[n-1-i]
		}
		probabilities[i] = (probabilities[i] + other) / 2
	}
	switch {
	case !math.IsNaN(probabilities[0]):
		return slices.Index(probabilities, slices.Max(probabilities))
	case choice == n-1-*reversed.Choice:
		return choice
	}
	return -1
}

// Keep stores every answer but the transient ones.
func (w *worker) Keep(values []table.Value) bool {
	return !strings.HasPrefix(values[len(values)-1].Text, execmodel.Transient)
}
