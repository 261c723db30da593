package jupyter

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"antipode/kernel/jupyter/notebook"
)

// GoNB reports positions in the program it generates, whose folder and name change in each run, and reports a failed
// cell in four messages. tidier reports the cell, its line and one error.
var (
	mappedPlace = regexp.MustCompile(
		` ?(?:\x1b\[7m)?\[\[ Cell \[(\d+)\] Line (\d+) \]\](?:\x1b\[0m)?\s*\S*main\.go:\d+(?: \+0x[0-9a-f]+)?`)
	// GoNB maps each piece of standard error on its own: a position that arrives in two pieces stays one of main.go.
	unmappedPlace = regexp.MustCompile(`(\S*/gonb_[0-9a-f]+/main\.go):(\d+)(?: \+0x[0-9a-f]+)?`)
	anyPlace      = regexp.MustCompile(`[^\s"']*/gonb_[0-9a-f]+/(main(?:_test)?\.go)`)
	compiled      = regexp.MustCompile(`^Cell(?:\[(\d+)\])?:? Line (\d+)\n`)
	packageLine   = regexp.MustCompile(`(?m)^# gonb_[0-9a-f]+\n?`)
	exitMessage   = regexp.MustCompile(`^(?:\^C\n)?(?:exit status \d+|signal: [a-z ]+)\n$`)
	exitValue     = regexp.MustCompile(`^(?:exit status \d+|signal: [a-z ]+)(?: \(core dumped\))?$`)
	dying         = regexp.MustCompile(`(?m)^(?:panic: |fatal error: |goroutine \d+ \[)`)
	clockCall     = regexp.MustCompile(`argument to ` + light + `\.Took(?:\[.*\])?$`)
	cellFrame     = regexp.MustCompile(`^cell \[\d+\], line \d+$`)
)

// Printed text is held for a time: standard output so that a cell that prints many lines sends few messages, standard
// error because it may belong to the cell's error.
const (
	holdText  = 40 * time.Millisecond
	maxText   = 32 << 10
	holdLine  = 200 * time.Millisecond
	holdPanic = 2 * time.Second
	maxHeld   = 256 << 10
)

// tidier forwards the messages of one execution. It holds back the last line of standard error, which is the error if
// the cell fails.
type tidier struct {
	out     func(Message)
	number  func(gonb int) int // the number of a cell by GoNB's
	locate  func(file string, line int) (number, cellLine int)
	notes   func(text string, again bool) bool // reports whether the cell is to show a note
	hint    func(message, line string) string
	table   func(nameAndColumns []string)
	source  string // the cell's code, whose lines errors quote
	current int    // the cell's number

	mu      sync.Mutex
	printed strings.Builder // to standard output
	soon    *time.Timer     // forwards it
	held    string          // from standard error
	panics  bool            // what is held begins with a panic
	exit    string          // GoNB's own line on the status of the process
	last    string          // the last line of standard error that was forwarded
	timer   *time.Timer
	failure ErrorContent
}

// take handles one message.
func (t *tidier) take(m Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch m.Header.Type {
	case "stream":
		var c StreamContent
		if json.Unmarshal(m.Content, &c) != nil {
			return
		}
		if c.Name == "stderr" {
			t.stderr(c.Text)
			return
		}
		t.flushErrors()
		t.stdout(c.Text)
		return
	case "error":
		_ = json.Unmarshal(m.Content, &t.failure) // if unreadable, the reply contains it too
		return
	case "display_data":
		var shown bool
		if m, shown = t.marked(m); !shown {
			return
		}
		t.flush()
	default:
		t.flush()
	}
	t.out(m)
}

func (t *tidier) stdout(text string) {
	if t.printed.Len() == 0 {
		t.soon = time.AfterFunc(holdText, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.flushText()
		})
	}
	if t.printed.WriteString(text); t.printed.Len() > maxText {
		t.flushText()
	}
}

// flushText forwards the held standard output.
func (t *tidier) flushText() {
	if t.printed.Len() > 0 {
		t.soon.Stop()
		text := t.places(t.printed.String())
		t.printed.Reset()
		t.send("stream", StreamContent{"stdout", text})
	}
}

