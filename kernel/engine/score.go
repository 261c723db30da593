package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"

	"antipode/kernel/client"
	"antipode/kernel/store"
	"antipode/metrics"
)

const scoreOp = metrics.Op

// resultID names a whole-table result by what was asked and by its ordered input rows.
func resultID(p *client.Plan, inputs []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s", p.Op, p.Args)
	for _, in := range inputs {
		fmt.Fprintf(h, "\x00%s", in)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// saveID names the record of a saved table: the same table saved twice has two records.
func saveID(id, path string) string {
	sum := sha256.Sum256([]byte(id + "\x00" + path))
	return hex.EncodeToString(sum[:])
}

// score computes a metric, or takes its table from the store where the same was asked of the same rows.
func (r *run) score(p *client.Plan, in []*client.Frame) (*client.Frame, error) {
	var inputs []string
	for _, f := range in {
		d, err := store.FrameDigest(f)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, d)
	}
	id := resultID(p, inputs)
	r.results[p] = id
	if f, rec, err := r.store.Result(id); err == nil {
		for _, n := range rec.Notes {
			r.note("%s", n)
		}
		return f, nil
	}
	var notes []string // the score's own: those of its inputs come again when these are read again
	note := func(format string, args ...any) {
		notes = append(notes, fmt.Sprintf(format, args...))
		r.note(format, args...)
	}
	call := metrics.Call{Progress: r.progress, Note: note, Verb: doVerb}
	if m, err := metricOf(p); err != nil {
		return nil, err
	} else if m.Near {
		if d, err := r.e.openDevice(r); err == nil {
			call.Neighbours = d.Neighbours(r.e.queue.do)
		} else {
			note("no device (%v): nearest neighbors are found in plain Go", err)
		}
	}
	f, err := metrics.Evaluate(r.ctx, p.Args, in, call)
	if err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		return nil, err
	}
	rec, err := r.record(p, f)
	if err != nil {
		return nil, err
	}
	rec.Notes = notes
	return f, r.store.PutResult(f, rec)
}

// doVerb does a verb of tables for a metric that runs others, on rows that it holds.
func doVerb(op string, args json.RawMessage, in []*client.Frame) (*client.Frame, error) {
	f := verbs[op]
	if f == nil || len(in) == 0 {
		return nil, fmt.Errorf("%q is neither a score nor a verb of tables: do it before, on the whole pool", op)
	}
	return f(args, in)
}

// Verify computes a kept or saved result again from its record: from the sources on, with nothing taken from the store but
// models and the digests of files. It gives the digest of the rows it got; they are the same rows if it equals rec.Result.
func (e *Engine) Verify(ctx context.Context, rec *store.Record, progress func(client.Progress)) (digest string, err error) {
	dir, err := os.MkdirTemp(e.Store.Dir(), "verify-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	scratch, err := store.Open(dir)
	if err != nil {
		return "", err
	}
	res, err := e.evaluate(ctx, client.Request{Plan: rec.Plan, SkipBad: len(rec.Bad) > 0}, progress, scratch)
	if err != nil {
		return "", err
	}
	return store.FrameDigest(res.Frame)
}

// metricOf is the metric a plan asks for.
func metricOf(p *client.Plan) (metrics.Metric, error) {
	var args metrics.Args
	if err := json.Unmarshal(p.Args, &args); err != nil {
		return metrics.Metric{}, fmt.Errorf("score: %w", err)
	}
	return metrics.Find(args.Metric)
}
