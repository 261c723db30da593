package rules

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"antipode/internal/must"
	nb "antipode/kernel/jupyter/notebook"
)

// Sizes of a committed notebook and of each image in it, in bytes, and of a cell, in lines and columns. Imports,
// parameters and empty lines do not count.
const (
	maxNotebook    = 1_000_000
	maxImage       = 200 << 10
	maxCellLines   = 8
	maxCellColumns = 100
)

// notebook is what the rules need of an .ipynb file.
type notebook struct {
	Cells    []cell
	Metadata struct {
		Kernelspec struct{ Name, Language string }
	}
	Format int `json:"nbformat"`
}

type cell struct {
	Type     string `json:"cell_type"`
	Source   text
	Count    *int `json:"execution_count"`
	Metadata struct{ Tags []string }
	Outputs  []output
}

type output struct {
	Type  string `json:"output_type"`
	Text  text
	Data  map[string]json.RawMessage
	Name  string `json:"ename"`
	Value string `json:"evalue"`
}

// text is a string, or a list of strings to be joined.
type text string

func (s *text) UnmarshalJSON(data []byte) error {
	var lines []string
	if json.Unmarshal(data, &lines) == nil {
		*s = text(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(data, (*string)(s))
}

func TestCommittedNotebooks(t *testing.T) {
	module := must.Get(module())(t)
	seen := 0
	for _, name := range files() {
		if path.Ext(name) != ".ipynb" || strings.Contains(name, "testdata/") {
			continue
		}
		seen++
		for _, problem := range checkNotebook(module, name, read(t, name)) {
			t.Errorf("%s: %s", name, problem)
		}
	}
	must.True(t, seen != 0, "no notebook is committed")
}

// checkNotebook lists what is wrong with a notebook that is to be committed.
func checkNotebook(module, name string, data []byte) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var n notebook
	if err := json.Unmarshal(data, &n); err != nil {
		say("is not a notebook: %v", err)
		return problems
	}
	if len(data) > maxNotebook {
		say("%d bytes, more than %d: show fewer or smaller images (thumbnails), the originals next to the "+
			"notebook as files",
			len(data), maxNotebook)
	}
	if n.Format != 4 {
		say("nbformat %d: save it as version 4", n.Format)
	}
	if n.Metadata.Kernelspec.Name != "antipode" {
		say("its kernel is %q: choose \"Go (Antipode)\" and save", n.Metadata.Kernelspec.Name)
	}
	lesson := path.Base(path.Dir(name)) == "lessons" && !strings.HasSuffix(name, "_solution.ipynb")
	var idle []string
	for i, c := range n.Cells {
		where := fmt.Sprintf("cell %d", i+1)
		if c.Type != "code" || strings.TrimSpace(string(c.Source)) == "" {
			continue
		}
		if slices.Contains(c.Metadata.Tags, "injected-parameters") {
			say("%s holds injected parameters: run the notebook without -p before it is committed", where)
		}
		switch {
		case lesson:
			if c.Count != nil {
				say("%s has been executed: "+
					"a lesson shows no result before the prediction; its solution does", where)
			}
		case c.Count == nil && !slices.Contains(c.Metadata.Tags, "skip-execution"):
			idle = append(idle, fmt.Sprint(i+1))
		}
		for _, o := range c.Outputs {
			if o.Type == "error" && !slices.Contains(c.Metadata.Tags, "raises-exception") {
				say("%s ended with an error (%s: %s): fix it, or tag the cell raises-exception where it is meant",
					where, o.Name, o.Value)
			}
			for _, problem := range checkOutput(o) {
				say("%s: %s", where, problem)
			}
		}
	}
	if len(idle) > 0 {
		say("not executed: cells %s; antipode run --in-place does it", strings.Join(idle, ", "))
	}
	return append(problems, checkCode(module, n.Cells)...)
}

var (
	// inert output holds none of these.
	active = regexp.MustCompile(
		`(?i)<script|<iframe|<object\b|<embed\b|<[a-z][^>]*\son[a-z]+\s*=|javascript:|data:(?:text/html|text/javascript|application/[a-z.-]*(?:script|xhtml))|<[a-z][^>]*\s(?:src|srcset|poster)\s*=\s*["']?\s*(?:https?:)?//|<(?:image|use|link|base)\b[^>]*\shref\s*=\s*["']?\s*(?:https?:)?//|url\(\s*["']?(?:https?:)?//`)
	// clock finds what differs from run to run: times, rates, progress bars.
	clock = regexp.MustCompile(
		`(?i)\r[^\n]|[█▏▎▍▌▋▊▉■▇]{3,}|\[[=#]{3,}[>. ]|\b\d+(?:\.\d+)?\s?(?:it|img|images|rows|items|MB|MiB|kB)/s\b|\bETA\b|\belapsed\b|\btook \d|\bin \d+(?:\.\d+)?\s?(?:ns|µs|ms|s|sec|seconds|min|minutes)\b|\b\d+m\d+(?:\.\d+)?s\b|\b\d+(?:\.\d+)?(?:ns|µs|ms)\b`)
	dataURI = regexp.MustCompile(`data:([a-z]+/[a-z0-9.+-]+)((?:;[a-z0-9=-]+)*),([^"')\s>]*)`)
	markup  = regexp.MustCompile(`<[^>]*>`)
)

// checkOutput lists what is wrong with one output of a cell.
func checkOutput(o output) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	visible := string(o.Text)
	for _, kind := range sorted(o.Data) {
		var content text
		if json.Unmarshal(o.Data[kind], &content) != nil {
			content = text(o.Data[kind])
		}
		switch {
		case kind == "application/javascript" || kind == "application/json":
			say("holds %s: a page runs no script; show HTML, SVG or PNG", kind)
		case kind == "image/svg+xml":
			problems = append(problems, checkImage(kind, []byte(content))...)
		case strings.HasPrefix(kind, "image/"):
			image, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(content)), ""))
			if err != nil {
				say("its %s is not base64: %v", kind, err)
			}
			problems = append(problems, checkImage(kind, image)...)
		case strings.HasPrefix(kind, "text/"):
			if kind != "text/plain" {
				if found := active.FindString(dataURI.ReplaceAllStringFunc(string(content), keepKind)); found != "" {
					say("its %s holds %q: a page runs no script and fetches nothing", kind, found)
				}
				for _, m := range dataURI.FindAllStringSubmatch(string(content), -1) {
					problems = append(problems, checkURI(m[1], m[2], m[3])...)
				}
				content = text(markup.ReplaceAllString(string(content), " "))
			}
			visible += "\n" + string(content)
		}
	}
	if found := clock.FindString(visible); found != "" {
		say("its text holds %q, a timing or a bar, which would differ in the next run: report progress through "+
			"datasets/cell", found)
	}
	if strings.Contains(visible, "ended unexpectedly") {
		say("its text says that the backend ended: run the notebook again")
	}
	return problems
}

