package complete

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"antipode/internal/must"
)

// files are a small module.
var files = map[string]string{
	"go.mod": "module notebook.test/m\n\ngo 1.26\n",
	"tables/tables.go": `// Package tables holds tables.
package tables

import ("context"; "net/http/httputil")

// A Table has rows.
type Table struct {
	Name   string // of the table
	hidden httputil.BufferPool
}

// Photos is a table. Its rows are photographs.
func Photos() Table { return Table{} }

// Head keeps the first n rows.
func (t Table) Head(n int) Table { return t }

// Rows runs the table.
func (t *Table) Rows(ctx context.Context) ([]string, error) { return nil, nil }

// Where selects rows.
func (t Table) Where(column, op string) Table { return t }

// Select selects columns.
func (t Table) Select(columns ...string) Table { return t }

func (t Table) private() {}
`,
	"plots/plots.go": `// Package plots draws tables.
package plots

import "notebook.test/m/tables"

// Bars draws a bar for each row.
type Bars struct {
	Table tables.Table // Table is drawn.
	Y     string       // Y names the column of values.
	inner int
}

// Show shows it.
func (b Bars) Show() {}

// An Option changes a figure.
type Option func()

// Grid shows images.
func Grid(t tables.Table, options ...Option) Bars { return Bars{} }

// Great is no option.
func Great() int { return 1 }

// Green is one.
func Green() Option { return nil }

// Groups is one too.
func Groups(by string) Option { return nil }

// Limit is a number.
const Limit = 3

var unexported = Limit
`,
	"plots/extra/extra.go": `// Package extra is imported by nobody.
package extra

// Line is a line.
func Line() {}

type Ends struct {
	Kind string   ` + "`values:\"one,two\"`" + `
	By   []string ` + "`help:\"text columns\"`" + `
}
`,
}

const prelude = `%noautoget
import (
	"fmt"
	"strings"
	"notebook.test/m/plots"
	"notebook.test/m/tables"
)
func init_antipode() { fmt.Print() }
%%
`

// service is one of the small module; it tells the test when it has to complain.
func service(t testing.TB) *Service {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return New(Options{ModuleDir: dir, Prelude: prelude, Say: func(text string) { t.Error(text) }})
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		must.Write(t, filepath.Join(dir, name), text)
	}
}

// request is one whose cursor is at the mark ‸.
func request(t testing.TB, marked string, cells ...string) Request {
	t.Helper()
	before, after, ok := strings.Cut(marked, "‸")
	if !ok {
		t.Fatalf("no cursor in %q", marked)
	}
	return Request{Cells: cells, Code: before + after, Cursor: utf8.RuneCountInString(before)}
}

func texts(c Completion) (list []string) {
	for _, m := range c.Matches {
		list = append(list, m.Text)
	}
	return list
}

