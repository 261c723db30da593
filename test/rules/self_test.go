package rules

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"antipode/internal/must"
)

// The rules themselves are tested: a rule that never fails would go unnoticed.

// page makes a notebook of one code cell.
func page(source string, tags []string, outputs ...map[string]any) []byte {
	data, err := json.Marshal(map[string]any{
		"nbformat": 4, "metadata": map[string]any{"kernelspec": map[string]any{"name": "antipode"}},
		"cells": []any{map[string]any{"cell_type": "code", "execution_count": 1, "source": source,
			"metadata": map[string]any{"tags": tags}, "outputs": outputs}},
	})
	if err != nil {
		panic(err)
	}
	return data
}

func shown(kind, content string) map[string]any {
	return map[string]any{"output_type": "display_data", "data": map[string]any{kind: []string{content}}}
}

func printed(text string) map[string]any {
	return map[string]any{"output_type": "stream", "name": "stdout", "text": []string{text}}
}

func TestNotebookRulesFind(t *testing.T) {
	const fine = "var a = 1\n%%\nfmt.Println(a)"
	encode := base64.StdEncoding.EncodeToString
	image := func(bytes int) string { return encode(make([]byte, bytes)) }
	failed := map[string]any{"output_type": "error", "ename": "ERROR", "evalue": "exit status 1"}
	for name, test := range map[string]struct {
		data []byte
		want string // "" = nothing
	}{
		"fine": {page(fine, nil, printed("3 rows, coverage 0.25, n = 20\n"),
			shown("text/html", `<p>Fig 1: in 3 regions <img src="data:image/png;base64,`+image(100)+`"></p>`)), ""},
		"no notebook": {[]byte("{"), "not a notebook"},
		"not executed": {[]byte(strings.Replace(string(page(fine, nil)), `"execution_count":1`,
			`"execution_count":null`, 1)), "not executed: cells 1;"},
		"skipped": {[]byte(strings.Replace(string(page(fine, []string{"skip-execution"})),
			`"execution_count":1`, `"execution_count":null`, 1)), ""},
		"other kernel": {[]byte(strings.Replace(string(page(fine, nil)), `"name":"antipode"`, `"name":"gonb"`,
			1)), "its kernel is"},
		"old format": {[]byte(strings.Replace(string(page(fine, nil)), `"nbformat":4`, `"nbformat":3`, 1)),
			"nbformat 3"},
		"injected":       {page(fine, []string{"injected-parameters"}), "injected parameters"},
		"error":          {page(fine, nil, failed), "ended with an error"},
		"a dead backend": {page(fine, nil, printed("the backend ended unexpectedly\n")), "the backend ended"},
		"meant error":    {page(fine, []string{"raises-exception"}, failed), ""},
		"large":          {page(fine, nil, printed(strings.Repeat("x", maxNotebook))), "more than 1000000"},
		"large png":      {page(fine, nil, shown("image/png", image(maxImage+1))), "of 204801 bytes"},
		"large image": {page(fine, nil,
			shown("text/html", `<img src="data:image/png;base64,`+image(maxImage+2)+`">`)), "of 204802 bytes"},
		"script":            {page(fine, nil, shown("text/html", `<script>1</script>`)), "runs no script"},
		"handler":           {page(fine, nil, shown("text/html", `<img src="x" onload="f()">`)), "runs no script"},
		"javascript output": {page(fine, nil, shown("application/javascript", "1")), "runs no script"},
		"remote image": {page(fine, nil, shown("text/html", `<img src="https://example.org/a.png">`)),
			"fetches nothing"},
		"html in a URI": {page(fine, nil, shown("text/html", `<a href="data:text/html,hello">x</a>`)),
			"data:text/html"},
		"script in an SVG": {page(fine, nil,
			shown("text/html", `<img src="data:image/svg+xml;base64,`+encode([]byte(`<svg onload="f()"/>`))+`">`)),
			"an SVG image holds"},
		"remote in an SVG": {page(fine, nil,
			shown("image/svg+xml", `<svg><image href="https://example.org/a.png"/></svg>`)), "an SVG image holds"},
		"link in the text": {page(fine, nil, shown("text/html", `<a href="https://example.org/">x</a>`)), ""},
		"escaped SVG": {page(fine, nil, shown("text/html", `<img src="data:image/svg+xml,%3Cscript%3E">`)),
			"an SVG image holds"},
		"took":                {page(fine, nil, printed("embedded 20 images in 3.2s")), "timing"},
		"rate":                {page(fine, nil, printed("4.4 img/s")), "timing"},
		"bar":                 {page(fine, nil, shown("text/html", "<pre>██████ 60%</pre>")), "a bar"},
		"overwritten line":    {page(fine, nil, printed("10%\r20%")), "a bar"},
		"assigned":            {page("var a = 1\n%%\na = 2", nil), "cell 1, line 3 assigns to a"},
		"added to":            {page("var a = 1\n%%\na += 2", nil), "assigns to a"},
		"counted":             {page("var a = map[string]int{}\n%%\na[\"x\"]++", nil), "assigns to a"},
		"assigned in a func":  {page("var a = 1\nvar f = func() { a = 2 }\n%%\nf()", nil), "assigns to a"},
		"a local":             {page("var a = 1\n%%\nb := a\nb = 2\nfmt.Println(b)", nil), ""},
		"a local of its name": {page("var a = 1\n%%\nfor a := range 3 {\n\ta = a + 1\n}", nil), ""},
		"GoNB's lines":        {page("%noautoget\n!ls\nvar a = 1\n%%\nfmt.Println(a)", nil), ""},
		"long cell":           {page(strings.Repeat("var _ = f()\n", 9), nil), "has 9 lines, more than 8"},
		"parameters only":     {page(strings.Repeat("var _ = 1\n", 9), nil), ""},
		"imports only":        {page("import (\n"+strings.Repeat("\t\"fmt\"\n", 9)+")", nil), ""},
		"wide cell":           {page("var a = `"+strings.Repeat("x", 100)+"`", nil), "columns wide, more than 100"},
		"helper function":     {page("func f() {}", nil), "declares the function f"},
		"context":             {page("%%\nf(cell.Context())", nil), "handles a context"},
		"not Go":              {page("%%\nx :=", nil), "is not Go"},
		"backend's package":   {page("import \"example/kernel/backend/engine\"\n%%\n", nil), "cells import"},
		"cell's package":      {page("import \"example/metrics/visage\"\n%%\n", nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			problems := strings.Join(checkNotebook("example", "x.ipynb", test.data), "\n")
			if test.want == "" && problems != "" || !strings.Contains(problems, test.want) {
				t.Errorf("found %q, want %q", problems, test.want)
			}
		})
	}
}

