package metrics

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/fault"
	"antipode/metrics/internal/chain"
	"antipode/metrics/interval"
)

// CompareOptions are the options of [Compare]. The columns by which the metric groups are strata of the half-sampling:
// its option by, else the columns of Subject that both tables have.
type CompareOptions struct {
	Audit   string   `json:"audit,omitempty" required:"true" help:"what scores each table: METRIC option=value … | …; in antipode compare also an audit's name, with options"`
	Margin  float64  `json:"margin,omitempty" min:"0" help:"a change for the worse of so much, in the score's unit, is no regression"`
	Scores  []string `json:"scores,omitempty" help:"columns of the metric's result to compare; empty = those with an interval"`
	Subject []string `json:"subject,omitempty" help:"columns that identify a row of the metric's result, its groups first; empty = its groups, vector and score"`
	Better  string   `json:"better,omitempty" values:"higher,lower" help:"which values of the score are better; empty = as the metric defines it"`
	On      []string `json:"on,omitempty" help:"columns that identify a row in both tables; rows with equal values are sampled together; empty = prompt_id,seed, else id"`
	Look    int      `json:"look,omitempty" min:"0" help:"number of this comparison with the same first table, from 1: the intervals of all comparisons hold at once, however many there will be; 0 = the only one"`

	Intervals `resamples:"400"`
}

// Verdicts of [Compare].
const (
	Regression   = "regression"
	NoRegression = "no regression"
)

// compareRow is a row of [Compare].
type compareRow struct {
	Subject  string   `column:"subject" help:"the group, and what else identifies the score"`
	Score    string   `column:"score"`
	Verdict  string   `column:"verdict" help:"regression, no regression or undecided"`
	Change   Estimate `column:"change" unit:"the score's" help:"b − a"`
	A        float64  `column:"a" unit:"the score's"`
	B        float64  `column:"b" unit:"the score's"`
	Better   string   `column:"better" help:"which values are better"`
	Paired   int      `column:"n_paired" unit:"units" help:"in both tables"`
	OnlyA    int      `column:"n_only_a" unit:"units"`
	OnlyB    int      `column:"n_only_b" unit:"units"`
	Interval string   `column:"interval"`
}

var comparedRuns = Define(Definition[CompareOptions, compareRow]{
	Name: "compare", Title: "changes of a metric from one table to another, and whether it got worse beyond a margin",
	Version: 3, Unit: "the score's", Range: "(-∞, ∞)", Direction: "none",
	Citation: "Politis and Romano 1994, of half-sampling; see package metrics/interval",
	Inputs: chain.Inputs(Input{Role: "a", About: "rows of the first run, with all columns that the metric reads"},
		Input{Role: "b", About: "rows of the second run, with the same columns"}),
	Compute: computeCompare,
})

// Compare is the metric compare: how far the scores of a metric change from table a to table b, and whether they got
// worse. score is called once, with a table that represents either:
//
//	metrics.Compare(before, after, func(t datasets.Table) datasets.Table {
//		return metrics.Means(t, metrics.MeanOptions{Value: "answer_correct", By: metrics.By("region")})
//	}, metrics.CompareOptions{Margin: 0.05, Better: "higher"})
//
// It may use metrics, table operations and verbs of tables; models run before. Reference images and other tables that
// it reads are the same in both and are not resampled. A row of the result is a score of a group:
//
//	change = b − a, with an interval that holds for all rows at once: value ± t·s
//
// s is the standard deviation of the change over half-samples (package interval) of the units of each group, t the
// quantile of the largest deviation of all rows (max-t), widened as Student's for few units. A unit is the rows with
// equal values of Options.On. Units in both tables, such as images of the same prompt and seed, are sampled together:
// the interval is that of the paired differences. Others are sampled independently. Name prompt_id alone where images
// of a prompt are not independent.
//
// No change in any half-sample is an interval without width where the rows of the group are equal in both tables; where
// they are not, as of a share that is 1 in both, there is no interval; neither is there of another change that is the
// same in every half-sample of so few units that their signs could all agree by chance.
//
// Dated runs of one generator, each compared with the first, find a change in the end by chance alone. With
// Options.Look, the number of the comparison, the n-th one has the level 1 − α·6/(π²n²) instead of 1 − α: these add up
// to α over all comparisons, so that the probability of any false regression, ever, is α at most, whenever one looks
// and stops.
//
// The verdict is "regression" where the whole interval is worse than the margin, "no regression" where no part of it
// is, and else, or without an interval, "undecided": more images would tell. Which values are better is the metric's
// direction, or Options.Better.
func Compare(a, b datasets.Table, score func(run datasets.Table) datasets.Table,
	options ...CompareOptions) datasets.Table {
	return chain.Apply(comparedRuns, map[string]datasets.Table{"a": a, "b": b}, "a", score, options,
		func(o *CompareOptions, plan string) { o.Audit = plan })
}

