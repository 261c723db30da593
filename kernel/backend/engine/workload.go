package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/stage"
	"antipode/kernel/backend/store"
)

// work is what a run counts in place of computing items; see [datasets.Workload]. Items that are missing become
// placeholders: their images have digests that nothing in the store has, so that the items of later stages are missing
// too.
type work struct {
	datasets.WorkloadOptions
	hour    float64 // what an hour of the device costs in US dollars; 0 = it is not rented
	stages  []*stageWork
	pending map[string]bool // digests of plans whose rows contain placeholders
}

type stageWork struct {
	label, op    string
	items, found int
	seconds      float64 // for an item; NaN = not known
	bytes        float64 // of the items in sized
	sized        int
	dollars      float64
	download     float64 // bytes of a missing model
	price, needs string
	rate         string // how seconds are known
}

// errPending ends the evaluation of a plan that needs items which are missing.
var errPending = errors.New("reads items that are not computed yet")

// workload evaluates [datasets.Workload]. Its frames are not shared with the rest of the request.
func (r *run) workload(p *table.Plan) (*table.Frame, error) {
	if _, nested := r.filler.(*work); nested {
		return nil, errors.New("a workload of a workload is not defined")
	}
	var args datasets.WorkloadArgs
	if err := json.Unmarshal(p.Args, &args); err != nil {
		return nil, err
	}
	w := &work{WorkloadOptions: args.WorkloadOptions, pending: map[string]bool{}}
	var err error
	if w.Device, w.hour, err = gomlxmodels.Rented(args.Device); err == nil {
		_, _, err = gomlxmodels.Rate("", "", 0, w.Device)
	}
	if err != nil {
		return nil, err
	}
	for _, needs := range args.Unreadable {
		w.stages = append(w.stages, &stageWork{label: "read", needs: needs, seconds: math.NaN()})
	}
	req := r.req
	req.SkipBad, req.Save = true, ""
	in := r.e.newRun(r.ctx, req, r.progress, r.store)
	in.filler = w
	for _, t := range p.Inputs {
		if _, err := in.eval(t); err != nil && !errors.Is(err, errPending) {
			return nil, err
		}
	}
	return w.frame(), nil
}

// frame returns the rows of [datasets.Workload].
func (w *work) frame() *table.Frame {
	all := append(slices.Clone(w.stages), &stageWork{label: "total"})
	out := table.NewFrame(datasets.Columns("stage:text", "items:number", "found:number", "missing:number",
		"seconds:number", "hours:number", "gigabytes:number", "download:number", "dollars:number", "rate:text",
		"price:text", "needs:text"))
	var sums [8]float64
	for _, s := range all {
		missing := float64(s.items - s.found)
		gigabytes := s.bytes / float64(s.sized) * missing / 1e9 // NaN where no size is known
		if typical := gomlxmodels.ItemBytes(s.op); s.sized == 0 && typical > 0 {
			gigabytes = typical * missing / 1e9
		}
		if missing == 0 {
			gigabytes = 0
		}
		hours := s.seconds * missing / 3600
		if missing == 0 {
			hours = 0
		}
		dollars, price := s.dollars, s.price
		if w.hour > 0 && price == "" && s.op != "" {
			dollars, price = hours*w.hour, fmt.Sprintf("%.2f dollars an hour of %s, given", w.hour, w.Device)
		}
		row := [8]float64{float64(s.items), float64(s.found), missing, s.seconds, hours, gigabytes,
			s.download / 1e9, dollars}
		if s.label == "total" {
			row = sums
			row[3] = math.NaN()
		}
		for i, v := range row {
			sums[i] += v
		}
		out.Add([]string{s.label, s.rate, price, s.needs}, row[:]...)
	}
	return out
}

func (w *work) stage(label, op string) *stageWork {
	for _, s := range w.stages {
		if s.label == label {
			return s
		}
	}
	s := &stageWork{label: label, op: op, seconds: math.NaN()}
	if rate := w.Rates[op]; rate > 0 {
		s.seconds, s.rate = 1/rate, "given"
	}
	w.stages = append(w.stages, s)
	return s
}

// published sets the seconds of an item from those of published models, if they are not known.
func (w *work) published(s *stageWork, p *table.Plan) {
	var args struct {
		Model string
		Steps int
	}
	if !math.IsNaN(s.seconds) || json.Unmarshal(p.Args, &args) != nil {
		return
	}
	if seconds, how, err := gomlxmodels.Rate(p.Op, args.Model, args.Steps, w.Device); err == nil && seconds > 0 {
		s.seconds, s.rate = seconds, how
	}
}

