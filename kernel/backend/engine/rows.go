package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/internal/fault"
	"antipode/kernel/backend/store"
)

// stageRows is a row-wise stage of a plan in a run: its worker, its items in the store, and the progress of their
// computation. Its rows come as a whole ([run.rowStage]) or in parts ([stream]).
type stageRows struct {
	r        *run
	stage    stage.Stage
	plan     *table.Plan
	opened   *opening
	w        *stage.Opened
	digest   string // of w
	loaded   bool   // w has its model
	outputs  []table.ColumnSpec
	items    store.Items
	computer computer
	c        *counter
	damage   int // results that were found damaged, not noted yet

	// Of rows that come in parts, after the missing items were computed:
	bad   map[store.Key]bool          // items of bad rows, which were reported
	loose map[store.Key][]table.Value // results that are not stored; see [stage.Keeper]
}

// filler decides what becomes of the items that the store lacks: [computing] computes them, a [work] counts them.
type filler interface {
	// admit is called before an operation is evaluated. It reports whether that is done without the missing items.
	admit(p *table.Plan) (planned bool, err error)
	// failed returns what an error of an operation means.
	failed(ctx context.Context, p *table.Plan, err error) error
	// unopened takes the rows of a stage that cannot be opened.
	unopened(p *table.Plan, in *table.Frame, err error) (*table.Frame, error)
	// fill sets the values of missing items; those in failed are to be removed from the store before.
	fill(s *stageRows, b *stageItems, missing []int, failed []store.Key) error
}

// computing is the filler of every run but those of a workload.
type computing struct{}

func (computing) admit(*table.Plan) (bool, error)                          { return false, nil }
func (computing) failed(_ context.Context, _ *table.Plan, err error) error { return err }

func (computing) unopened(_ *table.Plan, _ *table.Frame, err error) (*table.Frame, error) {
	return nil, err
}

func (computing) fill(s *stageRows, b *stageItems, missing []int, failed []store.Key) error {
	return s.computeOf(b, len(b.unique), missing, failed)
}

// rowStage runs a row-wise stage and returns the table with the new columns. It takes stored items from the store and
// computes the others in batches, each stored when it is done. A bad row is an error, or with SkipBad is left out.
func (r *run) rowStage(st stage.Stage, p *table.Plan, in *table.Frame) (*table.Frame, error) {
	s := &stageRows{r: r, stage: st, plan: p}
	if err := s.open(); err != nil {
		return r.filler.unopened(p, in, err)
	}
	defer s.close()
	if err := s.begin(in.Specs()); err != nil {
		return nil, err
	}
	if err := s.check(in); err != nil {
		return nil, err
	}
	b := s.itemsOf(in)
	missing, failed, err := s.find(b)
	if err != nil {
		return nil, err
	}
	if err := r.filler.fill(s, b, missing, failed); err != nil {
		return nil, err
	}
	out, err := s.result(b)
	if err == nil {
		s.readings(out)
	}
	return out, err
}

// readings adds what the stage reads in rows with its columns to the run.
func (s *stageRows) readings(f *table.Frame) {
	if reader, reads := s.w.Common.(stage.Reader); reads {
		for _, x := range reader.Readings(f) {
			s.r.reading(x)
		}
	}
}

func (s *stageRows) open() error {
	opened := &opening{env: env{s.r}, files: map[string]string{}}
	w, err := s.stage.Open(s.r.ctx, opened, s.plan.Args)
	if err != nil {
		return err
	}
	digest := w.Digest()
	if s.digest != "" && s.digest != digest {
		w.Close()
		return fmt.Errorf("%s changed during the run; run it again", w.Label())
	}
	s.opened, s.w, s.digest, s.loaded = opened, w, digest, false
	return nil
}

// close closes the worker. [stageRows.compute] opens it again where it is needed.
func (s *stageRows) close() {
	if s.opened != nil {
		s.w.Close()
		s.opened = nil
	}
}

// begin checks the columns of the table and opens the items.
func (s *stageRows) begin(columns []table.ColumnSpec) (err error) {
	if err := s.w.Check(columns); err != nil {
		return err
	}
	s.outputs = s.w.Outputs(columns)
	for _, o := range s.outputs {
		s.r.added[o.Name] = true
	}
	sum := sha256.Sum256([]byte(s.digest))
	name, context := fmt.Sprintf("%s-v%d", s.stage.Name, s.stage.Version), hex.EncodeToString(sum[:12])
	if s.items, err = s.r.store.Items(name, context); err != nil {
		return err
	}
	s.items.Columns(s.outputs)
	s.r.uses["items/"+name+"/"+context] = true
	return nil
}

