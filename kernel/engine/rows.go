package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
	"antipode/kernel/store"
)

// rowStage runs a row-wise stage and returns the table with the new columns. It takes stored items from the store and
// computes the others in batches, each stored when it is done. A bad row is an error, or with SkipBad is left out.
func (r *run) rowStage(st stage.Stage, p *table.Plan, in *table.Frame) (*table.Frame, error) {
	opened := &opening{env: env{r}, files: map[string]string{}}
	w, err := st.Open(r.ctx, opened, p.Args)
	if err != nil {
		if r.work != nil {
			return r.work.unopened(p, in, err)
		}
		return nil, err
	}
	defer w.Close()
	specs := in.Specs()
	if err := w.Check(specs); err != nil {
		return nil, err
	}
	if checker, checks := w.(stage.RowChecker); checks {
		for i := range in.Len() {
			if err := checker.CheckRow(stage.Row{Frame: in, Index: i}); err != nil {
				return nil, fmt.Errorf("row %d (id %q): %w", r.rowNumber(in, i), rowID(in, i), err)
			}
		}
	}
	outputs := w.Outputs(specs)
	for _, o := range outputs {
		r.added[o.Name] = true
	}
	sum := sha256.Sum256([]byte(w.Digest()))
	name, context := fmt.Sprintf("%s-v%d", st.Name, st.Version), hex.EncodeToString(sum[:12])
	items, err := r.store.Items(name, context)
	if err != nil {
		return nil, err
	}
	items.Columns(outputs)
	r.uses[filepath.Join("items", name, context)] = true

	keys := make([]store.Key, in.Len())
	unique := make([]store.Key, 0, in.Len())
	first := map[store.Key]int{} // key → position in unique
	rowOf := []int{}             // position in unique → a row with that key
	for i := range keys {
		keys[i] = store.KeyOf(w.Key(stage.Row{Frame: in, Index: i}))
		if _, seen := first[keys[i]]; !seen {
			first[keys[i]] = len(unique)
			unique = append(unique, keys[i])
			rowOf = append(rowOf, i)
		}
	}
	values := make([][]stage.Value, len(unique))
	var missing []int
	var failed []store.Key
	stored, damage := r.storedValues(items, unique, outputs)
	if err := items.Err(); err != nil {
		return nil, fmt.Errorf("cannot read stored results: %w", err)
	}
	if damage > 0 && r.work == nil {
		r.note("%s: %d damaged results in the store count as missing and are computed again", w.Label(), damage)
	}
	for u, v := range stored {
		if v != nil && !r.retries(items, unique[u], v, outputs) {
			values[u] = v
			continue
		}
		if v != nil {
			failed = append(failed, unique[u])
		}
		missing = append(missing, u)
	}
	c := &counter{r: r, label: w.Label(), total: len(unique), found: len(unique) - len(missing), start: time.Now()}
	r.e.found.Add(int64(c.found))
	r.found += c.found
	c.report()
	b := &batches{w: w, items: items, in: in, outputs: outputs, c: c, unique: unique, rowOf: rowOf, values: values}
	if b.devices, err = opened.onDevices(st, p.Args, w); err != nil {
		return nil, err
	}
	switch {
	case r.work != nil:
		if err := r.count(b, p, st.Name, missing); err != nil {
			return nil, err
		}
	case len(missing) > 0:
		if err := items.Drop(failed); err != nil {
			return nil, err
		}
		if err := r.loadModel(b); err != nil {
			return nil, err
		}
		c.start = time.Now()
		if err := r.compute(r.ctx, b, missing); err != nil {
			return nil, err
		}
	}
	// Rows whose item could not be computed are bad; they were reported and are left out.
	var good []int
	for i, k := range keys {
		if values[first[k]] != nil {
			good = append(good, i)
		} else if rowOf[first[k]] != i {
			if err := r.report(table.BadRow{Row: r.rowNumber(in, i), ID: rowID(in, i), Column: "image",
				Reason: fmt.Sprintf("the same file as in row %d, which is bad",
					r.rowNumber(in, rowOf[first[k]]))}); err != nil {
				return nil, err
			}
		}
	}
	out := r.keep(in, good)
	kept := make([][]stage.Value, len(good))
	for at, i := range good {
		kept[at] = values[first[keys[i]]]
	}
	with := out.With(columnsOf(outputs, kept)...)
	r.numbers[with] = r.numbers[out]
	return with, nil
}