// downloads returns the bytes of a known model that is to be pulled, with the detector of a pair and what it needs.
func downloads(p *table.Plan) (bytes float64) {
	var args struct{ Model, Detector string }
	if json.Unmarshal(p.Args, &args) != nil {
		return 0
	}
	for _, name := range []string{args.Model, args.Detector} {
		if m, known := gomlxmodels.Find(name); known {
			bytes += float64(m.Bytes)
			if with, known := gomlxmodels.Find(m.With); known {
				bytes += float64(with.Bytes)
			}
		}
	}
	return bytes
}

// admit notes that a plan reads placeholders, and reports whether it is an operation that is evaluated on them. It
// returns errPending if that cannot be evaluated.
func (w *work) admit(p *table.Plan) (planned bool, err error) {
	if !slices.ContainsFunc(p.Inputs, func(in *table.Plan) bool { return w.pending[in.Digest()] }) {
		return false, nil
	}
	op := operation.Find(p.Op)
	if op != nil && op.Planned {
		return true, nil
	}
	w.pending[p.Digest()] = true
	if op != nil {
		return false, fmt.Errorf("%s %w", p.Op, errPending)
	}
	return false, nil
}

// failed returns what an error in the evaluation of a plan means: the work that depends on it is not known.
func (w *work) failed(ctx context.Context, p *table.Plan, err error) error {
	if ctx.Err() != nil || errors.Is(err, errPending) {
		return err
	}
	if w.pending[p.Digest()] {
		return fmt.Errorf("%s %w", p.Op, errPending)
	}
	if len(p.Inputs) > 0 {
		return err
	}
	w.stage("read "+p.Op, p.Op).needs = err.Error()
	return fmt.Errorf("%s %w", p.Op, errPending)
}

// unopened counts the rows of a stage whose model is missing.
func (w *work) unopened(p *table.Plan, in *table.Frame, err error) (*table.Frame, error) {
	var args struct{ Model, Vector, Text string }
	if json.Unmarshal(p.Args, &args) != nil {
		return nil, err
	}
	var outputs []table.ColumnSpec
	switch p.Op {
	case gomlxmodels.GenerateOp:
		outputs = gomlxmodels.GenerateColumns(args.Model)
	case gomlxmodels.SegmentOp:
		outputs = datasets.Columns("mask:mask", "outcome:text", "reason:text")
	case gomlxmodels.EmbedOp:
		outputs = gomlxmodels.EmbedColumns(args.Vector, in.Masks("mask") != nil)
	case gomlxmodels.TokenizeOp:
		outputs = gomlxmodels.TokenizeColumns(args.Text)
	case gomlxmodels.CaptionOp:
		outputs = gomlxmodels.CaptionColumns()
	default:
		return nil, err
	}
	s := w.stage(p.Op+" "+args.Model, p.Op)
	s.items += in.Len()
	s.needs, s.download = err.Error(), downloads(p)
	w.published(s, p)
	w.pending[p.Digest()] = true
	values := make([][]table.Value, in.Len())
	for i := range values {
		values[i] = placeholder(outputs, fmt.Sprintf("%s %d", p.Digest(), i))
	}
	return in.With(columnsOf(outputs, values)...), nil
}

// absent starts the text or path of a placeholder.
const absent = "\x00missing "

// reads reports whether a row contains a placeholder.
func reads(f *table.Frame, row int) bool {
	return slices.ContainsFunc(f.Columns, func(c table.Column) bool {
		return c.Kind == table.KindImage && strings.HasPrefix(c.Images[row].Path, absent) ||
			c.Kind == table.KindText && strings.HasPrefix(c.Texts[row], absent)
	})
}

// placeholder returns the values of an item that is missing; key identifies it.
func placeholder(outputs []table.ColumnSpec, key string) []table.Value {
	sum := sha256.Sum256([]byte("missing " + key))
	name := hex.EncodeToString(sum[:])
	values := make([]table.Value, len(outputs))
	for i, o := range outputs {
		v := table.Value{Text: absent + name, Number: math.NaN(),
			Image: table.Image{SHA256: name, Path: absent + name}, Mask: table.Mask{Size: [2]int{1, 1}, Counts: "01"}}
		switch o.Name {
		case "outcome":
			v.Text = "ok"
		case "reason", "safety_checker":
			v.Text = ""
		}
		values[i] = v
	}
	return values
}