// keepKind cuts a data URI down to its kind: its content is checked separately.
func keepKind(uri string) string {
	kind, _, _ := strings.Cut(uri, ",")
	return kind + ","
}

func checkURI(kind, parameters, content string) []string {
	image := []byte(content)
	var err error
	if strings.Contains(parameters, ";base64") {
		image, err = base64.StdEncoding.DecodeString(content)
	} else if unescaped, bad := url.PathUnescape(content); bad == nil {
		image = []byte(unescaped)
	}
	if err != nil {
		return []string{fmt.Sprintf("a data URI of %s is not base64: %v", kind, err)}
	}
	if !strings.HasPrefix(kind, "image/") && !strings.HasPrefix(kind, "font/") {
		return []string{fmt.Sprintf("holds a data URI of %s: only images are embedded", kind)}
	}
	return checkImage(kind, image)
}

func checkImage(kind string, content []byte) (problems []string) {
	if len(content) > maxImage {
		problems = append(problems, fmt.Sprintf("an image (%s) of %d bytes, more than %d: show a thumbnail", kind,
			len(content), maxImage))
	}
	if kind == "image/svg+xml" {
		if found := active.FindString(dataURI.ReplaceAllStringFunc(string(content), keepKind)); found != "" {
			problems = append(problems,
				fmt.Sprintf("an SVG image holds %q: an image runs no script and fetches nothing", found))
		}
	}
	return problems
}