// check checks rows before any work.
func (s *stageRows) check(in *table.Frame) error {
	checker, checks := s.w.Common.(stage.RowChecker)
	if !checks {
		return nil
	}
	for i := range in.Len() {
		if err := checker.CheckRow(stage.Row{Frame: in, Index: i}); err != nil {
			return fmt.Errorf("row %d (id %q): %w", in.RowNumber(i), rowID(in, i), err)
		}
	}
	return nil
}

func (s *stageRows) key(in *table.Frame, row int) store.Key {
	return store.KeyOf(s.w.Key(stage.Row{Frame: in, Index: row}))
}

// itemsOf returns the items of rows, without values.
func (s *stageRows) itemsOf(in *table.Frame) *stageItems {
	b := &stageItems{w: s.w, items: s.items, in: in, outputs: s.outputs, c: s.c, keys: make([]store.Key, in.Len()),
		first: map[store.Key]int{}, computer: s.computer}
	for i := range b.keys {
		b.keys[i] = s.key(in, i)
		if _, seen := b.first[b.keys[i]]; !seen {
			b.first[b.keys[i]] = len(b.unique)
			b.unique, b.rowOf = append(b.unique, b.keys[i]), append(b.rowOf, i)
		}
	}
	b.values, b.own = make([][]table.Value, len(b.unique)), make([]*flight, len(b.unique))
	return b
}

// find sets the values of the items that the store has. It returns the others that are not known to be of bad rows, and
// the keys of those among them that are to be removed from the store before they are computed again.
func (s *stageRows) find(b *stageItems) (missing []int, failed []store.Key, err error) {
	values, damage, err := s.r.storedValues(s.items, b.unique, s.outputs)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read stored results: %w", err)
	}
	s.damage += damage
	for u, v := range values {
		if loose := s.loose[b.unique[u]]; loose != nil {
			v = loose
		}
		if v != nil && !s.r.retries(s.items, b.unique[u], v, s.outputs) {
			b.set(u, v)
			continue
		}
		if v != nil {
			failed = append(failed, b.unique[u])
		}
		if !s.bad[b.unique[u]] {
			missing = append(missing, u)
		}
	}
	return missing, failed, nil
}

// noteDamage notes the results that were found damaged.
func (s *stageRows) noteDamage() {
	if s.damage > 0 {
		s.r.note("%s: %d damaged results in the store count as missing and are computed again", s.w.Label(), s.damage)
		s.damage = 0
	}
}

// start starts the counter of the stage's items, of which there are total, and chooses what computes them.
func (s *stageRows) start(b *stageItems, total int, missing []int) (err error) {
	found := total - len(missing)
	s.c = &counter{r: s.r, label: s.w.Label(), total: total, found: found, start: time.Now()}
	s.r.e.found.Add(int64(found))
	s.r.found += found
	s.c.report()
	s.computer, err = s.opened.computer(s.stage, s.plan.Args, s.w)
	b.c, b.computer = s.c, s.computer
	return err
}

// computeOf computes missing items of a stage that has total items.
func (s *stageRows) computeOf(b *stageItems, total int, missing []int, failed []store.Key) error {
	s.noteDamage()
	if err := s.start(b, total, missing); err != nil {
		return err
	}
	return s.compute(b, missing, failed)
}

// compute computes missing items, after those in failed have been removed from the store.
func (s *stageRows) compute(b *stageItems, missing []int, failed []store.Key) error {
	if len(missing) == 0 {
		return nil
	}
	if err := s.items.Drop(failed); err != nil {
		return err
	}
	if s.opened == nil {
		if err := s.open(); err != nil {
			return err
		}
		b.w = s.w
	}
	if !s.loaded {
		if err := s.r.loadModel(b); err != nil {
			return err
		}
		s.loaded = true
	}
	s.c.start = time.Now()
	return s.r.compute(s.r.ctx, b, missing)
}

// reportBad returns the rows whose items have values. The others are bad: it reports those with the item of a row
// before them, which was reported when it was computed.
func (s *stageRows) reportBad(b *stageItems) (good []int, err error) {
	for i, k := range b.keys {
		u := b.first[k]
		if b.values[u] != nil {
			good = append(good, i)
		} else if b.rowOf[u] != i && !s.bad[k] {
			if err := s.r.report(table.BadRow{Row: b.in.RowNumber(i), ID: rowID(b.in, i), Column: "image",
				Reason: fmt.Sprintf("the same input as in row %d, which is bad",
					b.in.RowNumber(b.rowOf[u]))}); err != nil {
				return nil, err
			}
		}
	}
	return good, nil
}

// result returns the good rows with the new columns.
func (s *stageRows) result(b *stageItems) (*table.Frame, error) {
	good, err := s.reportBad(b)
	if err != nil {
		return nil, err
	}
	out := keep(b.in, good)
	kept := make([][]table.Value, len(good))
	for at, i := range good {
		kept[at] = b.values[b.first[b.keys[i]]]
	}
	return out.With(columnsOf(s.outputs, kept)...), nil
}

