package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"antipode/datasets/cell"
	"antipode/internal/must"
	"antipode/kernel/jupyter/notebook"
	_ "antipode/test/memdir"
)

// home is one Antipode home for the tests of this package, so that GoNB is built once; it is shared between test runs
// where the user has a cache folder.
var home = sync.OnceValue(func() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return filepath.Join(cache, "antipode-test-tools")
})

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
	must.Do(t, nb.Save(path))
	return path
}

// run executes a notebook and returns the saved notebook.
func run(t *testing.T, ctx context.Context, opts Options) (*notebook.Notebook, error) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: runs GoNB")
	}
	opts.ModuleDir, opts.Home = "../../..", home()
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

// A note that several cells have is shown by the first, another one where it arises, and all of them by the next run.
func TestRunNotes(t *testing.T) {
	t.Parallel()
	noted := func(notes ...string) *notebook.Cell {
		source := "import \"antipode/datasets/table\"\n%%\np := cell.NewProgress()\n"
		for _, n := range notes {
			source += fmt.Sprintf("p.Update(table.Progress{Note: %q})\n", n)
		}
		return code(source + "p.Close()")
	}
	path := write(t, noted("3 of 16 have no mask", "4 of 16 have no mask"), noted("3 of 16 have no mask"),
		noted("4 of 16 have no mask", "3 of 16 have no mask", "radius 0"),
		code("%%\np := cell.NewProgress()\np.Announce(\"embed: 9 items, about 2 min\")\np.Close()"))
	want := [][]string{
		{"display_data:3 of 16 have no mask", "display_data:and 1 more like: 3 of 16 have no mask"}, nil,
		{"display_data:4 of 16 have no mask", "display_data:radius 0",
			"display_data:and 1 more like: 4 of 16 have no mask"}, nil, // nothing of an announcement
	}
	nb := must.Get(run(t, t.Context(), Options{Notebook: path}))(t)
	for i, c := range nb.Cells {
		got := summary(c)
		must.True(t, reflect.DeepEqual(got, want[i]), "cell %d shows %q, want %q", i+1, got, want[i])
		for _, o := range c.Outputs {
			must.True(t, len(o.Metadata) == 0, "cell %d: metadata %v", i+1, o.Metadata)
		}
	}
}

// A run injects parameters, skips, continues after an expected failure, updates displays, and stops at a failing cell
// with everything saved.
func TestRun(t *testing.T) {
	t.Parallel()
	path := write(t,
		code("var n = 5\nvar wait time.Duration", "parameters"),
		code("var twice = 2 * n\n%%\nfmt.Println(twice, wait)\nfmt.Println(\"done\")"),
		code("%%\nfmt.Println(\"not me\")", "skip-execution"),
		code("%%\nfmt.Fprintln(os.Stderr, \"row 7 is wrong\")\nos.Exit(1)", "raises-exception"),
		code("import \"github.com/janpfeifer/gonb/gonbui\"\n%%\ngonbui.UpdateHTML(\"a\", "+
			"\"<b>1</b>\")\ngonbui.UpdateHTML(\"a\", \"<b>2</b>\")\n"+
			"gonbui.UpdateHTML(\"gone\", \"x\")\ngonbui.UpdateHTML(\"gone\", \"\")\ngonbui.Sync()"),
		code("%%\nfmt.Println(undefined)"),
		code("%%\nfmt.Println(\"never\")"),
	)
	original := must.Get(notebook.Read(path))(t)
	var said bytes.Buffer
	page := filepath.Join(t.TempDir(), "out.html")
	nb, err := run(t, t.Context(), Options{Notebook: path, HTML: page, Params: []string{"n=7", "wait=90s"},
		Progress: &said})
	var failed *CellError
	if !errors.As(err, &failed) || isUsage(err) || errors.Is(err, ErrInterrupted) {
		t.Fatalf("error is %v, want a CellError", err)
	}
	must.Equal(t, failed.Number, 6, "failed")
	must.Equal(t, failed.Line, "cell [6], line 2: undefined: undefined", "failed")
	must.Equal(t, failed.Source, original.Cells[5].Source, "failed")
	if strings.Contains(err.Error(), "\n") || !strings.Contains(said.String(), "    fmt.Println(undefined)\n") {
		t.Errorf("error is %q, told:\n%s", err, said.String())
	}
	want := [][]string{nil, nil, {"stdout:14 1m30s\ndone\n"}, nil, {"error:row 7 is wrong"}, {"display_data:<b>2</b>"},
		{"error:cell [6], line 2: undefined: undefined"}, nil}
	for i, c := range nb.Cells {
		got := summary(c)
		must.True(t, reflect.DeepEqual(got, want[i]), "cell %d gave %q, want %q", i+1, got, want[i])
	}
	if nb.Cells[1].Source != "// Set by -p\nvar n int = 7\nvar wait time.Duration = 90000000000 // 1m30s" ||
		nb.Cells[2].ExecutionCount != 3 || nb.Cells[3].ExecutionCount != 0 {
		t.Errorf("cells are %+v %+v %+v", *nb.Cells[1], *nb.Cells[2], *nb.Cells[3])
	}
	must.Has(t, string(must.Get(os.ReadFile(page))(t)), "14 1m30s")
	same, err := notebook.Read(path)
	must.True(t, err == nil && bytes.Equal(same.Encode(), original.Encode()), "the run changed the notebook it read")
}

