package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"antipode/datasets/table"
	"antipode/internal/distance"
)

// Definition defines an operation by its options O and its rows R. Name, Title, Version and one of Compute and Frame
// are required.
type Definition[O, R any] struct {
	Name     string // for example "precision-coverage"
	Title    string // one line
	Version  int    // raised in the commit that may change a value by more than float noise
	Citation string // paper, with its equation or table
	Inputs   []Input

	Unit, Range, Direction string // of a metric: "share of images", "[0, 1]", "higher is better"
	// DirectionOf returns the direction where it depends on the options; "" or nil = Direction.
	DirectionOf func(options O) string

	Device bool // it searches nearest neighbors or multiplies large matrices: the device is opened for it
	// Planned makes datasets.Workload evaluate it with Call.Planned where items that it reads are missing; false = what
	// follows it is not known then.
	Planned bool

	// Columns returns the columns of the result where R does not determine them; nil = those of R, or with Frame
	// columns that are known only when the operation runs.
	Columns func(options O) []table.ColumnSpec
	Compute func(ctx context.Context, call *Call, options O) ([]R, error)
	// Frame computes a result whose columns depend on the data, in place of Compute.
	Frame func(ctx context.Context, call *Call, options O) (*table.Frame, error)
}

// Input is a table that an operation reads.
type Input struct {
	Role     string             // "in", "real", "generated"
	Columns  []table.ColumnSpec // the columns it needs; kind "" = any
	About    string             // one line
	Optional bool

	// RepeatedIDs reads a file whose ids occur several times, as those of a table of translations.
	RepeatedIDs bool
}

// Neighbors finds nearest neighbors exactly; see prdc.Neighbors.
type Neighbors interface {
	Nearest(ctx context.Context, points [][]float32, k int) (index []int32, distances []float32, err error)
	Within(ctx context.Context, balls distance.Balls, points [][]float32, visits []distance.Visit) error
}

// Call is one evaluation of an operation. Its functions may be nil; use the methods.
type Call struct {
	Inputs    map[string]*table.Frame // by role; an optional one may be missing
	Home      string                  // the store's folder
	Neighbors Neighbors               // nil = a slower search in plain Go
	Progress  func(table.Progress)
	Note      func(format string, args ...any)
	Read      func(table.Reading)

	// Planned says that items of the inputs are missing: their vectors are nil and their texts placeholders. The result
	// has as many rows as if they were there, and is not stored.
	Planned bool

	// Copies is set by an operation that found copies among its images: intervals of no width are left out.
	Copies bool
}

// Notef adds a warning that travels with the result.
func (c *Call) Notef(format string, args ...any) {
	if c.Note != nil {
		c.Note(format, args...)
	}
}

// Reading reports what reading the rows' values lost or guessed, if Read is not nil.
func (c *Call) Reading(x table.Reading) {
	if c.Read != nil {
		c.Read(x)
	}
}

// Report reports progress: done of total items.
func (c *Call) Report(stage string, done, total int) {
	if c.Progress != nil {
		c.Progress(table.Progress{Stage: stage, Done: done, Total: total})
	}
}

// Args are the arguments of a defined operation in a plan. Roles names its inputs, in order.
type Args struct {
	Version int             `json:"version"`
	Roles   []string        `json:"roles,omitempty"`
	Options json.RawMessage `json:"options,omitempty"`
}

// Operation is a defined operation, without its types.
type Operation struct {
	Name, Title, Citation  string
	Unit, Range, Direction string
	Metric                 bool // a score; false = another operation on tables
	Version                int
	Inputs                 []Input
	Device, Planned        bool
	Options                Options
	Results                []Result // the columns, with their units; nil where they depend on the data

	rows       []Result             // those of Results that Compute's rows hold
	newOptions func() reflect.Value // a pointer to a zero options struct
	direction  func(reflect.Value) string
	columns    func(reflect.Value) []table.ColumnSpec
	compute    func(ctx context.Context, call *Call, options reflect.Value) (*table.Frame, error)
}

var (
	mu         sync.Mutex
	operations = map[string]*Operation{}
)