func TestComplete(t *testing.T) {
	s := service(t)
	photos, photo := "%%\nvar inner = 1\nphotos.Rows()", []string{"var t = tables.Photos()"}
	for _, c := range []struct {
		name, code string
		cells      []string
		want       string // the matches; with a "…" at the end, the first ones
	}{
		{"end of a declaration", "var x = plots.Gr‸", nil, "Great Green Grid Groups"},
		{"end of a declaration, more follows", "var x = plots.Gri‸\nvar y = 3\n%%\ny++", nil, "Grid"},
		{"the case differs", "var x = plots.gri‸", nil, "Grid"},
		{"without a declaration", "plots.Gri‸", nil, "Grid"},
		{"without a declaration, after one", "var x = 1\nplots.Gri‸", nil, "Grid"},
		{"below %%", "%%\nfmt.Prin‸", nil, "Print Printf Println"},
		{"above %%", "var x = strings.ToUpperS‸\n%%\nfmt.Println(x)", nil, "ToUpperSpecial"},
		{"magics", "%env A=1\n!ls \\\n  plots.\nvar x = plots.Gri‸", nil, "Grid"},
		{"arguments, by their type", "plots.Grid(tables.Photos(), plots.Gr‸)", nil, "Green Groups Great Grid"},
		{"unfinished arguments", "plots.Grid(tables.Photos(), plots.Gr‸", nil, "Green Groups Great Grid"},
		{"all of a package", "var x = plots.‸", nil, "Bars Great Green Grid Groups Limit Option"},
		{"unfinished before and after", "var a = plots.\nvar b = tables.Ph‸\nvar c = plots.(", nil, "Photos"},
		{"unfinished above in main", "%%\nx := strings.Split(\nif x {\ny := tables.Ph‸", nil, "Photos"},
		{"a statement", "%%\nif len(strings.Fie‸", nil, "Fields FieldsFunc FieldsFuncSeq FieldsSeq"},
		{"a value of an earlier cell", "t.‸", []string{"var t = tables.Photos().Head(3)", photos},
			"Head Name Rows Select Where"},
		{"a later cell wins", "v.‸", []string{"var v = tables.Photos()", "var v, w = plots.Bars{}, 2"}, "Show Table Y"},
		{"this cell wins", "var v = plots.Bars{}\nv.‸", []string{"var v = tables.Photos()"}, "Show Table Y"},
		{"main is not seen later", "var x = inn‸", []string{photos}, ""},
		{"names of cells", "var x = pho‸", []string{"var photos, phone = 1, 2\nfunc photo() {}"}, "phone photo photos"},
		{"names of a block", "%%\nfor photo := range 3 {\n\tpho‸\n}", []string{"var photos = 1"}, "photo photos"},
		{"no later name", "%%\npho‸\nphoto := 1", []string{"var photos = 1"}, "photos"},
		{"fields", "var x = plots.Bars{‸}", nil, "Table Y"},
		{"fields that are left", "%%\nplots.Bars{Y: \"a\", ‸", nil, "Table"},
		{"only fields next to another", "plots.Bars{Y: \"a\", T‸", []string{"var Total = 1"}, "Table"},
		{"the statements above a broken one", "%%\nt := tables.Photos()\ntype T struct {\nif t.He‸", nil, "Head"},
		{"the value of a field", "var s, n = \"\", 1\nvar x = plots.Bars{Y: ‸}", nil, "s…"},
		{"a name that is not declared yet", "%%\nphone := pho‸", []string{"var photos = 1"}, "photos"},
		{"embedded", "%%\nE{}.‸", []string{"type T struct{ a int }\nfunc (t T) b() {}\ntype E struct{ *T }"}, "T a b"},
		{"a type's keyword", "var x interf‸", nil, "interface"},
		{"methods of an own type", "%%\nvar x T\nx.‸", []string{"type T struct{ a int }\nfunc (t T) b() {}"}, "a b"},
		{"a chain", "var x = tables.Photos().Head(2).He‸", nil, "Head"},
		{"a package of a cell's import", "%%\nr.Shu‸", []string{"import r \"math/rand\""}, "Shuffle"},
		{"a package that nobody imports", "%%\nextra.‸", nil, "Ends Line"},
		{"the name of such a package", "ext‸", nil, "extra"},
		{"keywords", "%%\nswit‸", nil, "switch"},
		{"each name once", "var x = p‸", []string{"var pl, pz = 1, 2"}, "pl pz plots panic print println"},
		{"a declaration's keyword", "va‸", nil, "var"},
		{"the universe", "%%\nx := appe‸", nil, "append"},
		{"a condition", "%%\nif t.‸", photo, "Head Name Rows Select Where"},
		{"a condition, the whole cell", "%%\nif t.Na‸ == \"a\" {\n\tx++\n}", photo, "Name"},
		{"a condition's second part", "%%\nx := 1\nif x > 2 && !t.Na‸ {\n\tx++\n}\nx++", photo, "Name"},
		{"a condition, no keyword", "%%\nif re‸", nil, "real recover reflect regexp"},
		{"what an if declares", "%%\nif u := t.Na‸", photo, "Name"},
		{"after what an if declares", "%%\nif u := t.Head(3); u.Na‸ {", photo, "Name"},
		{"an else if", "%%\nx := 1\nif x > 2 {\n} else if t.Na‸", photo, "Name"},
		{"a condition in a function", "func f() {\n\tif t.Na‸\n}\nvar a = 1", photo, "Name"},
		{"a condition in a block", "%%\nfor {\n\tif t.Na‸ {\n\t}\n}", photo, "Name"},
		{"a range", "%%\nfor _, p := range t.‸", photo, "Head Name Rows Select Where"},
		{"a range, the whole cell", "%%\nfor _, p := range t.Na‸ {\n\tfmt.Println(p)\n}", photo, "Name"},
		{"a range over a literal", "%%\nfor _, p := range []string{t.Na‸", photo, "Name"},
		{"a range alone", "%%\nfor range t.Na‸", photo, "Name"},
		{"a loop's condition", "%%\nfor t.Na‸", photo, "Name"},
		{"a loop's start", "%%\nfor u := t.Na‸", photo, "Name"},
		{"a loop's end", "%%\nfor i := 0; i < len(t.Na‸", photo, "Name"},
		{"a loop's step", "%%\nfor i := 0; i < 3; i += t.Na‸ {", photo, "Name"},
		{"a switch", "%%\nswitch t.Na‸", photo, "Name"},
		{"what a switch declares", "%%\nswitch u := t.Na‸", photo, "Name"},
		{"a case", "%%\nswitch {\ncase t.Na‸", photo, "Name"},
		{"code points", "var é, 世, z = \"😀\", plots.Bars{}, tables.Ph‸", nil, "Photos"},
		{"line ends of Windows", "var a = 1\r\n%%\r\nfmt.Prin‸\r\n", nil, "Print Printf Println"},
		{"in a string", "var x = plots.Grid(\"plots.‸", nil, ""},
		{"in a comment", "// plots.‸", nil, ""},
		{"in a long comment", "%%\n/* a\nplots.‸", nil, ""},
		{"on a magic", "!ls plots.‸", nil, ""},
		{"a new name", "var pho‸", []string{"var photos = 1"}, ""},
		{"no such member", "var x = plots.Nothing‸", nil, ""},
		{"no such name", "var x = nothing.Gr‸", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := request(t, c.code, c.cells...)
			got := s.Complete(t.Context(), r)
			list := strings.Join(texts(got), " ")
			want, first := strings.CutSuffix(c.want, "…")
			if list != want && !(first && strings.HasPrefix(list, want+" ")) {
				t.Errorf("matches %q, want %q", list, c.want)
			}
			points := []rune(r.Code)
			replaced := string(points[got.Start:got.End])
			for _, m := range texts(got) {
				if !strings.HasPrefix(strings.ToLower(m), strings.ToLower(replaced)) || got.End != r.Cursor {
					t.Fatalf("%q would replace %q (%d to %d, cursor %d)", m, replaced, got.Start, got.End, r.Cursor)
				}
			}
		})
	}
}

