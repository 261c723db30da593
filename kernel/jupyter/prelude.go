package jupyter

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// standard are packages of the standard library that notebooks use without an import of their own.
var standard = []string{"fmt", "math", "os", "path/filepath", "slices", "sort", "strings", "time"}

// packages are Antipode's packages that notebooks use without an import of their own.
var packages = []string{"datasets", "gomlxmodels", "kernel/cell", "kernel/client", "metrics", "plots"}

// Prelude is the hidden first cell: no automatic downloads, small binaries (a third of a second faster a cell), and the
// imports. Go rejects an import nobody uses; GoNB drops those from each cell. Naming them here spares goimports a search
// of the module cache, which takes seconds. GoNB's temporary files lie in a folder that ends with the kernel; cells get
// the user's own back before they begin (GoNB makes an init function of every function named init_…).
func Prelude(moduleDir string) string {
	var b strings.Builder
	b.WriteString("%noautoget\n%goflags \"-ldflags=-s -w\"\nimport (\n")
	for _, p := range standard {
		b.WriteString("\t\"" + p + "\"\n")
	}
	for _, p := range present(moduleDir) {
		b.WriteString("\t\"antipode/" + p + "\"\n")
	}
	restore := `os.Unsetenv("TMPDIR")`
	if dir := os.Getenv("TMPDIR"); dir != "" {
		restore = `os.Setenv("TMPDIR", ` + strconv.Quote(dir) + `)`
	}
	b.WriteString(")\nfunc init_antipode() { " + restore + " }\n%%\n")
	return b.String()
}

// present lists those of packages that the module has.
func present(moduleDir string) []string {
	var list []string
	for _, p := range packages {
		if found, _ := filepath.Glob(filepath.Join(moduleDir, filepath.FromSlash(p), "*.go")); len(found) > 0 {
			list = append(list, p)
		}
	}
	return list
}