// runs is one evaluation of [Compare].
type runs struct {
	o     CompareOptions
	call  *Call // of the metric, without notes
	plan  *table.Plan
	by    []string // columns of the strata
	both  [2]*table.Frame
	fixed []*table.Frame
	units []unit
}

// unit is rows that are sampled together.
type unit struct {
	key, stratum string
	rows         [2][]int
	equal        bool // the rows of both tables have the same values
}

// cell is the stratum, and in which tables the unit is.
func (u unit) cell() string {
	return fmt.Sprint(u.stratum, "\x00", len(u.rows[0]) > 0, len(u.rows[1]) > 0)
}

// scoreOf identifies a score: its subject, its column and its stratum, "" if the result does not tell.
type scoreOf [3]string

// scoreValues are the values of scores.
type scoreValues map[scoreOf]float64

// of returns a value, NaN for none.
func (s scoreValues) of(score scoreOf) float64 {
	if v, known := s[score]; known {
		return v
	}
	return math.NaN()
}

func computeCompare(ctx context.Context, call *Call, o CompareOptions) (out []compareRow, err error) {
	r := &runs{o: o, both: [2]*table.Frame{call.Inputs["a"], call.Inputs["b"]}, fixed: chain.Fixed(call)}
	if r.plan, err = chain.Compile(o.Audit, len(r.fixed)); err != nil {
		return nil, err
	}
	if op := operation.Find(r.plan.Op); r.o.Better == "" && op != nil {
		r.o.Better, _, _ = strings.Cut(op.With(r.plan.Args).Direction, " is better")
	}
	if r.o.Better != "higher" && r.o.Better != "lower" {
		return nil, &table.Error{Code: table.CodeUsage, Message: fmt.Sprintf("%s does not define which values are "+
			"better: set Better (--better higher or lower)", r.plan.Op)}
	}
	if o.Resamples < 2 {
		return nil, errors.New("a verdict needs an interval; set resamples to 2 half-samples or more")
	}
	if err := r.readUnits(); err != nil {
		return nil, err
	}
	r.call = &Call{Neighbors: chain.NewNeighbors(r.fixed)}
	var order []scoreOf
	var values [2]scoreValues
	for i, name := range []string{"a", "b"} {
		noted := &Call{Neighbors: r.call.Neighbors, Read: call.Read, Note: func(format string, args ...any) {
			call.Notef("%s: %s", name, fmt.Sprintf(format, args...))
		}}
		if i == 0 {
			r.plan = r.quick(ctx)
		}
		var own []scoreOf
		if own, values[i], err = r.evaluate(ctx, noted, i, r.both[i], r.plan); err != nil {
			return nil, err
		}
		for _, s := range own {
			if !slices.Contains(order, s) {
				order = append(order, s)
			}
		}
	}
	samples, err := r.resample(ctx, call, order)
	if err != nil {
		return nil, err
	}
	return r.verdicts(order, values, samples)
}

// quick returns the plan without the intervals of the scores, which are not used, if it has the same values.
func (r *runs) quick(ctx context.Context) *table.Plan {
	plan, err := chain.WithoutResamples(r.plan)
	if err != nil {
		return r.plan
	}
	_, values, err := r.evaluate(ctx, r.call, 0, r.both[0], plan)
	if err != nil {
		return r.plan
	}
	_, full, err := r.evaluate(ctx, r.call, 0, r.both[0], r.plan)
	same := func(a, b float64) bool { // but for rounding
		return cmp.Compare(a, b) == 0 || math.Abs(a-b) <= 1e-9*math.Abs(b)
	}
	if err == nil && !maps.EqualFunc(values, full, same) {
		return r.plan
	}
	return plan
}

