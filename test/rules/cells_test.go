package rules

import (
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/kernel/jupyter/cellbuild"
)

// forCells are the packages that notebook cells may import.
var forCells = []string{"audits/...", "datasets/...", "metrics/...", "plots/...", "gomlxmodels"}

// notForCells are packages below forCells that only the command imports.
var notForCells = []string{"datasets/manifest/pull", "plots/paint"}

// isForCells reports whether cells may import the package in a folder: one of forCells, and no helper of tests.
func isForCells(folder string) bool {
	return withinAny(folder, forCells) && !slices.Contains(notForCells, folder) &&
		!strings.Contains(folder, "/internal/") && !strings.HasSuffix(folder, "test")
}

// heavy are import path prefixes that no cell may reach, with the reason. A cell is a separate program, linked and
// started anew: a figure takes 0.3 s, 0.5 s with net/http, fonts and a rasterizer, 2.7 s and more with GoMLX and XLA.
var heavy = []struct{ prefix, why string }{
	{"github.com/gomlx/", "GoMLX, its backends and XLA add seconds to every cell, and only the backend " +
		"opens the device"},
	{"github.com/gx-org/", "it comes with GoMLX"},
	{"github.com/parquet-go/", "tables at rest are read and written by the backend, through kernel/backend/parquet"},
	{"github.com/klauspost/compress", "compression comes with Parquet: the backend's"},
	{"gocloud.dev", "objects are read and written by the backend, through kernel/backend/remote"},
	{"github.com/aws/", "as above"},
	{"github.com/googleapis/", "it comes with gocloud.dev"},
	{"go.opentelemetry.io/", "it comes with gocloud.dev"},
	{"github.com/xuri/", "a spreadsheet library is larger than what reads one released workbook"},
	{"github.com/go-zeromq/", "the kernel's protocol is not the cell's"},
	{"github.com/yuin/goldmark", "pages are rendered by kernel/jupyter/notebook"},
	{"github.com/microcosm-cc/", "pages are rendered by kernel/jupyter/notebook"},
	{"github.com/schollz/progressbar", "a cell shows progress through datasets/cell"},
	{"google.golang.org/", "no gRPC and no protocol buffers: a cell speaks HTTP to its backend"},
	{"golang.org/x/net/", "the web is not the cell's"},
	{"net/http", "datasets/client speaks to the backend without it; downloads are the command's"},
	{"gonum.org/v1/plot", "images are painted by plots/paint, in the backend"},
	{"codeberg.org/go-fonts", "as above; plots/internal/letters has the widths of their characters"},
	{"github.com/go-text/typesetting/font", "as above"},
	{"golang.org/x/tools/", "compilers are not the cell's"},
	{"text/template", "templates keep the linker from dropping unused methods: everything grows"},
	{"html/template", "templates keep the linker from dropping unused methods: everything grows"},
	{"plugin", "plugins keep the linker from dropping anything"},
	{"testing", "only tests test"},
}

func TestCellsAreLight(t *testing.T) {
	mine, packages := own(t)
	module, _ := module()
	cells := 0
	for _, folder := range sorted(mine) {
		if !isForCells(folder) || mine[folder].Name == "main" {
			continue
		}
		cells++
		for _, h := range heavy { // one line for each
			i := slices.IndexFunc(mine[folder].Deps, func(path string) bool {
				return path == h.prefix || strings.HasPrefix(path, strings.TrimSuffix(h.prefix, "/")+"/")
			})
			if i >= 0 {
				path := mine[folder].Deps[i]
				t.Errorf("%s reaches %s, through %s: %s", folder, path,
					through(packages, mine[folder].ImportPath, path), h.why)
			}
		}
		for _, path := range mine[folder].Deps {
			to, ours := folderOf(module, path)
			if ours && !withinAny(to, forCells) && !strings.HasPrefix(to, "internal/") {
				t.Errorf("%s reaches %s: that is the backend's side; cells reach it with a plan", folder, to)
			}
			if d := packages[path]; d != nil && !d.Standard && len(d.CgoFiles) > 0 {
				t.Errorf("%s reaches %s, which needs a C compiler: cells build without one", folder, path)
			}
			if d := packages[path]; d != nil && !d.Standard && cellbuild.Resolves(path, d.Imports) {
				t.Errorf("%s reaches %s, which imports net or os/user: cells would be linked with C",
					folder, path)
			}
		}
	}
	must.True(t, cells >= 10, "only %d packages for cells found: forCells no longer fits the tree", cells)
}

// through returns one import path from a package to one that it reaches.
func through(packages map[string]*Package, from, to string) string {
	previous := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at == to {
			var way []string
			for ; at != ""; at = previous[at] {
				way = append(way, at)
			}
			slices.Reverse(way)
			return strings.Join(way, " → ")
		}
		if packages[at] == nil {
			continue
		}
		for _, next := range packages[at].Imports {
			if _, seen := previous[next]; !seen {
				previous[next] = at
				queue = append(queue, next)
			}
		}
	}
	return from
}
