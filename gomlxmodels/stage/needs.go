package stage

import (
	"fmt"

	"antipode/datasets/table"
)

// Needs reports the first of the needed columns that a table lacks, or has with another kind. op is the stage's name.
func Needs(op string, columns []table.ColumnSpec, needs ...table.ColumnSpec) error {
	for _, need := range needs {
		for _, c := range columns {
			if c.Name == need.Name && !table.Fits(c.Kind, need.Kind) {
				return fmt.Errorf("%s needs the column %q (%s); it has %s values", op, need.Name, need.Kind, c.Kind)
			}
		}
		if table.Position(columns, need.Name) < 0 {
			fix := table.ColumnHint(need.Name, columns)
			if need.Name == "id" {
				fix = `; give each row a unique id (pandas: df["id"] = df.index.astype(str))`
			}
			return fmt.Errorf("%s needs the column %q (%s); there are: %s%s", op, need.Name, need.Kind,
				table.NameList(columns), fix)
		}
	}
	return nil
}