// checkCode lists what is wrong with the Go of a notebook: cells that do not parse, imports that are not for cells, and
// what is assigned to a cell's top-level variable inside a function, which the next cell would not see.
func checkCode(module string, cells []cell) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	type parsed struct {
		cell int
		fset *token.FileSet
		file *ast.File
	}
	var all []parsed
	top := map[string]bool{} // every top-level variable of the notebook
	for i, c := range cells {
		if c.Type != "code" {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "", goSource(string(c.Source)), 0)
		if err != nil {
			say("cell %d is not Go: %v", i+1, err)
			continue
		}
		all = append(all, parsed{i + 1, fset, file})
		problems = append(problems, checkCell(i+1, fset, file, string(c.Source))...)
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, s := range g.Specs {
					for _, name := range s.(*ast.ValueSpec).Names {
						top[name.Name] = true
					}
				}
			}
		}
	}
	for _, p := range all {
		for _, s := range p.file.Imports {
			folder, ours := folderOf(module, strings.Trim(s.Path.Value, "\"`"))
			if ours && !isForCells(folder) {
				say("cell %d imports %s: cells import %v", p.cell, s.Path.Value, forCells)
			}
		}
		global := func(id *ast.Ident) bool { // a top-level variable, of this cell or of another
			return top[id.Name] && (id.Obj == nil || id.Obj == p.file.Scope.Lookup(id.Name))
		}
		assigned := func(target ast.Expr) {
			if id := nb.AssignedIdent(target); id != nil && global(id) {
				say("cell %d, line %d assigns to %s, a top-level var: the next cell makes it anew and does not see "+
					"that; declare a new name for the new value, with var above %%%%",
					p.cell, p.fset.Position(target.Pos()).Line-sourceOffset, id.Name)
			}
		}
		ast.Inspect(p.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				if n.Tok != token.DEFINE {
					for _, target := range n.Lhs {
						assigned(target)
					}
				}
			case *ast.IncDecStmt:
				assigned(n.X)
			case *ast.RangeStmt:
				if n.Tok == token.ASSIGN {
					for _, target := range []ast.Expr{n.Key, n.Value} {
						if target != nil {
							assigned(target)
						}
					}
				}
			}
			return true
		})
	}
	return problems
}

// parameter reports whether a declaration is that of a parameter: one variable with a literal.
func parameter(d *ast.GenDecl) bool {
	if d.Tok != token.VAR || len(d.Specs) != 1 {
		return false
	}
	values := d.Specs[0].(*ast.ValueSpec).Values
	if len(values) != 1 {
		return false
	}
	switch v := values[0].(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return v.Name == "true" || v.Name == "false"
	}
	return false
}

// checkCell lists what makes a code cell hard to read: its length, its width, helper functions, handling of contexts.
func checkCell(number int, fset *token.FileSet, file *ast.File, source string) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	imports := map[int]bool{}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.IMPORT || parameter(d) {
				for line := fset.Position(d.Pos()).Line; line <= fset.Position(d.End()).Line; line++ {
					imports[line-sourceOffset] = true
				}
			}
		case *ast.FuncDecl:
			if d.Name.Name != "main" {
				say("cell %d declares the function %s: a notebook calls packages; move the function to one", number,
					d.Name.Name)
			}
		}
	}
	lines := 0
	for i, line := range strings.Split(source, "\n") {
		if columns := utf8.RuneCountInString(line) + strings.Count(line, "\t")*(tabWidth-1); columns > maxCellColumns {
			say("cell %d, line %d is %d columns wide, more than %d: break the line", number, i+1, columns,
				maxCellColumns)
		}
		if !imports[i+1] && strings.TrimSpace(line) != "" {
			lines++
		}
	}
	if lines > maxCellLines {
		say("cell %d has %d lines, more than %d: divide it, or move work to a package", number, lines, maxCellLines)
	}
	if strings.Contains(source, "cell.Context(") {
		say("cell %d handles a context: use Run, Show, Value or MustRows, which stop with the cell", number)
	}
	return problems
}

// sourceOffset is the number of lines goSource puts before a cell's first.
const sourceOffset = 1

// goSource makes a Go file of a cell, line by line: the statements below %% are the body of main.
func goSource(source string) string {
	code := nb.SplitCode(source)
	file := "package cell\n" + code.Declarations()
	if code.Main >= 0 {
		file = strings.TrimSuffix(file, "\n") + "func main() {\n" + code.Text[code.Main:] + "\n}"
	}
	return file + "\n"
}