func (t *tidier) stderr(text string) {
	t.flushText()
	t.stop()
	if exitMessage.MatchString(text) {
		t.show(t.exit)
		t.exit = text
	} else {
		t.show(t.exit)
		t.exit = ""
		t.held += text
	}
	wait := holdLine
	if at := dying.FindStringIndex(t.held); t.panics || at != nil {
		if !t.panics {
			t.show(t.held[:at[0]])
			t.held, t.panics = t.held[at[0]:], true
		}
		wait = holdPanic
	} else if end := strings.LastIndexByte(strings.TrimRight(t.held, "\n"), '\n') + 1; end > 0 {
		t.show(t.held[:end])
		t.held = t.held[end:]
	}
	if len(t.held) > maxHeld {
		t.release()
		return
	}
	t.timer = time.AfterFunc(wait, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.release()
	})
}

func (t *tidier) stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

// flush forwards what is held of both streams.
func (t *tidier) flush() {
	t.flushText()
	t.flushErrors()
}

// flushErrors forwards the held standard error, unless the program is printing a panic, between whose lines other
// output may arrive.
func (t *tidier) flushErrors() {
	if !t.panics {
		t.stop()
		t.release()
	}
}

// release forwards the held standard error.
func (t *tidier) release() {
	t.show(t.held)
	t.show(t.exit)
	t.held, t.exit, t.panics = "", "", false
}

func (t *tidier) show(text string) {
	if text == "" {
		return
	}
	text = t.places(text)
	if line := lastLine(text); line != "" {
		t.last = line
	}
	t.send("stream", StreamContent{"stderr", text})
}

// finish ends the execution. It sends and returns the error of a failed one.
func (t *tidier) finish(reply ReplyContent, interrupted bool) ErrorContent {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flushText()
	t.stop()
	if reply.Status == "ok" {
		t.release()
		return ErrorContent{}
	}
	if t.failure.Value == "" {
		t.failure = reply.ErrorContent
	}
	e := t.explain(interrupted)
	t.held, t.exit, t.panics = "", "", false // a timer that was running sends nothing more
	t.send("error", e)
	return e
}

// send sends a new message.
func (t *tidier) send(kind string, content any) {
	m, _ := newMessage("", kind, content, nil) // strings always marshal
	t.out(m)
}

// explain returns the error of a failed cell.
func (t *tidier) explain(interrupted bool) ErrorContent {
	held := notebook.Plain(t.places(t.held))
	exited := exitValue.MatchString(t.failure.Value)
	switch {
	case interrupted:
		if line := lastLine(held); !t.panics && line != "interrupted" {
			t.show(t.held)
		}
		return plainError("Interrupted", "interrupted")
	case !exited:
		t.show(t.held)
		return t.compiler(t.failure)
	case t.panics:
		return panicError(held)
	}
	line := lastLine(held)
	before, _, _ := strings.Cut(held, line)
	if t.show(before); line == "" {
		line = t.last
	}
	if line == "" {
		line = "the cell's program ended with " + strings.TrimPrefix(t.failure.Value, "exit ")
	}
	return plainError("Error", line)
}

// compileError is the name of the error of a cell that is not a Go program.
const compileError = "compile error"

// plainError returns an error of one line.
func plainError(name, line string) ErrorContent {
	return ErrorContent{Name: name, Value: line, Traceback: []string{line}}
}

// panicError parses the output of a panic: the message and the active calls, of which it returns those in cells;
// addresses differ between runs.
func panicError(text string) ErrorContent {
	head, stack, _ := strings.Cut(text, "\ngoroutine ")
	kind, message, _ := strings.Cut(strings.TrimSpace(head), ": ")
	e := ErrorContent{Name: kind, Value: firstLineOf(message), Traceback: []string{strings.TrimSpace(head)}}
	for row := range strings.Lines(stack) {
		if row = strings.TrimSpace(row); cellFrame.MatchString(row) {
			e.Traceback = append(e.Traceback, "    "+row)
		}
	}
	return e
}

