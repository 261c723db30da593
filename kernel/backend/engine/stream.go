package engine

import (
	"encoding/json"
	"errors"
	"io"
	"slices"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/fault"
	"antipode/internal/objecturl"
	"antipode/kernel/backend/store"
)

// A table that is saved, and whose rows nobody else needs, is made and written part by part if its last operations are
// stages and verbs that take each row by itself. What they start from is evaluated as a whole. Then each stage computes
// its missing items, in the batches of a whole table. Then the parts are made from the items of the store and written.
// So the memory that a table takes is that of its columns before the stages, a key for each row, a column of texts that
// a where compares, and a few parts.

const partRows = storedAtOnce

// partVerbs are the verbs whose result for a row depends on the row alone, errors included, but for [stream.choose].
var partVerbs = []string{"where", "select", "with", "rename", "remove-prefix", "seed-by"}

// stream is the last operations of a plan, evaluated part by part.
type stream struct {
	r     *run
	plan  *table.Plan  // of the table that enters the first step
	base  *table.Frame // its rows
	steps []*step      // the first one is a stage
	last  bool         // the present pass over the parts is the one that writes them
}

type step struct {
	plan  *table.Plan
	stage *stageRows // nil = a verb
	// Of a where whose errors and notes depend on all rows:
	column string
	kept   map[string]bool // texts of the column
}

// streamed returns the stream of a request's plan, or nil if the table is held as a whole.
func (r *run) streamed() *stream {
	if r.req.Save == "" || !r.req.Counts || r.req.RetryFailed || objecturl.IsRemote(r.req.Save) {
		return nil
	}
	s := &stream{r: r}
	var verbs []*step                                          // which are steps if a stage precedes them
	for p := r.req.Plan; len(p.Inputs) == 1; p = p.Inputs[0] { // from the last operation on
		if st, isStage := stage.Find(p.Op); isStage {
			s.steps = append(append(s.steps, verbs...),
				&step{plan: p, stage: &stageRows{r: r, stage: st, plan: p}})
			s.plan, verbs = p.Inputs[0], nil
		} else if slices.Contains(partVerbs, p.Op) {
			verbs = append(verbs, &step{plan: p})
		} else {
			break
		}
	}
	if s.plan == nil {
		return nil
	}
	slices.Reverse(s.steps)
	return s
}

// prepare evaluates what the stream starts from, and computes the missing items of its stages.
func (s *stream) prepare() (err error) {
	if s.base, err = s.r.rows(s.plan); err != nil {
		return err
	}
	for i, st := range s.steps {
		prepare := s.choose
		if st.stage != nil {
			prepare = s.ensure
		}
		if err := prepare(i); err != nil {
			return s.r.place(st.plan, err)
		}
	}
	return nil
}

// errByRow ends [stream.choose] for a step whose result for a row depends on the row alone.
var errByRow = errors.New("each row decides for itself")

// choose evaluates step i for the texts of all rows if it is a where whose errors and notes depend on all of them.
func (s *stream) choose(i int) error {
	st := s.steps[i]
	var a datasets.WhereArgs
	if st.plan.Op != "where" || json.Unmarshal(st.plan.Args, &a) != nil || s.base.Len() <= partRows {
		return nil
	}
	var all *table.Frame
	byRow := []string{"missing", "present", "in", "contains"}
	err := s.parts(i, func(part *table.Frame) error {
		c := part.Column(a.Column)
		if c == nil || c.Kind != table.KindText || slices.Contains(byRow, a.Op) {
			return errByRow
		}
		texts := part.SameRows([]table.Column{*c})
		if all == nil {
			all = texts.Pick(nil)
		}
		all.Append(texts)
		return nil
	})
	if errors.Is(err, errByRow) {
		return nil
	}
	if err == nil {
		all, err = s.r.apply(st.plan, []*table.Frame{all})
	}
	if err != nil {
		return err
	}
	st.kept = map[string]bool{}
	for _, text := range all.Texts(a.Column) {
		st.kept[text] = true
	}
	st.column = a.Column
	return nil
}

// parts evaluates the first n steps part by part. There is at least one part, which may have no rows.
func (s *stream) parts(n int, use func(part *table.Frame) error) error {
	for from := 0; from == 0 || from < s.base.Len(); from += partRows {
		if err := s.r.ctx.Err(); err != nil {
			return err
		}
		part := s.base.Slice(from, min(from+partRows, s.base.Len()))
		for _, st := range s.steps[:n] {
			var err error
			if part, err = s.apply(st, part); err != nil {
				return err
			}
		}
		if err := use(part); err != nil {
			return err
		}
	}
	return nil
}

