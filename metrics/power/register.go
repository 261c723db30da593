package power

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

func init() {
	inputs := []metrics.Input{
		{Role: "in", About: "the pool: a row for each picture, many in each cell, with all that the audit reads"},
		{Role: "other", Optional: true, About: "another pool of the same cells, where nothing is wrong: what shares under 1 are filled up with"},
		{Role: "planted", Optional: true, Columns: datasets.Columns("size:number"), About: "what is wrong in the pool, where that is known, and how large it is: the columns that the option subject names, or subject, their values joined by commas"},
	}
	for i := range mostFixed {
		inputs = append(inputs, metrics.Input{Role: fixedRole(i), Optional: true, About: "a table that the audit reads beside the pool: photos, references, words"})
	}
	options := []metrics.Option{
		{Name: "audit", About: "what is run on each draw: 'METRIC option=value … | METRIC …'; the first reads the pool and fixed1, fixed2, …, each next one the table before it; ';' between parts puts them below each other"},
		{Name: "cells", About: "the columns that divide the pool into cells, A,B; empty = one cell"},
		{Name: "unit", About: "the column whose rows are drawn together within a cell, for example prompt_id; empty = every row"},
		{Name: "sizes", About: "how many rows (units) are drawn from each cell, 5,10,20"},
		{Name: "shares", Default: "1", About: "which part of each draw comes from the pool, 0.25,0.5,1; the rest comes from the table other"},
		{Name: "exchange", About: "a column whose values the rows of each draw exchange, so that it says nothing: what is found then is a false alarm"},
		{Name: "within", About: "the columns within whose groups they do, A,B; empty = in the whole draw"},
		{Name: "resamples", Default: "200", About: "draws of each size"},
		{Name: "subject", About: "the columns of the audit's result that say what a row is about"},
		{Name: "value", About: "the column of the audit's result that says how large it is; without p, its interval is in VALUE_low and VALUE_high"},
		{Name: "sign", Default: "both", Values: []string{"both", "below", "above"}, About: "on which side of null a finding must lie"},
		{Name: "null", Default: "0", About: "the value that says: nothing there"},
		{Name: "least", Default: "0", About: "how far from null a finding's value must lie: the smallest difference that matters"},
		{Name: "p", About: "the column of p-values; empty = findings are intervals that exclude null"},
		{Name: "correct", Default: "holm", Values: []string{"holm", "bh", "none"}, About: "how p-values are corrected over all rows of a draw"},
		{Name: "alpha", Default: "0.05", About: "a corrected p-value up to this is a finding"},
		{Name: "name", About: "the audit's name, for the column audit"},
	}
	metrics.Register(metrics.Metric{
		Info: metrics.Info{Name: "power", Title: "how often an audit finds something in draws of n images per cell from a pool", Unit: "share of resamples", Range: "[0, 1]",
			Direction: "higher is better where something is wrong; at most alpha where nothing is", Citation: "Wilson 1927, of the intervals; see package metrics/power"},
		Version: 1, Inputs: inputs, Options: options,
		Columns: tabular.Fixed("=audit", "=kind", "=subject", "share", "n", "found", "found_low", "found_high", "planted", "estimate", "estimate_low", "estimate_high",
			"n_found", "n_resamples", "n_rows", "n_cells", "n_pool", "=drawn", "=interval"),
		Compute: resampled(audit.curve),
	})
	metrics.Register(metrics.Metric{
		Info: metrics.Info{Name: "power-findings", Title: "what an audit finds in each draw of n images per cell from a pool", Unit: "the audit's", Range: "the audit's",
			Direction: "none", Citation: "package metrics/power"},
		Version: 1, Inputs: inputs, Options: options,
		Columns: tabular.Fixed("=audit", "=kind", "=subject", "share", "n", "resample", "=found", "planted", "estimate", "estimate_low", "estimate_high", "p", "n_rows"),
		Compute: resampled(audit.findings),
	})
}

// audit is the metric's call, read.
type audit struct {
	call        metrics.Call
	rule        rule
	runner      *runner
	pool, other *client.Frame
	plants      map[string]float64 // nil = not known
	cells       []Cell
}

// resampled is a metric that makes a table of an audit's outcomes.
func resampled(table func(audit, []Outcome) (*client.Frame, error)) func(context.Context, metrics.Call) (*client.Frame, error) {
	return func(ctx context.Context, call metrics.Call) (*client.Frame, error) {
		a, o, err := prepare(call)
		if err != nil {
			return nil, err
		}
		var notes notes
		a.runner.call.Note = notes.add
		outcomes, err := Resample(ctx, a.cells, a.read, o)
		if err != nil {
			return nil, err
		}
		if err := a.known(outcomes); err != nil {
			return nil, err
		}
		notes.tell(call)
		return table(a, outcomes)
	}
}

// prepare reads a call.
func prepare(call metrics.Call) (a audit, o Options, err error) {
	if len(call.By) > 0 {
		return a, o, errors.New("power has no grouping: name the pool's cells in the option cells, and group inside the audit")
	}
	a = audit{call: call, pool: call.Inputs["in"], other: call.Inputs["other"]}
	if a.rule, err = readRule(call); err != nil {
		return a, o, err
	}
	if a.plants, err = a.rule.plants(call.Inputs["planted"]); err != nil {
		return a, o, err
	}
	var fixed []*client.Frame
	for i := range mostFixed {
		if f := call.Inputs[fixedRole(i)]; f != nil {
			fixed = append(fixed, f)
		}
	}
	plan, err := compile(call.Options["audit"], len(fixed))
	if err != nil {
		return a, o, err
	}
	if call.Neighbours == nil {
		call.Neighbours = newRemembering(fixed)
	}
	a.runner = newRunner(plan, fixed, call)
	if a.cells, err = cellsOf(call); err != nil {
		return a, o, err
	}
	o = Options{Seed: call.Seed, Progress: func(done, total int) {
		if call.Progress != nil {
			call.Progress(client.Progress{Stage: strings.TrimSpace("power " + call.Options["name"]), Done: done, Total: total})
		}
	}}
	if o.Resamples, err = tabular.Count(call, "resamples"); err != nil {
		return a, o, err
	}
	if o.Shares, err = numbers(call, "shares"); err != nil {
		return a, o, err
	}
	sizes, err := numbers(call, "sizes")
	for _, n := range sizes {
		if n != math.Trunc(n) && err == nil {
			err = fmt.Errorf("option sizes: %g is not a whole number", n)
		}
		o.Sizes = append(o.Sizes, int(n))
	}
	return a, o, err
}