func TestAssignedInALaterCell(t *testing.T) {
	cells := []cell{{Type: "code", Source: "var a = 1"}, {Type: "code", Source: "%%\na = 2"}}
	problems := checkCode("example", cells)
	must.True(t, len(problems) == 1 && strings.Contains(problems[0], "cell 2, line 2 assigns to a"),
		"found %q", problems)
}

func TestAbsolutePathsAreFound(t *testing.T) {
	slash := string('/') // so that this file holds none
	for text, want := range map[string]bool{
		"see " + slash + "home/ann/data.csv":     true,
		`"` + slash + "root/.cache\"":            true,
		"cd " + slash + "work/main":              true,
		"(" + slash + "tmp/x)":                   true,
		"https://example.org" + slash + "home/x": false,
		"data" + slash + "work/x":                false,
		"$HOME" + slash + "home/x":               false,
		"." + slash + "tmp/x":                    false,
		slash + "usr/lib/x":                      false,
	} {
		must.Equal(t, absolute.MatchString(text), want, text, "found")
	}
}

func TestWithin(t *testing.T) {
	for _, test := range []struct {
		folder, pattern string
		want            bool
	}{
		{"metrics", "metrics/...", true}, {"metrics/prdc", "metrics/...", true}, {"metrics2", "metrics/...", false},
		{"metrics", "metrics", true}, {"metrics/prdc", "metrics", false}, {".", ".", true},
	} {
		must.Equal(t, within(test.folder, test.pattern), test.want, "within", test.folder, test.pattern)
	}
}
