package rules

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"antipode/internal/must"
)

// layer is a part of the tree with what it may import of the rest of the module, next to internal/... and itself.
type layer struct {
	folders string
	imports []string
}

// layers, first match counts. Imports go one way: notebooks → audits, plots → metrics → datasets → datasets/table;
// gomlxmodels → datasets; kernel (the backend side) → all of them.
var layers = []layer{
	{".", []string{"kernel/commands"}},
	{"datasets/table", nil},
	{"datasets/client", []string{"datasets/table"}},
	{"datasets/cell", []string{"datasets/client", "datasets/table"}},
	{"datasets/...", nil},
	{"metrics/...", []string{"datasets/..."}},
	{"audits/...", []string{"metrics/...", "datasets/...", "gomlxmodels"}},
	{"plots/...", []string{"metrics/...", "datasets/..."}},
	{"gomlxmodels/...", []string{"datasets/..."}},
	{"kernel/...", []string{"gomlxmodels/...", "metrics/...", "datasets/...", "plots/browse", "plots/paint"}},
	{"internal/...", nil},
	{"docs/...", nil}, // programs that users copy: they import nothing of the module
}

func TestImportsGoOneWay(t *testing.T) {
	mine, _ := own(t)
	modulePath, _ := module()
	for _, folder := range sorted(mine) {
		if withinAny(folder, []string{"test/...", "tools/..."}) {
			continue // suites, what they share, and programs: nothing else imports them
		}
		i := slices.IndexFunc(layers, func(l layer) bool { return within(folder, l.folders) })
		if i < 0 {
			t.Errorf("%s belongs to no layer: put it below one of them",
				folder)
			continue
		}
		for _, p := range mine[folder].Imports {
			to, ours := folderOf(modulePath, p)
			if ours && !within(to, layers[i].folders) && !withinAny(to, layers[i].imports) &&
				!(within(to, "internal/...") && i > 0) {
				t.Errorf("%s imports %s: the layer %s may import %v, itself and internal; move the code to where "+
					"both may reach it, or declare an interface there",
					folder, to, layers[i].folders, layers[i].imports)
			}
		}
	}
}

func TestOnlyTheCommandLinksAllModels(t *testing.T) {
	mine, _ := own(t)
	modulePath, _ := module()
	for _, folder := range sorted(mine) {
		linked := slices.Contains(mine[folder].Imports, modulePath+"/kernel/backend/all")
		if linked && !slices.Contains([]string{"kernel/commands", "test/testengine"}, folder) {
			t.Errorf("%s imports kernel/backend/all, which links every model: only kernel/commands does "+
				"(and plain programs and tests)", folder)
		}
	}
}

// TestProgramsLinkXLA: a program that opens devices links XLA, or it computes on the pure Go backend alone.
func TestProgramsLinkXLA(t *testing.T) {
	mine, _ := own(t)
	modulePath, _ := module()
	device, opens := modulePath+"/gomlxmodels/device", 0
	for _, folder := range sorted(mine) {
		if p := mine[folder]; p.Name == "main" && slices.Contains(p.Deps, device) {
			opens++
			must.True(t, slices.Contains(p.Deps, device+"/xla"),
				"%s opens devices and does not link XLA: import gomlxmodels/device/xla", folder)
		}
	}
	must.True(t, opens >= 3, "%d programs open devices", opens)
}

// clients are import path prefixes that the antipode command does not link.
var clients = []string{"gocloud.dev", "github.com/aws/", "github.com/googleapis/", "google.golang.org/grpc",
	"google.golang.org/api", "go.opentelemetry.io/"}

// TestTheCommandLinksNoObjectStorage: a third of what the command linked was for object storage, which one machine does
// not use. The command of kernel/cluster/clouds has it.
func TestTheCommandLinksNoObjectStorage(t *testing.T) {
	mine, packages := own(t)
	if len(mine["."].Deps) < 100 {
		t.Fatalf("the command depends on %d packages", len(mine["."].Deps))
	}
	for _, prefix := range clients { // one line for each
		i := slices.IndexFunc(mine["."].Deps, func(path string) bool { return strings.HasPrefix(path, prefix) })
		if i >= 0 {
			path := mine["."].Deps[i]
			t.Errorf("the antipode command links %s, through %s: only programs with object storage import "+
				"kernel/backend/remote/cloud",
				path, through(packages, mine["."].ImportPath, path))
		}
	}
}

func TestClientIsStandardLibraryOnly(t *testing.T) {
	mine, packages := own(t)
	for _, p := range mine["datasets/client"].Deps {
		if d := packages[p]; d != nil && !d.Standard && p != mine["datasets/client"].ImportPath &&
			p != mine["datasets/table"].ImportPath && p != mine["internal/filelock"].ImportPath {
			t.Errorf("datasets/client reaches %s: it uses the standard library only, because every cell links it", p)
		}
	}
}

func TestPackageComments(t *testing.T) {
	mine, _ := own(t)
	for _, folder := range sorted(mine) {
		p := mine[folder]
		if len(p.GoFiles)+len(p.CgoFiles) == 0 {
			continue // tests only
		}
		want := []string{"Package " + p.Name + " "}
		if p.Name == "main" { // as Go's own: "Command x …" or "X does …"
			base := path.Base(p.ImportPath)
			want = []string{"Command " + base + " ", strings.ToUpper(base[:1]) + base[1:] + " "}
		}
		if !slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(p.Doc, w) }) {
			t.Errorf("%s: no package comment that begins with %q (it begins with %q): add one, in doc.go where it is "+
				"longer than a line", folder, want, p.Doc)
		}
	}
}

// The sizes of a Go file, in lines: readable, and at most.
const (
	fewLines = 400
	maxLines = 500
)

func TestFilesAreOfReadableSize(t *testing.T) {
	for _, name := range files() {
		if path.Ext(name) != ".go" && path.Ext(name) != ".py" || strings.Contains(name, "testdata/") {
			continue
		}
		switch n := bytes.Count(read(t, name), []byte("\n")); {
		case n > maxLines:
			t.Errorf("%s has %d lines: split it (at most %d, better %d)", name, n, maxLines, fewLines)
		case n > fewLines:
			t.Logf("%s has %d lines: split it before it reaches %d", name, n, maxLines)
		}
	}
}

func sorted[T any](m map[string]T) []string {
	return slices.Sorted(maps.Keys(m))
}
