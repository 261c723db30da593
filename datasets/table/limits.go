package table

import "fmt"

// A file of a table may have at most MaxRows rows and MaxColumns columns.
const (
	MaxRows    = 20_000_000
	MaxColumns = 10_000
)

// Budget is the memory that the values of a table may take while its file is read, because a small compressed file can
// hold any number of them: 512 MiB, and 128 times the size of the file.
type Budget struct{ room, most, size int64 }

// NewBudget returns the budget of a file of that size.
func NewBudget(size int64) *Budget {
	most := 512<<20 + 128*size
	return &Budget{room: most, most: most, size: size}
}

// Take takes n bytes from the budget. The error says what the file needs and the fix.
func (b *Budget) Take(n int64) error {
	if b.room -= n; n < 0 || b.room < 0 {
		return fmt.Errorf("%.1f MB hold values of more than %d MB, the limit for a file of this size; split the table",
			float64(b.size)/1e6, b.most/1_000_000)
	}
	return nil
}

// CheckRows reports a number of rows or columns that is too large.
func CheckRows(rows, columns int64) error {
	if rows < 0 || rows > MaxRows {
		return fmt.Errorf("%d rows, more than %d million; split the table", rows, MaxRows/1_000_000)
	}
	if columns > MaxColumns {
		return fmt.Errorf("%d columns, more than %d; select the columns that are needed", columns, MaxColumns)
	}
	return nil
}
