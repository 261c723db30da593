package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/gomlxmodels/stage/execmodel"
)

// execWorker embeds with a program.
type execWorker struct {
	*execmodel.Model
	args gomlxmodels.EmbedArgs
	dim  int // of the vectors so far; 0 = none
}

func openExec(ctx context.Context, env stage.Env, args gomlxmodels.EmbedArgs) (*stage.Opened, error) {
	m, err := execmodel.Open(ctx, env, args.Model, args.Exec, execmodel.Embed,
		map[string]string{"vector": cmp.Or(args.Vector, gomlxmodels.Full)})
	if err != nil {
		return nil, err
	}
	return stage.Of(&execWorker{Model: m, args: args}), nil
}

func (w *execWorker) Label() string { return "embed " + w.Ready.Name }

func (w *execWorker) Check(columns []table.ColumnSpec) error {
	need := datasets.Columns("id:text", "image:image")
	if w.args.Against != "" {
		need = []table.ColumnSpec{need[0], {Name: w.args.Against, Kind: table.KindText}}
	} else if w.args.Vector == "" && has(columns, "mask", table.KindMask) {
		return errors.New("a program embeds whole images, and the table has masks. Fix: embed before segmenting, or " +
			"request the vector clip_image")
	}
	return stage.Needs("embed", columns, need...)
}

func (w *execWorker) Outputs([]table.ColumnSpec) []table.ColumnSpec {
	return gomlxmodels.EmbedColumns(w.args.Vector, false)
}

func (w *execWorker) Key(row stage.Row) string {
	if w.args.Against != "" {
		return row.Text(w.args.Against)
	}
	return row.Image("image").SHA256
}

// Prepare returns the row's item; nil = there is nothing to embed, and the outcome says why.
func (w *execWorker) Prepare(_ context.Context, row stage.Row) (*execmodel.Item, string, error) {
	it := &execmodel.Item{ID: row.Text("id")}
	if w.args.Against != "" {
		it.Text = row.Text(w.args.Against)
	} else {
		it.Image, it.SHA256 = row.Image("image").Path, row.Image("image").SHA256
	}
	switch {
	case it.Text+it.Image == "" && stage.Absent(row):
		return nil, "", nil
	case w.args.Against == "" && it.Image == "":
		return nil, "image", stage.ErrNoImage
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
		v := a.Vector()
		if a.Outcome == "" { // no item
			v = nil
		} else if w.dim = cmp.Or(w.dim, len(v)); len(v) != w.dim {
			return out, fmt.Errorf("exec %s: a vector of %d numbers after one of %d", w.Ready.Name, len(v), w.dim)
		}
		out[i] = []table.Value{{Vector: v}}
		if w.args.Against != "" {
			out[i] = (&texts{}).counted(v, nil)
		}
	}
	return out, failed
}
