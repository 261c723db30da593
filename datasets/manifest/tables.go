package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"antipode/datasets"
)

var (
	tables       = map[string]func(options []byte) datasets.Table{}
	descriptions = map[string]string{}
)

// DescribeTable sets what [TableHelp] says of a table's columns and options.
func DescribeTable(name, help string) {
	mu.Lock()
	defer mu.Unlock()
	descriptions[name] = help
}

// TableHelp returns a description of a named table, with or without options: its columns, and its options with an
// example; false if there is no such table.
func TableHelp(name string) (string, bool) {
	name, _, _ = strings.Cut(name, ":")
	mu.Lock()
	defer mu.Unlock()
	if _, known := tables[name]; !known {
		return "", false
	}
	help := cmp.Or(descriptions[name], "It takes no options.\n")
	return fmt.Sprintf("The table %s\n\n%s", name, help), true
}

// RegisterTable registers a table of a data set under a name that commands accept in place of a file. It panics if the
// name is registered already.
func RegisterTable(name string, make func() datasets.Table) {
	RegisterTableOf(name, func(options []byte) datasets.Table {
		if options != nil {
			return datasets.Failed(fmt.Errorf("the table %s has no options", name))
		}
		return make()
	})
}

// RegisterTableOf registers a table that takes options: a JSON object, nil for the defaults.
func RegisterTableOf(name string, make func(options []byte) datasets.Table) {
	mu.Lock()
	defer mu.Unlock()
	if _, twice := tables[name]; twice {
		panic(fmt.Sprintf("manifest: table %q registered twice", name))
	}
	tables[name] = make
}

// Table returns the named table of a data set, for example "visage-annotations"; false if there is none of that name.
// "NAME:OPTIONS" has options: a JSON object such as {"grammar":"released"}, or the path of a file that holds one.
func Table(name string) (datasets.Table, bool) {
	name, options, given := strings.Cut(name, ":")
	mu.Lock()
	make, known := tables[name]
	mu.Unlock()
	switch {
	case !known:
		return datasets.Table{}, false
	case !given:
		return make(nil), true
	case strings.HasPrefix(options, "{"):
		return make([]byte(options)), true
	}
	data, err := os.ReadFile(options)
	if err != nil {
		return datasets.Failed(fmt.Errorf("options of the table %s: %w; write %s:FILE.json or %s:{…}", name, err,
			name, name)), true
	}
	return make(data), true
}

// Tables lists the names that [Table] accepts.
func Tables() []string {
	mu.Lock()
	defer mu.Unlock()
	return slices.Sorted(maps.Keys(tables))
}
