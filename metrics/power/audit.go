package power

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
)

// The operations that stand for tables in an audit's plan: the pool, and those that do not depend on it (their place is the argument).
const (
	poolOp  = "power-pool"
	fixedOp = "power-fixed"
)

// mostFixed is how many tables an audit may read beside the pool.
const mostFixed = 4

func fixedRole(i int) string { return "fixed" + strconv.Itoa(i+1) }

// lifted is an audit's plan, with what does not depend on the pool taken out.
type lifted struct {
	plan  *client.Plan
	fixed []*client.Plan
	at    map[string]int // by digest, the place in fixed
}

// lift takes an audit's plan apart.
func lift(p *client.Plan) (*lifted, error) {
	l := &lifted{at: map[string]int{}}
	plan, depends, err := l.walk(p)
	switch {
	case err != nil:
		return nil, err
	case !depends:
		return nil, errors.New("the audit does not read the pool that it is given")
	case len(l.fixed) > mostFixed:
		return nil, fmt.Errorf("the audit reads %d tables beside the pool; at most %d", len(l.fixed), mostFixed)
	}
	l.plan = plan
	return l, nil
}

func (l *lifted) walk(p *client.Plan) (out *client.Plan, depends bool, err error) {
	if p.Op == poolOp {
		return &client.Plan{Op: poolOp}, true, nil
	}
	out = &client.Plan{Op: p.Op, Args: p.Args}
	of := make([]bool, len(p.Inputs))
	for i, in := range p.Inputs {
		child, d, err := l.walk(in)
		if err != nil {
			return nil, false, err
		}
		out.Inputs, of[i], depends = append(out.Inputs, child), d, depends || d
	}
	if !depends {
		return out, false, nil
	}
	for i, in := range p.Inputs {
		if of[i] {
			continue
		}
		digest := in.Digest()
		at, known := l.at[digest]
		if !known {
			at = len(l.fixed)
			l.at[digest], l.fixed = at, append(l.fixed, in)
		}
		out.Inputs[i] = &client.Plan{Op: fixedOp, Args: json.RawMessage(strconv.Itoa(at))}
	}
	return out, true, nil
}

// compile reads the option audit: a plan, as [Curve] writes it, or a chain of metrics.
func compile(text string, fixed int) (*client.Plan, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("option audit: name the metrics to run on each draw, for example 'region-gaps by=region vector=full'")
	}
	if strings.HasPrefix(text, "{") {
		plan := &client.Plan{}
		return plan, json.Unmarshal([]byte(text), plan)
	}
	var parts []*client.Plan
	for _, chain := range strings.Split(text, ";") {
		before := (*client.Plan)(nil)
		for _, step := range strings.Split(chain, "|") {
			var err error
			if before, err = compileStep(strings.Fields(step), before, fixed); err != nil {
				return nil, fmt.Errorf("option audit, %q: %w", strings.TrimSpace(step), err)
			}
		}
		parts = append(parts, before)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return &client.Plan{Op: "concat", Inputs: parts}, nil
}

// compileStep is one metric of a chain; before is the step before it, nil for the first.
func compileStep(words []string, before *client.Plan, fixed int) (*client.Plan, error) {
	if len(words) == 0 {
		return nil, errors.New("an empty step: write NAME option=value …")
	}
	m, err := metrics.Find(words[0])
	if err != nil {
		return nil, err
	}
	args := metrics.Args{Metric: m.Name, Version: m.Version, Options: map[string]string{}}
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is not option=value", word)
		case key == "by":
			args.By = datasets.SplitColumns(value)
		default:
			args.Options[key] = value
		}
	}
	main := slices.IndexFunc(m.Inputs, func(in metrics.Input) bool { return in.Role == "in" })
	if main < 0 {
		main = max(0, slices.IndexFunc(m.Inputs, func(in metrics.Input) bool { return in.Role == "generated" }))
	}
	plan, taken := &client.Plan{Op: metrics.Op}, 0
	for i, in := range m.Inputs {
		switch {
		case i == main && before != nil:
			plan.Inputs = append(plan.Inputs, before)
		case i == main:
			plan.Inputs = append(plan.Inputs, &client.Plan{Op: poolOp})
		case before == nil && taken < fixed:
			plan.Inputs = append(plan.Inputs, &client.Plan{Op: fixedOp, Args: json.RawMessage(strconv.Itoa(taken))})
			taken++
		case in.Optional:
			continue
		default:
			return nil, fmt.Errorf("it needs the table %q beside the pool: give it as %s", in.Role, fixedRole(taken))
		}
		args.Roles = append(args.Roles, in.Role)
	}
	plan.Args, err = json.Marshal(args)
	return plan, err
}

// runner evaluates an audit's plan on draws.
type runner struct {
	plan    *client.Plan
	digests map[*client.Plan]string
	fixed   []*client.Frame
	call    metrics.Call // of the metric power: neighbours, verbs, notes
}

func newRunner(plan *client.Plan, fixed []*client.Frame, call metrics.Call) *runner {
	r := &runner{plan: plan, digests: map[*client.Plan]string{}, fixed: fixed, call: call}
	r.index(plan)
	return r
}

func (r *runner) index(p *client.Plan) {
	r.digests[p] = p.Digest()
	for _, in := range p.Inputs {
		r.index(in)
	}
}

// run evaluates a step, each once for a draw; seed is that of the draw.
func (r *runner) run(ctx context.Context, p *client.Plan, pool *client.Frame, seed int64, known map[string]*client.Frame) (*client.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if f, done := known[r.digests[p]]; done {
		return f, nil
	}
	switch p.Op {
	case poolOp:
		return pool, nil
	case fixedOp:
		at, err := strconv.Atoi(string(p.Args))
		if err != nil || at < 0 || at >= len(r.fixed) || r.fixed[at] == nil {
			return nil, fmt.Errorf("the audit reads a table %q, which is not given", "fixed"+string(p.Args))
		}
		return r.fixed[at], nil
	}
	in := make([]*client.Frame, len(p.Inputs))
	for i, input := range p.Inputs {
		var err error
		if in[i], err = r.run(ctx, input, pool, seed, known); err != nil {
			return nil, err
		}
	}
	f, err := r.step(ctx, p, in, seed)
	if err == nil {
		known[r.digests[p]] = f
	}
	return f, err
}

func (r *runner) step(ctx context.Context, p *client.Plan, in []*client.Frame, seed int64) (*client.Frame, error) {
	if p.Op != metrics.Op {
		if r.call.Verb == nil {
			return nil, fmt.Errorf("%q cannot be done here: an audit outside the backend may hold metrics only", p.Op)
		}
		return r.call.Verb(p.Op, p.Args, in)
	}
	var args metrics.Args
	if err := json.Unmarshal(p.Args, &args); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	args.Seed += seed
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return metrics.Evaluate(ctx, raw, in, metrics.Call{Neighbours: r.call.Neighbours, Verb: r.call.Verb, Note: r.call.Note})
}
