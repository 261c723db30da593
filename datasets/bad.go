package datasets

// The operations of [Table.Bad] and [Table.Good].
const (
	BadOp  = "bad"
	GoodOp = "good"
)

// Bad lists the rows of the table that cannot be used, and why: one row for each, with the columns id, column (the one that holds the
// culprit) and reason. A missing file, a picture or mask that cannot be decoded, a mask of another size than its
// picture, an id that stands twice, a vector that is no vector: what would otherwise end a run at the first of them.
// A table without bad rows gives no rows. What is wrong with the table as a whole (a column that is not there) stays an error.
func (t Table) Bad() Table {
	return New(BadOp, nil, Columns("id:text", "column:text", "reason:text"), t)
}

// Good is the table without the rows that [Table.Bad] lists. Its pictures are decoded once, to see whether they can be;
// [Table.Run] says how many rows were left out.
func (t Table) Good() Table { return t.Derive(GoodOp, nil) }
