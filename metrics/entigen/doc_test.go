package entigen

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"antipode/metrics"
)

// TestDocsAreSpecifications: the comment of the constructor of each metric of the two audits on people names the paper, a range, and every option.
func TestDocsAreSpecifications(t *testing.T) {
	docs := map[string]string{}
	names := regexp.MustCompile(`is the metric (\S+?)[ :,.]`)
	for _, folder := range []string{"entigen", "visage"} {
		files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil {
					if m := names.FindStringSubmatch(f.Doc.Text()); m != nil {
						docs[m[1]] = f.Doc.Text()
					}
				}
			}
		}
	}
	n := 0
	for _, name := range metrics.Names() {
		if !strings.HasPrefix(name, "entigen-") && !strings.HasPrefix(name, "visage-") {
			continue
		}
		n++
		m, err := metrics.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		doc := docs[name]
		if !strings.Contains(doc, "Bansal et al., EMNLP 2022") && !strings.Contains(doc, "Jha et al., ACL 2024") {
			t.Errorf("%s: its constructor's comment names no paper: %q", name, doc)
		}
		if !regexp.MustCompile(`\[-?[0-9]|\(-∞|[Rr]ange`).MatchString(doc) && m.Range != "" {
			t.Errorf("%s: no range", name)
		}
		for _, o := range m.Options {
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(o.Name) + `\b`).MatchString(doc) {
				t.Errorf("%s: its option %s is not in its comment", name, o.Name)
			}
		}
	}
	if n < 25 {
		t.Errorf("%d metrics", n)
	}
}
