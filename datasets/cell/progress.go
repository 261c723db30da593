package cell

import (
	"fmt"
	"html"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"antipode/datasets/table"
	"antipode/internal/plaintext"
)

// Progress appears after appear and is updated at most once in every interval.
const (
	appear   = time.Second
	interval = 200 * time.Millisecond
)

// progressMark is metadata by which package runner distinguishes progress from output.
const progressMark = "antipode-progress"

// Progress shows the progress of one piece of work in one display, which appears after a second, is updated in place
// and is removed by Close.
type Progress struct {
	mu     sync.Mutex
	show   func(table.Progress) // creates or updates the display
	clear  func()               // removes the display
	last   table.Progress
	dirty  bool // last has not been shown
	shown  bool
	closed bool
	notes  []*noteKind
	timer  *time.Timer
	ahead  string // the id of the display of Announce, "" without one
}

// noteKind is a group of notes that differ only in names and numbers: the first is shown, the others are counted.
type noteKind struct {
	kind, first string
	n           int
}

// told are the notes of this process; each is shown once.
var told sync.Map

var (
	nameInNote   = regexp.MustCompile(`"[^"]*"|“[^”]*”`)
	numberInNote = regexp.MustCompile(`[0-9]+`)
)

// note shows or counts a note.
func (p *Progress) note(text string) {
	if _, known := told.LoadOrStore(text, true); known {
		return
	}
	kind := numberInNote.ReplaceAllString(nameInNote.ReplaceAllString(text, `""`), "0")
	i := slices.IndexFunc(p.notes, func(k *noteKind) bool { return k.kind == kind })
	if i < 0 {
		i, p.notes = len(p.notes), append(p.notes, &noteKind{kind, text, 0})
	}
	if p.notes[i].n++; p.notes[i].n > 1 {
		return
	}
	if p.shown && !InNotebook() {
		p.clear()
	}
	sayNote(text)
}

// sayNote shows a note. In a notebook it is marked: the kernel shows it in one cell only.
func sayNote(text string) {
	if !InNotebook() {
		Say(text)
		return
	}
	sendMarked(map[protocol.MIMEType]any{protocol.MIMETextPlain: flatten(text)}, noteMark)
}

// NewProgress returns a Progress: in a notebook a display of the cell, on a terminal a line on standard error,
// elsewhere nothing.
func NewProgress() *Progress {
	switch {
	case InNotebook():
		id := gonbui.UniqueId()
		return newProgress(
			func(p table.Progress) { update(id, progressHTML(p), progressText(p)) },
			func() { update(id, "", ""); flush(10 * time.Second) })
	case isTerminal(os.Stderr):
		return newProgress(
			func(p table.Progress) { fmt.Fprintf(os.Stderr, "\r\x1b[K%s", progressText(p)) },
			func() { _, _ = io.WriteString(os.Stderr, "\r\x1b[K") })
	}
	return newProgress(func(table.Progress) {}, func() {})
}

func newProgress(show func(table.Progress), clear func()) *Progress {
	p := &Progress{show: show, clear: clear}
	p.mu.Lock() // tick reads the timer
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(appear, p.tick)
	return p
}

// Announce shows one line about the work ahead, with an estimate of its time. In a notebook Close removes it: saved
// notebooks contain no times.
func (p *Progress) Announce(line string) {
	if !InNotebook() {
		Say(line)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ahead = gonbui.UniqueId()
	update(p.ahead, html.EscapeString(flatten(line)), flatten(line))
}

// Update reports progress. A note is shown once, as a line that stays; in a notebook by the first cell that has it. Of
// several notes that differ only in names and numbers the first is shown, and Close shows the number of others.
func (p *Progress) Update(v table.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if v.Note != "" {
		p.note(v.Note)
	}
	if v.Stage == "" {
		return // only a note
	}
	if v.Samples == nil && v.Stage == p.last.Stage {
		v.Samples = p.last.Samples
	}
	p.last, p.dirty = v, true
}

// tick shows the last report if it is new.
func (p *Progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if p.dirty {
		p.show(p.last)
		p.shown, p.dirty = true, false
	}
	p.timer.Reset(interval)
}

// Close removes the display.
func (p *Progress) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	p.timer.Stop()
	if p.shown {
		p.clear()
	}
	if p.ahead != "" {
		update(p.ahead, "", "")
		flush(10 * time.Second)
	}
	for _, k := range p.notes {
		if more := k.n - 1; more > 0 {
			sayNote(fmt.Sprintf("and %d more like: %s", more, k.first))
		}
	}
}

// update sets the content of a display.
func update(id, htmlText, text string) {
	gonbui.SendData(&protocol.DisplayData{
		Data:      map[protocol.MIMEType]any{protocol.MIMETextHTML: htmlText, protocol.MIMETextPlain: text},
		Metadata:  map[string]any{progressMark: true},
		DisplayID: id,
	})
}

// progressText is one line, for example "embed vit: 120 of 400, 18/s, 16 s left" or "generate sd: 0 of 4, step 12 of
// 50, 0.011/s, 5 min left".
func progressText(p table.Progress) string {
	var b strings.Builder
	b.WriteString(plaintext.OneLine(flatten(p.Stage)))
	if p.Total > 0 {
		fmt.Fprintf(&b, ": %d of %d", p.Done, p.Total)
	} else if p.Done > 0 {
		fmt.Fprintf(&b, ": %d", p.Done)
	}
	if p.Steps > 0 {
		fmt.Fprintf(&b, ", step %d of %d", p.Step, p.Steps)
	}
	if p.Rate > 0 {
		fmt.Fprintf(&b, ", %.3g/s", p.Rate)
		if left := p.Left(); left > 0 {
			fmt.Fprintf(&b, ", %s left", roughly(left))
		}
	}
	return b.String()
}

func progressHTML(p table.Progress) string {
	bar := "<progress></progress>"
	if p.Total > 0 {
		bar = fmt.Sprintf(`<progress max="%d" value="%.3g"></progress>`, p.Total, float64(p.Done)+p.Part)
	}
	return `<div style="font-family:sans-serif">` + bar + " " + html.EscapeString(progressText(p)) + strip(p.Samples) +
		"</div>"
}

// strip returns a row of the latest images with their captions.
func strip(samples []table.Sample) string {
	var b strings.Builder
	for _, s := range samples[max(0, len(samples)-table.MaxSamples):] {
		if len(s.Thumb) == 0 {
			continue
		}
		caption := flatten(s.Caption)
		b.WriteString(`<figure style="margin:0;width:128px">` + Image("image/jpeg", s.Thumb, caption) +
			`<figcaption dir="auto" style="font-size:11px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis">` + html.EscapeString(caption) + "</figcaption></figure>")
	}
	if b.Len() == 0 {
		return ""
	}
	return `<div style="display:flex;flex-wrap:wrap;gap:6px;align-items:flex-end;margin-top:4px">` + b.String() +
		"</div>"
}

// roughly formats an estimated duration.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", max(1, d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// isTerminal reports whether f is a terminal or another character device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