// loadModel loads the model of a stage that this process computes, unless the run is draining.
func (r *run) loadModel(b *batches) error {
	if b.devices != nil {
		return nil
	}
	drain := drainOf(r.ctx)
	if err := drain.err(); err != nil {
		return err
	}
	ctx, end := drain.hold(r.ctx, func() (time.Duration, bool) { return 0, false })
	defer end()
	return drain.ended(r.ctx, b.w.Load(ctx))
}

// storedValues returns the values of items, nil for one that is missing or damaged or lacks one of its images, and the
// number of items and images that were found damaged.
func (r *run) storedValues(items *store.Items, keys []store.Key, outputs []table.ColumnSpec) ([][]stage.Value, int) {
	values := make([][]stage.Value, len(keys))
	var images atomic.Int64
	for at := 0; at < len(keys); at += storedAtOnce {
		end := min(at+storedAtOnce, len(keys))
		r.decodeStored(items, keys[at:end], outputs, values[at:end], &images)
	}
	return values, items.Damage() + int(images.Load())
}

// storedAtOnce is the number of items whose encoded form is in memory at once.
const storedAtOnce = 4096

// decodeStored sets the values of items, and counts their damaged images.
func (r *run) decodeStored(items *store.Items, keys []store.Key, outputs []table.ColumnSpec, values [][]stage.Value,
	images *atomic.Int64) {
	payloads := items.GetAll(keys)
	parallel(len(keys), func(u int) {
		if payloads[u] == nil {
			return
		}
		v, err := decodeItem(payloads[u], outputs)
		for j, o := range outputs {
			if err == nil && o.Kind == table.KindImage && v[j].Image.SHA256 != "" {
				v[j].Image, err = r.store.Image(v[j].Image)
			}
		}
		if err == nil {
			values[u] = v
		} else if !errors.Is(err, store.ErrNotFound) {
			images.Add(1)
		}
	})
}

// retries reports whether an item that was found is computed again, at most once in a run: its outcome is failed, and
// the request has RetryFailed.
func (r *run) retries(items *store.Items, k store.Key, v []stage.Value, outputs []table.ColumnSpec) bool {
	if !r.req.RetryFailed {
		return false
	}
	at := slices.IndexFunc(outputs, func(o table.ColumnSpec) bool { return strings.HasSuffix(o.Name, "outcome") })
	if at < 0 || v[at].Text != "failed" || r.retried[item{items, k}] {
		return false
	}
	if r.work == nil {
		r.retried[item{items, k}] = true
	}
	return true
}

// columnsOf returns the columns of a stage's results, a row of values each.
func columnsOf(outputs []table.ColumnSpec, values [][]stage.Value) []table.Column {
	added := make([]table.Column, len(outputs))
	for j, spec := range outputs {
		c := table.Column{ColumnSpec: spec}
		for _, row := range values {
			switch v := row[j]; spec.Kind {
			case table.KindText:
				c.Texts = append(c.Texts, v.Text)
			case table.KindNumber:
				c.Numbers = append(c.Numbers, v.Number)
			case table.KindImage:
				c.Images = append(c.Images, v.Image)
			case table.KindMask:
				c.Masks = append(c.Masks, v.Mask)
			default:
				c.Vectors = append(c.Vectors, v.Vector)
			}
		}
		added[j] = c
	}
	return added
}

func rowID(f *table.Frame, i int) string {
	if ids := f.Texts("id"); ids != nil {
		return ids[i]
	}
	return ""
}

// An item is encoded as its values in order, each as a length (uint32, little-endian; nullValue = no value) and bytes.
// An image is the digest of a blob of the store and its extension: items are the same in every store. An item of an
// earlier version has the blob's path in place of the extension.
const nullValue = math.MaxUint32

