package jupyter

import (
	"os"
	"path/filepath"
	"strings"
)

// standard are packages of the standard library that notebooks use without an import of their own.
var standard = []string{"fmt", "math", "os", "path/filepath", "slices", "sort", "strings", "time"}

// packages are Antipode's packages that notebooks use without an import of their own.
var packages = []string{"datasets", "gomlxmodels", "kernel/cell", "kernel/client", "metrics", "plots"}

// Prelude is the hidden first cell: no automatic downloads, small binaries (a third of a second faster a cell), and the
// imports. Go rejects an import nobody uses; GoNB drops those from each cell. Naming them here spares goimports a search
// of the module cache, which takes seconds.
func Prelude(moduleDir string) string {
	var b strings.Builder
	b.WriteString("%env TMPDIR=" + goQuote(os.TempDir()) + "\n%noautoget\n%goflags \"-ldflags=-s -w\"\nimport (\n")
	for _, p := range standard {
		b.WriteString("\t\"" + p + "\"\n")
	}
	for _, p := range packages {
		if found, _ := filepath.Glob(filepath.Join(moduleDir, filepath.FromSlash(p), "*.go")); len(found) > 0 {
			b.WriteString("\t\"antipode/" + p + "\"\n")
		}
	}
	b.WriteString(")\n%%\n")
	return b.String()
}

// goQuote makes s one word of a GoNB special line.
func goQuote(s string) string {
	if !strings.ContainsAny(s, " \"\\") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
