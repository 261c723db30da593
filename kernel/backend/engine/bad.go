package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
)

// sift evaluates Table.Bad and Table.Good: it evaluates the input plan without its bad rows, decodes the images of
// the other rows, and returns the list of the bad rows or the table without them. Its frames are not shared with
// the rest of the request, where a bad row is still an error.
func (r *run) sift(p *table.Plan) (*table.Frame, error) {
	if len(p.Inputs) != 1 {
		return nil, fmt.Errorf("%s reads one table", p.Op)
	}
	in := r.child()
	in.req.SkipBad, in.bad = true, &badRows{}
	good, err := in.rows(p.Inputs[0])
	if err == nil {
		good, err = in.decodable(good)
	}
	if err != nil {
		return nil, err
	}
	found := in.bad.rows
	if p.Op == datasets.GoodOp {
		r.bad.rows = append(r.bad.rows, found...)
		return good, nil
	}
	out := table.NewFrame(datasets.Columns("id:text", "column:text", "reason:text"))
	for _, b := range found {
		out.Add([]string{cmp.Or(b.ID, fmt.Sprintf("(row %d)", b.Row)), b.Column, b.Reason})
	}
	return out, nil
}

// decodable returns the rows whose image can be decoded and has the size of its mask. The store caches which can.
func (r *run) decodable(f *table.Frame) (*table.Frame, error) {
	if f.Images("image") == nil {
		return f, nil
	}
	if _, known := stage.Find(stage.Decodable); !known {
		return nil, errors.New("this program has no decoder of images")
	}
	checked, err := r.apply(&table.Plan{Op: stage.Decodable}, []*table.Frame{f})
	if err != nil {
		return nil, err
	}
	delete(r.added, stage.Pixels)
	return checked.SameRows(slices.DeleteFunc(slices.Clone(checked.Columns),
		func(c table.Column) bool { return c.Name == stage.Pixels })), nil
}