func TestMatch(t *testing.T) {
	s := service(t)
	for _, c := range []struct {
		code string
		want Match
	}{
		{"plots.Gree‸", Match{"Green", "function", "func() plots.Option", "Green is one."}},
		{"plots.Bar‸", Match{"Bars", "type", "struct{Table tables.Table; Y string}", "Bars draws a bar for each row."}},
		{"plots.Lim‸", Match{"Limit", "const", "untyped int = 3", "Limit is a number."}},
		{"tables.Photos().He‸", Match{"Head", "method", "func(n int) tables.Table", "Head keeps the first n rows."}},
		{"tables.Photos().Na‸", Match{"Name", "field", "string", "of the table"}},
		{"var mine = 2 // Mine is two.\nvar x = mine‸", Match{"mine", "var", "int", "Mine is two."}},
		{"plo‸", Match{"plots", "module", "package notebook.test/m/plots", "Package plots draws tables."}},
		{"retu‸", Match{"return", "keyword", "", ""}},
	} {
		got := s.Complete(t.Context(), request(t, c.code))
		must.True(t, len(got.Matches) == 1 && got.Matches[0] == c.want,
			"%s: %+v, want %+v", c.code, got.Matches, c.want)
	}
}

func TestInspect(t *testing.T) {
	s := service(t)
	head := "```go\nfunc (tables.Table).Head(n int) tables.Table\n```\n\nHead keeps the first n rows."
	for _, c := range []struct{ name, code, want string }{
		{"a method", "var x = tables.Photos().He‸ad(2)", head},
		{"after its name", "var x = tables.Photos().Head‸", head},
		{"among its arguments", "var x = tables.Photos().Head(‸", head},
		{"among its arguments, later", "%%\ntables.Photos().Head(2 + ‸)", head},
		{"in a string argument", "%%\ntables.Photos().Head(\"colu‸mn\")", head},
		{"an unfinished cell", "%%\nif x := tables.Photos().He‸ad(", head},
		{"in a condition", "%%\nif tables.Photos().He‸ad(2).Name == \"\" {\n}", head},
		{"in a range", "%%\nfor _, r := range tables.Photos().Head‸(2).Name {\n\tfmt.Println(r)\n}", head},
		{"what an if declares", "%%\nif t := tables.Photos().He‸ad(2); t.Name == \"\" {\n}", head},
		{"a type", "var x plots.Bars‸", "```go\ntype Bars struct {\n\tTable tables.Table // Table is drawn.\n" +
			"\tY     string       // Y names the column of values.\n\t// and unexported fields\n}\n" +
			"func (plots.Bars).Show()\n```\n\nBars draws a bar for each row."},
		{"a constant", "var x = plots.Limit‸", "```go\nconst plots.Limit untyped int = 3\n```\n\nLimit is a number."},
		{"a package", "var x = plo‸ts.Limit",
			"```go\npackage plots // import \"notebook.test/m/plots\"\n```\n\nPackage plots draws tables."},
		{"an own variable", "// mine is 2.\nvar mine = 2\nvar x = min‸e", "```go\nvar mine int\n```\n\nmine is 2."},
		{"a field", "var x = plots.Bars{Y‸: \"a\"}", "```go\nfield Y string\n```\n\nY names the column of values."},
	} {
		got := s.Inspect(t.Context(), request(t, c.code))
		must.True(t, got.Found && got.Markdown == c.want, "%s: %v %q, want %q", c.name, got.Found, got.Markdown, c.want)
	}
	for code, want := range map[string]string{
		"%%\nfmt.Println‸(1)":      "Println formats using the default formats for its operands",
		"%%\nx := append‸":         "The append built-in function appends elements",
		"%%\nx := make(map[‸":      "The make built-in function allocates",
		"%%\nextra.Li‸ne()":        "Line is a line.",
		"%%\nx := strings.Fields‸": "func strings.Fields(s string) []string",
	} {
		got := s.Inspect(t.Context(), request(t, code))
		isPlain := strings.Contains(got.Plain, want) && !strings.Contains(got.Plain, "```")
		must.True(t, isPlain && strings.Contains(got.Markdown, want), "%s: %+v, want %q", code, got, want)
	}
	for _, code := range []string{"‸", "var x = ‸", "%%\nnothing‸", "plots.Nothing‸", "plots.‸", "// plots.Gri‸d",
		"!plots.Grid‸", "func‸", "%%\nx ==‸ 3)("} {
		must.Equal(t, s.Inspect(t.Context(), request(t, code)), (Inspection{}), code)
	}
}

