package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"antipode/datasets/table"
)

// Evaluator computes one operation of a plan on frames.
type Evaluator func(ctx context.Context, call Call, args json.RawMessage, in []*table.Frame) (*table.Frame, error)

var evaluators = map[string]Evaluator{}

// Register makes an evaluator known under the name of its operation in plans: sources of data sets, verbs, metrics and
// table operations, which need their arguments and rows alone. It panics if the name is taken.
func Register(name string, e Evaluator) {
	mu.Lock()
	defer mu.Unlock()
	if evaluators[name] != nil {
		panic(fmt.Sprintf("operation: %q is registered twice", name))
	}
	evaluators[name] = e
}

// Verb registers an operation that reads nothing but its arguments and frames. The call takes its readings and notes.
func Verb[A any](name string, f func(call *Call, a A, in []*table.Frame) (*table.Frame, error)) {
	Register(name, func(_ context.Context, call Call, raw json.RawMessage, in []*table.Frame) (*table.Frame, error) {
		var a A
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &a); err != nil {
				return nil, err
			}
		}
		if len(in) == 0 {
			return nil, fmt.Errorf("%s: no table is given", name)
		}
		return f(&call, a, in)
	})
}

// EvaluatorOf returns the evaluator of an operation, or nil.
func EvaluatorOf(name string) Evaluator {
	mu.Lock()
	defer mu.Unlock()
	return evaluators[name]
}

// InputOp is the operation of a plan that stands for a frame given to [Call.Evaluate]; see [InputPlan].
const InputOp = "input"

// InputPlan returns the plan that stands for inputs[i] of [Call.Evaluate].
func InputPlan(i int) *table.Plan {
	return &table.Plan{Op: InputOp, Args: json.RawMessage(fmt.Sprint(i))}
}

// Evaluate computes a plan of verbs, metrics and table operations in memory; its leaves are inputs ([InputPlan]).
// Equal parts of the plan are computed once. Metrics use the call's neighbor search and notes.
func (c *Call) Evaluate(ctx context.Context, plan *table.Plan, inputs ...*table.Frame) (*table.Frame, error) {
	return c.evaluate(ctx, plan, inputs, map[string]*table.Frame{})
}

func (c *Call) evaluate(ctx context.Context, plan *table.Plan, inputs []*table.Frame,
	known map[string]*table.Frame) (*table.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	digest := plan.Digest()
	if f := known[digest]; f != nil {
		return f, nil
	}
	if plan.Op == InputOp {
		var i int
		if err := json.Unmarshal(plan.Args, &i); err != nil || i < 0 || i >= len(inputs) || inputs[i] == nil {
			return nil, fmt.Errorf("the plan reads input %s, which is not given", plan.Args)
		}
		return inputs[i], nil
	}
	e := EvaluatorOf(plan.Op)
	if e == nil {
		return nil, fmt.Errorf("%q cannot be computed in memory: it is no verb, metric or table operation", plan.Op)
	}
	in := make([]*table.Frame, len(plan.Inputs))
	for i, p := range plan.Inputs {
		var err error
		if in[i], err = c.evaluate(ctx, p, inputs, known); err != nil {
			return nil, err
		}
	}
	f, err := e(ctx, Call{Neighbors: c.Neighbors, Note: c.Note, Read: c.Read}, plan.Args, in)
	if err == nil {
		known[digest] = f
	}
	return f, err
}

// AddSeed returns the arguments of an operation with its option seed, where it has one, raised by n.
func AddSeed(name string, args json.RawMessage, n int64) (json.RawMessage, error) {
	op := Find(name)
	if n == 0 || op == nil || !slices.ContainsFunc(op.Options, func(o Option) bool { return o.Name == "seed" }) {
		return args, nil
	}
	return editOption(args, "seed", func(raw json.RawMessage) (json.RawMessage, error) {
		seed := int64(0)
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &seed); err != nil {
				return nil, fmt.Errorf("%s: option seed: %w", name, err)
			}
		}
		return json.Marshal(seed + n)
	})
}

// SetOption returns the arguments of a defined operation with an option set to a value in JSON.
func SetOption(args json.RawMessage, name string, value json.RawMessage) (json.RawMessage, error) {
	return editOption(args, name, func(json.RawMessage) (json.RawMessage, error) { return value, nil })
}

func editOption(args json.RawMessage, name string,
	edit func(json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	var outer Args
	fields := map[string]json.RawMessage{}
	err := json.Unmarshal(args, &outer)
	if err == nil && len(outer.Options) > 0 {
		err = json.Unmarshal(outer.Options, &fields)
	}
	if err != nil {
		return nil, fmt.Errorf("arguments of the plan: %w", err)
	}
	if fields[name], err = edit(fields[name]); err != nil {
		return nil, err
	}
	if outer.Options, err = json.Marshal(fields); err != nil {
		return nil, err
	}
	return json.Marshal(outer)
}