// readUnits divides the rows of both tables into units.
func (r *runs) readUnits() error {
	var args struct{ Options struct{ By []string } }
	if err := json.Unmarshal(r.plan.Args, &args); err != nil {
		args.Options.By = nil // of another kind than names of columns
	}
	on, has := r.o.On, func(name string) bool { return r.both[0].Has(name) && r.both[1].Has(name) }
	if len(on) == 0 {
		if on = []string{"id"}; has("prompt_id") && has("seed") {
			on = []string{"prompt_id", "seed"}
		}
		on = slices.DeleteFunc(on, func(name string) bool { return !has(name) })
	}
	if len(args.Options.By) == 0 {
		args.Options.By = r.o.Subject
	}
	for _, name := range args.Options.By {
		if has(name) {
			r.by = append(r.by, name)
		}
	}
	at := map[string]int{}
	for side, f := range r.both {
		role := string(rune('a' + side))
		groups, err := table.Groups(f, r.by)
		if err != nil {
			return fmt.Errorf("table %q: %w", role, err)
		}
		for _, name := range on {
			if !f.Has(name) {
				return fmt.Errorf("table %q has no column %q to identify its rows by", role, name)
			}
		}
		for _, g := range groups {
			stratum := strings.Join(g.By, ", ")
			for _, row := range g.Rows {
				key := stratum
				for _, name := range on {
					key += "\x00" + f.Column(name).Exact(row)
				}
				if len(on) == 0 {
					key += fmt.Sprint("\x00", role, row)
				}
				i, known := at[key]
				if !known {
					i = len(r.units)
					at[key], r.units = i, append(r.units, unit{key: key, stratum: stratum})
				}
				r.units[i].rows[side] = append(r.units[i].rows[side], row)
			}
		}
	}
	r.findEqual()
	return nil
}

// findEqual marks the units whose rows are equal.
func (r *runs) findEqual() {
	for i := range r.units {
		u := &r.units[i]
		u.equal = slices.EqualFunc(u.rows[0], u.rows[1], func(a, b int) bool {
			return !slices.ContainsFunc(r.both[0].Columns, func(c table.Column) bool {
				other := r.both[1].Column(c.Name)
				return other == nil || !table.Same(&c, a, other, b)
			})
		})
	}
}

// evaluate computes the scores of rows of a table.
func (r *runs) evaluate(ctx context.Context, call *Call, side int, rows *table.Frame,
	plan *table.Plan) (order []scoreOf, values scoreValues, err error) {
	f, err := call.Evaluate(ctx, plan, append([]*table.Frame{rows}, r.fixed...)...)
	if err != nil {
		return nil, nil, fmt.Errorf("table %q: %w", string(rune('a'+side)), err)
	}
	scores, subject := r.o.Scores, r.o.Subject
	if len(scores) == 0 {
		for _, c := range f.Columns {
			if c.Kind == table.KindNumber && f.Has(c.Name+"_low") && f.Has(c.Name+"_high") {
				scores = append(scores, c.Name)
			}
		}
		if len(scores) == 0 {
			return nil, nil, fmt.Errorf("no column of the result of %s has an interval; name those to compare with "+
				"scores (%s)", plan.Op, table.NameList(f.Specs()))
		}
	}
	if len(subject) == 0 {
		for _, name := range append(slices.Clone(r.by), "vector", "score") {
			if c := f.Column(name); c != nil && c.Kind == table.KindText {
				subject = append(subject, name)
			}
		}
	}
	subjects, err := chain.Subjects(f, subject)
	strata := make([]string, f.Len())
	if !slices.ContainsFunc(r.by, func(name string) bool { return !f.Has(name) }) {
		strata, _ = chain.Subjects(f, r.by)
	} else if c := f.Column(strings.Join(r.by, ", ")); c != nil && c.Kind == table.KindText {
		strata = c.Texts
	}
	values, seen := scoreValues{}, map[[2]string]bool{}
	for _, score := range scores {
		c, bad := f.Need(score, table.KindNumber)
		if err = cmp.Or(err, bad); err != nil {
			return nil, nil, fmt.Errorf("the result of %s: %w", plan.Op, err)
		}
		for row, s := range subjects {
			at := scoreOf{s, score, strata[row]}
			if seen[[2]string{s, score}] {
				return nil, nil, fmt.Errorf("the result of %s has two rows for %q: name more columns with subject "+
					"(%s)", plan.Op, s, table.NameList(f.Specs()))
			}
			order, values[at], seen[[2]string{s, score}] = append(order, at), c.Numbers[row], true
		}
	}
	return order, values, nil
}

