package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets/cell"
	"antipode/kernel/jupyter"
	"antipode/kernel/jupyter/notebook"
)

// Options are the options of a run.
type Options struct {
	Notebook string   // the notebook's path
	Out      string   // executed notebook; empty = NAME.out.ipynb in the working directory
	HTML     string   // page; empty = NAME.out.html in the working directory, and none where Out or InPlace is set
	InPlace  bool     // write the outputs into Notebook itself
	Params   []string // "name=value", see the package

	ModuleDir string    // folder of the go.mod of module antipode
	Home      string    // $ANTIPODE_HOME
	Binary    string    // the command that starts the backend; empty = $ANTIPODE_BIN, else this program
	Dir       string    // the cells' working directory; empty = the notebook's folder, as in Jupyter
	Progress  io.Writer // progress and messages; nil = none
	Log       io.Writer // GoNB's log; nil = none
}

// ErrInterrupted is the error if ctx ends; the outputs so far are saved.
var ErrInterrupted = errors.New("interrupted")

// CellError is the error of a failed cell.
type CellError struct {
	Notebook string
	Number   int    // of the cell among those that run, from 1, as in the notebook
	Source   string // the cell's code
	Line     string // the reason, one line
}

func (e *CellError) Error() string {
	return fmt.Sprintf("%s, cell %d failed: %s", filepath.Base(e.Notebook), e.Number, e.Line)
}

// Tags of cells, with the same meaning as for nbclient.
const (
	mayFailTag = "raises-exception"
	skipTag    = "skip-execution"
)

// prepare reads the notebook and adds the parameters.
func prepare(opts Options) (*notebook.Notebook, error) {
	nb, err := notebook.Read(opts.Notebook)
	if err != nil {
		return nil, err
	}
	if err := Inject(nb, opts.Params); err != nil {
		return nil, err
	}
	normalize(nb)
	return nb, nil
}

// Run executes a notebook. Outputs are saved after every cell; a run that fails or is interrupted (ctx ends) leaves the
// notebook and the page with the outputs so far, and one whose kernel does not start leaves them as they were.
func Run(ctx context.Context, opts Options) (err error) {
	nb, err := prepare(opts)
	if err != nil {
		return err
	}
	out, page := targets(opts)
	total := 0
	for _, c := range nb.Cells {
		if runs(c) {
			total++
		}
	}
	p := newProgress(opts.Progress, total)
	if opts.Dir == "" {
		opts.Dir = filepath.Dir(opts.Notebook)
	}
	kernel, err := jupyter.Start(ctx, jupyter.Options{
		ModuleDir: opts.ModuleDir, Home: opts.Home, Dir: opts.Dir, Binary: opts.Binary, Log: opts.Log, Say: p.say,
	})
	if err != nil {
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		return err
	}
	defer kernel.Close()
	defer func() { err = cmp.Or(err, p.save(nb, opts, out, page)) }() // also after an interrupt or a failure
	shown, number, section := displays{}, 0, ""
	for _, c := range nb.Cells {
		if c.Type == notebook.Markdown {
			section = cmp.Or(heading(c.Source), section)
		}
		if !runs(c) {
			continue
		}
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		number++
		p.begin(number, cmp.Or(section, firstLine(c.Source)))
		collect := &collector{cell: c, displays: shown, progress: p.report}
		reply, err := kernel.Run(ctx, jupyter.Cell{Source: c.Source, ID: c.ID}, collect.take)
		collect.finish()
		if reply.ExecutionCount != nil {
			c.ExecutionCount = *reply.ExecutionCount
		}
		if saving := nb.Save(out); saving != nil {
			return saving
		}
		p.done()
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		failed := &CellError{Notebook: opts.Notebook, Number: number, Source: c.Source}
		if stopped, err := p.outcome(c, reply, err, failed); stopped {
			return err
		}
	}
	return nil
}

