package caption

import (
	"context"
	"fmt"
	"math"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stage/execmodel"
)

// execWorker captions with a program.
type execWorker struct {
	*execmodel.Model
	worker
}

func openExec(ctx context.Context, env stage.Env, args gomlxmodels.CaptionArgs) (*stage.Opened, error) {
	m, err := execmodel.Open(ctx, env, args.Model, args.Exec, execmodel.Caption,
		map[string]string{"decode": args.Decode})
	if err != nil {
		return nil, err
	}
	return stage.Of(&execWorker{m, worker{env: env, args: args}}), nil
}

func (w *execWorker) Label() string              { return "caption " + w.Ready.Name }
func (w *execWorker) Batch() int                 { return w.Model.Batch() }
func (w *execWorker) Load(context.Context) error { return nil }
func (w *execWorker) Close()                     { w.Model.Close() }

func (w *execWorker) Digest() string {
	return fmt.Sprintf("%s %q %d", w.Model.Digest(), w.args.Prefix, w.args.MaxTokens)
}

func (w *execWorker) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.CaptionColumns()
}

// Prepare returns the row's item; nil = there is no image, and the outcome says why.
func (w *execWorker) Prepare(_ context.Context, row stage.Row) (*execmodel.Item, string, error) {
	it := &execmodel.Item{ID: row.Text("id"), Image: row.Image("image").Path, SHA256: row.Image("image").SHA256,
		N: 1, Prefix: w.args.Prefix, MaxTokens: w.args.MaxTokens}
	if it.Image == "" {
		if absent(row) {
			return nil, "", nil
		}
		return nil, "image", stage.ErrNoImage
	}
	if w.args.Decode == "nucleus" {
		var err error
		if it.Seed, err = row.Seed(); err != nil {
			return nil, "seed", err
		}
	}
	return it, "image", it.Unchanged()
}

func (w *execWorker) Compute(ctx context.Context, prepared []*execmodel.Item) ([][]table.Value, error) {
	answers, failed := w.RunGiven(ctx, prepared)
	out := make([][]table.Value, len(prepared))
	for i, a := range answers {
		if a == nil {
			continue
		}
		text, logProb := "", math.NaN()
		if len(a.Captions) > 0 {
			text = a.Captions[0]
		}
		if len(a.Scores) > 0 {
			logProb = a.Scores[0]
		}
		out[i] = []table.Value{{Text: text}, {Number: math.NaN()}, {Number: logProb}, {}}
	}
	return out, failed
}
