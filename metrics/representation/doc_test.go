package representation

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"antipode/datasets/operation"
	"antipode/internal/must"
)

// TestDocsAreSpecifications: the comment of the constructor of each metric of the two audits on people names the
// paper, a range, and every option.
func TestDocsAreSpecifications(t *testing.T) {
	docs := map[string]string{}
	names := regexp.MustCompile(`is the (?:metric|table operation) (\S+?)[ :,.]`)
	for _, folder := range []string{"representation", "stereotypes"} {
		files := must.Get(filepath.Glob(filepath.Join("..", folder, "*.go")))(t)
		for _, path := range files {
			file := must.Get(parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments))(t)
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
	for _, name := range append(operation.Names(true), operation.Names(false)...) { // their options carry their help
		if !strings.HasPrefix(name, "entigen-") && !strings.HasPrefix(name, "visage-") || name == "visage-set-prompts" {
			continue // prompts, of datasets/visage
		}
		n++
		doc, op := docs[name], operation.Find(name)
		if !strings.Contains(doc, "Bansal et al., EMNLP 2022") && !strings.Contains(strings.ReplaceAll(doc, "\n", " "),
			"Jha et al., ACL 2024") {
			t.Errorf("%s: its constructor's comment names no paper: %q", name, doc)
		}
		if !regexp.MustCompile(`\[-?[0-9]|\(-∞|[Rr]ange`).MatchString(doc) && op.Range != "" {
			t.Errorf("%s: no range", name)
		}
	}
	if n < 25 {
		t.Errorf("%d metrics", n)
	}
}
