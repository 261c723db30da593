package jupyter

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"antipode/internal/glob"
)

// standard are the packages of the standard library that cells use without an import.
var standard = []string{"fmt", "math", "os", "path/filepath", "slices", "sort", "strings", "time"}

// packages are the packages of Antipode that cells use without an import.
var packages = []string{"datasets", "gomlxmodels", "datasets/cell", "datasets/client", "metrics", "metrics/disparity",
	"plots"}

// prelude returns the hidden first cell. It turns automatic downloads off, makes binaries smaller (a third of a second
// faster per cell) and declares the imports; GoNB removes unused ones from each cell. Declaring them here spares
// goimports a search of the module cache, which takes seconds. What the kernel and GoNB write themselves uses names
// that users do not declare. GoNB's temporary files are in a folder that is removed with the kernel; init_antipode
// gives cells the user's TMPDIR. (GoNB runs every function named init_… at start.)
func prelude(moduleDir string) string {
	var b strings.Builder
	b.WriteString("%noautoget\n%goflags \"-ldflags=-s -w\"\nimport (\n")
	b.WriteString("\tantipode_os \"os\"\n\tantipode_flag \"flag\"\n")
	for _, p := range imports(moduleDir) {
		b.WriteString("\t\"" + p + "\"\n")
		if p == "antipode/datasets/cell" {
			b.WriteString("\t" + light + " \"" + p + "\"\n")
		}
	}
	restore := `antipode_os.Unsetenv("TMPDIR")`
	if dir := os.Getenv("TMPDIR"); dir != "" {
		restore = `antipode_os.Setenv("TMPDIR", ` + strconv.Quote(dir) + `)`
	}
	b.WriteString(")\nfunc init_antipode() { " + restore + " }\n%%\n")
	return b.String()
}

// imports returns the packages that cells use without an import: of Antipode those that the module contains.
func imports(moduleDir string) []string {
	list := slices.Clone(standard)
	for _, p := range packages {
		if len(glob.In(moduleDir, p+"/*.go")) > 0 {
			list = append(list, "antipode/"+p)
		}
	}
	return list
}

// importable returns the packages that cells may import and that are compiled for them before one does.
func importable(moduleDir string) []string {
	list := imports(moduleDir)
	for _, pattern := range []string{"audits/*.go", "audits/*/*.go", "datasets/*/*.go", "metrics/*/*.go"} {
		for _, f := range glob.In(moduleDir, pattern) {
			folder, err := filepath.Rel(moduleDir, filepath.Dir(f))
			p := "antipode/" + filepath.ToSlash(folder)
			if err == nil && !strings.HasSuffix(p, "test") && !slices.Contains(list, p) {
				list = append(list, p)
			}
		}
	}
	return list
}
