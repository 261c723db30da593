// Package ask is the stage that asks questions about images, with choices. Its models are programs of the user (package
// execmodel), chat models behind an API (package apimodel) and BLIP (package blip).
package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/blip"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stage/execmodel"
)

// Version of the stage; see stage.Stage.
const Version = 1

func init() {
	stage.Register(stage.Stage{Name: gomlxmodels.AskOp, Version: Version, Open: open})
}

type judge interface {
	Digest() string
	Batch() int
	Load(ctx context.Context) error
	Close()
	name() string
	// read checks and reads the texts and the image of a row; the column is that of an error.
	read(q *question) (column string, err error)
	// answers answers the items of rows; those of a row are nil if not all are answered, and then there is an error.
	answers(ctx context.Context, rows []*question) ([][]execmodel.Answer, error)
}

// question is what is asked about the image of a row.
type question struct {
	image   table.Image
	items   []execmodel.Item // one for each order of the choices; none = there is no image, and the outcome says why
	orders  [][]int          // the choices of each item
	choices []string
	wanted  string // the answer wanted; "" = not known
	png     []byte // the image as it is sent; nil = the file
	blip    blip.Question
}

type worker struct {
	judge
	args gomlxmodels.AskArgs
}

func open(ctx context.Context, env stage.Env, raw json.RawMessage) (*stage.Opened, error) {
	w := &worker{}
	err := json.Unmarshal(raw, &w.args)
	if err == nil {
		err = w.args.Check()
	}
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(w.args.Model, gomlxmodels.Chat) {
		w.judge, err = openChat(env, w.args)
	} else if !strings.HasPrefix(w.args.Model, gomlxmodels.Exec) {
		w.judge, err = openBLIP(env, w.args)
	} else {
		var m *execmodel.Model
		m, err = execmodel.Open(ctx, env, w.args.Model, w.args.Exec, execmodel.Ask, nil)
		w.judge = program{m}
	}
	return stage.Of(w), err
}

func (w *worker) Label() string { return "ask " + w.name() }

func (w *worker) Digest() string {
	a := w.args
	digest := fmt.Sprintf("%s %q %q %q %d %v", w.judge.Digest(), a.Question, a.Choices, a.System, a.Seed, a.Permute)
	if a.Shuffle {
		digest += " shuffled"
	}
	return digest
}

func (w *worker) Check(columns []table.ColumnSpec) error {
	return stage.Needs("ask", columns, w.args.Needs()...)
}

func (w *worker) Outputs([]table.ColumnSpec) []table.ColumnSpec { return w.args.Columns() }

func (w *worker) Key(row stage.Row) string {
	img := row.Image("image")
	if img.Path == "" && stage.Absent(row) {
		return "\x00absent"
	}
	key := img.SHA256
	if _, decoded := w.judge.(*blipJudge); decoded {
		key = stage.ImageKey(img)
	}
	if text := w.args.QuestionOf(row.Text); text != w.args.Question {
		key += fmt.Sprintf(" %q", text)
	}
	if w.args.Choices == nil {
		key += fmt.Sprintf(" %q %q", row.Text("choices"), row.Text("wanted"))
	}
	return key
}

func (w *worker) Prepare(_ context.Context, row stage.Row) (*question, string, error) {
	q := &question{image: row.Image("image"), choices: w.args.Choices}
	if q.image.Path == "" {
		if !stage.Absent(row) {
			return nil, "image", stage.ErrNoImage
		}
		return q, "", nil
	}
	text := w.args.QuestionOf(row.Text)
	if strings.TrimSpace(text) == "" {
		return nil, "question", fmt.Errorf("the row has no question")
	}
	if q.choices == nil {
		for c := range strings.SplitSeq(row.Text("choices"), "|") {
			q.choices = append(q.choices, strings.TrimSpace(c))
		}
		if err := gomlxmodels.CheckChoices(q.choices); err != nil {
			return nil, "choices", err
		}
		if q.wanted = row.Text("wanted"); q.wanted != "" && !slices.Contains(q.choices, q.wanted) {
			return nil, "wanted", fmt.Errorf("the answer wanted, %q, is not one of the choices: %s", q.wanted,
				strings.Join(q.choices, ", "))
		}
	}
	q.orders = w.orders(len(q.choices), q.image.SHA256+text)
	for k, order := range q.orders {
		item := execmodel.Item{ID: fmt.Sprintf("%s/%d", row.Text("id"), k+1), Image: q.image.Path,
			SHA256: q.image.SHA256, Seed: uint64(w.args.Seed), Question: text, System: w.args.System}
		for _, i := range order {
			item.Choices = append(item.Choices, q.choices[i])
		}
		q.items = append(q.items, item)
	}
	column, err := w.read(q)
	return q, column, err
}

// orders returns the orders in which n choices are listed: as they are given or shuffled and, with Permute, reversed.
func (w *worker) orders(n int, key string) [][]int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	if w.args.Shuffle {
		order = random(w.args.Seed, key).Perm(n)
	}
	orders := [][]int{order}
	if w.args.Permute {
		reversed := slices.Clone(order)
		slices.Reverse(reversed)
		orders = append(orders, reversed)
	}
	return orders
}

