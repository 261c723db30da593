package power

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"antipode/datasets/table"
	"antipode/metrics"
	"antipode/metrics/internal/chain"
)

// audit is one evaluation of [Curve] or [Findings].
type audit struct {
	o           Options
	call        *metrics.Call // for the operations of the audit
	plan        *table.Plan
	pool, other *table.Frame
	fixed       []*table.Frame
	injected    map[string]float64 // nil = not known
	cells       []Cell
	subjects    []string // of all samples
}

// resample runs the audit on all samples.
func resample(ctx context.Context, call *metrics.Call, o Options) (*audit, []Outcome, error) {
	a := &audit{o: o, pool: call.Inputs["in"], other: call.Inputs["other"]}
	var err error
	if a.injected, err = o.injected(call.Inputs["injected"]); err != nil {
		return nil, nil, err
	}
	a.fixed = chain.Fixed(call)
	if a.plan, err = chain.Compile(o.Audit, len(a.fixed)); err != nil {
		return nil, nil, err
	}
	if a.cells, err = cellsOf(call, o.Cells, o.Unit); err != nil {
		return nil, nil, err
	}
	var notes notes
	a.call = &metrics.Call{Neighbors: call.Neighbors, Note: notes.add}
	if a.call.Neighbors == nil {
		a.call.Neighbors = chain.NewNeighbors(a.fixed)
	}
	outcomes, err := Resample(ctx, a.cells, a.run, ResampleOptions{Sizes: o.Sizes, Shares: o.Shares,
		Resamples: o.Resamples, Seed: o.Seed, Progress: func(done, total int) {
			call.Report(strings.TrimSpace("power "+o.Name), done, total)
		}})
	if err != nil {
		return nil, nil, err
	}
	if err := a.known(outcomes); err != nil {
		return nil, nil, err
	}
	notes.report(call)
	return a, outcomes, nil
}

func (a *audit) run(ctx context.Context, s Sample) ([]Result, error) {
	pool := a.pool.Pick(s.Rows)
	var err error
	if a.other != nil {
		if pool, err = stack(pool, a.other.Pick(s.Others)); err != nil {
			return nil, err
		}
	}
	if a.o.Exchange != "" {
		if pool, err = exchanged(pool, a.o.Exchange, a.o.Within, s.Seed); err != nil {
			return nil, err
		}
	}
	plan, err := chain.WithSeed(a.plan, s.Seed)
	if err != nil {
		return nil, err
	}
	f, err := a.call.Evaluate(ctx, plan, append([]*table.Frame{pool}, a.fixed...)...)
	if err != nil {
		return nil, err
	}
	return a.o.results(f)
}

// known collects the subjects. It returns an error if the audit's results do not name an injected disparity.
func (a *audit) known(outcomes []Outcome) error {
	seen := map[string]bool{}
	for _, o := range outcomes {
		for _, p := range o.BySubject() {
			seen[p.Subject] = true
		}
	}
	a.subjects = slices.Sorted(maps.Keys(seen))
	for _, s := range slices.Sorted(maps.Keys(a.injected)) {
		if !seen[s] {
			return fmt.Errorf("table %q: the audit's result has no row for %q; it has: %s", "injected", s,
				strings.Join(a.subjects, "; "))
		}
	}
	return nil
}

// kind returns the kind of a subject, and the size of its injected disparity.
func (a *audit) kind(subject string) (kind string, injected float64) {
	switch size, is := a.injected[subject]; {
	case is:
		return "injected", size
	case a.injected != nil:
		return "control", math.NaN()
	}
	return "subject", math.NaN()
}

// rows returns the number of rows of a sample: exactly if the units of each cell have the same size, else on average.
func (a *audit) rows(n int) (total float64) {
	for _, c := range a.cells {
		rows := 0
		for _, u := range c.Units {
			rows += len(u)
		}
		total += float64(rows*n) / float64(len(c.Units))
	}
	return total
}

// family is the subject of the row about all subjects without an injected disparity.
const family = "any that is not injected"

func computeCurve(ctx context.Context, call *metrics.Call, o Options) ([]Row, error) {
	a, outcomes, err := resample(ctx, call, o)
	if err != nil {
		return nil, err
	}
	pool := len(a.cells[0].Units)
	for _, c := range a.cells {
		pool = min(pool, len(c.Units))
	}
	var out []Row
	for _, at := range outcomes {
		add := func(kind string, p Power, injected float64) {
			out = append(out, Row{Audit: o.Name, Kind: kind, Subject: p.Subject, Share: at.Share, N: at.N,
				Found: metrics.Estimate{Value: p.Share, Low: p.Low, High: p.High}, Injected: injected,
				Estimate: metrics.Estimate{Value: p.Estimate, Low: p.EstimateLow, High: p.EstimateHigh},
				NFound:   p.Found, Resamples: p.Resamples, Rows: a.rows(at.N), Cells: len(a.cells), Pool: pool,
				Unit: cmp.Or(o.Unit, "rows"), Interval: "95 % Wilson interval over resamples of one pool"})
		}
		for _, p := range at.BySubject(a.subjects...) {
			kind, injected := a.kind(p.Subject)
			add(kind, p, injected)
		}
		p := at.Any(func(subject string) bool { _, is := a.injected[subject]; return !is })
		p.Subject = family
		add("family", p, math.NaN())
	}
	return out, nil
}

func computeFindings(ctx context.Context, call *metrics.Call, o Options) ([]findingRow, error) {
	a, outcomes, err := resample(ctx, call, o)
	if err != nil {
		return nil, err
	}
	var out []findingRow
	for _, at := range outcomes {
		for i, results := range at.Results {
			for _, r := range results {
				kind, injected := a.kind(r.Subject)
				out = append(out, findingRow{Audit: o.Name, Kind: kind, Subject: r.Subject, Share: at.Share, N: at.N,
					Resample: i + 1, Found: r.Found, Injected: injected,
					Estimate: metrics.Estimate{Value: r.Estimate, Low: r.Low, High: r.High}, P: r.P,
					Rows: a.rows(at.N)})
			}
		}
	}
	return out, nil
}

// notes counts the notes of the audit's operations, so that each kind is reported once. Notes of one kind differ only
// in numbers.
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
	k.first = min(k.first, text) // samples finish in any order
}

// report reports the most frequent notes.
func (n *notes) report(call *metrics.Call) {
	kinds := slices.SortedFunc(maps.Values(n.kinds), func(a, b *notesOfAKind) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.first, b.first))
	})
	for i, k := range kinds {
		if i == 3 {
			call.Notef("and %d more notes of the audit", len(kinds)-i)
			return
		}
		example := ""
		if k.vary {
			example = ", for example"
		}
		call.Notef("in %d audits of samples%s: %s", k.n, example, k.first)
	}
}
