package complete

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"antipode/internal/must"
	"antipode/kernel/jupyter/notebook"
)

const root = "../../.."

// light are the packages that notebooks have without an import of their own.
var light = []string{"datasets", "gomlxmodels", "datasets/cell", "datasets/client", "metrics", "metrics/disparity",
	"plots"}

// realPrelude imports them and some of the standard library.
func realPrelude(t testing.TB) string {
	t.Helper()
	l := must.Get(newLoader(root))(t)
	var b strings.Builder
	for _, p := range []string{"fmt", "math", "os", "path/filepath", "slices", "sort", "strings", "time"} {
		fmt.Fprintf(&b, "import %q\n", p)
	}
	for _, p := range light {
		fmt.Fprintf(&b, "import %q\n", l.mod.Module.Mod.Path+"/"+p)
	}
	return b.String()
}

// TestAsCompiled: what is read from source, without most of it, is what the compiler exports.
func TestAsCompiled(t *testing.T) {
	l := must.Get(newLoader(root))(t)
	paths := []string{"context", "fmt", "io", "net/http", "os", "slices", "strings", "text/template", "time"}
	for _, p := range light {
		paths = append(paths, l.mod.Module.Mod.Path+"/"+p)
	}
	exports := map[string]string{}
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, paths...)...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out := must.Get(cmd.Output())(t)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
	}
	compiled := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	objects := 0
	for _, path := range paths {
		want := must.Get(compiled.Import(path))(t)
		got := must.Get(l.Import(path))(t)
		for _, name := range want.Scope().Names() {
			o := want.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			objects++
			if g, w := exported(got.Scope().Lookup(name)), exported(o); !slices.Equal(g, w) {
				t.Errorf("%s.%s: %q, compiled %q", path, name, g, w)
			}
		}
	}
	must.True(t, objects >= 500, "only %d objects compared", objects)
}

// exported reports what a cell can use of an object.
func exported(o types.Object) (list []string) {
	if o == nil {
		return nil
	}
	a := &analysis{pkg: types.NewPackage("cell", "cell"), info: types.Info{}}
	if _, ok := o.(*types.TypeName); !ok {
		return []string{types.ObjectString(o, nil)}
	}
	for _, c := range a.ofType(o.Type(), true) {
		list = append(list, c.kind+" "+types.ObjectString(c.object, nil))
	}
	slices.Sort(list)
	return append(list, types.TypeString(o.Type(), nil))
}

// TestNotebooks: everything that the committed notebooks select completes as it is written there, and is explained.
func TestNotebooks(t *testing.T) {
	s := New(Options{ModuleDir: root, Prelude: realPrelude(t), Say: func(text string) { t.Error(text) }})
	checked := 0
	for _, name := range []string{"tour", "your_own_images"} {
		file := filepath.Join(root, "notebooks", name+".ipynb")
		if _, err := os.Stat(file); err != nil {
			continue
		}
		n := must.Get(notebook.Read(file))(t)
		var all []string
		for _, c := range n.Cells {
			if c.Type == notebook.Code {
				all = append(all, c.Source)
			}
		}
		for i, code := range all {
			for _, selected := range selectors(code) {
				checked++
				text, begun := code[selected[0]:selected[1]], code[:selected[0]+1]
				r := Request{Cells: all[:i], Code: begun, Cursor: utf8.RuneCountInString(begun)}
				if got := texts(s.Complete(t.Context(), r)); !slices.Contains(got, text) {
					t.Errorf("%s, cell %d: %q completes to %q, want %s", name, i, lastLine(r.Code), got, text)
				}
				r.Code = code
				if got := s.Inspect(t.Context(), r); !strings.Contains(got.Plain, text) {
					t.Errorf("%s, cell %d: %s is explained as %q", name, i, text, got.Plain)
				}
			}
		}
	}
	must.True(t, checked >= 100, "only %d names checked", checked)
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// selectors are the places of the names after a dot.
func selectors(code string) (places [][2]int) {
	text := notebook.SplitCode(code).Text
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), nil, 0)
	for last := token.EOF; ; {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return places
		}
		if tok == token.IDENT && last == token.PERIOD {
			places = append(places, [2]int{file.Offset(pos), file.Offset(pos) + len(lit)})
		}
		last = tok
	}
}

// BenchmarkFirst is the first completion of a kernel, everything it needs included.
func BenchmarkFirst(b *testing.B) {
	opts := Options{ModuleDir: root, Prelude: realPrelude(b)}
	for b.Loop() {
		if got := New(opts).Complete(b.Context(), request(b, "var x = plots.‸")); len(got.Matches) == 0 {
			b.Fatal("no matches")
		}
	}
}

// BenchmarkNext is a later one.
func BenchmarkNext(b *testing.B) {
	s := New(Options{ModuleDir: root, Prelude: realPrelude(b)})
	for b.Loop() {
		if got := s.Complete(b.Context(), request(b, "var x = plots.‸")); len(got.Matches) == 0 {
			b.Fatal("no matches")
		}
	}
}
