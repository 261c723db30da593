package stage

import (
	"fmt"
	"slices"

	"antipode/kernel/client"
)

// Needs says which of the needed columns a table lacks, and nil where it has them all. op is the stage's name.
func Needs(op string, columns []client.ColumnSpec, needs ...client.ColumnSpec) error {
	for _, need := range needs {
		for _, c := range columns {
			if c.Name == need.Name && c.Kind != need.Kind {
				return fmt.Errorf("%s needs the column %q (%s); it holds %s values", op, need.Name, need.Kind, c.Kind)
			}
		}
		if !slices.Contains(columns, need) {
			fix := client.ColumnHint(need.Name, columns)
			if need.Name == "id" {
				fix = `; give each row an id of its own (pandas: df["id"] = df.index.astype(str))`
			}
			return fmt.Errorf("%s needs the column %q (%s); there are: %s%s", op, need.Name, need.Kind, client.NameList(columns), fix)
		}
	}
	return nil
}