// fill adds the items of a stage, computes those of the probe, and makes placeholders of the other missing ones.
func (w *work) fill(rows *stageRows, b *stageItems, missing []int, _ []store.Key) error {
	if err := rows.start(b, len(b.unique), missing); err != nil {
		return err
	}
	if name := rows.stage.Name; name != stage.Decodable { // a part of Good and Bad, which reads files alone
		s := w.stage(b.w.Label(), name)
		s.items += b.c.total
		paid, isPaid := b.w.Common.(stage.Paid)
		known := slices.DeleteFunc(slices.Clone(missing), func(u int) bool {
			return reads(b.in, b.rowOf[u]) || b.items.Has(b.unique[u]) // it has failed, and stays in the store
		})
		if w.Device != "" {
			w.published(s, rows.plan)
		} else if len(known) > 0 && w.Probe > 0 && !isPaid && math.IsNaN(s.seconds) {
			if err := rows.r.probe(b, s, known[:min(2*w.Probe, len(known))]); err != nil {
				return err
			}
			if !math.IsNaN(s.seconds) {
				s.rate = "measured here"
			}
		}
		there := s.found
		for _, v := range b.values {
			if v != nil {
				s.found++
				s.size(v)
			}
		}
		if there += len(b.values); isPaid && s.found < there {
			var dollars float64
			dollars, s.price = paid.Price()
			s.dollars += dollars * float64(there-s.found)
		}
	}
	for _, u := range missing {
		if b.values[u] == nil {
			b.values[u] = placeholder(b.outputs, fmt.Sprintf("%x", b.unique[u]))
			w.pending[rows.plan.Digest()] = true
		}
	}
	return nil
}

// size adds the bytes that an item takes in the store.
func (s *stageWork) size(values []table.Value) {
	if s.sized >= maxSized {
		return
	}
	bytes := 0
	for _, v := range values {
		if v.Image.Path != "" {
			info, err := os.Stat(v.Image.Path)
			if err != nil {
				return // it is in object storage
			}
			bytes += int(info.Size())
		}
		bytes += len(v.Text) + len(v.Mask.Counts) + 4*len(v.Vector) + 8
	}
	s.sized++
	s.bytes += float64(bytes)
}

const (
	maxSized   = 200              // items whose sizes are read
	probeLimit = 20 * time.Second // of a batch that reports steps, after its first
	probeSteps = 3                // steps of a batch that takes longer
)

// probe measures the seconds that an item takes: it computes and stores half of the given items, and then the other
// half, which is timed. A stage that reports steps is timed from its first step, on one half alone; if a batch takes
// longer than probeLimit, it is ended after a few steps, and nothing of it is stored.
func (r *run) probe(b *stageItems, s *stageWork, given []int) error {
	if err := r.loadModel(b); err != nil {
		s.needs = err.Error()
		return r.ctx.Err()
	}
	if d, several := b.computer.(*deviceStage); several { // one batch at a time, as if all devices took as long
		d.one = true
		defer func() {
			d.one = false
			s.seconds /= float64(d.set.Len())
		}()
	}
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	var start, first time.Time // of the group, of the batch that is computed: when its first step was done
	var before float64         // items done at start
	var stepped bool           // their batch had more steps
	var from, last, total int
	b.c.watch = func(done, of, items int) {
		if start.IsZero() {
			start, before, stepped = time.Now(), float64(items)*float64(done)/float64(of), done < of
		}
		if done <= last || first.IsZero() {
			first, from, total = time.Now(), done, of
		}
		last = done
		steps := done - from
		if steps < probeSteps || of != total {
			return
		}
		step := time.Since(first) / time.Duration(steps)
		if step*time.Duration(total-done) > probeLimit && ctx.Err() == nil {
			s.seconds = step.Seconds() * float64(total) / float64(items)
			cancel()
		}
	}
	defer func() { b.c.watch = nil }()
	group := given[:(len(given)+1)/2]
	err := r.compute(ctx, b, group)
	switch {
	case r.ctx.Err() != nil:
		return r.ctx.Err()
	case ctx.Err() != nil: // ended early
		return nil
	case err != nil:
		s.needs = err.Error()
		return nil
	case stepped:
		s.seconds = time.Since(start).Seconds() / (float64(len(group)) - before)
		return nil
	}
	group = given[len(group):]
	if len(group) == 0 {
		return nil
	}
	start = time.Now()
	if err := r.compute(ctx, b, group); err != nil {
		s.needs = err.Error()
		return r.ctx.Err()
	}
	s.seconds = time.Since(start).Seconds() / float64(len(group))
	return nil
}
