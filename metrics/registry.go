package metrics

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics/prdc"
)

// Op is the operation of a plan that computes a metric.
const Op = "score"

// Info says what a score is.
type Info struct {
	Name      string // as `antipode score --metric` takes it, for example "precision-coverage"
	Title     string // one line
	Unit      string // "share of images", "ratio", …
	Range     string // "[0, 1]"
	Direction string // "higher is better", "none", …
	Citation  string // paper, with its equation or table
}

// Input is a table a metric reads.
type Input struct {
	Role     string              // "in", "real", "generated"
	Columns  []client.ColumnSpec // what it must hold; kind "" = any
	About    string
	Optional bool
}

// Option is a setting of a metric: a flag of the command, a field of the plan's arguments.
type Option struct {
	Name    string // flag and JSON name, for example "k"
	Default string // as text; "" = must be given
	About   string
	Values  []string // where the choice is closed
}

// Call is one computation of a metric.
type Call struct {
	Inputs     map[string]*client.Frame // by role; an optional one may be missing
	Options    map[string]string        // every option of the metric, defaults filled in
	By         []string                 // grouping columns
	Seed       int64
	Neighbours prdc.Neighbours // how nearest neighbours are found; nil = the slow Go way
	Progress   func(client.Progress)
	Note       func(format string, args ...any) // a warning that travels with the result
	// Verb does a verb of tables (where, concat, …) on rows, for a metric that runs others; nil = none can be done.
	Verb func(op string, args json.RawMessage, in []*client.Frame) (*client.Frame, error)
}

// Metric is a score on tables.
type Metric struct {
	Info
	Version int // raised in the commit that may move a value by more than float noise
	Inputs  []Input
	Options []Option
	Near    bool // it finds nearest neighbours, so the device is worth opening
	// Columns are those of the result, as far as they are known from the arguments.
	Columns func(args Args) []client.ColumnSpec
	Compute func(ctx context.Context, call Call) (*client.Frame, error)
}

// Args are the arguments of a plan's score operation. Roles names its inputs, in order.
type Args struct {
	Metric  string            `json:"metric"`
	Version int               `json:"version"`
	Roles   []string          `json:"roles"`
	Options map[string]string `json:"options,omitempty"`
	By      []string          `json:"by,omitempty"`
	Seed    int64             `json:"seed,omitempty"`
}

var registry = map[string]Metric{}

// Register makes a metric known. It panics on a second registration of a name: that is a mistake in the program.
func Register(m Metric) {
	if _, twice := registry[m.Name]; twice {
		panic(fmt.Sprintf("metrics: %q registered twice", m.Name))
	}
	registry[m.Name] = m
}

// Find returns the metric of that name, or an error that lists the known ones.
func Find(name string) (Metric, error) {
	if m, ok := registry[name]; ok {
		return m, nil
	}
	return Metric{}, fmt.Errorf("no metric %q; known: %v%s", name, Names(), client.Hint(name, Names()))
}

// Names lists the known metrics.
func Names() []string {
	var names []string
	for n := range registry {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Score makes the table of a metric's values: what every metric's own constructor calls. inputs are by role.
func Score(args Args, inputs map[string]datasets.Table) datasets.Table {
	m, err := Find(args.Metric)
	if err != nil {
		return datasets.Table{}.Fail(err)
	}
	args.Version = m.Version
	args.Roles = nil
	if args.Options, err = m.complete(args.Options); err != nil {
		return datasets.Table{}.Fail(err)
	}
	var tables []datasets.Table
	for _, in := range m.Inputs {
		t, given := inputs[in.Role]
		if !given {
			if in.Optional {
				continue
			}
			return datasets.Table{}.Fail(fmt.Errorf("metric %s needs the table %q (%s)", m.Name, in.Role, in.About))
		}
		for _, c := range in.Columns {
			t = t.Need(c.Name, c.Kind)
		}
		for _, by := range args.By {
			if !in.Optional {
				t = t.Need(by, client.Text)
			}
		}
		args.Roles = append(args.Roles, in.Role)
		tables = append(tables, t)
	}
	var columns []client.ColumnSpec
	if m.Columns != nil {
		columns = m.Columns(args)
	}
	out := datasets.New(Op, args, columns, tables...)
	if m.Columns == nil {
		out = out.Open()
	}
	return out
}

// complete fills in defaults and refuses unknown options and values.
func (m Metric) complete(given map[string]string) (map[string]string, error) {
	full := map[string]string{}
	for _, o := range m.Options {
		v, ok := given[o.Name]
		if !ok {
			if v = o.Default; v == "" && o.Default == "" && len(o.Values) > 0 {
				return nil, fmt.Errorf("metric %s needs the option %s (%s)", m.Name, o.Name, o.About)
			}
		}
		if len(o.Values) > 0 {
			found := false
			for _, allowed := range o.Values {
				found = found || allowed == v
			}
			if !found {
				return nil, fmt.Errorf("metric %s: option %s=%q; it takes one of %v", m.Name, o.Name, v, o.Values)
			}
		}
		full[o.Name] = v
	}
	for name := range given {
		if _, known := full[name]; !known {
			return nil, fmt.Errorf("metric %s has no option %q; see `antipode score --metric %s --help`", m.Name, name, m.Name)
		}
	}
	return full, nil
}

// Evaluate computes the score a plan asks for on input frames in the order of args.Roles: what the backend calls.
func Evaluate(ctx context.Context, raw json.RawMessage, inputs []*client.Frame, call Call) (*client.Frame, error) {
	var args Args
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, fmt.Errorf("score: %w", err)
	}
	m, err := Find(args.Metric)
	if err != nil {
		return nil, err
	}
	if len(inputs) != len(args.Roles) {
		return nil, fmt.Errorf("metric %s: %d tables for the roles %v", m.Name, len(inputs), args.Roles)
	}
	call.Inputs = map[string]*client.Frame{}
	for i, role := range args.Roles {
		call.Inputs[role] = inputs[i]
	}
	for _, in := range m.Inputs {
		f := call.Inputs[in.Role]
		if f == nil {
			continue
		}
		for _, c := range in.Columns {
			kind := c.Kind
			if kind == "" {
				if f.Column(c.Name) == nil {
					_, err := f.Need(c.Name, client.Text)
					return nil, fmt.Errorf("metric %s, table %q: %w", m.Name, in.Role, err)
				}
				continue
			}
			if _, err := f.Need(c.Name, kind); err != nil {
				return nil, fmt.Errorf("metric %s, table %q: %w", m.Name, in.Role, err)
			}
		}
	}
	if call.Options, err = m.complete(args.Options); err != nil {
		return nil, err
	}
	call.By, call.Seed = args.By, args.Seed
	f, err := m.Compute(ctx, call)
	if err != nil || f.Len() > 0 || m.Columns == nil {
		return f, err
	}
	empty := &client.Frame{} // no rows, but the columns that were promised
	for _, c := range m.Columns(args) {
		empty.Columns = append(empty.Columns, client.Column{ColumnSpec: c})
	}
	return empty, nil
}
