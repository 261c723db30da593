package jupyter

import (
	"go/token"
	"strings"
	"testing"

	"antipode/internal/must"
)

func TestIsComplete(t *testing.T) {
	for code, want := range map[string]string{
		"var x = 5": "complete", "%%\nx := 5\n_ = x": "complete", "": "complete", "!ls": "complete",
		"func f() {": "incomplete", "%%\nfor {": "incomplete", "var s = `a": "incomplete", "var x = f(\n": "incomplete",
		"f(": "incomplete", "f()": "complete", "%%": "incomplete", "var x = 5\n%% \n": "incomplete",
		"var := ]": "invalid", "%%\nx := ]": "invalid", "%%writefile a.txt\n}": "unknown",
	} {
		got, _ := isComplete(code)
		must.True(t, got == want, "%q is %s, want %s", code, got, want)
	}
}

// Statements above %% are what a newcomer writes first: the message says where they go.
func TestStatementError(t *testing.T) {
	for code, want := range map[string]int{
		"photos": 1, "x := 5": 1, "print()": 1, "import \"fmt\"\n\nfmt.Println(1)": 3, "%cd /\nx = 1": 2,
		"var x = 5": 0, "%%\nx := 5": 0, "": 0, "%%writefile a\nx": 0, "func f() {\n\tx := 1\n}": 0, "var x = ]": 0,
	} {
		line, message := split(code).statementError()
		must.True(t, line == want && (line > 0) == strings.Contains(message, "statements go below a line %%"),
			"%q: line %d, want %d: %s", code, line, want, message)
	}
}

func TestAssigned(t *testing.T) {
	known := map[string]int{"photos": 1, "n": 1, "_": 1}
	for code, want := range map[string]string{
		"%%\nphotos = 1": "photos", "%%\n\nn++": "n", "%%\nphotos.X[2] = 1; n += 2": "photos n",
		"%%\nphotos := 1\nphotos = 2": "",
		"%%\nfor n = range 3 {\n}":    "", "%%\nfor n := range 3 { n = 2 }": "", "%%\nother = 1": "",
		"%%\nfunc(n int) { n = 2 }(1)": "", "%%\n_ = 1": "",
	} {
		s, files := split(code), token.NewFileSet()
		body := must.Get(parseBody(files, s.Statements()))(t)
		names, _ := assigned(body, files, known)
		must.True(t, strings.Join(names, " ") == want, "%q assigns %v, want %q", code, names, want)
	}
}

// The last expression of a cell is shown; statements, and calls that may return nothing, stay as they are.
func TestShowLast(t *testing.T) {
	results := &resultIndex{functions: map[string]bool{"datasets.CSV": true}, methods: map[string]bool{"Head": true}}
	for code, want := range map[string]string{
		"%%\n1+1":                           "%%\nantipode_cell.Result(1+1)",
		"var é = 1\n%%\né // comment":       "var é = 1\n%%\nantipode_cell.Result(é) // comment",
		"%%\nx := 1\n!ls\nx":                "%%\nx := 1\n!ls\nantipode_cell.Result(x)",
		"%%\nphotos.Head(5)":                "%%\nantipode_cell.Result(photos.Head(5))",
		"%%\ndatasets.CSV(\n\t\"a\",\n)":    "%%\nantipode_cell.Result(datasets.CSV(\n\t\"a\",\n))",
		"%%\nlen(x)":                        "%%\nantipode_cell.Result(len(x))",
		"%%\nphotos.Show()":                 "%%\nphotos.Show()",
		"%%\nfmt.Println()":                 "%%\nfmt.Println()",
		"%%\nx := 1":                        "%%\nx := 1",
		"%%":                                "%%",
		"%% --flag\n<-c":                    "%% --flag\n<-c",
		"%%\nif true {\n\tfmt.Println()\n}": "%%\nif true {\n\tfmt.Println()\n}",
	} {
		s, files := split(code), token.NewFileSet()
		body, err := parseBody(files, s.Statements())
		if err != nil {
			t.Fatalf("%q: %v", code, err)
		}
		must.Equal(t, s.showLast(body, files, results), want, code, "became")
	}
}

// The index is read from the source: verbs of tables return tables, Show does not.
func TestResultIndex(t *testing.T) {
	index := readResultIndex("../..")
	for _, name := range []string{"Head", "Where", "Select"} {
		must.True(t, index.methods[name], "method %s is missing", name)
	}
	for _, name := range []string{"datasets.CSV", "gomlxmodels.Segment", "strings.ToUpper"} {
		must.True(t, index.functions[name], "function %s is missing", name)
	}
	if index.methods["Show"] || index.methods["Run"] || index.functions["fmt.Println"] || index.functions["os.Remove"] {
		t.Error("Show, Run, fmt.Println and os.Remove have no value to show")
	}
}

func TestVariables(t *testing.T) {
	must.EqualSlices(t, split("%cd x\nvar a, b = 1, 2\nvar (\n\tc int\n)\nconst d = 1\n%%\nvar e = 1").variables(),
		[]string{"a", "b", "c"}, "found")
}