// save writes the notebook and the page, "" = none.
func (p *progress) save(nb *notebook.Notebook, opts Options, out, page string) error {
	err := nb.Save(out)
	if err == nil && page != "" {
		err = notebook.SaveHTML(page, nb, notebook.Page{Dir: filepath.Dir(opts.Notebook)})
	}
	p.end()
	if err == nil && page != "" {
		p.say("wrote " + out + " and " + page)
	} else if err == nil {
		p.say("wrote " + out)
	}
	return err
}

// outcome prints how a cell ended, if it did not end well, and reports whether it ends the run; failed is the error of
// a cell that failed, without its line.
func (p *progress) outcome(c *notebook.Cell, reply jupyter.ReplyContent, err error, failed *CellError) (stopped bool,
	_ error) {
	switch {
	case err != nil:
		failed.Line = err.Error()
		return true, failed
	case reply.Status == "ok" || c.Tagged(mayFailTag):
		return false, nil
	}
	failed.Line = cmp.Or(reply.Value, "the cell ended with status "+reply.Status)
	if reason, stopped := strings.CutPrefix(failed.Line, cell.Stopped); stopped {
		p.say(stop(c, reason))
		return true, nil
	}
	p.say("\n" + indent(c.Source) + "\n")
	if len(reply.Traceback) > 1 {
		p.say(strings.Join(reply.Traceback, "\n") + "\n")
	}
	return true, failed
}

// stop replaces the error of a cell that [cell.Stop] ended by the reason, and returns what the cell shows as text.
func stop(c *notebook.Cell, reason string) string {
	c.Outputs = slices.DeleteFunc(c.Outputs, func(o *notebook.Output) bool { return o.Type == notebook.Error })
	c.Outputs = append(c.Outputs, &notebook.Output{Type: notebook.Stream, Name: "stdout", Text: reason + "\n"})
	var b strings.Builder
	for _, o := range c.Outputs {
		if text, ok := o.Data["text/plain"].(string); ok {
			b.WriteString(strings.TrimRight(text, "\n") + "\n")
		}
		b.WriteString(o.Text)
	}
	return strings.TrimRight(b.String(), "\n")
}

// targets returns the paths of the executed notebook and of the page; page is "" if none is written.
func targets(opts Options) (out, page string) {
	name := strings.TrimSuffix(filepath.Base(opts.Notebook), ".ipynb") + ".out"
	out, page = opts.Out, opts.HTML
	switch {
	case opts.InPlace:
		out = opts.Notebook
	case out == "":
		out = name + ".ipynb"
		page = cmp.Or(page, name+".html")
	}
	return out, page
}

// normalize removes the results of earlier runs, including timings.
func normalize(nb *notebook.Notebook) {
	for _, c := range nb.Cells {
		delete(c.Metadata, "execution")
		delete(c.Metadata, "ExecuteTime")
		if c.Type == notebook.Code && !c.Tagged(skipTag) {
			c.Outputs, c.ExecutionCount = nil, 0
		}
	}
	if _, named := nb.Metadata["kernelspec"]; !named {
		nb.Metadata["kernelspec"] = map[string]any{"display_name": jupyter.DisplayName, "language": "go",
			"name": jupyter.SpecName}
	}
}

// runs reports whether the cell is executed.
func runs(c *notebook.Cell) bool {
	return c.Type == notebook.Code && !c.Tagged(skipTag) && strings.TrimSpace(c.Source) != ""
}

// heading returns the text of the last heading in a Markdown cell.
func heading(source string) string {
	found := ""
	for line := range strings.Lines(source) {
		if text := strings.TrimLeft(line, "#"); text != line && strings.HasPrefix(text, " ") {
			found = strings.TrimSpace(text)
		}
	}
	return found
}

// firstLine returns the first line of a cell that is neither empty, %% nor an import.
func firstLine(source string) string {
	for line := range strings.Lines(source) {
		line = strings.TrimSpace(line)
		if line != "" && line != "%%" && !strings.HasPrefix(line, "import") {
			return strings.TrimSpace(strings.TrimPrefix(line, "//"))
		}
	}
	return "…"
}

func indent(source string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(source), "\n", "\n    ")
}