// apply evaluates a step for one part.
func (s *stream) apply(st *step, in *table.Frame) (out *table.Frame, err error) {
	switch {
	case st.stage != nil:
		if out, err = st.stage.part(in); err == nil && s.last {
			st.stage.readings(out)
		}
	case st.kept != nil:
		var rows []int
		for row, text := range in.Texts(st.column) {
			if st.kept[text] {
				rows = append(rows, row)
			}
		}
		out = in.Pick(rows)
	default:
		out, err = s.r.apply(st.plan, []*table.Frame{in})
	}
	if err == nil {
		err = out.Check()
	}
	if err != nil {
		return nil, s.r.place(st.plan, err)
	}
	return out, nil
}

// ensure makes the store have the items of step i, a stage: it checks all rows, and computes missing items.
func (s *stream) ensure(i int) error {
	st := s.steps[i].stage
	if err := s.r.ctx.Err(); err != nil {
		return err
	}
	if err := st.open(); err != nil {
		return err
	}
	defer st.close()
	var lack *table.Frame           // the rows whose items are missing
	missing := map[store.Key]bool{} // false = the store has the item
	err := s.parts(i, func(part *table.Frame) error {
		if lack == nil {
			if err := st.begin(part.Specs()); err != nil {
				return err
			}
			lack = withoutVectors(part).Pick(nil)
		}
		if err := st.check(part); err != nil {
			return err
		}
		var rows []int
		for row := range part.Len() {
			k := st.key(part, row)
			if _, seen := missing[k]; !seen {
				missing[k] = !st.items.Has(k)
			}
			if missing[k] {
				rows = append(rows, row)
			}
		}
		lack.Append(withoutVectors(part).Pick(rows))
		return nil
	})
	if err != nil {
		return err
	}
	return st.fill(lack, len(missing))
}

// withoutVectors returns a frame without its vectors, which no stage reads, unless it has nothing else.
func withoutVectors(f *table.Frame) *table.Frame {
	columns := slices.DeleteFunc(slices.Clone(f.Columns),
		func(c table.Column) bool { return c.Kind == table.KindVector })
	if len(columns) == 0 {
		return f
	}
	return f.SameRows(columns)
}

// fill computes the items of rows that the store lacks. total is the number of all items of the stage.
func (s *stageRows) fill(lack *table.Frame, total int) error {
	b := s.itemsOf(lack)
	b.drop = true
	missing, failed, err := s.find(b)
	if err != nil {
		return err
	}
	if err := s.computeOf(b, total, missing, failed); err != nil {
		return err
	}
	if _, err := s.reportBad(b); err != nil {
		return err
	}
	s.bad, s.loose = map[store.Key]bool{}, map[store.Key][]table.Value{}
	for u, v := range b.values {
		switch {
		case v == nil:
			s.bad[b.unique[u]] = true
		case len(v) > 0 && !s.items.Has(b.unique[u]):
			s.loose[b.unique[u]] = v
		}
	}
	return nil
}

// part returns the good rows of a part with the new columns. Items that are damaged or lost since [stageRows.fill] are
// computed again.
func (s *stageRows) part(in *table.Frame) (*table.Frame, error) {
	b := s.itemsOf(in)
	missing, failed, err := s.find(b)
	if err != nil {
		return nil, err
	}
	s.c.lost(len(missing))
	if err := s.compute(b, missing, failed); err != nil {
		return nil, err
	}
	return s.result(b)
}

// close releases the stages.
func (s *stream) close() {
	for _, st := range s.steps {
		if st.stage != nil && st.stage.w != nil {
			st.stage.noteDamage()
			st.stage.close()
		}
	}
}

// save writes the table to the file that the request names.
func (s *stream) save() (saved savedTable, err error) {
	defer s.close()
	if err := s.prepare(); err != nil {
		return saved, err
	}
	last := s.steps[len(s.steps)-1]
	var input, result *store.FrameHash
	var failed, unwritten error // of the table, of the file
	s.last = true
	err = writeTable(s.r.req.Save, func(to io.Writer) error {
		var w tableWriter
		failed = s.parts(len(s.steps)-1, func(in *table.Frame) error {
			out, err := s.apply(last, in)
			if err != nil {
				return err
			}
			rows, err := s.r.savedRows(out, saved.rows)
			if err != nil {
				return err
			}
			if w == nil {
				input, result = store.NewFrameHash(in.Specs()), store.NewFrameHash(out.Specs())
				if w, unwritten = newTableWriter(to, s.r.req.Save, rows.Specs()); unwritten != nil {
					return unwritten
				}
			}
			saved.rows += out.Len()
			var digests fault.Group // while the rows are written
			var inputErr, resultErr error
			digests.Go(func() { inputErr = input.Add(in) })
			digests.Go(func() { resultErr = result.Add(out) })
			unwritten = w.Write(rows)
			digests.Wait()
			return errors.Join(unwritten, inputErr, resultErr)
		})
		if failed == nil {
			unwritten = w.Close()
		}
		return errors.Join(failed, unwritten)
	})
	switch {
	case failed != nil && unwritten == nil:
		return saved, failed
	case err != nil:
		return saved, err
	}
	s.close() // its notes are part of the record
	saved.inputs, saved.result = []string{input.Sum()}, result.Sum()
	return saved, nil
}