// Two runs of one notebook give the same bytes, and one that succeeds has status 0.
func TestRunTwice(t *testing.T) {
	t.Parallel()
	path := write(t,
		code("import \"antipode/datasets/table\"\n%%\ncell.Print(\"a\")\ncell.HTML(\"<b>b</b>\")\ncell.Say(\"c\")\n"+
			"cell.PNG([]byte(\"png\"), \"an image\")\nfor i := range 2 {\n\tcell.Print(fmt.Sprint(i))\n}\n"+
			"p := cell.NewProgress()\np.Update(table.Progress{Note: \"3 of 16 have no mask\"})\np.Close()"),
		code("%%\nfmt.Fprintln(os.Stderr, \"no\")\npanic(\"boo\")", "raises-exception"))
	first := must.Get(run(t, t.Context(), Options{Notebook: path}))(t)
	if got, want := len(first.Cells[0].Outputs), 7; got != want {
		t.Errorf("%d outputs, want %d, in the order of the calls", got, want)
	} else if shown := first.Cells[0].Outputs[1].Data; shown["text/html"] != "<b>b</b>" || shown["text/plain"] != "b" ||
		first.Cells[0].Outputs[2].Data["text/plain"] != "c" {
		t.Errorf("outputs are out of order: %q", summary(first.Cells[0]))
	} else if shown := first.Cells[0].Outputs[3].Data; shown["image/png"] != "cG5n" ||
		shown["text/plain"] != "an image" {
		t.Errorf("a PNG is stored as %q", shown)
	}
	second := must.Get(run(t, t.Context(), Options{Notebook: path, Out: path}))(t) // in place, by name
	must.True(t, bytes.Equal(first.Encode(), second.Encode()),
		"first run\n%s\nsecond run\n%s", first.Encode(), second.Encode())
}

// Figures are exported where `antipode export` has set the folder. A cell that stops the run ends it without an error;
// the notebook has the reason, and the terminal what the cell showed.
func TestRunExportsAndStops(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(cell.ExportVariable, dir)
	path := write(t, code("import (\n\"antipode/datasets\"\n\"antipode/plots\"\n)\nvar rows = datasets.FromRows("+
		"[]map[string]any{{\"region\": \"a\", \"v\": 0.5}})\n%%\nplots.Show(plots.Bars{Table: rows, Y: \"v\"})\n"+
		"plots.Show(plots.Table{Table: rows})"),
		code("%%\nrows.Print()\ncell.Print(\"40 images\")\ncell.Stop(\"that is the plan\")"),
		code("%%\nfmt.Println(\"never\")"))
	var said bytes.Buffer
	nb := must.Get(run(t, t.Context(), Options{Notebook: path, Progress: &said}))(t)
	for _, name := range []string{"001-v-by-region.pdf", "001-v-by-region.tex", "002.csv", "003.csv"} {
		must.Get(os.Stat(filepath.Join(dir, name)))(t)
	}
	got := strings.Join(summary(nb.Cells[1]), "|")
	must.True(t, strings.HasSuffix(got, "stdout:that is the plan\n") && !strings.Contains(got, "error"),
		"outputs %q", got)
	must.Equal(t, len(nb.Cells[2].Outputs), 0)
	must.Has(t, said.String(), "40 images\nthat is the plan\n")
}

func isUsage(err error) bool { return errors.As(err, new(*UsageError)) }

// Wrong parameters are found before anything runs or is written.
func TestRunUsage(t *testing.T) {
	path := write(t, code("var n = 5", "parameters"))
	out := filepath.Join(t.TempDir(), "out.ipynb")
	err := Run(t.Context(), Options{Notebook: path, Out: out, Params: []string{"m=1"}, ModuleDir: "../../..",
		Home: t.TempDir()})
	_, bad := prepare(Options{Notebook: path, Params: []string{"n=x"}})
	must.True(t, isUsage(err) && isUsage(bad), "errors are %v and %v, want a UsageError", err, bad)
	if _, err := prepare(Options{Notebook: path, Params: []string{"n=1"}}); err != nil {
		t.Errorf("right parameters: %v", err)
	}
	must.Is(os.Stat(out))(t, os.ErrNotExist) // nothing was written
}