// Define registers an operation. It panics on a mistake in the definition, such as a missing tag or a name that is
// taken.
func Define[O, R any](d Definition[O, R], metric bool) *Operation {
	op := &Operation{Name: d.Name, Title: d.Title, Citation: d.Citation, Unit: d.Unit, Range: d.Range,
		Direction: d.Direction, Metric: metric, Version: d.Version, Inputs: d.Inputs,
		Device: d.Device, Planned: d.Planned,
		newOptions: func() reflect.Value { return reflect.ValueOf(new(O)) }}
	var err error
	if op.Options, err = optionsOf(reflect.TypeFor[O]()); err != nil {
		panic("define " + d.Name + ": " + err.Error())
	}
	if d.Compute != nil {
		if op.Results, err = resultsOf(reflect.TypeFor[R]()); err != nil {
			panic("define " + d.Name + ": " + err.Error())
		}
		rows := op.Results
		if metric && readsTexts(op.Options) {
			op.Results = append(slices.Clip(op.Results), Result{Name: truncatedColumn, Unit: "texts",
				Help: "texts that were cut to the encoder's context", kind: table.KindNumber})
		}
		op.columns = func(v reflect.Value) []table.ColumnSpec { return columns(op.Results, op.Options, v) }
		op.rows = rows
	}
	if d.DirectionOf != nil {
		op.direction = func(v reflect.Value) string { return d.DirectionOf(v.Interface().(O)) }
	}
	if d.Columns != nil {
		op.columns = func(v reflect.Value) []table.ColumnSpec { return d.Columns(v.Interface().(O)) }
	}
	if d.Name == "" || d.Title == "" || d.Version < 1 || (d.Compute == nil) == (d.Frame == nil) {
		panic("define " + d.Name + ": an operation has a name, a title, a version from 1 up, and Compute or Frame")
	}
	op.compute = func(ctx context.Context, call *Call, v reflect.Value) (*table.Frame, error) {
		if d.Frame != nil {
			return d.Frame(ctx, call, v.Interface().(O))
		}
		rows, err := d.Compute(ctx, call, v.Interface().(O))
		if err != nil {
			return nil, err
		}
		f, err := frame(op.rows, op.Options, v, reflect.ValueOf(rows))
		if err == nil && call.Copies {
			withoutPoints(f)
		}
		if err == nil && len(op.rows) < len(op.Results) {
			f = op.truncated(call, v, f)
		}
		return f, err
	}
	mu.Lock()
	defer mu.Unlock()
	if operations[d.Name] != nil {
		panic(fmt.Sprintf("define %s: the name is taken", d.Name))
	}
	operations[d.Name] = op
	if evaluators[d.Name] != nil {
		panic(fmt.Sprintf("define %s: the name is that of another operation", d.Name))
	}
	evaluators[d.Name] = op.Evaluate
	return op
}

// Find returns the operation of a name, or nil.
func Find(name string) *Operation {
	mu.Lock()
	defer mu.Unlock()
	return operations[name]
}

