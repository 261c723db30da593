package generate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stage/execmodel"
)

// execWorker generates images with a program.
type execWorker struct {
	*execmodel.Model
	worker
	spent float64
}

func openExec(ctx context.Context, env stage.Env, args gomlxmodels.GenerateArgs) (*stage.Opened, error) {
	m, err := execmodel.Open(ctx, env, args.Model, args.Exec, execmodel.Generate, nil)
	if err != nil {
		return nil, err
	}
	w := &execWorker{Model: m, worker: worker{env: env, args: args}}
	if err := w.resolve(); err != nil {
		m.Close()
		return nil, err
	}
	return stage.Of(w), nil
}

// resolve sets what the user did not set to the program's defaults, and reports what it does not support.
func (w *execWorker) resolve() error {
	a, c, d := &w.args, w.Ready.Capabilities, w.Ready.Defaults
	for _, o := range []struct {
		name      string
		set, able bool
	}{
		{"steps", a.Steps != 0, c.Steps},
		{"guidance", a.Guidance != 0, c.Guidance},
		{"scheduler", a.Scheduler != "", c.Scheduler},
		{"negative prompt", a.Negative != "", c.Negative},
		{"budget", a.API.Budget != 0, w.Ready.Paid},
	} {
		if o.set && !o.able {
			return w.Unsupported("the program does not support the option %s. Fix: leave it out", o.name)
		}
	}
	a.Steps, a.Guidance = cmp.Or(a.Steps, d.Steps), cmp.Or(a.Guidance, d.Guidance)
	a.Scheduler = cmp.Or(a.Scheduler, d.Scheduler)
	a.Width, a.Height = cmp.Or(a.Width, d.Width), cmp.Or(a.Height, d.Height)
	if a.Width > 0 {
		if err := c.Sizes.Check(a.Width, a.Height); err != nil {
			return w.Unsupported("%v", err)
		}
	}
	w.digest = fmt.Sprintf("%s %d %v %q %d×%d", w.Model.Digest(), a.Steps, a.Guidance, a.Scheduler, a.Width, a.Height)
	return nil
}

func (w *execWorker) Label() string              { return "generate " + w.Ready.Name }
func (w *execWorker) Digest() string             { return w.digest }
func (w *execWorker) Batch() int                 { return w.Model.Batch() }
func (w *execWorker) Load(context.Context) error { return nil }
func (w *execWorker) Close()                     { w.Model.Close() }

func (w *execWorker) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.GenerateColumns(gomlxmodels.Exec)
}

func (w *execWorker) Prepare(_ context.Context, row stage.Row) (item execmodel.Item, column string, err error) {
	r, column, err := w.request(row)
	if err != nil {
		return item, column, err
	}
	if r.Negative != "" && !w.Ready.Capabilities.Negative {
		return item, "negative", fmt.Errorf("%s takes no negative prompt", w.Ready.Name)
	}
	return execmodel.Item{ID: row.Text("id"), Prompt: r.Prompt, Negative: r.Negative, Seed: r.Seed, Steps: r.Steps,
		Guidance: r.Guidance, Scheduler: r.Scheduler, Width: r.Width, Height: r.Height}, "", nil
}

func (w *execWorker) Compute(ctx context.Context, items []execmodel.Item) ([][]table.Value, error) {
	if w.args.API.Budget > 0 && w.spent >= w.args.API.Budget {
		return nil, fmt.Errorf("the budget is exhausted: $%.3f of $%.2f are spent", w.spent, w.args.API.Budget)
	}
	answers, failed := w.Run(ctx, items)
	out := make([][]table.Value, len(answers))
	for i, a := range answers {
		if a.Outcome == "" {
			continue
		}
		w.spent += a.Cost
		var err error
		if out[i], err = w.values(&a); err != nil {
			return out, err
		}
	}
	return out, failed
}

// values returns an image's columns.
func (w *execWorker) values(a *execmodel.Answer) ([]table.Value, error) {
	var blob table.Image
	if a.Outcome == execmodel.OK {
		var err error
		if blob, err = w.env.PutBlob(a.Data, a.Extension); err != nil {
			return nil, err
		}
	}
	meta := ""
	if len(a.Meta) > 0 {
		text, err := json.Marshal(a.Meta)
		if err != nil {
			return nil, err
		}
		meta = string(text)
	}
	outcome, reason := a.Result()
	return []table.Value{{Image: blob}, {Text: cmp.Or(w.Ready.Model.ID, w.Ready.Name)}, {Text: "generated"},
		{Text: outcome}, {Text: reason}, {Text: "the program's own"}, {Number: a.Cost}, {Text: meta}}, nil
}

// Keep stores every answer but the transient ones.
func (w *execWorker) Keep(values []table.Value) bool {
	return !strings.HasPrefix(values[4].Text, execmodel.Transient)
}
