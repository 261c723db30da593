package jupyter

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/internal/must"
)

// all executes a cell and returns everything that a front end shows.
func (s *served) all(t *testing.T, code string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var b strings.Builder
	_ = must.Get(s.execute(ctx, code, false, func(m Message) {
		var c struct {
			Text      string
			Data      map[string]any
			Traceback []string
		}
		_ = json.Unmarshal(m.Content, &c)
		text, _ := c.Data["text/plain"].(string)
		b.WriteString(c.Text + text + strings.Join(c.Traceback, "\n"))
	}, nil))(t)
	return b.String()
}

// What users of Python and of other notebooks type first works, or one line says what to write.
func newUsers(t *testing.T, s *served) {
	for _, test := range []struct{ code, want, without string }{
		{"%%\n_ = photos[\"region\"]\n_ = photos.region\nfor _, p := range photos {\n}\nphotos.Selec(\"id\")\n" +
			"_ = plots.Bars{Tabel: photos}\n_ = metrics.PermutationTes\n_ = photo\nlen(photos)",
			"cannot index photos (variable of struct type datasets.Table); photos.Select(\"region\") has that column|" +
				"no field or method region); photos.Select(\"region\")|photos.MustRows().Texts(\"id\")\n|" +
				"did you mean \"Select\"|did you mean \"Table\"|did you mean \"significance.PermutationTest\"|" +
				"did you mean \"photos\"|for built-in len; photos.MustRows().Len()", ""},
		{"%%\nmetrics.perImage()", "did you mean \"metrics.PerImage\"", ""},
		{"var bad = nothing()\nvar s string = strings.Count(\"a\", \"b\")",
			"undefined: nothing|as string value in variable declaration", "Took"},
		{"photos[\"region\"]", "type and func; photos.Select(", ""},
		{"len(photos)", "photos.MustRows().Len()", ""},
		{"print(photos)", "write fmt.Println(x)", ""},
		{"%%\nfmt.Println('text')", "double quotes", ""},
		{"for i in range(3):\n    print(i)", "for i := range 10", ""},
		{"%%\nfor i in range(3):\n    print(i)", "for i := range 10", ""},
		{"# a comment", "a comment begins with //", ""},
		{"%%\n# a comment", "a comment begins with //", ""},
		{"%%\nprint(5)", "use fmt.Println(x)", ""},
		{"import pandas as pd", "datasets.CSV(", ""},
		{"%time", "time: ", ""},
		{"%%time\nfmt.Println(\"timed\")", "timed\ntime: ", ""},
		{"var slow = func() int { time.Sleep(600 * time.Millisecond); return 7 }()", "var slow takes more than 0.5 s",
			""},
		{"%%\nslow", "7", "0.5 s"},
		{"var slow int64 = 7\nvar flag, os, sort = \"f\", 3, 0.5\nvar fmt, cell = 1, 2", "", "e"},
		{"%%\nflag", "f", "undefined"},
		{"%rm n slow s\n%who", "cell\tflag\tfmt\tos\tphotos\tsort\n", ""},
		{"%%\nfmt.Println(1)", "fmt hides package fmt", ""},
	} {
		got := s.all(t, test.code)
		lacks := func(want string) bool { return !strings.Contains(got, want) }
		if slices.ContainsFunc(strings.Split(test.want, "|"), lacks) ||
			test.without != "" && strings.Contains(got, test.without) {
			t.Errorf("%q shows %q, want %q and not %q", test.code, got, test.want, test.without)
		}
	}
	c := converse(t, s.Client)
	reply := c.reply(c.request("complete_request", fields{"code": "%%\nphotos.Where(\"re", "cursor_pos": 19}))
	if got := fmt.Sprint(reply["matches"]); got != "[region]" {
		t.Errorf("Where(\"re is completed to %s", got)
	}
}

func TestCommands(t *testing.T) {
	t.Setenv("GOPROXY", "p,q")
	for code, want := range map[string]string{
		"!*go get a/b@v1":           "!*GOPROXY='p,q' GOFLAGS=-mod=mod go get a/b@v1",
		"!go get a":                 "!*GOPROXY='p,q' GOFLAGS=-mod=mod go get a",
		"%%time\nf()":               "%%\nf()",
		"var a = 1\n%time\n%%\nf()": "var a = 1\n\n%%\nf()",
		"%%\n%time f()\ng()":        "%%\nf()\ng()",
		"%time f()":                 "%%\nf()",
		"%timeit f()":               "%timeit f()",
		"%reset\n%%\n%%":            "%reset\n%%\n%%",
	} {
		k := &Kernel{variables: map[string]int{"a": 1}}
		code, _ = timing(code)
		must.Equal(t, k.commands(code, nil), want, code, "became")
	}
}

func TestClocked(t *testing.T) {
	const took = "antipode_cell.Took"
	for code, want := range map[string]string{
		"var a = f()\n%%\nvar b = f()": `var a = ` + took + `("a", antipode_cell.Start(), f())` + "\n%%\nvar b = f()",
		"var a, b T = f(), 1":          `var a, b T = ` + took + `[T]("a", antipode_cell.Start(), f()), 1`,
		"var a, b = f()":               "var a, b = f()",
		"var a = func() { f() }":       "var a = func() { f() }",
	} {
		must.Equal(t, split(code).clocked(), want, code, "became")
	}
	for code, want := range map[string]string{
		"var a int":          "var a int\n%%\nantipode_cell.Columns(\"a\", a); ",
		"var a int\n%%\nf()": "var a int\n%%\nantipode_cell.Columns(\"a\", a); f()",
		"var a int\n%%":      "var a int\n%%\nantipode_cell.Columns(\"a\", a); ",
		"%test\nvar a int":   "%test\nvar a int",
	} {
		must.Equal(t, split(code).described(), want, code, "became")
	}
}

// TestLineComment: a //line comment does not say where a statement is.
func TestLineComment(t *testing.T) {
	k := &Kernel{variables: map[string]int{}, results: func() *resultIndex { return &resultIndex{} }}
	_, e := k.prepare(Cell{Source: "\n//line gen.go:100\nx := 3", Number: 1}, nil)
	must.True(t, e != nil, "no error")
}