// resample returns the change of each score in each half-sample; NaN = none.
func (r *runs) resample(ctx context.Context, call *Call, order []scoreOf) ([][]float64, error) {
	h := interval.HalfSampleOptions{Seed: uint64(r.o.Seed), Resamples: r.o.Resamples, Side: "compare"}
	for _, u := range r.units {
		h.Cells, h.IDs = append(h.Cells, u.cell()), append(h.IDs, u.key)
	}
	halves, err := interval.HalfSample(h)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(order))
	for i := range out {
		out[i] = make([]float64, r.o.Resamples)
	}
	var mu sync.Mutex
	done := 0
	return out, fault.Until(ctx, r.o.Resamples, func(ctx context.Context, n int) error {
		changes, err := r.change(ctx, halves, n)
		if err != nil {
			return fmt.Errorf("in a half of the rows: %w", err)
		}
		for i, s := range order {
			out[i][n] = changes(s)
		}
		mu.Lock()
		defer mu.Unlock()
		done++
		call.Report("compare", done, r.o.Resamples)
		return nil
	})
}

// change returns the change of the scores in a half-sample.
func (r *runs) change(ctx context.Context, halves *interval.Samples, n int) (func(scoreOf) float64, error) {
	var values [2]scoreValues
	for side, f := range r.both {
		var rows []int
		for i, u := range r.units {
			if halves.Contains(n, i) {
				rows = append(rows, u.rows[side]...)
			}
		}
		slices.Sort(rows)
		var err error
		if _, values[side], err = r.evaluate(ctx, r.call, side, f.Pick(rows), r.plan); err != nil {
			return nil, err
		}
	}
	return func(s scoreOf) float64 { return values[1].of(s) - values[0].of(s) }, nil
}

// verdicts returns the rows of the result.
func (r *runs) verdicts(order []scoreOf, values [2]scoreValues, samples [][]float64) ([]compareRow, error) {
	var out []compareRow
	var bounded []int // rows with an interval
	var equal []bool
	var changes, free []float64
	var halves [][]float64
	for i, s := range order {
		row := &compareRow{Subject: s[0], Score: s[1], Verdict: interval.Undecided, Better: r.o.Better,
			A: values[0].of(s), B: values[1].of(s)}
		row.Change = Exact(row.B - row.A)
		f, same := r.count(row, s[2])
		if row.Paired+row.OnlyA+row.OnlyB == 0 {
			continue // a group of the reference images alone
		}
		missing := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
		if f > 0 && !missing(row.Change.Value) && !slices.ContainsFunc(samples[i], missing) {
			bounded, changes, free = append(bounded, len(out)), append(changes, row.Change.Value), append(free, f)
			halves = append(halves, samples[i])
		}
		out, equal = append(out, *row), append(equal, same)
	}
	intervals, err := interval.SimultaneousOfFew(changes, halves, free, r.o.Level)
	if err != nil {
		return nil, err
	}
	for k, i := range bounded {
		row := &out[i]
		chance := math.Exp2(-free[k]) * float64(len(bounded)) // of equal signs of all changes, in any row
		if intervals[k].Low == intervals[k].High && !equal[i] && (row.Change.Value == 0 || chance > 1-r.o.Level) {
			continue
		}
		row.Interval = fmt.Sprintf("%.4g %% half-sampling interval, simultaneous over the rows", 100*r.o.Level)
		wider := 1.0
		if n := float64(r.o.Look); n > 0 {
			level := 1 - (1-r.o.Level)*6/(math.Pi*math.Pi*n*n)
			wider = interval.Student(level, free[k]) / interval.Student(r.o.Level, free[k])
			row.Interval += " and all comparisons with a"
		}
		half := wider * (intervals[k].High - row.Change.Value)
		row.Change.Low, row.Change.High = row.Change.Value-half, row.Change.Value+half
		low, high := row.Change.Low, row.Change.High
		if r.o.Better == "lower" {
			low, high = -high, -low
		}
		switch {
		case high < -r.o.Margin:
			row.Verdict = Regression
		case low >= -r.o.Margin:
			row.Verdict = NoRegression
		}
	}
	return out, nil
}

// count counts the units of a row's stratum, "" = all, and returns their degrees of freedom and whether all are equal.
func (r *runs) count(row *compareRow, stratum string) (free float64, equal bool) {
	equal = true
	for _, u := range r.units {
		if stratum != "" && stratum != u.stratum {
			continue
		}
		equal = equal && u.equal
		switch {
		case len(u.rows[1]) == 0:
			row.OnlyA++
		case len(u.rows[0]) == 0:
			row.OnlyB++
		default:
			row.Paired++
		}
	}
	for _, n := range []int{row.Paired, row.OnlyA, row.OnlyB} {
		free += float64(max(0, n-1))
	}
	return free, equal
}
