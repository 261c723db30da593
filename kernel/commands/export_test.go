package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// TestExportFolder publishes two exports into a folder: the second one replaces the files of the first and leaves
// others. A folder of other content, a file, and a list that names files elsewhere are refused or ignored.
func TestExportFolder(t *testing.T) {
	dir, from := filepath.Join(t.TempDir(), "figures"), t.TempDir()
	write := func(path, text string) { must.Do(t, os.WriteFile(path, []byte(text), 0o644)) }
	export := func(names ...string) {
		earlier := must.Get(exported(dir))(t)
		must.Do(t, os.MkdirAll(dir, 0o755))
		for _, n := range names {
			write(filepath.Join(from, n), n)
		}
		must.Do(t, publish(from, dir, "a`b\nc", earlier))
	}
	export("001-a.pdf", "001-a.svg", "001-a.tex", "002-b.csv", "002-b.tex", "003-c.html")
	write(filepath.Join(dir, "mine.txt"), "mine")
	export("001-a.pdf", "001-a.tex")
	var names []string
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		names = append(names, e.Name())
	}
	must.Equal(t, strings.Join(names, " "), "001-a.pdf 001-a.tex all.tex index.md mine.txt", "the folder has")
	index := string(must.Get(os.ReadFile(filepath.Join(dir, "index.md")))(t))
	if !strings.HasPrefix(index, "# Figures and tables of `a'b c`\n") || !strings.Contains(index, "[pdf](001-a.pdf)") {
		t.Errorf("index: %s", index)
	}
	must.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, "all.tex")))(t)),
		"\\providecommand\\exportpath{}\n\\input{\\exportpath 001-a}\n", "all.tex")
	write(filepath.Join(dir, "index.md"), exportMark+" [x](../001-a.pdf) [x](/001-a.pdf) [x](001-b.tex)")
	must.Equal(t, strings.Join(must.Get(exported(dir))(t), " "), "001-b.tex", "files of an earlier export")
	write(filepath.Join(from, "x"), "")
	for _, other := range []string{from, filepath.Join(dir, "mine.txt")} {
		must.Fail(exported(other))(t)
	}
	must.Fail(publish(t.TempDir(), dir, "n", nil))(t) // an export of nothing
}
