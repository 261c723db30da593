package record

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/kernel/backend/engine"
	"antipode/kernel/backend/store"
)

// Status is how a result compares with what is recomputed.
type Status string

// The statuses of results.
const (
	Identical     Status = "identical"      // to the last bit
	Equal         Status = "equal"          // within the tolerance
	Different     Status = "different"      // beyond it
	NotVerifiable Status = "not verifiable" // an input is missing or another one
)

// Outcome is a recomputed result.
type Outcome struct {
	Result    *Result
	Status    Status
	Reason    string // of Different and NotVerifiable, and what else differs
	Tolerance float64
	Moved     []Moved  // number columns that differ
	Verdicts  int      // conclusions that were compared
	Changes   []Change // conclusions that are others now
}

// Moved is a number column whose values differ: by how much, relative to the column's largest value, and how many
// decimal digits of that agree.
type Moved struct {
	Column string
	By     float64
	Digits int
}

// Change is a conclusion that is another one now.
type Change struct{ Row, Column, Was, Is string }

// Options are the options of [Record.Recompute].
type Options struct {
	Engine *engine.Engine
	Home   string // the store's folder
	Files  string // the folder with the notebook's files
	Say    func(line string)
}

// verifier recomputes the results of a record.
type verifier struct {
	*Record
	o       Options
	scratch *store.Store
	work    string            // folder of the tables that the notebook saved, made again
	saved   map[string]string // these, by their paths in places
	failed  map[string]string // those that are not verifiable
	folder  func(string) (string, error)
}

// Recompute computes every result of the record from its plan, on this machine and device, in an empty store. A table
// that the notebook saved and read is made again. The error is that of the context or the store.
func (r *Record) Recompute(ctx context.Context, o Options) ([]*Outcome, error) {
	scratch, remove, err := o.Engine.Store.Scratch()
	if err != nil {
		return nil, err
	}
	defer remove()
	v := &verifier{Record: r, o: o, scratch: scratch, work: filepath.Join(scratch.Dir(), "saved"),
		saved: map[string]string{}, failed: map[string]string{}, folder: folderOf(o.Files, o.Home)}
	var out []*Outcome
	for i, res := range r.Results {
		o.Say(fmt.Sprintf("recomputing %d of %d: %s", i+1, len(r.Results), res.name))
		outcome, err := v.recompute(ctx, res)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			outcome = &Outcome{Result: res, Status: NotVerifiable, Reason: err.Error()}
			v.failed[res.Saved] = res.name
		}
		out = append(out, outcome)
	}
	return out, nil
}

func (v *verifier) recompute(ctx context.Context, res *Result) (*Outcome, error) {
	if err := v.inputs(res); err != nil {
		return nil, err
	}
	plan, err := resolve(res.Plan, v.find)
	if err != nil {
		return nil, err
	}
	rec := &store.Record{ID: res.ID, Plan: plan, Bad: res.Bad, Models: map[string]string{}}
	for model, digest := range res.Models {
		if program, is := strings.CutPrefix(model, gomlxmodels.Exec); is && placed.MatchString(`"`+program+`"`) {
			if program, err = v.find(program); err != nil {
				return nil, err
			}
			model = gomlxmodels.Exec + program
		}
		rec.Models[model] = digest
	}
	if res.Saved != "" {
		rec.Saved = filepath.Join(v.work, res.name, path.Base(res.Saved))
	}
	again, err := v.o.Engine.Recompute(ctx, rec, v.scratch, nil)
	if err != nil {
		return nil, err
	}
	for _, model := range slices.Sorted(maps.Keys(rec.Models)) {
		if here := again.Trace.Models[model]; here != "" && here != rec.Models[model] {
			return nil, fmt.Errorf("the model %s is another one here: SHA-256 %.12s instead of %.12s; fix: get that of "+
				"%s", model, here, rec.Models[model], licensesFile)
		}
	}
	if res.Saved != "" {
		v.saved[res.Saved] = rec.Saved
	}
	return compare(res, again.Frame, v.o.Engine.DeviceKind())
}

// find returns the path of this machine for one of a record.
func (v *verifier) find(placed string) (string, error) {
	if made, ok := v.saved[placed]; ok {
		return made, nil
	}
	if by := v.failed[placed]; by != "" {
		return "", fmt.Errorf("it reads %s, which is not verifiable: see %s", placed, by)
	}
	if name, kept := strings.CutPrefix(placed, "store:/kept/"); kept && filepath.IsLocal(name) {
		return filepath.Abs(filepath.Join(v.Dir, "kept", name))
	}
	file, err := v.folder(placed)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s is not here; fix: put it at %s (--files)", placed, file)
	}
	return filepath.Abs(file)
}

