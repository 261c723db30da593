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

	"antipode/kernel/client"
)

// How progress is shown: nothing before appear, then at most once in every interval.
const (
	appear   = time.Second
	interval = 200 * time.Millisecond
)

// progressMark is metadata that lets a headless run tell progress from output (package runner).
const progressMark = "antipode-progress"

// Progress shows how far one piece of work is: one display that changes in place, appears after a second, and is gone when closed.
type Progress struct {
	mu     sync.Mutex
	show   func(client.Progress) // draws; the first call makes the display
	clear  func()                // takes the display away
	last   client.Progress
	dirty  bool // last has not been drawn
	shown  bool
	closed bool
	notes  []*noteKind
	timer  *time.Timer
}

// noteKind is notes that differ in names and numbers alone: the first is told at once, the others are counted.
type noteKind struct {
	kind, first string
	n           int
}

// told are the notes of this cell, or of this program: each is told once.
var told sync.Map

var (
	nameInNote   = regexp.MustCompile(`"[^"]*"|“[^”]*”`)
	numberInNote = regexp.MustCompile(`[0-9]+`)
)

// note tells a note, or counts it.
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
	Say(text)
}

// NewProgress starts the clock. In a notebook progress is a display of the cell, on a terminal a line of standard error,
// elsewhere nothing.
func NewProgress() *Progress {
	switch {
	case InNotebook():
		id := gonbui.UniqueId()
		return newProgress(
			func(p client.Progress) { update(id, progressHTML(p), progressText(p)) },
			func() { update(id, "", ""); flush(10 * time.Second) })
	case isTerminal(os.Stderr):
		return newProgress(
			func(p client.Progress) { fmt.Fprintf(os.Stderr, "\r\x1b[K%s", progressText(p)) },
			func() { _, _ = io.WriteString(os.Stderr, "\r\x1b[K") })
	}
	return newProgress(func(client.Progress) {}, func() {})
}

func newProgress(show func(client.Progress), clear func()) *Progress {
	p := &Progress{show: show, clear: clear}
	p.timer = time.AfterFunc(appear, p.tick)
	return p
}

// Update reports how far the work is. A note is told once, in a line that stays; of many that
// differ in names and numbers alone the first, and at the end how many more there are.
func (p *Progress) Update(v client.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if v.Note != "" {
		p.note(v.Note)
	}
	if v.Stage == "" {
		return // it was but a note
	}
	if v.Samples == nil && v.Stage == p.last.Stage {
		v.Samples = p.last.Samples
	}
	p.last, p.dirty = v, true
}

// tick draws what has come since the last time.
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

// Close takes the display away.
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
	for _, k := range p.notes {
		if more := k.n - 1; more > 0 {
			Say(fmt.Sprintf("and %d more like: %s", more, k.first))
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

// progressText is one line, for example "embed vit: 120 of 400, 18/s, 16 s left" or "generate sd: 0 of 4, step 12 of 50, 0.011/s, 5 min left".
func progressText(p client.Progress) string {
	var b strings.Builder
	b.WriteString(flatten(p.Stage))
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

func progressHTML(p client.Progress) string {
	bar := "<progress></progress>"
	if p.Total > 0 {
		bar = fmt.Sprintf(`<progress max="%d" value="%.3g"></progress>`, p.Total, float64(p.Done)+p.Part)
	}
	return `<div style="font-family:sans-serif">` + bar + " " + html.EscapeString(progressText(p)) + strip(p.Samples) + "</div>"
}

// strip shows the pictures that were made last in a row below the bar, each over its caption.
func strip(samples []client.Sample) string {
	var b strings.Builder
	for _, s := range samples[max(0, len(samples)-client.MaxSamples):] {
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
	return `<div style="display:flex;flex-wrap:wrap;gap:6px;align-items:flex-end;margin-top:4px">` + b.String() + "</div>"
}

// roughly writes a duration with the precision of a guess.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", max(1, d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// isTerminal says whether f is a terminal (or another character device, where the escapes do no harm).
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
