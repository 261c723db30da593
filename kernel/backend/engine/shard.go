package engine

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/table"
	"antipode/kernel/backend/parquet"
)

// Operations of the plans of array jobs; package kernel/cluster/jobs adds them.
const (
	// ShardOp keeps the rows of a table that belong to one shard.
	ShardOp = "shard"
	// EachOp evaluates its inputs, one after the other, and returns no rows.
	EachOp = "each"
)

// ShardArgs are the arguments of [ShardOp]: shard Index, from 0, of Shards.
type ShardArgs struct {
	Index  int `json:"index"`
	Shards int `json:"shards"`
}

// each evaluates [EachOp].
func (r *run) each(p *table.Plan) (*table.Frame, error) {
	for _, in := range p.Inputs {
		if _, err := r.eval(in); err != nil {
			return nil, err
		}
	}
	return &table.Frame{}, nil
}

// shard evaluates [ShardOp]. Below it, the files of images and masks are read after the choice, and only those of the
// chosen rows; ids are checked over all rows.
func (r *run) shard(p *table.Plan) (*table.Frame, error) {
	var a ShardArgs
	if err := json.Unmarshal(p.Args, &a); err != nil {
		return nil, err
	}
	if len(p.Inputs) != 1 || a.Shards < 1 || a.Index < 0 || a.Index >= a.Shards {
		return nil, fmt.Errorf("%s: shard %d of %d does not exist", p.Op, a.Index, a.Shards)
	}
	in := p.Inputs[0]
	if !deferrable(in) {
		f, err := r.eval(in)
		if err != nil {
			return nil, err
		}
		if r.work != nil && r.work.pending[in.Digest()] {
			r.work.pending[p.Digest()] = true
		}
		return keep(f, Chosen(f, a)), nil
	}
	unread := r.child()
	unread.later = &later{}
	f, err := unread.eval(in)
	if err != nil {
		return nil, err
	}
	return r.load(f.Pick(Chosen(f, a)), unread.later.sources)
}

// Chosen returns the rows of a shard: rows are ordered by the SHA-256 of their ids (of their numbers, from 0, in a
// table without ids), and the row at rank k belongs to shard k modulo the number of shards. Shards therefore differ by
// at most one row, and a row's shard depends neither on the order of the table nor on the machine.
func Chosen(f *table.Frame, a ShardArgs) []int {
	ids := f.Texts("id")
	type ranked struct {
		row int
		sum [sha256.Size]byte
	}
	order := make([]ranked, f.Len())
	for row := range order {
		name := fmt.Sprint(row)
		if ids != nil {
			name = ids[row]
		}
		order[row] = ranked{row, sha256.Sum256([]byte(name))}
	}
	slices.SortStableFunc(order, func(x, y ranked) int { return slices.Compare(x.sum[:], y.sum[:]) })
	var rows []int
	for rank := a.Index; rank < len(order); rank += a.Shards {
		rows = append(rows, order[rank].row)
	}
	slices.Sort(rows)
	return rows
}

// later are the tables whose images and masks are read after a shard's rows are chosen.
type later struct{ sources []*source }

// source is a table that was read without the files that it refers to.
type source struct {
	origin
	// reread reads the table again with the image bytes of some rows, for tables that hold them.
	reread func(want func(row int) bool) (*parquet.Table, error)
	world  *archipelago.World  // of a table of the built-in world
	images []archipelago.Image // by row
}

// rowVerbs are the operations that take rows of their inputs unchanged, or that repeat or order them.
var rowVerbs = []string{"where", "select", "with", "rename", "remove-prefix", "repeat", "seed-by", "join", "concat",
	"sort", "head", "sample"}

// deferrable reports whether a plan can be evaluated before the files that its tables refer to are read.
func deferrable(p *table.Plan) bool {
	drawn, present := false, false
	var walk func(p *table.Plan) bool
	walk = func(p *table.Plan) bool {
		if wholePlan[p.Op] != nil || len(p.Inputs) > 0 && !slices.Contains(rowVerbs, p.Op) {
			return false
		}
		drawn = drawn || p.Op == "archipelago"
		var a datasets.WhereArgs
		if p.Op == "where" && json.Unmarshal(p.Args, &a) == nil {
			present = present || a.Op == "missing" || a.Op == "present" // known when the images are drawn
		}
		return !slices.ContainsFunc(p.Inputs, func(in *table.Plan) bool { return !walk(in) })
	}
	return walk(p) && !(drawn && present)
}