// loadModel loads the model of a stage that this process computes, unless the run is draining.
func (r *run) loadModel(b *stageItems) error {
	if _, isHere := b.computer.(*here); !isHere {
		return nil
	}
	drain := r.e.opts.Drain
	if err := drain.err(); err != nil {
		return err
	}
	ctx, end := drain.hold(r.ctx, func() (time.Duration, bool) { return 0, false })
	defer end()
	return drain.ended(r.ctx, b.w.Load(ctx))
}

// storedValues returns the values of items, nil for one that is missing or damaged or lacks one of its images, and the
// number of items and images that were found damaged.
func (r *run) storedValues(items store.Items, keys []store.Key, outputs []table.ColumnSpec) (values [][]table.Value,
	damage int, err error) {
	values = make([][]table.Value, len(keys))
	for at := 0; at < len(keys); at += storedAtOnce {
		end := min(at+storedAtOnce, len(keys))
		damaged, unread := r.decodeStored(items, keys[at:end], outputs, values[at:end])
		damage, err = damage+damaged, cmp.Or(err, unread)
	}
	return values, damage + items.Damage(), cmp.Or(items.Err(), err)
}

// storedAtOnce is the number of items whose encoded form is in memory at once.
const storedAtOnce = 4096

// decodeStored sets the values of items. It returns the number of those that cannot be decoded or have a damaged image,
// and an error of an image that is there and cannot be read.
func (r *run) decodeStored(items store.Items, keys []store.Key, outputs []table.ColumnSpec,
	values [][]table.Value) (damaged int, unread error) {
	payloads, errs := items.GetAll(keys), make([]error, len(keys))
	fault.Each(len(keys), func(u int) {
		if payloads[u] == nil {
			return
		}
		v, err := decodeItem(payloads[u], outputs)
		if err != nil {
			err = store.ErrDamaged
		}
		for j, o := range outputs {
			if err == nil && o.Kind == table.KindImage && v[j].Image.SHA256 != "" {
				v[j].Image, err = r.store.Image(v[j].Image)
			}
		}
		if errs[u] = err; err == nil {
			values[u] = v
		}
	})
	for _, err := range errs {
		switch {
		case errors.Is(err, store.ErrDamaged):
			damaged++
		case !errors.Is(err, store.ErrNotFound):
			unread = cmp.Or(unread, err)
		}
	}
	return damaged, unread
}

// retries reports whether an item that was found is computed again, at most once in a run: its outcome is failed, and
// the request has RetryFailed.
func (r *run) retries(items store.Items, k store.Key, v []table.Value, outputs []table.ColumnSpec) bool {
	if !r.req.RetryFailed {
		return false
	}
	at := slices.IndexFunc(outputs, func(o table.ColumnSpec) bool { return strings.HasSuffix(o.Name, "outcome") })
	if at < 0 || v[at].Text != "failed" || r.retried[item{items, k}] {
		return false
	}
	r.retried[item{items, k}] = true
	return true
}

// columnsOf returns the columns of a stage's results, a row of values each.
func columnsOf(outputs []table.ColumnSpec, values [][]table.Value) []table.Column {
	added := make([]table.Column, len(outputs))
	for j, spec := range outputs {
		added[j].ColumnSpec = spec
		for _, row := range values {
			added[j].Add(row[j])
		}
	}
	return added
}

func rowID(f *table.Frame, i int) string {
	if ids := f.Texts("id"); ids != nil {
		return ids[i]
	}
	return ""
}

// encodeItem returns the values of an item, one after the other in the form of [table.AppendValue]. Of an image's path
// only the extension is kept, since its digest names its blob: items are the same in every store.
func encodeItem(values []table.Value, outputs []table.ColumnSpec) (b []byte, err error) {
	if len(values) != len(outputs) {
		return nil, fmt.Errorf("%d values for %d columns", len(values), len(outputs))
	}
	for i, v := range values {
		v.Image.Path = filepath.Ext(v.Image.Path)
		if b, err = table.AppendValue(b, outputs[i].Kind, v); err != nil {
			return nil, fmt.Errorf("column %q: %w", outputs[i].Name, err)
		}
	}
	return b, nil
}

// decodeItem returns the values of an item; [store.Store.Image] completes the paths of its images. Errors wrap
// [table.ErrDamaged].
func decodeItem(b []byte, outputs []table.ColumnSpec) (values []table.Value, err error) {
	values = make([]table.Value, len(outputs))
	for i, o := range outputs {
		if values[i], b, err = table.CutValue(b, o.Kind); err != nil {
			return nil, err
		}
	}
	if len(b) != 0 {
		return nil, table.ErrDamaged
	}
	return values, nil
}
