package runner

import (
	"regexp"
	"strings"

	"antipode/kernel/jupyter"
	"antipode/kernel/notebook"
)

// GoNB reports places in the program it makes of the cells, whose folder and name are new in each run. Saved notebooks
// name the cell and its line instead, so that the same run gives the same file.
var (
	mappedPlace = regexp.MustCompile(`(?:\x1b\[7m)?\[\[ Cell \[(\d+)\] Line (\d+) \]\](?:\x1b\[0m)?\s*\S*main\.go:\d+(?: \+0x[0-9a-f]+)?`)
	anyPlace    = regexp.MustCompile(`[^\s"']*/gonb_[0-9a-f]+/(main(?:_test)?\.go)`)
	compiled    = regexp.MustCompile(`^Cell(?:\[(\d+)\])?:? Line (\d+)\n`)
	packageLine = regexp.MustCompile(`(?m)^# gonb_[0-9a-f]+\n?`)
	trace       = regexp.MustCompile(`(?s)\n*\ngoroutine \d+ \[.*`)
	exitLine    = regexp.MustCompile(`(?m)^(?:\^C\n)?(?:exit status \d+|signal: [a-z ]+)\n\z`)
)

// tidyText replaces GoNB's places in what a cell printed.
func tidyText(s string) string {
	s = mappedPlace.ReplaceAllString(s, "cell [$1], line $2")
	return anyPlace.ReplaceAllString(s, "$1")
}

// tidyError replaces them in an error, and makes of a compiler's report one line for each mistake.
func tidyError(e *jupyter.ErrorContent) {
	var found []string
	for _, entry := range e.Traceback {
		entry = notebook.Plain(entry)
		if m := compiled.FindStringSubmatch(entry); m != nil {
			place := "line " + m[2]
			if m[1] != "" {
				place = "cell [" + m[1] + "], " + place
			}
			rows := strings.Split(strings.TrimRight(entry, "\n"), "\n")
			found = append(found, place+": "+rows[len(rows)-1])
		}
	}
	if len(found) > 0 {
		e.Value, e.Traceback = found[0], found
		return
	}
	tidy := func(s string) string { return strings.TrimSpace(packageLine.ReplaceAllString(tidyText(s), "")) }
	e.Value = tidy(e.Value)
	var rows []string
	for _, row := range e.Traceback {
		if row = tidy(row); row != "" {
			rows = append(rows, row)
		}
	}
	e.Traceback = rows
}

// tidyOutputs cleans a finished cell's outputs: GoNB's places, the exit status it prints beside reporting it, and the
// trace of a panic, whose addresses are new in each run. It returns the trace.
func tidyOutputs(outputs []*notebook.Output) string {
	failed, found := false, ""
	for _, o := range outputs {
		failed = failed || o.Type == notebook.Error
	}
	for _, o := range outputs {
		if o.Type != notebook.Stream || o.Name != "stderr" {
			continue
		}
		if failed {
			o.Text = exitLine.ReplaceAllString(o.Text, "")
		}
		o.Text = tidyText(o.Text)
		if at := trace.FindStringIndex(o.Text); failed && at != nil {
			found = strings.TrimSpace(o.Text[at[0]:])
			o.Text = o.Text[:at[0]] + "\n"
		}
	}
	return found
}