// An interrupt ends a cell within moments, even one that ignores it, and keeps what was finished.
func TestRunInterrupt(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"sleeping": "%%",
		"stubborn": "import \"os/signal\"\n%%\nsignal.Ignore(os.Interrupt)"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := filepath.Join(t.TempDir(), "began")
			path := write(t, code("%%\nfmt.Println(\"finished\")"),
				code(first+"\nfmt.Println(\"begun\")\nos.WriteFile("+
					strconv.Quote(began)+", nil, 0o600)\ntime.Sleep(time.Hour)"),
				code("%%\nfmt.Println(\"never\")"))
			ctx, cancel := context.WithCancel(t.Context())
			var at time.Time
			go func() {
				for _, err := os.Stat(began); err != nil && t.Context().Err() == nil; _, err = os.Stat(began) {
					time.Sleep(20 * time.Millisecond)
				}
				at = time.Now()
				cancel()
			}()
			nb, err := run(t, ctx, Options{Notebook: path})
			must.Is(err)(t, ErrInterrupted)
			took := time.Since(at)
			must.True(t, took <= 5*time.Second, "the run ended %v after the interrupt", took)
			if text(nb.Cells[0], "stdout") != "finished\n" || text(nb.Cells[1], "stdout") != "begun\n" ||
				len(nb.Cells[2].Outputs) != 0 {
				t.Errorf("outputs are %q, %q, %q", summary(nb.Cells[0]), summary(nb.Cells[1]), summary(nb.Cells[2]))
			}
		})
	}
}

// A cell that prints 20 MB is cut; one that kills GoNB fails with its source; both leave what came before.
func TestRunHostileCells(t *testing.T) {
	t.Parallel()
	path := write(t,
		code("%%\nlog.SetFlags(log.LstdFlags | log.Lshortfile)\nlog.Println(\"a: b: main.go:3\")"), // ended GoNB 0.11.4
		code("%%\nline := strings.Repeat(\"x\", 99) + \"\\n\"\nfor range 200_000 {\n\tfmt.Print(line)\n}"),
		code("%%\nfmt.Println(\"before\")\ntime.Sleep(200*time.Millisecond)\nsyscall.Kill(os.Getppid(), "+
			"syscall.SIGKILL)\ntime.Sleep(time.Minute)"),
		code("%%\nfmt.Println(\"never\")"))
	nb, err := run(t, t.Context(), Options{Notebook: path})
	var failed *CellError
	must.True(t, errors.As(err, &failed) && failed.Number == 3 && strings.Contains(failed.Line, "ended unexpectedly"),
		"error is %v, want a CellError of cell 3", err)
	got := text(nb.Cells[0], "stderr")
	must.True(t, strings.HasSuffix(got, "a: b: main.go:3\n"), "cell 1 printed %q", got)
	must.Equal(t, len(text(nb.Cells[1], "stdout")), maxText, "bytes kept")
	must.Has(t, text(nb.Cells[1], "stderr"), "18951424 more bytes")
	must.Equal(t, text(nb.Cells[2], "stdout"), "before\n", "cell 3 printed")
}

// A notebook with the line ends of Windows runs, and so do parameters named like packages that the program imports; a
// cell that uses both is told of the clash in one line.
func TestRunClashes(t *testing.T) {
	t.Parallel()
	path := write(t, code("var flag = \"x\"\r\nvar os = 3\r\nvar fmt = 0.5\r\n", "parameters"),
		code("%%\r\ncell.Print(flag)\r\nos\r\n"),
		code("import \"fmt\"\r\n%%\r\nfmt.Println(os)\r\n", "raises-exception"),
		code("%%\r\nfmt.Println(os)\r\n", "raises-exception"))
	nb := must.Get(run(t, t.Context(), Options{Notebook: path, Params: []string{"flag=y", "fmt=0.25"}}))(t)
	const hides = "variable fmt hides package fmt"
	for i, want := range []string{"", "", "y|execute_result:3", hides, hides} {
		must.Has(t, strings.Join(summary(nb.Cells[i]), "|"), want)
	}
}

// TestKernelDoesNotStart: a notebook whose kernel does not start keeps its outputs.
func TestKernelDoesNotStart(t *testing.T) {
	path := write(t, code("%%\nf()"))
	nb := must.Get(notebook.Read(path))(t)
	nb.Cells[0].Outputs = []*notebook.Output{{Type: "stream", Name: "stdout", Text: "kept"}}
	must.Do(t, nb.Save(path))
	before := must.Get(os.ReadFile(path))(t)
	must.Fail(Run(t.Context(), Options{Notebook: path, InPlace: true, ModuleDir: t.TempDir(), Home: t.TempDir()}))(t)
	must.Equal(t, string(must.Get(os.ReadFile(path))(t)), string(before))
}