func encodeItem(values []stage.Value, outputs []table.ColumnSpec) ([]byte, error) {
	if len(values) != len(outputs) {
		return nil, fmt.Errorf("%d values for %d columns", len(values), len(outputs))
	}
	var b []byte
	put := func(data []byte) {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
		b = append(b, data...)
	}
	for i, v := range values {
		switch outputs[i].Kind {
		case table.KindText:
			put([]byte(v.Text))
		case table.KindNumber:
			put(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v.Number)))
		case table.KindImage:
			put([]byte(v.Image.SHA256 + filepath.Ext(v.Image.Path)))
		case table.KindMask:
			data := binary.LittleEndian.AppendUint32(nil, uint32(v.Mask.Size[0]))
			data = binary.LittleEndian.AppendUint32(data, uint32(v.Mask.Size[1]))
			put(append(data, v.Mask.Counts...))
		case table.KindVector:
			if v.Vector == nil {
				b = binary.LittleEndian.AppendUint32(b, nullValue)
				continue
			}
			data := make([]byte, 0, 4*len(v.Vector))
			for _, x := range v.Vector {
				if x != x || math.IsInf(float64(x), 0) {
					return nil, fmt.Errorf("column %s: the model returned a vector with NaN or infinity",
						outputs[i].Name)
				}
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
			}
			put(data)
		default:
			return nil, fmt.Errorf("column %q has the unknown kind %q", outputs[i].Name, outputs[i].Kind)
		}
	}
	return b, nil
}

var errItem = errors.New("a damaged item")

// decodeItem returns the values of an item. The path of an image is what the item has after its digest;
// [store.Store.Image] completes it.
func decodeItem(b []byte, outputs []table.ColumnSpec) ([]stage.Value, error) {
	values := make([]stage.Value, len(outputs))
	for i, o := range outputs {
		if len(b) < 4 {
			return nil, errItem
		}
		n := binary.LittleEndian.Uint32(b)
		b = b[4:]
		if n == nullValue {
			continue
		}
		if uint64(n) > uint64(len(b)) {
			return nil, errItem
		}
		data := b[:n]
		b = b[n:]
		v := &values[i]
		switch o.Kind {
		case table.KindText:
			v.Text = string(data)
		case table.KindNumber:
			if n != 8 {
				return nil, errItem
			}
			v.Number = math.Float64frombits(binary.LittleEndian.Uint64(data))
		case table.KindImage:
			if n > 0 && n < 64 {
				return nil, errItem
			}
			if n > 0 {
				v.Image = table.Image{SHA256: string(data[:64]), Path: string(data[64:])}
			}
		case table.KindMask:
			if n < 8 {
				return nil, errItem
			}
			v.Mask = table.Mask{Size: [2]int{int(binary.LittleEndian.Uint32(data)),
				int(binary.LittleEndian.Uint32(data[4:]))}, Counts: string(data[8:])}
		case table.KindVector:
			if n%4 != 0 {
				return nil, errItem
			}
			v.Vector = make([]float32, n/4)
			for j := range v.Vector {
				v.Vector[j] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*j:]))
			}
		}
	}
	if len(b) != 0 {
		return nil, errItem
	}
	return values, nil
}

// Difference is the [store.Difference] of items.
func Difference(columns []table.ColumnSpec, a, b []byte) (vectors float64, others bool) {
	left, err := decodeItem(a, columns)
	right, otherErr := decodeItem(b, columns)
	if err != nil || otherErr != nil || len(columns) == 0 {
		return 0, true
	}
	for i := range columns {
		x, y := left[i], right[i]
		if len(x.Vector) != len(y.Vector) || x.Text != y.Text || x.Mask != y.Mask || x.Image.SHA256 != y.Image.SHA256 ||
			x.Number != y.Number && !(math.IsNaN(x.Number) && math.IsNaN(y.Number)) {
			return 0, true
		}
		largest, apart := 0.0, 0.0
		for j := range x.Vector {
			largest = max(largest, math.Abs(float64(x.Vector[j])), math.Abs(float64(y.Vector[j])))
			apart = max(apart, math.Abs(float64(x.Vector[j])-float64(y.Vector[j])))
		}
		if apart > 0 {
			vectors = max(vectors, apart/largest)
		}
	}
	return vectors, false
}
