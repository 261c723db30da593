package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"antipode/datasets/cell"
	"antipode/datasets/table"
)

// Frame is a table's rows in memory; see [table.Frame].
type Frame = table.Frame

// Column is one column of a [Frame].
type Column = table.Column

// Table is a lazy plan for rows and columns. It is immutable and may be copied. Running the zero Table is an error.
type Table struct {
	plan    *table.Plan
	columns []table.ColumnSpec
	open    bool // some columns are known only when the plan runs (Parquet files)
	name    string
	frame   *table.Frame // rows in memory; if set, the plan is made only when another table reads this one
	err     error
}

// New returns the table of an operation, for packages that add stages and metrics. args is marshaled as the operation's
// arguments, columns are the columns of the result. If an input is in error, so is the result.
func New(op string, args any, columns []table.ColumnSpec, inputs ...Table) Table {
	t := Table{columns: columns, plan: &table.Plan{Op: op, Line: callerLine()}}
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

func (t Table) secret(name string) Table {
	if t.err == nil {
		plan := *t.plan
		plan.Secrets = append(slices.Clone(plan.Secrets), name)
		t.plan = &plan
	}
	return t
}

func (t Table) opened() Table {
	t.open = true
	return t
}

func (t Table) failed(err error) Table {
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

// Plan returns the table's plan, or its error.
func (t Table) Plan() (*table.Plan, error) {
	if t.err != nil {
		return nil, t.err
	}
	if t.frame != nil {
		var buf bytes.Buffer
		if err := t.frame.Encode(&buf); err != nil {
			return nil, err
		}
		args, err := json.Marshal(rowsArgs{buf.Bytes()})
		return &table.Plan{Op: "rows", Args: args}, err
	}
	if t.plan == nil {
		return nil, fmt.Errorf("the table is the zero datasets.Table; assign a table to the variable first")
	}
	return t.plan, nil
}

// Err returns the table's error, or nil.
func (t Table) Err() error { return t.err }

// Columns returns the columns that are known without running the table.
func (t Table) Columns() []table.ColumnSpec { return slices.Clone(t.columns) }

func (t Table) named(name string) Table {
	t.name = name
	return t
}

func (t Table) need(name string, kind table.Kind) Table {
	if t.err != nil {
		return t
	}
	switch at := table.Position(t.columns, name); {
	case at >= 0 && !table.Fits(t.columns[at].Kind, kind):
		return t.fail(fmt.Errorf("column %q holds %s values, not %s", name, t.columns[at].Kind, kind))
	case at < 0 && !t.open:
		err := table.NoColumn(name, t.columns)
		if t.plan != nil {
			err = t.plan.InFiles(err)
		}
		return t.fail(err)
	}
	return t
}

func (t Table) derive(op string, args any, added ...table.ColumnSpec) Table {
	columns := slices.Clone(t.columns)
	for _, a := range added {
		if at := table.Position(columns, a.Name); at >= 0 {
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

// callerLine returns the line of the user's program, "file.go:12": the first caller outside this module. In a notebook
// it contains the whole path, which GoNB replaces by the cell's number and line.
func callerLine() string {
	pcs := make([]uintptr, 24)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if f.Function == "" || strings.HasPrefix(f.Function, "antipode/kernel/commands.") {
			return "" // commands have no user code
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

// Columns returns the columns of specifications NAME:KIND, such as "id:text" and "score:number". It panics on an
// unknown kind, which is a mistake in the program.
func Columns(specs ...string) []table.ColumnSpec {
	out := make([]table.ColumnSpec, len(specs))
	for i, s := range specs {
		at := strings.LastIndexByte(s, ':')
		if at < 0 || !table.Kind(s[at+1:]).Known() {
			panic(fmt.Sprintf("datasets.Columns: %q is not NAME:KIND", s))
		}
		out[i] = table.ColumnSpec{Name: s[:at], Kind: table.Kind(s[at+1:])}
	}
	return out
}
