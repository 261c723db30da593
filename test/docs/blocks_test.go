//go:build docs

package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"antipode/internal/must"
)

// root is the folder of the module.
const root = "../.."

type block struct {
	page, language, code string
}

// read returns the code blocks and the code spans of README.md and docs/*.md, in order.
func read(t *testing.T) (blocks []block, spans []string) {
	t.Helper()
	pages := must.Get(filepath.Glob(filepath.Join(root, "docs", "*.md")))(t)
	for _, path := range append([]string{filepath.Join(root, "README.md")}, pages...) {
		source := must.Get(os.ReadFile(path))(t)
		tree := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
		must.Do(t, ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.FencedCodeBlock:
				if entering {
					blocks = append(blocks, block{filepath.Base(path), string(n.Language(source)), lines(n, source)})
				}
			case *ast.CodeBlock:
				if entering {
					return 0, fmt.Errorf("%s: a block of indented code: fence it and name its language: %s", path,
						lines(n, source))
				}
			case *ast.CodeSpan:
				if entering {
					spans = append(spans, words(n, source))
				}
			}
			return ast.WalkContinue, nil
		}))
	}
	return blocks, spans
}

func lines(n ast.Node, source []byte) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(source))
	}
	return b.String()
}

// words returns the text of a code span, which is in its children.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			b.Write(t.Value(source))
		}
	}
	return b.String()
}

// comment is the end of a line of a shell command that is for people.
var comment = regexp.MustCompile(`\s+#\s.*$`)

// hereDocument is the beginning of text that goes to a command.
var hereDocument = regexp.MustCompile(`<<'?(\w+)'?`)

// statements splits a shell block into commands: one a line, or several where lines end with a backslash or a text
// document follows. Comments are left out.
func statements(code string) (list []string) {
	var parts []string
	end := ""
	for line := range strings.SplitSeq(strings.TrimSpace(code), "\n") {
		if end == "" {
			line = comment.ReplaceAllString(line, "")
		}
		if len(parts) == 0 && (strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#")) {
			continue
		}
		parts = append(parts, line)
		switch m := hereDocument.FindStringSubmatch(line); {
		case end == "" && m != nil:
			end = m[1]
		case end != "" && line != end, end == "" && strings.HasSuffix(line, "\\"):
		default:
			list, parts, end = append(list, strings.Join(parts, "\n")), nil, ""
		}
	}
	return append(list, parts...)
}

func TestStatements(t *testing.T) {
	got := statements("# first\ncat > x <<'END'\na # b\nEND\n\nrun --a 1 \\\n  --b 2   # why\nlast 'a#b'\n")
	want := []string{"cat > x <<'END'\na # b\nEND", "run --a 1 \\\n  --b 2", "last 'a#b'"}
	must.Equal(t, fmt.Sprintf("%q", got), fmt.Sprintf("%q", want), got, want)
}