// compiler converts a compiler's report to one entry per error, with the line of the cell.
func (t *tidier) compiler(e ErrorContent) ErrorContent {
	var found []string
	for _, entry := range e.Traceback {
		entry = notebook.Plain(entry)
		m := compiled.FindStringSubmatch(entry)
		if m == nil {
			continue
		}
		rows := strings.Split(strings.TrimRight(entry, "\n"), "\n")
		place, line := "", 0
		line, _ = strconv.Atoi(m[2])
		if m[1] != "" {
			id, _ := strconv.Atoi(m[1])
			place = fmt.Sprintf("cell [%d], ", t.number(id))
		}
		message := clockCall.ReplaceAllString(rows[len(rows)-1], "variable declaration")
		text := fmt.Sprintf("%sline %d: %s", place, line, message)
		if place == "" || place == fmt.Sprintf("cell [%d], ", t.current) {
			if source := strings.Split(t.source, "\n"); line <= len(source) {
				text += t.hint(message, source[line-1]) + "\n    " + strings.TrimSpace(source[line-1])
			}
		}
		found = append(found, text)
	}
	if len(found) > 0 {
		return ErrorContent{Name: compileError, Value: firstLineOf(found[0]), Traceback: found}
	}
	tidy := func(s string) string {
		return strings.TrimSpace(packageLine.ReplaceAllString(notebook.Plain(t.places(s)), ""))
	}
	var rows []string
	for _, row := range e.Traceback {
		if row = tidy(row); row != "" {
			rows = append(rows, row)
		}
	}
	return ErrorContent{Name: "Error", Value: tidy(e.Value), Traceback: rows}
}

// places replaces the positions that GoNB reports by cell and line.
func (t *tidier) places(s string) string {
	if strings.Contains(s, "[[ Cell [") {
		s = mappedPlace.ReplaceAllStringFunc(s, func(place string) string {
			m := mappedPlace.FindStringSubmatch(place)
			id, _ := strconv.Atoi(m[1])
			return fmt.Sprintf("cell [%d], line %s", t.number(id), m[2])
		})
	}
	if strings.Contains(s, "/gonb_") {
		s = unmappedPlace.ReplaceAllStringFunc(s, func(place string) string {
			m := unmappedPlace.FindStringSubmatch(place)
			line, _ := strconv.Atoi(m[2])
			if number, cellLine := t.locate(m[1], line); number > 0 {
				return fmt.Sprintf("cell [%d], line %d", number, cellLine)
			}
			return place
		})
		s = anyPlace.ReplaceAllString(s, "$1")
	}
	return s
}

func lastLine(s string) string {
	s = strings.TrimSpace(notebook.Plain(s))
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

func firstLineOf(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}

// Metadata by which package cell marks displays that stand for other messages of the Jupyter protocol, or are notes.
const (
	resultMark = "antipode-result" // the value of the last expression
	clearMark  = "antipode-clear"  // remove the outputs so far
	noteMark   = "antipode-note"   // a note, which one cell shows
	againMark  = "antipode-again"  // a note that is shown from its second time
	tableMark  = "antipode-table"  // the columns of a table, which nobody is shown
)

// marked converts a marked display to the message it stands for. It returns false for one that is not shown.
func (t *tidier) marked(m Message) (_ Message, shown bool) {
	var d DisplayContent
	if json.Unmarshal(m.Content, &d) != nil {
		return m, true
	}
	var content any
	switch {
	case d.Metadata[resultMark] != nil:
		delete(d.Metadata, resultMark)
		d.ExecutionCount = &t.current
		m.Header.Type, content = "execute_result", d
	case d.Metadata[clearMark] != nil:
		m.Header.Type, content = "clear_output", ClearContent{}
	case d.Metadata[noteMark] != nil, d.Metadata[againMark] != nil:
		if text, _ := d.Data["text/plain"].(string); !t.notes(text, d.Metadata[againMark] != nil) {
			return m, false
		}
		d.Metadata = map[string]any{}
		content = d
	case d.Metadata[tableMark] != nil:
		text, _ := d.Data["text/plain"].(string)
		t.table(strings.Split(text, "\t"))
		return m, false
	default:
		return m, true
	}
	m.Content, _ = json.Marshal(content) // it was JSON before
	return m, true
}
