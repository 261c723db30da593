package engine

import (
	"encoding/json"
	"fmt"
	"slices"

	"antipode/datasets"
	"antipode/datasets/table"
)

// source is a table that an evaluation has read without the files, or the bytes, of its images and masks: those of a
// row are read when a stage, a metric, a save or the result needs one of them. See [run.complete].
type source struct {
	origin
	plan *table.Plan
	f    *table.Frame // its rows, of which those in done are read
	done []bool
	// read reads the images and masks of rows in f, in place, and sets bad for those that cannot be read; nil = they
	// are files ([run.readFiles]). An error is one of the whole table, such as an object storage that cannot be
	// reached.
	read func(rows []int) error
}

// add makes the rows of a frame those of a source: its images and masks are read when they are needed.
func (r *run) add(f *table.Frame, s *source) *table.Frame {
	r.sources = append(r.sources, s)
	s.f, s.done = f.SameRows(slices.Clone(f.Columns)), make([]bool, f.Len())
	out := f.SameRows(slices.Clone(f.Columns))
	for i := range out.Columns {
		from, c := &s.f.Columns[i], &out.Columns[i]
		from.Images, c.Images = slices.Clone(c.Images), slices.Clone(c.Images)
		from.Masks, c.Masks = slices.Clone(c.Masks), slices.Clone(c.Masks)
		at := table.Unread{Source: int32(len(r.sources)), Column: int32(i)}
		for row := range c.Images {
			if at.Row = int32(row); c.Images[row].Path != "" {
				c.Images[row].Unread = at
			}
		}
		for row := range c.Masks {
			if at.Row = int32(row); c.Masks[row].Counts != "" {
				c.Masks[row].Unread = at
			}
		}
	}
	return numbered(out)
}

// need reads rows that are not read yet, and reports those that cannot be read.
func (s *source) need(r *run, rows []int) error {
	slices.Sort(rows)
	rows = slices.DeleteFunc(slices.Compact(rows), func(row int) bool { return s.done[row] })
	if len(rows) == 0 {
		return nil
	}
	read := s.read
	if read == nil {
		read = func(rows []int) error { return r.readFiles(s.f, rows, s.origin, s.bad) }
	}
	defer r.begin(fmt.Sprintf("files of %s from row %d", s.plan.Digest(), rows[0]))()
	if err := read(rows); err != nil {
		return r.place(s.plan, err)
	}
	for _, row := range rows {
		s.done[row] = true
		if b := s.bad[row]; b != nil {
			if err := r.report(s.described(*b, row)); err != nil {
				return r.place(s.plan, err)
			}
		}
	}
	return nil
}

// described returns a bad row as users see it.
func (s *source) described(b table.BadRow, row int) table.BadRow {
	b.Row, b.ID, b.Reason = row+1, rowID(s.f, row), s.name+": "+b.Reason
	return b
}

// complete returns the frame whose images and masks are read. Rows of which one cannot be read are reported and, with
// SkipBad, left out.
func (r *run) complete(f *table.Frame) (*table.Frame, error) {
	wanted := make([][]int, len(r.sources))
	each := func(use func(column, row int, at table.Unread)) {
		for i, c := range f.Columns {
			for row, img := range c.Images {
				if img.Unread.Source > 0 {
					use(i, row, img.Unread)
				}
			}
			for row, m := range c.Masks {
				if m.Unread.Source > 0 {
					use(i, row, m.Unread)
				}
			}
		}
	}
	each(func(_, _ int, at table.Unread) {
		wanted[at.Source-1] = append(wanted[at.Source-1], int(at.Row))
	})
	if !slices.ContainsFunc(wanted, func(rows []int) bool { return len(rows) > 0 }) {
		return f, nil
	}
	for i, rows := range wanted {
		if err := r.sources[i].need(r, rows); err != nil {
			return nil, err
		}
	}
	out := f.SameRows(slices.Clone(f.Columns))
	for i := range out.Columns {
		c := &out.Columns[i]
		c.Images, c.Masks = slices.Clone(c.Images), slices.Clone(c.Masks)
	}
	bad := make([]bool, f.Len())
	each(func(column, row int, at table.Unread) {
		s := r.sources[at.Source-1]
		from, c := s.f.Columns[at.Column], &out.Columns[column]
		switch {
		case s.bad[at.Row] != nil:
			bad[row] = true
		case c.Images != nil:
			c.Images[row] = from.Images[at.Row]
		default:
			c.Masks[row] = from.Masks[at.Row]
		}
	})
	var good []int
	for row, isBad := range bad {
		if !isBad {
			good = append(good, row)
		}
	}
	return keep(out, good), nil
}

// rowVerbs are the operations that take rows of their inputs unchanged, or that repeat or order them: they need no file
// that a row refers to.
var rowVerbs = []string{"where", "select", "with", "rename", "remove-prefix", "repeat", "seed-by", "join", "questions",
	"concat", "sort", "head", "sample", ShardOp, EachOp}

// needsFiles reports whether an operation needs the files that its input number i refers to.
func needsFiles(p *table.Plan, i int) bool {
	var a datasets.WhereArgs
	switch {
	case !slices.Contains(rowVerbs, p.Op):
		return true
	case p.Op == "join": // the rows of the others are chosen by those of the first
		return i > 0
	case p.Op == "where" && json.Unmarshal(p.Args, &a) == nil: // whether a row has an image is known when it is read
		return a.Op == "missing" || a.Op == "present"
	}
	return false
}

// rows returns a plan's rows with their images and masks read; equal plans in one request are evaluated once.
func (r *run) rows(p *table.Plan) (*table.Frame, error) {
	f, err := r.eval(p)
	if err != nil {
		return nil, err
	}
	read, err := r.complete(f)
	if err != nil {
		return nil, r.filler.failed(r.ctx, &table.Plan{Op: "images"}, err)
	}
	if read != f {
		r.frames[p.Digest()] = read
	}
	return read, nil
}

// changed is the error of a table that has other rows than when it was first read.
func (s *source) changed() error { return fmt.Errorf("%s changed while it was read", s.name) }
