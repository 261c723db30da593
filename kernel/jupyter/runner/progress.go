package runner

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows the progress of a run: a bar on a terminal, otherwise a line per cell.
type progress struct {
	out   io.Writer
	bar   *progressbar.ProgressBar // nil where out is no terminal
	total int
	cell  string
}

func newProgress(out io.Writer, total int) *progress {
	if out == nil {
		out = io.Discard
	}
	p := &progress{out: out, total: total}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(out), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(20),
			progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false),
			progressbar.OptionUseANSICodes(true))
	}
	return p
}

// say prints a line above the bar.
func (p *progress) say(line string) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintln(p.out, line)
	p.draw("")
}

// begin shows the cell that starts to run.
func (p *progress) begin(n int, title string) {
	p.cell = title
	if p.bar == nil {
		fmt.Fprintf(p.out, "cell %d of %d: %s\n", n, p.total, title)
		return
	}
	p.draw("")
}

// report shows the progress of the running cell, on a terminal only.
func (p *progress) report(text string) { p.draw(text) }

func (p *progress) draw(text string) {
	if p.bar == nil {
		return
	}
	text = cmp.Or(text, p.cell)
	p.bar.Describe(fmt.Sprintf("%-32.32s", text)) // Describe also draws
}

func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Add(1)
	}
}

// end removes the bar.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
