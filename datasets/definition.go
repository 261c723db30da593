package datasets

import (
	"slices"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

func (t Table) operation() *operation.Operation {
	op, p := defining(t.plan)
	if op == nil {
		return nil
	}
	return op.With(p.Args)
}

// defining returns the operation that computed the columns of a plan, and the first plan of this operation.
func defining(p *table.Plan) (*operation.Operation, *table.Plan) {
	if p == nil {
		return nil, nil
	}
	if op := operation.Find(p.Op); op != nil || len(p.Inputs) == 0 {
		return op, p
	}
	first, at := defining(p.Inputs[0])
	other := func(in *table.Plan) bool {
		op, _ := defining(in)
		return op != first
	}
	switch {
	case slices.Contains([]string{"where", "select", "sort", "head", "sample", "with", "join"}, p.Op):
		return first, at
	case p.Op == "concat" && !slices.ContainsFunc(p.Inputs, other):
		return first, at
	}
	return nil, nil
}
