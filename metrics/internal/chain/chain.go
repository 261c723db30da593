// Package chain evaluates scores of a table many times: the plan of what computes them is separated from the table, the
// pool, and from the tables that do not depend on it.
package chain

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// MostFixed is the largest number of tables that an audit reads next to the pool.
const MostFixed = 4

// fixedRole is the name of table i of those, from 0.
func fixedRole(i int) string { return "fixed" + strconv.Itoa(i+1) }

// lifted is an audit's plan whose parts that do not depend on the pool are replaced by inputs: input 0 is the pool,
// input i+1 is fixed[i].
type lifted struct {
	plan  *table.Plan
	fixed []*table.Plan
	at    map[string]int // index in fixed, by digest
}

// lift separates the parts of an audit's plan that do not depend on the pool.
func lift(p *table.Plan) (*lifted, error) {
	l := &lifted{at: map[string]int{}}
	plan, depends, err := l.walk(p)
	switch {
	case err != nil:
		return nil, err
	case !depends:
		return nil, errors.New("the audit does not read the pool")
	case len(l.fixed) > MostFixed:
		return nil, fmt.Errorf("the audit reads %d tables next to the pool; at most %d", len(l.fixed), MostFixed)
	}
	l.plan = plan
	return l, nil
}

func (l *lifted) walk(p *table.Plan) (out *table.Plan, depends bool, err error) {
	if p.Op == operation.InputOp {
		return operation.InputPlan(0), true, nil
	}
	out = &table.Plan{Op: p.Op, Args: p.Args}
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
		out.Inputs[i] = operation.InputPlan(at + 1)
	}
	return out, true, nil
}

// Compile reads the option audit: a plan in JSON, as [Apply] writes it, or a chain of operations.
func Compile(text string, fixed int) (*table.Plan, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("option audit: name the metrics to run on each sample, for example 'region-gaps " +
			"by=region vector=full'")
	}
	if strings.HasPrefix(text, "{") {
		plan := &table.Plan{}
		return plan, json.Unmarshal([]byte(text), plan)
	}
	var parts []*table.Plan
	for _, chain := range strings.Split(text, ";") {
		before := (*table.Plan)(nil)
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
	return &table.Plan{Op: "concat", Inputs: parts}, nil
}

// compileStep returns the plan of one step of a chain; before is the step before it, nil for the first.
func compileStep(words []string, before *table.Plan, fixed int) (*table.Plan, error) {
	if len(words) == 0 {
		return nil, errors.New("the step is empty; write NAME option=value …")
	}
	options := map[string]string{}
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not option=value", word)
		}
		options[key] = value
	}
	op := operation.Find(words[0])
	if op == nil {
		return nil, fmt.Errorf("no metric %q%s", words[0], table.Hint(words[0], operation.Names(true)))
	}
	checked, err := op.Parse(options)
	if err != nil {
		return nil, err
	}
	roles, inputs, err := stepInputs(op.Inputs, before, fixed)
	if err != nil {
		return nil, err
	}
	args, err := checked.Args(roles)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(args)
	return &table.Plan{Op: op.Name, Args: raw, Inputs: inputs}, err
}

// stepInputs returns the inputs of a step: the step before it, or the pool and the fixed tables.
func stepInputs(wanted []operation.Input, before *table.Plan, fixed int) (roles []string, in []*table.Plan, err error) {
	main := slices.IndexFunc(wanted, func(in operation.Input) bool { return in.Role == "in" })
	if main < 0 {
		main = max(0, slices.IndexFunc(wanted, func(in operation.Input) bool { return in.Role == "generated" }))
	}
	taken := 0
	for i, input := range wanted {
		switch {
		case i == main && before != nil:
			in = append(in, before)
		case i == main:
			in = append(in, operation.InputPlan(0))
		case before == nil && taken < fixed:
			taken++
			in = append(in, operation.InputPlan(taken))
		case input.Optional:
			continue
		default:
			return nil, nil, fmt.Errorf("the table %q is missing: give it as %s", input.Role, fixedRole(taken))
		}
		roles = append(roles, input.Role)
	}
	return roles, in, nil
}