// TestBroken: a line completes whatever is written above and below it.
func TestBroken(t *testing.T) {
	s := service(t)
	broken := []string{
		"", "x := strings.Split(", "if x {", "x := []int{", "x := \"abc", "for {{{", "func f(", "var = ", "x := plots.",
		"} else {", ")", "photos", "print x", "x = = 3", "type T struct {", "case 3:", "return (", "x := map[string",
		"import \"os\"", "a b c d", "def f(x):", "for i in range(3):", "fmt.Println(1, ", "go", "x :=", "'", "[[[",
		"f(func() {", "switch {", "y := x[",
	}
	lines := []string{"y := tables.Ph‸", "tables.Ph‸", "plots.Grid(tables.Ph‸", "var y = tables.Ph‸"}
	for i, above := range broken {
		for j, between := range broken {
			code := above + "\n" + between + "\n" + lines[(i+j)%len(lines)] + "\n" + above
			for _, code := range []string{code, "%%\n" + code} {
				must.EqualSlices(t, texts(s.Complete(t.Context(), request(t, code))), []string{"Photos"}, code,
					"matches")
			}
		}
	}
}

// TestModuleCache: packages of modules that go.mod requires, or else that a cell has fetched.
func TestModuleCache(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("GOMODCACHE", cache)
	write(t, cache, map[string]string{
		"example.com/!lib@v1.2.0/sub/sub.go":  "package sub\n\nfunc Older() {}\n",
		"example.com/!lib@v1.10.0/sub/sub.go": "package sub\n\nfunc Newer() {}\n",
	})
	r := request(t, "%%\nsub.‸", `import "example.com/Lib/sub"`)
	must.EqualSlices(t, texts(service(t).Complete(t.Context(), r)), []string{"Newer"}, "matches",
		"without a requirement")
	dir := t.TempDir()
	write(t, dir, map[string]string{"go.mod": "module notebook.test/m\n\nrequire example.com/Lib v1.2.0\n"})
	must.EqualSlices(t, texts(New(Options{ModuleDir: dir}).Complete(t.Context(), r)), []string{"Older"}, "matches",
		"with one")
}

