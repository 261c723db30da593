package jobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/kernel/backend/engine"
)

// StageOps are the operations whose items a job computes.
var StageOps = []string{gomlxmodels.GenerateOp, gomlxmodels.SegmentOp, gomlxmodels.EmbedOp, gomlxmodels.CaptionOp,
	gomlxmodels.TokenizeOp, gomlxmodels.AskOp, datasets.CutOp}

// Operations whose result for a row depends on that row alone.
var rowOps = []string{"where", "select", "with", "rename", "remove-prefix", "repeat", "seed-by", "masks", "grow-masks",
	"join", "questions", "concat", datasets.GoodOp}

// joins are those whose second table is read whole.
var joins = []string{"join", "questions"}

// oneToOne are those that have a row for each row of their input: the choice of rows is made below them.
var oneToOne = []string{"masks", "grow-masks", datasets.GoodOp}

// wholeOps are the verbs that need the whole table; so do metrics and table operations.
var wholeOps = []string{"sort", "head", "sample", "count", "need-values", "digest", datasets.BadOp}

// cutter determines the phases of the stages of a plan.
type cutter struct {
	known map[*table.Plan]int // results of need
	last  map[*table.Plan]int // results of latest
	err   error
}

func newCutter() *cutter { return &cutter{known: map[*table.Plan]int{}, last: map[*table.Plan]int{}} }

// need returns the first phase in which a stage that reads the plan can run.
func (c *cutter) need(p *table.Plan) (phase int) {
	if phase, known := c.known[p]; known {
		return phase
	}
	defer func() { c.known[p] = phase }()
	phase, stages := 1, 0 // the latest phase of stages in inputs; 0 = there are none
	for _, in := range p.Inputs {
		phase, stages = max(phase, c.need(in)), max(stages, c.latest(in))
	}
	switch {
	case slices.Contains(joins, p.Op) && len(p.Inputs) == 2:
		return max(c.need(p.Inputs[0]), c.latest(p.Inputs[1])+1)
	case len(p.Inputs) == 0, slices.Contains(StageOps, p.Op), slices.Contains(rowOps, p.Op), p.Op == engine.EachOp:
		return phase
	case slices.Contains(wholeOps, p.Op), operation.Find(p.Op) != nil:
		return max(phase, stages+1)
	}
	c.err = fmt.Errorf("array jobs do not know the operation %q", p.Op)
	return phase
}

// latest returns the latest phase of a stage in a plan, 0 if it has none.
func (c *cutter) latest(p *table.Plan) int {
	if phase, known := c.last[p]; known {
		return phase
	}
	phase := 0
	if slices.Contains(StageOps, p.Op) {
		phase = c.need(p)
	}
	for _, in := range p.Inputs {
		phase = max(phase, c.latest(in))
	}
	c.last[p] = phase
	return phase
}

// Phases returns the plans of the phases of a job that computes every stage of the given plans. A phase ends where an
// operation that needs the whole table is between two stages: its stages must have run in every shard before the next
// phase begins. What follows the last stages is left out.
func Phases(plans ...*table.Plan) ([]*table.Plan, error) {
	c := newCutter()
	all := &table.Plan{Op: engine.EachOp, Inputs: plans}
	if err := all.Check(); err != nil {
		return nil, err
	}
	c.need(all)
	of := c.latest(all)
	switch {
	case c.err != nil:
		return nil, c.err
	case of == 0:
		return nil, errors.New("the commands compute no rows with a model, so there is nothing for tasks to do; run " +
			"them on one machine")
	}
	out := make([]*table.Plan, of)
	for k := range out {
		roots := c.roots(all, k+1)
		if len(roots) == 1 {
			out[k] = roots[0]
		} else {
			out[k] = &table.Plan{Op: engine.EachOp, Inputs: roots}
		}
	}
	return out, nil
}

// roots returns the stages of a phase that no other stage of the phase reads.
func (c *cutter) roots(all *table.Plan, phase int) (roots []*table.Plan) {
	inside := map[string]bool{} // digests of what roots read
	var walk func(p *table.Plan, below bool)
	walk = func(p *table.Plan, below bool) {
		if below {
			inside[p.Digest()] = true
		} else if slices.Contains(StageOps, p.Op) && c.need(p) == phase {
			roots, below = append(roots, p), true
		}
		for _, in := range p.Inputs {
			walk(in, below)
		}
	}
	walk(all, false)
	seen := map[string]bool{}
	return slices.DeleteFunc(roots, func(p *table.Plan) bool {
		digest := p.Digest()
		again := seen[digest] || inside[digest]
		seen[digest] = true
		return again
	})
}

// Shard returns the plan of a phase for one shard: the rows are chosen in the tables that enter the first stages of the
// phase.
func Shard(plan *table.Plan, phase int, a engine.ShardArgs) (*table.Plan, error) {
	c := newCutter()
	args, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	var choose, shard func(p *table.Plan) *table.Plan
	choose = func(p *table.Plan) *table.Plan {
		if slices.Contains(oneToOne, p.Op) && len(p.Inputs) == 1 {
			out := *p
			out.Inputs = []*table.Plan{choose(p.Inputs[0])}
			return &out
		}
		return &table.Plan{Op: engine.ShardOp, Args: args, Inputs: []*table.Plan{p}}
	}
	shard = func(p *table.Plan) *table.Plan {
		if c.latest(p) < phase {
			return choose(p)
		}
		out := *p
		out.Inputs = slices.Clone(p.Inputs)
		for i, in := range p.Inputs {
			if !slices.Contains(joins, p.Op) || i == 0 {
				out.Inputs[i] = shard(in)
			}
		}
		return &out
	}
	out := shard(plan)
	return out, c.err
}

// PaidModels lists the models of a plan that are behind an API: every shard would spend their whole budget.
func PaidModels(plan *table.Plan) (models []string) {
	for p := range plan.All() {
		var a struct{ Model string }
		if p.Op == gomlxmodels.GenerateOp && json.Unmarshal(p.Args, &a) == nil &&
			strings.HasPrefix(a.Model, gomlxmodels.API) {
			models = append(models, a.Model)
		}
	}
	slices.Sort(models)
	return slices.Compact(models)
}
