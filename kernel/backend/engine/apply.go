package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/gomlxmodels/stage"
)

// evaluation is one operation of a request's plan.
type evaluation struct {
	*run
	plan *table.Plan
}

type evaluationKey struct{}

// register registers an operation that reads files or writes the store. Operations that need their arguments and
// input rows alone are registered with package operation by the packages that declare them.
func register(name string, f func(r *run, p *table.Plan, in []*table.Frame) (*table.Frame, error)) {
	operation.Register(name, func(ctx context.Context, call operation.Call, _ json.RawMessage,
		in []*table.Frame) (*table.Frame, error) {
		e, ok := ctx.Value(evaluationKey{}).(evaluation)
		if !ok || call.InMemory() {
			return nil, fmt.Errorf("%s: %w", name, operation.ErrBackend)
		}
		return f(e.run, e.plan, in)
	})
}

// registerSource is register for an operation without input tables, with arguments of type A.
func registerSource[A any](name string, f func(r *run, a A) (*table.Frame, error)) {
	register(name, func(r *run, p *table.Plan, _ []*table.Frame) (*table.Frame, error) {
		var a A
		if err := json.Unmarshal(p.Args, &a); err != nil {
			return nil, err
		}
		return f(r, a)
	})
}

// RunStage runs a row-wise stage.
func (e evaluation) RunStage(s stage.Stage, in *table.Frame) (*table.Frame, error) {
	return e.rowStage(s, e.plan, in)
}

// apply evaluates one operation of a plan.
func (r *run) apply(p *table.Plan, in []*table.Frame) (*table.Frame, error) {
	evaluate := operation.EvaluatorOf(p.Op)
	if evaluate == nil {
		return nil, fmt.Errorf("no operation %q: the notebook needs one that this build does not have", p.Op)
	}
	e := evaluation{r, p}
	ctx := stage.WithRunner(context.WithValue(r.ctx, evaluationKey{}, e), e)
	call := operation.Call{Home: r.e.home(), Progress: r.progress, Note: r.note, Read: r.read}
	if operation.Find(p.Op) != nil {
		return r.stored(p, in, func(call operation.Call) (*table.Frame,
			error) {
			return evaluate(ctx, call, p.Args, in)
		})
	}
	return evaluate(ctx, call, p.Args, in)
}