// Inputs are the inputs of an operation that evaluates an audit, next to the pool.
func Inputs(in ...operation.Input) []operation.Input {
	for i := range MostFixed {
		in = append(in, operation.Input{Role: fixedRole(i), Optional: true,
			About: "a table that the audit reads next to the pool, such as reference images"})
	}
	return in
}

// Fixed returns the tables of a call that the audit reads next to the pool.
func Fixed(call *operation.Call) (out []*table.Frame) {
	for i := range MostFixed {
		if f := call.Inputs[fixedRole(i)]; f != nil {
			out = append(out, f)
		}
	}
	return out
}

// WithSeed returns a plan whose operations with an option seed have it raised by n.
func WithSeed(p *table.Plan, n int64) (*table.Plan, error) {
	return withArgs(p, func(p *table.Plan) (json.RawMessage, error) { return operation.AddSeed(p.Op, p.Args, n) })
}

// WithoutResamples returns a plan whose operations compute no intervals, where their option resamples permits that.
func WithoutResamples(p *table.Plan) (*table.Plan, error) {
	return withArgs(p, func(p *table.Plan) (json.RawMessage, error) {
		if op := operation.Find(p.Op); op != nil {
			for _, o := range op.Options {
				if o.Name == "resamples" && o.None != "" {
					return operation.SetOption(p.Args, o.Name, json.RawMessage(o.None))
				}
			}
		}
		return p.Args, nil
	})
}

// withArgs returns a plan whose operations have other arguments.
func withArgs(p *table.Plan, args func(p *table.Plan) (json.RawMessage, error)) (*table.Plan, error) {
	raw, err := args(p)
	out := &table.Plan{Op: p.Op, Args: raw}
	for _, in := range p.Inputs {
		if err != nil {
			break
		}
		var other *table.Plan
		other, err = withArgs(in, args)
		out.Inputs = append(out.Inputs, other)
	}
	return out, err
}

// Apply returns the table of an operation that evaluates an audit of the table of the role main. audit is called once,
// with a table that represents it; set stores the plan of its result, what [Compile] reads, in the options.
func Apply[O any](op datasets.Defined[O], tables map[string]datasets.Table, main string,
	audit func(pool datasets.Table) datasets.Table, options []O, set func(o *O, plan string)) datasets.Table {
	in := tables[main]
	if err := in.Err(); err != nil {
		return in
	}
	o, err := table.One(options)
	if err != nil {
		return datasets.Extend(in).Fail(err).Table
	}
	pool := datasets.New(operation.InputOp, 0, in.Columns())
	if datasets.Extend(in).IsOpen() {
		pool = datasets.Extend(pool).Open().Table
	}
	result := audit(pool)
	plan, err := result.Plan()
	if err != nil {
		return datasets.Extend(result).Fail(err).Table
	}
	l, err := lift(plan)
	if err != nil {
		return datasets.Extend(result).Fail(err).Table
	}
	text, err := json.Marshal(l.plan)
	if err != nil {
		return datasets.Extend(result).Fail(fmt.Errorf("%s: %w", op.Name, err)).Table
	}
	set(&o, string(text))
	for i := range l.fixed {
		tables[fixedRole(i)] = datasets.Extend(datasets.New(operation.InputOp, i, nil)).Open().Table
	}
	out := op.Table(tables, o)
	if plan, err = out.Plan(); err != nil {
		return out
	}
	for i, in := range plan.Inputs { // no other table reads this plan yet
		if in.Op != operation.InputOp {
			continue
		}
		var at int
		if err := json.Unmarshal(in.Args, &at); err != nil {
			return datasets.Extend(out).Fail(err).Table
		}
		plan.Inputs[i] = l.fixed[at]
	}
	return out
}

// Subjects joins the values of the columns of each row.
func Subjects(f *table.Frame, columns []string) ([]string, error) {
	out := make([]string, f.Len())
	for i, name := range columns {
		c, err := f.Need(name, table.KindText)
		if err != nil {
			return nil, err
		}
		for row, v := range c.Texts {
			if i > 0 {
				out[row] += ", "
			}
			out[row] += v
		}
	}
	return out, nil
}