func (w *worker) Compute(ctx context.Context, rows []*question) ([][]table.Value, error) {
	answers, failed := w.answers(ctx, rows)
	out := make([][]table.Value, len(rows))
	for i, of := range answers {
		if of != nil {
			out[i] = w.values(rows[i], of)
		}
	}
	return out, failed
}

// values returns the columns of a row from its answers, one for each order of the choices; none = no image.
func (w *worker) values(q *question, answers []execmodel.Answer) []table.Value {
	var p []float64 // of the choices; nil = not known
	answer, source, text, outcome, reason, cost := "", "", "", "", "", 0.0
	for _, a := range answers {
		cost += a.Cost
	}
	failed := slices.IndexFunc(answers, func(a execmodel.Answer) bool { return a.Outcome != execmodel.OK })
	switch {
	case failed >= 0:
		outcome, reason = answers[failed].Result()
	case len(answers) > 0:
		first := answers[0]
		source, text, outcome, reason = first.Source, first.Text, first.Outcome, first.Reason
		p = average(q, answers)
		choice := q.orders[0][*first.Choice]
		if len(answers) == 2 {
			other := q.orders[1][*answers[1].Choice]
			switch {
			case p != nil:
				choice = slices.Index(p, slices.Max(p))
			case choice != other:
				reason = fmt.Sprintf("the answers to two orders of the choices differ: %q and %q", q.choices[choice],
					q.choices[other])
				choice = -1
			}
		}
		if choice >= 0 {
			answer = q.choices[choice]
		}
		if p == nil {
			source = execmodel.FromNothing
		}
	}
	out := []table.Value{{Text: answer}}
	if w.args.Choices != nil {
		for i := range q.choices {
			out = append(out, table.Value{Number: at(p, i)})
		}
	} else {
		out = append(out, q.byRow(answer, p)...)
	}
	out = append(out, table.Value{Text: source}, table.Value{Text: text}, table.Value{Text: outcome},
		table.Value{Text: reason})
	if strings.HasPrefix(w.args.Model, gomlxmodels.Chat) {
		if outcome == "" {
			cost = math.NaN()
		}
		out = append(out, table.Value{Number: cost})
	}
	return out
}

// byRow returns the columns of probabilities of a row with choices of its own.
func (q *question) byRow(answer string, p []float64) []table.Value {
	correct, texts := math.NaN(), []string{}
	if q.wanted != "" && answer != "" {
		correct = 0
		if answer == q.wanted {
			correct = 1
		}
	}
	for _, x := range p {
		texts = append(texts, table.NumberText(x))
	}
	return []table.Value{{Number: at(p, slices.Index(q.choices, answer))},
		{Number: at(p, slices.Index(q.choices, q.wanted))}, {Number: correct}, {Text: strings.Join(texts, "|")}}
}

// at returns the probability of a choice, NaN if it is not known.
func at(p []float64, i int) float64 {
	if i < 0 || i >= len(p) {
		return math.NaN()
	}
	return p[i]
}

// average returns the probabilities of the choices, averaged over the answers; nil if one has none.
func average(q *question, answers []execmodel.Answer) []float64 {
	p := make([]float64, len(q.choices))
	for k, a := range answers {
		if a.Probabilities == nil {
			return nil
		}
		for i, x := range a.Probabilities {
			p[q.orders[k][i]] += x / float64(len(answers))
		}
	}
	return p
}

// Keep stores every answer but the transient ones.
func (w *worker) Keep(values []table.Value) bool {
	return !slices.ContainsFunc(values, func(v table.Value) bool {
		return strings.HasPrefix(v.Text, execmodel.Transient)
	})
}

// Readings counts the answers that are refused, that name none of the choices, and that failed otherwise.
func (w *worker) Readings(rows *table.Frame) (out []table.Reading) {
	outcomes, reasons := rows.Texts(w.args.Column+"_outcome"), rows.Texts(w.args.Column+"_reason")
	for _, kind := range []struct {
		what string
		is   func(outcome, reason string) bool
	}{
		{"answers are refused", func(o, _ string) bool { return o == execmodel.Refused }},
		{"answers name none of the choices", func(o, r string) bool {
			return o == execmodel.Failed && strings.HasPrefix(r, noChoice)
		}},
		{"answers failed for another reason", func(o, r string) bool {
			return o == execmodel.Failed && !strings.HasPrefix(r, noChoice)
		}},
	} {
		out = append(out, table.Reading{Source: w.Label(), Column: w.args.Column, What: kind.what,
			Fix: "they have no answer; see " + w.args.Column + "_reason",
		}.Count(rows, func(row int) (hit, counts bool) {
			return kind.is(outcomes[row], reasons[row]), outcomes[row] != ""
		}))
	}
	return out
}

// program is a judge that is a program.
type program struct{ *execmodel.Model }

func (p program) name() string { return p.Ready.Name }

func (p program) read(q *question) (string, error) { return "image", q.items[0].Unchanged() }

func (p program) answers(ctx context.Context, rows []*question) ([][]execmodel.Answer, error) {
	items := make([][]execmodel.Item, len(rows))
	for i, q := range rows {
		items[i] = q.items
	}
	return p.RunRows(ctx, items)
}
