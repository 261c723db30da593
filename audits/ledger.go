package audits

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

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

// RunName returns the name of a run for the files that it writes: that of the notebook and, unless all fields of the
// audit have their defaults, its generator and a digest of the fields, so that no run overwrites the files of another
// audit.
func RunName(notebook, generator string, audit, zero any) string {
	fields, err := json.Marshal(audit)
	if defaults, err2 := json.Marshal(zero); err != nil || err2 != nil || string(fields) == string(defaults) {
		return notebook
	}
	short := func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}
	for i, g := range datasets.SplitColumns(generator) {
		if name := []rune(strings.Map(short, ModelName(g))); i < 3 {
			notebook += "-" + string(name[:min(len(name), 40)])
		}
	}
	return fmt.Sprintf("%s-%.4x", notebook, sha256.Sum256(fields))
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