// TestEveryPosition: nothing that is half written makes go/parser or go/types give up.
func TestEveryPosition(t *testing.T) {
	s := service(t)
	s.Complete(t.Context(), Request{}) // waits for the loader
	code := "%env X\nimport \"os\"\n// é\nvar a, b = plots.Bars{Y: `x\ny`}, func(n int) int { return n }\n" +
		"type T[P any] struct{ p P }\n" +
		"func (t T[P]) M() (x, y int) { for i := range 3 { defer t.M(); x += i }; return }\n" +
		"const (c = iota; d)\nphotos.Show()\n%%\n" +
		"switch v := any(a).(type) {\ncase T[int]: v.p++\ndefault:\n\tgo func() { <-make(chan int) }()\n}\n" +
		"label: goto label\nif x, y := (T[int]{}).M(); x < y {\n" +
		"\tfmt.Println('é', 1.5e3, map[string][]int{\"a\": {1}}[\"a\"][0:1]) }\n"
	points := []rune(code)
	for i := range len(points) + 1 {
		r := Request{Cells: []string{prelude, code}, Code: code, Cursor: i}
		if i%2 == 0 {
			r.Code = string(points[:i])
		}
		s.loader.complete(r)
		s.loader.inspect(r)
	}
	for _, cursor := range []int{-1, 1 << 30} {
		s.loader.complete(Request{Code: code, Cursor: cursor})
		s.loader.inspect(Request{Code: "", Cursor: cursor})
	}
}

func TestTogether(t *testing.T) {
	s := service(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			got := texts(s.Complete(t.Context(), request(t, "var x = plots.Gri‸")))
			must.EqualSlices(t, got, []string{"Grid"}, "matches")
			if got := s.Inspect(t.Context(), request(t, "plots.Grid‸")); !got.Found {
				t.Error("nothing found")
			}
		})
	}
	group.Wait()
}

// TestLate: an answer that would come too late is empty.
func TestLate(t *testing.T) {
	s := &Service{turn: make(chan struct{}, 1)} // as long as the packages are read
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := s.Complete(ctx, request(t, "fmt.Pri‸"))
	must.True(t, got.Matches == nil, "matches %v", got)
}

func TestNoModule(t *testing.T) {
	said := make(chan string, 1)
	s := New(Options{ModuleDir: t.TempDir(), Say: func(text string) { said <- text }})
	got := s.Complete(t.Context(), request(t, "fmt.Pri‸"))
	must.True(t, got.Matches == nil, "matches %v", got)
	if text := <-said; !strings.HasPrefix(text, "no completion in notebooks: ") || strings.Contains(text, "\n") {
		t.Errorf("said %q", text)
	}
}

// In a string, the columns of the tables in the same expression are completed; elsewhere strings are not.
func TestCompleteColumns(t *testing.T) {
	s := service(t)
	tables := map[string][]string{"photos": {"id", "region", "rain", "größe"}, "other": {"rest", "object"}}
	cells := []string{"var photos, other = tables.Photos(), tables.Photos()"}
	for code, want := range map[string]string{
		"%%\nphotos.Where(\"re‸":                        "region",
		"%%\nphotos.Where(\"re‸\", \"==\").Head(3)":     "region",
		"%%\nphotos.Where(\"ful‸":                       "full",
		"%%\nphotos.Where(\"gr‸":                        "größe",
		"%%\nphotos.Head(3).Select(\"id\", \"ra‸":       "rain",
		"%%\nplots.Bars{Table: other, Y: \"‸\"}":        "rest object",
		"%%\nextra.Ends{Kind: \"t‸":                     "two",
		"%%\nextra.Ends{By: []string{\"r‸\"}}":          "rest region rain reason",
		"var b = plots.Bars{Table: photos, Y: \"r‸":     "region rain",
		"%%\ntables.Photos().Where(\"re‸":               "rest region reason",
		"%%\nphotos.Where(\"id\", \"=‸":                 "",
		"%%\nfmt.Println(\"re‸":                         "",
		"%%\n// photos.Where(\"re‸":                     "",
		"%%\nphotos.Where(\"größe\", \"\").Where(\"re‸": "region",
	} {
		r := request(t, code, cells...)
		r.Columns = tables
		c := s.Complete(t.Context(), r)
		got := strings.Join(texts(c), " ")
		must.Equal(t, got, want, code)
		typed := string([]rune(r.Code)[c.Start:c.End])
		must.True(t, got == "" || strings.HasPrefix(c.Matches[0].Text, typed), "%s: replaces %q", code, typed)
	}
}
