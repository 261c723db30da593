package manifest

import (
	"fmt"
	"maps"
	"slices"

	"antipode/datasets"
)

var tables = map[string]func() datasets.Table{}

// RegisterTable registers a table of a data set with its default options under a name that commands accept in place
// of a file. It panics if the name is registered already.
func RegisterTable(name string, make func() datasets.Table) {
	mu.Lock()
	defer mu.Unlock()
	if _, twice := tables[name]; twice {
		panic(fmt.Sprintf("manifest: table %q registered twice", name))
	}
	tables[name] = make
}

// Table returns the named table of a data set, for example "visage-annotations"; false if there is none of that
// name.
func Table(name string) (datasets.Table, bool) {
	mu.Lock()
	make, known := tables[name]
	mu.Unlock()
	if !known {
		return datasets.Table{}, false
	}
	return make(), true
}

// Tables lists the names that [Table] accepts.
func Tables() []string {
	mu.Lock()
	defer mu.Unlock()
	return slices.Sorted(maps.Keys(tables))
}
