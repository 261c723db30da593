package datasets

// The operations of [Table.Bad] and [Table.Good].
const (
	BadOp  = "bad"
	GoodOp = "good"
)

// Bad returns a row for each row of the table that cannot be used, with the columns id, column (of the offending value)
// and reason: a missing file, an image or mask that cannot be decoded, a mask whose size differs from its image's, a
// duplicate id, an invalid vector. A run stops at the first of these otherwise. Errors of the whole table, such as a
// missing column, stay errors.
func (t Table) Bad() Table {
	return New(BadOp, nil, Columns("id:text", "column:text", "reason:text"), t)
}

// Good returns the table without the rows that [Table.Bad] lists. It decodes each image once; [Table.Run] prints the
// number of rows left out.
func (t Table) Good() Table { return t.derive(GoodOp, nil) }
