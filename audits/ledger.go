package audits

import (
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/metrics"
)

// Ledger returns every printed value and claim of a paper next to our values of them, with a verdict; see
// metrics.Ledger. why says why the items without a value cannot be computed; in the built-in world, whose values are
// not comparable, nothing is, and what is compared instead of the paper's subjects is of the world.
func Ledger(printed, values datasets.Table, builtIn bool, world, why string) datasets.Table {
	if builtIn {
		why = "the " + world + " are of the built-in world"
	}
	return metrics.Ledger(printed, values, metrics.LedgerOptions{Why: why})
}

// NoValues returns a table of values without rows, that of the built-in world.
func NoValues() datasets.Table {
	return NoRows(datasets.Columns("item:text", "holds:text", "same:text", "value:number", "value_low:number",
		"value_high:number", "n:number"))
}

// Claims returns the claims among our values of a paper: item, and holds, yes or no.
func Claims(values datasets.Table) datasets.Table {
	return values.Select("item", "holds").Where("holds", "!=", "")
}

// CheckTable returns an error if a paper has no table of a number.
func CheckTable(audit, number string, numbers ...string) error {
	if slices.Contains(numbers, number) {
		return nil
	}
	return fmt.Errorf("%s: no table %q; the tables of the paper are %s", audit, number, strings.Join(numbers, ", "))
}
