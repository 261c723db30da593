package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"antipode/kernel/cell"
	"antipode/kernel/client"
)

// Frame is a table's rows in memory; see [client.Frame].
type Frame = client.Frame

// Column is one column of a [Frame].
type Column = client.Column

// Table is a plan for rows and columns: inert, immutable, free to copy. The zero Table is an error when it is run.
type Table struct {
	plan    *client.Plan
	columns []client.ColumnSpec
	open    bool // the columns are not all known before the plan runs (Parquet files, extra CSV columns of a metric)
	name    string
	frame   *client.Frame // rows that are in memory already; plan is then made only where another table reads this one
	err     error
}

// New makes a table from a plan's parts: what packages that add stages and metrics build on. op names the operation,
// args is marshalled as its arguments, columns are those of the result. Of several inputs the first one in error
// makes the result an error.
func New(op string, args any, columns []client.ColumnSpec, inputs ...Table) Table {
	t := Table{columns: columns, plan: &client.Plan{Op: op, Line: callerLine()}}
	for _, in := range inputs {
		if in.err != nil {
			return Table{err: in.err}
		}
		plan, err := in.Plan()
		if err != nil {
			return t.fail(err)
		}
		t.plan.Inputs = append(t.plan.Inputs, plan)
	}
	if args != nil {
		data, err := json.Marshal(args)
		if err != nil {
			return t.fail(fmt.Errorf("%s: %w", op, err))
		}
		t.plan.Args = data
	}
	return t
}

// Open says that the table may hold more columns than [Table.Columns] lists, known only when it runs.
func (t Table) Open() Table {
	t.open = true
	return t
}

// Fail returns the table in error: it and all that is made from it report err when run, with the line that made it.
func (t Table) Fail(err error) Table {
	if t.err != nil {
		return t
	}
	return t.fail(err)
}

func (t Table) fail(err error) Table {
	line := callerLine()
	if line != "" {
		err = fmt.Errorf("%s: %w", line, err)
	}
	return Table{err: err}
}

// Plan is what the table asks for, or why it cannot be asked for.
func (t Table) Plan() (*client.Plan, error) {
	if t.err != nil {
		return nil, t.err
	}
	if t.frame != nil {
		var buf bytes.Buffer
		if err := t.frame.Encode(&buf); err != nil {
			return nil, err
		}
		args, err := json.Marshal(RowsArgs{buf.Bytes()})
		return &client.Plan{Op: "rows", Args: args}, err
	}
	if t.plan == nil {
		return nil, fmt.Errorf("this table was never made: a zero datasets.Table has no rows to give")
	}
	return t.plan, nil
}

// Err is why the table cannot run, or nil.
func (t Table) Err() error { return t.err }

// Columns are the table's columns as known without running it.
func (t Table) Columns() []client.ColumnSpec { return slices.Clone(t.columns) }

// Named gives the table a name for messages and results.
func (t Table) Named(name string) Table {
	t.name = name
	return t
}

// Need returns the table, in error if it lacks a column of that name and kind. An open table passes: it is checked when it runs.
func (t Table) Need(name string, kind client.Kind) Table {
	if t.err != nil {
		return t
	}
	for _, c := range t.columns {
		if c.Name == name {
			if kind != "" && c.Kind != kind {
				return t.fail(fmt.Errorf("column %q holds %s values, not %s", name, c.Kind, kind))
			}
			return t
		}
	}
	if t.open {
		return t
	}
	return t.fail(client.NoColumn(name, t.columns))
}

// IsOpen says whether the table may hold columns that are known only when it runs.
func (t Table) IsOpen() bool { return t.open }

// Derive makes a table that has this one's columns plus added ones (an added column replaces one of its name): what a row-wise stage gives.
func (t Table) Derive(op string, args any, added ...client.ColumnSpec) Table {
	columns := slices.Clone(t.columns)
	for _, a := range added {
		if at := slices.IndexFunc(columns, func(c client.ColumnSpec) bool { return c.Name == a.Name }); at >= 0 {
			columns[at] = a
		} else {
			columns = append(columns, a)
		}
	}
	out := New(op, args, columns, t)
	out.open = t.open
	out.name = t.name
	return out
}

// callerLine is the first line outside this project's packages on the way here: the user's own line, "file.go:12". In a
// notebook it is the whole path of the cell's program, which GoNB turns into the cell's number and line.
func callerLine() string {
	pcs := make([]uintptr, 24)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if f.Function == "" || strings.HasPrefix(f.Function, "antipode/kernel/commands.") {
			return "" // a command has no line of the user's
		}
		if !strings.HasPrefix(f.Function, "antipode/") && !strings.HasPrefix(f.Function, "runtime.") {
			if cell.InNotebook() {
				return fmt.Sprintf("%s:%d", f.File, f.Line)
			}
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}
