package plots_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strings"
	"testing"

	"antipode/internal/must"
)

// chapters are the parts of docs/gallery.md: a file of examples each.
var chapters = []struct{ file, title, about string }{
	{"example_test.go", "Marks", ""},
	{"example_decomposeddig_test.go", "Decomposed-DIG (Sureddy et al. 2024)", "Figure 1 is a drawing of the method."},
	{"example_visage_test.go", "ViSAGe (Jha et al., ACL 2024)", "Figure 1 is a drawing of the method."},
	{"example_entigen_test.go", "ENTIGEN (Bansal et al., EMNLP 2022)",
		"Figure 1 is a drawing of the method, Figure 2 a form of the survey. All groups are groups as perceived by " +
			"annotators."},
	{"example_cococrola_test.go", "CoCo-CroLa (Saxon and Wang, ACL 2023)",
		"Figures 4 and 5 are drawings of the method; Figure 2 shows images of another paper."},
	{"example_indictti_test.go", "IndicTTI (Mittal et al., ECCV 2024)", "Figure 2 is a drawing of the method."},
}

// TestGalleryPage compares docs/gallery.md with the examples: each one's comment, code and image.
func TestGalleryPage(t *testing.T) {
	var page bytes.Buffer
	page.WriteString("# Figures\n\nWritten by `go test ./plots -update` from the examples of package plots. Numbers " +
		"and images are synthetic unless a table is named; the images are of the Archipelago.\n\n")
	for _, c := range chapters {
		anchor := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(c.title), "")
		fmt.Fprintf(&page, "- [%s](#%s)\n", c.title, strings.ReplaceAll(anchor, " ", "-"))
	}
	for _, c := range chapters {
		fmt.Fprintf(&page, "\n## %s\n", c.title)
		if c.about != "" {
			fmt.Fprintf(&page, "\n%s\n", c.about)
		}
		chapter(t, &page, c.file)
	}
	const path = gallery + ".md"
	if *update {
		must.Do(t, os.WriteFile(path, page.Bytes(), 0o644))
	}
	want := must.Get(os.ReadFile(path))(t)
	must.True(t, bytes.Equal(want, page.Bytes()),
		"docs/gallery.md differs from the examples; run go test ./plots -update")
}

// chapter writes the examples of a file.
func chapter(t *testing.T, page *bytes.Buffer, file string) {
	t.Helper()
	files := token.NewFileSet()
	parsed := must.Get(parser.ParseFile(files, file, nil, parser.ParseComments))(t)
	paper := regexp.MustCompile(`^([^:.]{3,60}): `) // "Figure 4: …"
	for _, decl := range parsed.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
			continue
		}
		var code bytes.Buffer
		for _, statement := range f.Body.List {
			must.Do(t, format.Node(&code, files, statement))
			code.WriteByte('\n')
		}
		shown := regexp.MustCompile(`golden\("([a-z0-9-]+)", fig\)`).FindStringSubmatch(code.String())
		about := f.Doc.Text()
		title := strings.ReplaceAll(strings.TrimPrefix(f.Name.Name, "Example"), "_", ": ")
		if named := paper.FindStringSubmatch(about); named != nil && file != chapters[0].file {
			mark, _, _ := strings.Cut(title, ":")
			title = named[1] + ": " + mark
			rest := []rune(about[len(named[0]):])
			about = strings.ToUpper(string(rest[:1])) + string(rest[1:])
		}
		fmt.Fprintf(page, "\n### %s\n\n%s\n", title, about)
		if shown != nil {
			fmt.Fprintf(page, "![%s](gallery/%s.svg)\n\n", title, shown[1])
		}
		text := regexp.MustCompile(`(?m)^golden\(.*\n`).ReplaceAllString(code.String(), "plots.Show(fig)\n")
		fmt.Fprintf(page, "```go\n%s```\n", text)
		if output := printedBy(parsed, f); shown == nil && output != "" {
			fmt.Fprintf(page, "\n```text\n%s```\n", output)
		}
	}
}

// printedBy returns the output of an example.
func printedBy(file *ast.File, f *ast.FuncDecl) string {
	for _, c := range file.Comments {
		if f.Body.Pos() < c.Pos() && c.End() < f.Body.End() {
			var out strings.Builder
			for _, line := range c.List[1:] {
				out.WriteString(strings.TrimPrefix(strings.TrimPrefix(line.Text, "//"), " ") + "\n")
			}
			return out.String()
		}
	}
	return ""
}