// Names lists the metrics, or the other operations.
func Names(metric bool) []string {
	mu.Lock()
	defer mu.Unlock()
	var names []string
	for name, op := range operations {
		if op.Metric == metric && name == op.Name {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Input returns the input of that role, or nil.
func (op *Operation) Input(role string) *Input {
	at := slices.IndexFunc(op.Inputs, func(in Input) bool { return in.Role == role })
	if at < 0 {
		return nil
	}
	return &op.Inputs[at]
}

// With returns the operation with the direction that it has with the arguments of a plan.
func (op *Operation) With(raw json.RawMessage) *Operation {
	var args Args
	options := op.newOptions()
	if op.direction == nil || json.Unmarshal(raw, &args) != nil ||
		decode(op.Options, args.Options, options.Interface()) != nil {
		return op
	}
	direction := op.direction(options.Elem())
	if direction == "" {
		return op
	}
	with := *op
	with.Direction = direction
	return &with
}

func (op *Operation) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", op.Name, err)
}

// Checked is an options struct that was completed and validated.
type Checked struct {
	op *Operation
	v  reflect.Value // a pointer
}

// Check completes and validates options: a list of at most one options struct.
func (op *Operation) Check(options any) (Checked, error) {
	given := make([]any, reflect.ValueOf(options).Len())
	for i := range given {
		given[i] = reflect.ValueOf(options).Index(i).Interface()
	}
	c := Checked{op, op.newOptions()}
	o, err := table.One(given)
	if err != nil {
		return c, op.wrap(err)
	}
	if o != nil {
		c.v.Elem().Set(reflect.ValueOf(o))
	}
	return c, op.wrap(complete(op.Options, c.v.Elem()))
}

// Parse completes and validates options that are given as text, by flag or name. An unknown one is an error.
func (op *Operation) Parse(given map[string]string) (Checked, error) {
	c := Checked{op, op.newOptions()}
	known := 0
	for i := range op.Options {
		o := &op.Options[i]
		text, found := given[o.Flag]
		if !found {
			text, found = given[o.Name]
		}
		if !found {
			continue
		}
		known++
		if err := o.set(c.v.Elem().FieldByIndex(o.index), text); err != nil {
			return c, op.wrap(err)
		}
	}
	if known < len(given) {
		for name := range given {
			if !slices.ContainsFunc(op.Options, func(o Option) bool { return o.Flag == name || o.Name == name }) {
				return c, op.wrap(unknown(op.Options, name))
			}
		}
	}
	return c, op.wrap(complete(op.Options, c.v.Elem()))
}

// By returns the grouping columns.
func (c Checked) By() []string { return by(c.op.Options, c.v.Elem()) }

// Columns returns the columns of the result; known is false where they depend on the data.
func (c Checked) Columns() (specs []table.ColumnSpec, known bool) {
	if c.op.columns == nil {
		return nil, false
	}
	resolved := reflect.New(c.v.Elem().Type())
	resolved.Elem().Set(c.v.Elem())
	resolve(c.op.Options, resolved.Elem())
	return c.op.columns(resolved.Elem()), true
}

// Args returns the arguments of a plan that reads tables in these roles.
func (c Checked) Args(roles []string) (Args, error) {
	raw, err := json.Marshal(c.v.Interface())
	return Args{Version: c.op.Version, Roles: roles, Options: raw}, err
}

// Evaluate computes the operation on frames, in the order of the roles of its arguments.
func (op *Operation) Evaluate(ctx context.Context, call Call, raw json.RawMessage,
	in []*table.Frame) (*table.Frame, error) {
	f, err := op.evaluate(ctx, call, raw, in)
	return f, op.wrap(err)
}

func (op *Operation) evaluate(ctx context.Context, call Call, raw json.RawMessage,
	in []*table.Frame) (*table.Frame, error) {
	var args Args
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, err
		}
	}
	options := op.newOptions()
	if err := decode(op.Options, args.Options, options.Interface()); err != nil {
		return nil, err
	}
	if err := complete(op.Options, options.Elem()); err != nil {
		return nil, err
	}
	resolve(op.Options, options.Elem())
	if err := op.inputs(&call, args.Roles, call.Labels(by(op.Options, options.Elem()), in)); err != nil {
		return nil, err
	}
	f, err := op.compute(ctx, &call, options.Elem())
	if err != nil || f.Len() > 0 || op.columns == nil {
		return f, err
	}
	return table.NewFrame(op.columns(options.Elem())), nil
}

// inputs puts the frames into their roles and checks their columns.
func (op *Operation) inputs(call *Call, roles []string, in []*table.Frame) error {
	if len(in) != len(roles) {
		return fmt.Errorf("%d tables for the roles %s", len(in), strings.Join(roles, ", "))
	}
	call.Inputs = map[string]*table.Frame{}
	for i, role := range roles {
		if op.Input(role) == nil {
			return fmt.Errorf("there is no input %q", role)
		}
		call.Inputs[role] = in[i]
	}
	for _, input := range op.Inputs {
		f := call.Inputs[input.Role]
		if f == nil && !input.Optional {
			return fmt.Errorf("the table %q is missing (%s)", input.Role, input.About)
		}
		if f == nil {
			continue
		}
		for _, c := range input.Columns {
			column, err := f.Need(c.Name, c.Kind)
			if err != nil {
				return fmt.Errorf("table %q: %w", input.Role, err)
			}
			f = f.With(*column)
		}
		call.Inputs[input.Role] = f
	}
	return nil
}
