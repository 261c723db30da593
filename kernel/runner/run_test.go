package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"antipode/kernel/notebook"
)

// home is one Antipode home for the tests of this package, so that GoNB is built once; it is shared between test runs
// where the user has a cache folder.
var home = sync.OnceValue(func() string {
	if h := os.Getenv("ANTIPODE_TEST_TOOLS"); h != "" {
		return h
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "antipode-test-tools")
})

// code makes a code cell with tags.
func code(source string, tags ...string) *notebook.Cell {
	c := &notebook.Cell{Type: notebook.Code, Source: source, Metadata: map[string]any{}}
	var list []any
	for _, t := range tags {
		list = append(list, t)
	}
	if list != nil {
		c.Metadata["tags"] = list
	}
	return c
}

// write saves cells as a notebook in a new folder.
func write(t *testing.T, cells ...*notebook.Cell) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.ipynb")
	nb := &notebook.Notebook{Cells: cells, Minor: 4, Metadata: map[string]any{}}
	if err := nb.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// run executes a notebook and gives back what was saved.
func run(t *testing.T, ctx context.Context, opts Options) (*notebook.Notebook, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: runs GoNB")
	}
	opts.ModuleDir, opts.Home = "../..", home()
	if opts.Out == "" {
		opts.Out = filepath.Join(t.TempDir(), "out.ipynb")
	}
	err := Run(ctx, opts)
	nb, reading := notebook.Read(opts.Out)
	if reading != nil {
		t.Fatal(reading, err)
	}
	return nb, err
}

// text joins what a cell printed on a stream.
func text(c *notebook.Cell, stream string) string {
	var b strings.Builder
	for _, o := range c.Outputs {
		if o.Type == notebook.Stream && o.Name == stream {
			b.WriteString(o.Text)
		}
	}
	return b.String()
}

func TestRun(t *testing.T) {
	path := write(t,
		code("var n = 5\nvar wait time.Duration", "parameters"),
		code("var twice = 2 * n\n%%\nfmt.Println(twice, wait)\nfmt.Println(\"done\")"),
		code("%%\nfmt.Println(\"not me\")", "skip-execution"),
		code("%%\nfmt.Fprintln(os.Stderr, \"datasets: main.go:7 is wrong\")\nos.Exit(1)", "raises-exception"),
		code("import \"github.com/janpfeifer/gonb/gonbui\"\n%%\ngonbui.UpdateHTML(\"a\", \"<b>1</b>\")\ngonbui.UpdateHTML(\"a\", \"<b>2</b>\")\ngonbui.UpdateHTML(\"gone\", \"x\")\ngonbui.UpdateHTML(\"gone\", \"\")\ngonbui.Sync()"),
		code("%%\nfmt.Println(undefined)"),
		code("%%\nfmt.Println(\"never\")"),
	)
	start := time.Now()
	nb, err := run(t, context.Background(), Options{Notebook: path, Params: []string{"n=7", "wait=90s"}, Progress: os.Stderr})
	t.Log(time.Since(start))
	var failed *CellError
	if !errors.As(err, &failed) || failed.Number != 7 || !strings.Contains(failed.Line, "undefined: undefined") {
		t.Errorf("error is %v, want a CellError of cell 7 about an undefined name", err)
	}
	if got := text(nb.Cells[2], "stdout"); got != "14 1m30s\ndone\n" {
		t.Errorf("cell 3 printed %q", got)
	}
	for i, c := range nb.Cells {
		for _, o := range c.Outputs {
			t.Logf("%d %+v", i, *o)
		}
	}
}
