package engine

import (
	"encoding/json"
	"fmt"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
)

// operator evaluates an operation of a plan on the rows of its input plans.
type operator func(p *table.Plan, in []*table.Frame) (*table.Frame, error)

// own returns the evaluation of an operation that reads files or chooses the rows of a shard, and nil for all others:
// the engine evaluates these itself. Operations that need nothing but their arguments and rows are registered with
// package operation, by the packages that declare them.
func (r *run) own(op string) operator {
	switch op {
	case "csv":
		return sourceOf(r.csvSource)
	case "parquet":
		return sourceOf(r.parquetSource)
	case "folder":
		return sourceOf(r.folderSource)
	case "archipelago":
		return sourceOf(r.archipelagoSource)
	case datasets.ImportedOp:
		return sourceOf(r.importedSource)
	case "masks":
		return with(r.masksFrom)
	case ShardOp:
		return with(r.shard)
	case EachOp:
		return func(*table.Plan, []*table.Frame) (*table.Frame, error) { return &table.Frame{}, nil }
	}
	return nil
}

// with returns the operator of a function that takes arguments of type A.
func with[A any](f func(p *table.Plan, a A, in []*table.Frame) (*table.Frame, error)) operator {
	return func(p *table.Plan, in []*table.Frame) (*table.Frame, error) {
		var a A
		if err := json.Unmarshal(p.Args, &a); err != nil {
			return nil, err
		}
		return f(p, a, in)
	}
}

// sourceOf is with for an operation without input tables.
func sourceOf[A any](f func(p *table.Plan, a A) (*table.Frame, error)) operator {
	return with(func(p *table.Plan, a A, _ []*table.Frame) (*table.Frame, error) { return f(p, a) })
}

// apply evaluates one operation of a plan.
func (r *run) apply(p *table.Plan, in []*table.Frame) (*table.Frame, error) {
	if st, is := stage.Find(p.Op); is {
		if len(in) != 1 {
			return nil, fmt.Errorf("%s: %d tables are given, not 1", p.Op, len(in))
		}
		return r.rowStage(st, p, in[0])
	}
	if own := r.own(p.Op); own != nil {
		return own(p, in)
	}
	evaluate := operation.EvaluatorOf(p.Op)
	switch {
	case evaluate == nil:
		return nil, fmt.Errorf("no operation %q: the notebook needs one that this build does not have", p.Op)
	case operation.Find(p.Op) != nil:
		return r.stored(p, in, evaluate)
	}
	call := operation.Call{Home: r.e.home(), Progress: r.progress, Note: r.note, Read: r.reading}
	return evaluate(r.ctx, call, p.Args, in)
}

// isKnown reports whether this build has an operation.
func isKnown(op string) bool {
	r := &run{}
	_, isStage := stage.Find(op)
	return isStage || r.whole(op) != nil || r.own(op) != nil || operation.EvaluatorOf(op) != nil
}
