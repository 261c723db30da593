package manifest

import (
	"fmt"
	"sort"

	"antipode/datasets"
)

var tables = map[string]func() datasets.Table{}

// RegisterTable gives a table of a data set a name, under which a command takes it in place of a file: the table with
// its default options. It panics on a second registration of a name: that is a mistake in the program.
func RegisterTable(name string, make func() datasets.Table) {
	mu.Lock()
	defer mu.Unlock()
	if _, twice := tables[name]; twice {
		panic(fmt.Sprintf("manifest: table %q registered twice", name))
	}
	tables[name] = make
}

// Table returns the named table of a data set, for example "visage-annotations"; false where there is none of that name.
func Table(name string) (datasets.Table, bool) {
	mu.Lock()
	make, known := tables[name]
	mu.Unlock()
	if !known {
		return datasets.Table{}, false
	}
	return make(), true
}

// Tables lists the names that [Table] knows.
func Tables() []string {
	mu.Lock()
	defer mu.Unlock()
	var names []string
	for n := range tables {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
