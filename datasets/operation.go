package datasets

import (
	"fmt"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// Operation defines an operation on tables that a command reaches as `antipode table --apply NAME`; see [Define].
type Operation[Options, Row any] = operation.Definition[Options, Row]

// Input is a table that an operation reads.
type Input = operation.Input

// Call is one evaluation of an operation: its input rows, and where to send notes and progress.
type Call = operation.Call

// Defined is an operation with options of type O.
type Defined[O any] struct{ *operation.Operation }

// Define defines an operation on tables: its options, the columns of its result, and the function that computes it. It
// panics on a mistake in the definition. Package operation explains the tags of the two structs.
func Define[Options, Row any](o Operation[Options, Row]) Defined[Options] {
	return Defined[Options]{operation.Define(o, false)}
}

// Of returns the result for one table, in the role "in". options has at most one element.
func (d Defined[O]) Of(in Table, options ...O) Table {
	return d.Table(map[string]Table{"in": in}, options...)
}

// Table returns the result for input tables by role. options has at most one element; a zero [Table] in an optional
// role counts as missing.
func (d Defined[O]) Table(inputs map[string]Table, options ...O) Table {
	checked, err := d.Check(options)
	if err != nil {
		return Table{}.failed(err)
	}
	return Apply(d.Operation, inputs, checked)
}

// Apply returns the result of an operation for input tables by role.
func Apply(op *operation.Operation, inputs map[string]Table, options operation.Checked) Table {
	var roles []string
	var tables []Table
	for _, in := range op.Inputs {
		t, given := inputs[in.Role]
		if !given || in.Optional && t.isZero() {
			if in.Optional {
				continue
			}
			return Table{}.failed(fmt.Errorf("%s: the table %q is missing (%s)", op.Name, in.Role, in.About))
		}
		for _, c := range in.Columns {
			t = t.need(c.Name, c.Kind)
		}
		if !in.Optional {
			for _, by := range options.By() {
				t = t.need(by, table.KindText)
			}
		}
		roles, tables = append(roles, in.Role), append(tables, t)
	}
	args, err := options.Args(roles)
	if err != nil {
		return Table{}.failed(fmt.Errorf("%s: %w", op.Name, err))
	}
	columns, known := options.Columns()
	out := New(op.Name, args, columns, tables...).named(op.Name)
	if !known {
		out = out.opened()
	}
	return out
}

func (t Table) isZero() bool { return t.plan == nil && t.frame == nil && t.err == nil }