// inputs checks the files that a result reads by its plan.
func (v *verifier) inputs(res *Result) error {
	for _, name := range named(res.Plan) {
		for file, of := range v.Files {
			if of[1] != "read" || v.saved[name] != "" || file != name && !strings.HasPrefix(file, name+"/") {
				continue
			}
			here, err := v.find(file)
			if err != nil {
				return err
			}
			if digest, err := v.o.Engine.Store.FileDigest(here); err != nil || digest != of[0] {
				return fmt.Errorf("%s is another file here, %s: SHA-256 %.12s instead of %.12s; fix: put the right one "+
					"there", file, here, digest, of[0])
			}
		}
	}
	return nil
}

// The tolerances of numbers, relative to the largest value of their column.
const (
	sameDevice   = 1e-5 // the kind of device of the record, of another processor or build
	plainGo      = 1e-9 // results without a device: other processors round sums differently
	otherDevice  = 1e-3 // float32 on another kind of device
	halfPrecison = 2e-2 // bfloat16, the default on an NVIDIA GPU, on one side
)

// tolerance returns that of a result and whether the record's device is that of this machine.
func tolerance(recorded, here string) (float64, bool) {
	switch {
	case recorded == "":
		return plainGo, true
	case recorded == here:
		return sameDevice, true
	case strings.Contains(recorded+here, "cuda"):
		return halfPrecison, false
	}
	return otherDevice, false
}

// compare compares a result with its recomputed rows.
func compare(res *Result, f *table.Frame, device string) (*Outcome, error) {
	h := store.NewFrameHash(f.Specs())
	if err := h.Add(f); err != nil {
		return nil, err
	}
	c := comparison{a: res.table, b: plainFrame(f)}
	out := &Outcome{Result: res}
	var same bool
	out.Tolerance, same = tolerance(res.Device, device)
	if !slices.Equal(c.a.Specs(), c.b.Specs()) || c.a.Len() != c.b.Len() {
		c.beyond = append(c.beyond, fmt.Sprintf("%d rows of the columns %s instead of %d of %s", c.b.Len(),
			table.NameList(c.b.Specs()), c.a.Len(), table.NameList(c.a.Specs())))
	} else {
		c.columns(out.Tolerance, same)
	}
	for i, sum := range h.Columns() {
		if i < len(res.Columns) && res.Columns[i].isLeftOut() && sum != res.Columns[i].SHA256 {
			c.others = append(c.others, fmt.Sprintf("%s differs, by how much is not recorded", res.Columns[i].Name))
		}
	}
	out.Moved = c.moved
	out.Verdicts, out.Changes = changes(res, c.b)
	out.Reason = strings.Join(append(c.beyond, c.others...), "; ")
	switch {
	case len(c.beyond) > 0 || len(out.Changes) > 0:
		out.Status = Different
	case len(c.moved) > 0 || len(c.others) > 0 || h.Sum() != res.Digest:
		out.Status = Equal
	default:
		out.Status = Identical
	}
	return out, nil
}

// changes compares the conclusions of a result with those of its recomputed rows, by position, or by the texts of
// their rows if there are others.
func changes(res *Result, f *table.Frame) (n int, out []Change) {
	is := map[[2]string]string{}
	again := *res
	recomputed := again.conclusions(f)
	was := res.conclusions(res.table)
	if res.table.Len() == f.Len() { // the rows' other texts may differ
		names := keys(res.table)
		position := map[string]int{}
		for i, name := range keys(f) {
			position[name] = i
		}
		for i := range recomputed {
			recomputed[i].row = names[position[recomputed[i].row]]
		}
	}
	for _, c := range recomputed {
		is[[2]string{c.row, c.column}] = c.value
	}
	for _, c := range was {
		at := [2]string{c.row, c.column}
		if now := is[at]; now != c.value {
			out = append(out, Change{c.row, c.column, c.value, now})
		}
		delete(is, at)
	}
	for _, c := range recomputed {
		if value, isNew := is[[2]string{c.row, c.column}]; isNew {
			out = append(out, Change{c.row, c.column, "", value})
		}
	}
	return len(was), out
}
