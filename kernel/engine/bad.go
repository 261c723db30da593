package engine

import (
	"errors"
	"fmt"
	"slices"

	"antipode/datasets"
	"antipode/gomlxmodels/stage"
	"antipode/kernel/client"
)

// sift evaluates Table.Bad and Table.Good: it runs the plan below with its bad rows left out, decodes the pictures of what is
// left, and gives the list of the bad rows or the table without them. What it read stays apart from what the rest of the
// request reads: there a bad row is still an error.
func (r *run) sift(p *client.Plan) (*client.Frame, error) {
	if len(p.Inputs) != 1 {
		return nil, fmt.Errorf("%s reads one table", p.Op)
	}
	skip, bad, strict := r.req.SkipBad, r.bad, r.byDigest
	r.req.SkipBad, r.bad, r.byDigest = true, nil, map[string]*client.Frame{}
	good, err := r.eval(p.Inputs[0])
	if err == nil {
		good, err = r.decodable(good)
	}
	found := r.bad
	r.req.SkipBad, r.bad, r.byDigest = skip, bad, strict
	if err != nil {
		return nil, err
	}
	if p.Op == datasets.GoodOp {
		r.bad = append(r.bad, found...)
		return good, nil
	}
	ids, columns, reasons := make([]string, len(found)), make([]string, len(found)), make([]string, len(found))
	for i, b := range found {
		ids[i], columns[i], reasons[i] = b.ID, b.Column, b.Reason
		if b.ID == "" {
			ids[i] = fmt.Sprintf("(row %d)", b.Row)
		}
	}
	return &client.Frame{Columns: []client.Column{client.TextColumn("id", ids), client.TextColumn("column", columns), client.TextColumn("reason", reasons)}}, nil
}

// decodable leaves out the rows whose picture cannot be decoded or does not fit its mask. Which ones can is kept in the store.
func (r *run) decodable(f *client.Frame) (*client.Frame, error) {
	if f.Images("image") == nil {
		return f, nil
	}
	st, ok := stage.Find(stage.Decodable)
	if !ok {
		return nil, errors.New("this program cannot decode pictures")
	}
	checked, err := r.rowStage(st, &client.Plan{Op: stage.Decodable}, f)
	if err != nil {
		return nil, err
	}
	delete(r.added, stage.Pixels)
	return &client.Frame{Columns: slices.DeleteFunc(slices.Clone(checked.Columns), func(c client.Column) bool { return c.Name == stage.Pixels })}, nil
}
