package datasets

import (
	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// Author is a table with what the packages of stages, sources and metrics need to make tables of it; see [Extend]. Its
// methods are no part of [Table], whose methods are those of an analyst.
type Author struct{ Table }

// Extend returns a table for the author of an operation:
//
//	datasets.Extend(images).Need("image", table.KindImage).Derive("embed", args, added...).Table
func Extend(t Table) Author { return Author{t} }

// Failed returns a table in error: it and every table derived from it return err, with the line of the caller.
func Failed(err error) Table { return Table{}.failed(err) }

// Need returns the table, in error if it has no column of that name and kind; "" = any kind. An open table is checked
// when it runs.
func (a Author) Need(name string, kind table.Kind) Author { return Author{a.need(name, kind)} }

// Derive returns the table of a row-wise operation: this table's columns and the added ones. An added column replaces
// one of the same name.
func (a Author) Derive(op string, args any, added ...table.ColumnSpec) Author {
	return Author{a.derive(op, args, added...)}
}

// Fail returns the table in error, unless it is; see [Failed].
func (a Author) Fail(err error) Author { return Author{a.failed(err)} }

// Secret notes that the table's operation needs an environment variable; see [table.Plan.Secrets].
func (a Author) Secret(name string) Author { return Author{a.secret(name)} }

// Named returns the table with a name for messages.
func (a Author) Named(name string) Author { return Author{a.named(name)} }

// Open returns the table, marked as one that may have more columns than [Table.Columns] lists when it runs.
func (a Author) Open() Author { return Author{a.opened()} }

// IsOpen reports whether the table may have columns that are known only when it runs.
func (a Author) IsOpen() bool { return a.open }

// Operation returns the definition of the metric or table operation that computed the table's columns, or nil. It looks
// through verbs that choose, order, join or add rows and columns; of tables put together it is the operation of all.
func (a Author) Operation() *operation.Operation { return a.operation() }
