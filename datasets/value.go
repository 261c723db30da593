package datasets

import (
	"context"
	"fmt"

	"antipode/datasets/table"
)

// MustRows runs the table and returns its rows. It is for notebook cells: a failure prints one line and ends the cell.
// In other programs it panics with the error; use [Table.Rows] there.
func (t Table) MustRows() (f *Frame) {
	inCell(func(ctx context.Context) (err error) {
		f, err = t.Rows(ctx)
		return err
	})
	return f
}

// Value runs a table of one row and returns its value in a column: a string for a text column, a float64 for a number
// column (NaN = no value), a []float32 for a vector column (nil = no value). Use [Table.Number] and [Table.Text] for a
// typed value. It fails as [Table.MustRows] does.
func (t Table) Value(column string) any {
	return t.one(column, "").Any(0)
}

// Number runs a table of one row and returns its value in a number column; NaN = no value. It fails as [Table.MustRows]
// does.
func (t Table) Number(column string) float64 { return t.one(column, table.KindNumber).Numbers[0] }

// Text runs a table of one row and returns its value in a text column. It fails as [Table.MustRows] does.
func (t Table) Text(column string) string { return t.one(column, table.KindText).Texts[0] }

// Sum runs the table and returns the sum of a number column; rows without a value count as 0. It fails as
// [Table.MustRows] does.
func (t Table) Sum(column string) (sum float64) {
	for _, v := range t.column(column, table.KindNumber).Numbers {
		if v == v {
			sum += v
		}
	}
	return sum
}

// one returns a column of a table that must have one row.
func (t Table) one(column string, kind table.Kind) *Column {
	c := t.column(column, kind)
	if n := c.Len(); n != 1 {
		inCell(func(context.Context) error {
			return t.failed(fmt.Errorf("one value of column %q: the table has %s; select one with Where or Head",
				column,
				count(n, "row"))).err
		})
	}
	return c
}

// column runs the table and returns one of its columns; kind "" = any.
func (t Table) column(column string, kind table.Kind) (c *Column) {
	inCell(func(ctx context.Context) error {
		t = t.need(column, kind)
		f, err := t.Rows(ctx)
		if err != nil {
			return err
		}
		if c, err = f.Need(column, kind); err != nil {
			return t.failed(err).err
		}
		return nil
	})
	return c
}
