package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"antipode/datasets/client"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/kernel/backend/store"
)

// ResultID identifies a whole-table result by operation, arguments and the digests of its input tables.
func ResultID(p *table.Plan, inputs []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s", p.Op, p.Args)
	for _, in := range inputs {
		fmt.Fprintf(h, "\x00%s", in)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// saveID identifies the record of a saved table; a table saved to two files has two records.
func saveID(id, path string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + path))
	return hex.EncodeToString(sum[:])
}

// stored computes a metric or table operation, or returns its result from the store if it has one for the same
// arguments and rows.
func (r *run) stored(p *table.Plan, in []*table.Frame, evaluate operation.Evaluator) (*table.Frame, error) {
	var inputs []string
	for _, f := range in {
		d, err := store.FrameDigest(f)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, d)
	}
	id := ResultID(p, inputs)
	r.results[p] = id
	if f, rec, err := r.store.Result(id); err == nil {
		for _, n := range rec.Notes {
			r.note("%s", n)
		}
		for _, x := range rec.Readings {
			r.readingOnce(x)
		}
		relocate(f, in)
		return f, nil
	}
	var notes []string // of the operation itself; notes of its inputs are repeated when these are evaluated
	note := func(format string, args ...any) {
		notes = append(notes, fmt.Sprintf(format, args...))
		r.note(format, args...)
	}
	var readings []table.Reading // of the operation itself, likewise
	read := func(x table.Reading) {
		readings = append(readings, x)
		r.readingOnce(x)
	}
	call := operation.Call{Progress: r.progress, Note: note, Read: read}
	if operation.Find(p.Op).Device {
		if d, err := r.e.openDevice(r); err == nil {
			call.Neighbors = d.Neighbors(r.e.queue.do)
		} else {
			note("no device (%v): it is computed in plain Go, slower", err)
		}
	}
	f, err := evaluate(r.ctx, call, p.Args, in)
	if err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	digest, err := store.FrameDigest(f)
	if err != nil {
		return nil, err
	}
	rec := r.record(p, savedTable{f.Len(), inputs, digest})
	rec.Notes, rec.Readings = notes, found(readings)
	r.keepResult(f, rec)
	return f, nil
}

// relocate gives the images of a stored result the paths that the input tables name now: a result is known by the
// digests of images, whose files may have been moved since it was computed.
func relocate(result *table.Frame, in []*table.Frame) {
	if !slices.ContainsFunc(result.Columns, func(c table.Column) bool { return c.Images != nil }) {
		return
	}
	now := map[string]table.Image{}
	for _, f := range in {
		for _, c := range f.Columns {
			for _, img := range c.Images {
				now[img.SHA256] = img
			}
		}
	}
	for _, c := range result.Columns {
		for i, img := range c.Images {
			if found, ok := now[img.SHA256]; ok && img.SHA256 != "" {
				c.Images[i] = found
			}
		}
	}
}

// ErrNotVerifiable is wrapped by the error for a record that this build cannot compute again. It tells nothing about
// the result.
var ErrNotVerifiable = errors.New("not verifiable")

// Verify recomputes a stored or saved result from its record, starting at the sources: it uses only models and file
// digests of the store. It returns the digest of the rows, which equals rec.Result if they are the same. Errors are
// those of [Engine.Recompute].
func (e *Engine) Verify(ctx context.Context, rec *store.Record, progress func(table.Progress)) (digest string,
	err error) {
	scratch, remove, err := e.Store.Scratch()
	if err != nil {
		return "", err
	}
	defer remove()
	again := *rec
	again.Saved = ""
	res, err := e.Recompute(ctx, &again, scratch, progress)
	if err != nil {
		return "", err
	}
	return store.FrameDigest(res.Frame)
}

// Recompute evaluates the plan of a record with the items of a scratch store only ([store.Store.Scratch]), and saves
// the rows if the record is that of a saved table. A record of an operation that this build does not have, or of a
// program that is not allowed to run ([client.AllowExec]), gives [ErrNotVerifiable], before anything is computed.
func (e *Engine) Recompute(ctx context.Context, rec *store.Record, scratch *store.Store,
	progress func(table.Progress)) (*client.Result, error) {
	for p := range rec.Plan.All() {
		if !isKnown(p.Op) {
			return nil, fmt.Errorf("result %.12s is %w: another build wrote its record, with the operation %q, which "+
				"this one does not have", rec.ID, ErrNotVerifiable, p.Op)
		}
	}
	for model, digest := range rec.Models {
		program, is := strings.CutPrefix(model, gomlxmodels.Exec)
		if is && client.Allowed(os.Getenv(client.ExecVar), program) != digest {
			return nil, fmt.Errorf("result %.12s is %w: the program %s made it, which is not allowed to run or has "+
				"changed since. Fix: --allow-exec %[3]s, if it is the same", rec.ID, ErrNotVerifiable, program)
		}
	}
	return e.evaluate(ctx, client.Request{Plan: rec.Plan, SkipBad: len(rec.Bad) > 0, Save: rec.Saved,
		AllColumns: true, Trace: true}, progress, scratch)
}