// postpone notes that the files that a table refers to are read by load.
func (r *run) postpone(f *table.Frame, s *source) *table.Frame {
	r.later.sources = append(r.later.sources, s)
	f = f.SameRows(slices.Clone(f.Columns))
	f.Origins = nil
	f = numbered(f, len(r.later.sources))
	for i := range f.Columns {
		c := &f.Columns[i]
		c.Images, c.Masks = slices.Clone(c.Images), slices.Clone(c.Masks)
		for row, img := range c.Images {
			if img.Path != "" && img.Unread == table.HasRead {
				c.Images[row].Unread = table.UnreadFile
			}
		}
		for row, m := range c.Masks {
			if m.Counts != "" && m.Size == [2]int{} && m.Unread == table.HasRead {
				c.Masks[row].Unread = table.UnreadFile
			}
		}
	}
	return f
}

// load reads the files that the rows of an evaluation without files refer to, and reports or leaves out bad rows.
func (r *run) load(f *table.Frame, sources []*source) (*table.Frame, error) {
	rows := make([][]int, len(sources)) // by source
	for row, at := range f.Origins {
		if at.Source > 0 {
			rows[at.Source-1] = append(rows[at.Source-1], row)
		}
	}
	f = f.SameRows(slices.Clone(f.Columns))
	for i := range f.Columns {
		c := &f.Columns[i]
		c.Images, c.Masks = slices.Clone(c.Images), slices.Clone(c.Masks)
	}
	bad := make([]*table.BadRow, f.Len())
	for s, list := range rows {
		if err := r.loadSource(f, sources[s], list, bad); err != nil {
			return nil, err
		}
	}
	var good []int
	for row, b := range bad {
		if b == nil {
			good = append(good, row)
			continue
		}
		b.Row, b.ID = f.RowNumber(row), rowID(f, row)
		b.Reason = sources[f.Origins[row].Source-1].name + ": " + b.Reason
		if err := r.report(*b); err != nil {
			return nil, err
		}
	}
	return keep(f, good), nil
}

// loadSource reads the files of the given rows, which come from one table.
func (r *run) loadSource(f *table.Frame, s *source, rows []int, bad []*table.BadRow) error {
	if len(rows) == 0 {
		return nil
	}
	if s.world != nil {
		return r.loadDrawn(f, s, rows)
	}
	var again *parquet.Table
	if s.reread != nil {
		wanted := map[int]bool{}
		for _, row := range rows {
			wanted[f.RowNumber(row)-1] = true
		}
		var err error
		if again, err = s.reread(func(row int) bool { return wanted[row] }); err != nil {
			return err
		}
	}
	for _, row := range rows {
		from := f.RowNumber(row) - 1
		if again != nil {
			if from >= again.Frame.Len() {
				return fmt.Errorf("%s changed while it was read", s.name)
			}
			if b := again.Bad[from]; b != nil && bad[row] == nil {
				bad[row] = &table.BadRow{Column: b.Column, Reason: b.Reason}
			}
		}
		for i := range f.Columns {
			switch c := &f.Columns[i]; c.Kind {
			case table.KindImage:
				if img := &c.Images[row]; img.Unread == table.UnreadBytes {
					*img = again.Frame.Images(img.Path)[from]
				} else {
					img.Unread = table.HasRead // by readFiles
				}
			case table.KindMask:
				if m := &c.Masks[row]; m.Unread == table.UnreadBytes {
					*m = again.Frame.Masks(m.Counts)[from]
				} else {
					m.Unread = table.HasRead
				}
			}
		}
	}
	return r.readFiles(f, rows, s.origin, bad)
}

// loadDrawn renders the images of rows of a table of the built-in world.
func (r *run) loadDrawn(f *table.Frame, s *source, rows []int) error {
	part, images := f.Pick(rows), make([]archipelago.Image, len(rows))
	for k, row := range rows {
		images[k] = s.images[f.RowNumber(row)-1]
	}
	drawn, err := r.draw(s.world, part, images)
	if err != nil {
		return err
	}
	if drawn.Len() != len(rows) {
		return fmt.Errorf("%s: %d of %d images are drawn", s.name, drawn.Len(), len(rows))
	}
	for i := range f.Columns {
		c := &f.Columns[i]
		for k, row := range rows {
			switch {
			case c.Kind == table.KindImage && c.Images[row].Unread == table.UnreadDrawn:
				c.Images[row] = drawn.Images("image")[k]
			case c.Kind == table.KindMask && c.Masks[row].Unread == table.UnreadDrawn:
				c.Masks[row] = drawn.Masks("mask")[k]
			}
		}
	}
	return nil
}