// read runs the audit on a draw.
func (a audit) read(ctx context.Context, d Draw) ([]Reading, error) {
	pool := a.pool.Pick(d.Rows)
	if a.other != nil {
		var err error
		if pool, err = stack(pool, a.other.Pick(d.Others)); err != nil {
			return nil, err
		}
	}
	if column := a.call.Options["exchange"]; column != "" {
		var err error
		if pool, err = exchanged(pool, column, datasets.SplitColumns(a.call.Options["within"]), d.Seed); err != nil {
			return nil, err
		}
	}
	f, err := a.runner.run(ctx, a.runner.plan, pool, d.Seed, map[string]*client.Frame{})
	if err != nil {
		return nil, err
	}
	return a.rule.read(f)
}

// known refuses plants that the audit's results do not name.
func (a audit) known(outcomes []Outcome) error {
	seen := map[string]bool{}
	for _, o := range outcomes {
		for _, p := range o.BySubject() {
			seen[p.Subject] = true
		}
	}
	for _, s := range slices.Sorted(maps.Keys(a.plants)) {
		if !seen[s] {
			return fmt.Errorf("table %q: the audit's result has no row for %q; it has: %s", "planted", s, strings.Join(slices.Sorted(maps.Keys(seen)), "; "))
		}
	}
	return nil
}

// kind says what is known of a subject.
func (a audit) kind(subject string) (kind string, planted float64) {
	switch size, is := a.plants[subject]; {
	case is:
		return "planted", size
	case a.plants != nil:
		return "control", math.NaN()
	}
	return "subject", math.NaN()
}

// rows is how many rows are in a draw; exact where a cell's units are of one size.
func (a audit) rows(n int) (total float64) {
	for _, c := range a.cells {
		rows := 0
		for _, u := range c.Units {
			rows += len(u)
		}
		total += float64(rows*n) / float64(len(c.Units))
	}
	return total
}

func (a audit) curve(outcomes []Outcome) (*client.Frame, error) {
	drawn, pool := cmp.Or(a.call.Options["unit"], "rows"), len(a.cells[0].Units)
	for _, c := range a.cells {
		pool = min(pool, len(c.Units))
	}
	var out [][]any
	for _, o := range outcomes {
		row := func(kind string, p Power, planted float64) {
			out = append(out, []any{a.call.Options["name"], kind, p.Subject, o.Share, o.N, p.Share, p.Low, p.High, planted, p.Estimate, p.EstimateLow, p.EstimateHigh,
				p.Found, p.Resamples, a.rows(o.N), len(a.cells), pool, drawn, "95 % Wilson interval over resamples of one pool"})
		}
		for _, p := range o.BySubject() {
			kind, planted := a.kind(p.Subject)
			row(kind, p, planted)
		}
		p := o.Any(func(subject string) bool { _, is := a.plants[subject]; return !is })
		p.Subject = "any that is not planted"
		row("family", p, math.NaN())
	}
	return tabular.Result("power", a.call, out)
}

func (a audit) findings(outcomes []Outcome) (*client.Frame, error) {
	var out [][]any
	for _, o := range outcomes {
		for i, readings := range o.Readings {
			for _, r := range readings {
				kind, planted := a.kind(r.Subject)
				found := map[bool]string{true: "yes", false: "no"}[r.Found]
				out = append(out, []any{a.call.Options["name"], kind, r.Subject, o.Share, o.N, i + 1, found, planted, r.Estimate, r.Low, r.High, r.P, a.rows(o.N)})
			}
		}
	}
	return tabular.Result("power-findings", a.call, out)
}

// notes counts the notes of inner metrics, so that each kind is told once. Notes of one kind differ in numbers alone.
type notes struct {
	mu    sync.Mutex
	kinds map[string]*notesOfAKind
}

type notesOfAKind struct {
	first string
	n     int
	vary  bool
}

var numberInNote = regexp.MustCompile(`[0-9]+`)

func (n *notes) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.kinds == nil {
		n.kinds = map[string]*notesOfAKind{}
	}
	text := fmt.Sprintf(format, args...)
	kind := numberInNote.ReplaceAllString(text, "0")
	if n.kinds[kind] == nil {
		n.kinds[kind] = &notesOfAKind{first: text}
	}
	k := n.kinds[kind]
	k.n++
	k.vary = k.vary || text != k.first
	k.first = min(k.first, text) // draws come in any order
}

// tell passes on the most frequent ones.
func (n *notes) tell(call metrics.Call) {
	if call.Note == nil {
		return
	}
	kinds := slices.SortedFunc(maps.Values(n.kinds), func(a, b *notesOfAKind) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.first, b.first))
	})
	for i, k := range kinds {
		if i == 3 {
			call.Note("and %d more notes of the audit on its draws", len(kinds)-i)
			return
		}
		example := ""
		if k.vary {
			example = ", for example"
		}
		call.Note("in %d audits of draws%s: %s", k.n, example, k.first)
	}
}
