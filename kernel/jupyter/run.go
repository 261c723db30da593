package jupyter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Cell is code to execute.
type Cell struct {
	Source string
	ID     string // the same when the cell is executed again after a change; empty = by Source
	Number int    // the execution count, by which errors name the cell; 0 = counted by the kernel
	Hidden bool   // not counted

	input func(Message) // receives the cell's requests for input; nil = standard input is empty
}

// An interrupted cell is interrupted repeatedly, because a cell that is still being compiled ignores the signal. Then
// its processes are killed, and finally the kernel stops waiting for it.
const (
	interruptAgain = 300 * time.Millisecond
	killAfter      = 2200 * time.Millisecond
	giveUpAfter    = 4 * time.Second
)

// Run executes a cell and passes its messages to output, in order; at most one is an error. The cell's last expression
// is shown. A note is shown by the first cell that has it, and again when that cell is executed again. If ctx ends, the
// cell is interrupted and reports the error "Interrupted". An error of Run itself means that the kernel does not answer
// any more.
func (k *Kernel) Run(ctx context.Context, c Cell, output func(Message)) (ReplyContent, error) {
	if c.Number == 0 && !c.Hidden {
		c.Number = k.count + 1
	}
	k.count = c.Number
	c.Source = strings.ReplaceAll(c.Source, "\r\n", "\n") // GoNB takes "%%\r" for an unknown command
	timed, start := false, time.Now()
	if !c.Hidden {
		c.Source, timed = timing(c.Source)
	}
	t := &tidier{out: output, number: k.numberOf, locate: k.locate, source: c.Source, current: c.Number, hint: k.hint,
		table: k.addTable,
		notes: func(text string, again bool) bool { return k.shows(cmp.Or(c.ID, c.Source), text, again) }}
	code, failed := k.prepare(c, t)
	if failed != nil {
		t.send("error", *failed)
		return ReplyContent{Status: "error", ExecutionCount: &c.Number, ErrorContent: *failed}, nil
	}
	if !c.Hidden {
		k.counted = append(k.counted, Cell{Source: code, Number: c.Number})
	}
	patience, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	finished := make(chan struct{})
	go k.interruptWhenDone(ctx, finished, giveUp)
	reply, err := k.execute(patience, code, c.Hidden, t.take, c.input)
	close(finished)
	if errors.Is(err, ErrDied) {
		err = k.explain(err)
	}
	if err != nil {
		reply.Status, reply.ErrorContent = "error", plainError("kernel", err.Error())
	}
	if reply.Status != "ok" {
		reply.ErrorContent = t.finish(reply, err == nil && ctx.Err() != nil)
	} else {
		t.finish(reply, false)
	}
	if reply.Name == compileError { // GoNB has forgotten the cell's declarations
		maps.DeleteFunc(k.variables, func(_ string, cell int) bool { return cell == c.Number })
	}
	if timed {
		t.send("stream", took(start))
	}
	reply.ExecutionCount = &c.Number
	return reply, err
}

// shows reports whether a cell shows a note: no other cell did, and with again it is not the note's first time.
func (k *Kernel) shows(cell, note string, again bool) bool {
	if again && !k.seen[note] {
		k.seen[note] = true
		return false
	}
	if _, known := k.notes[note]; !known {
		k.notes[note] = cell
	}
	return k.notes[note] == cell
}

// numberOf returns the number of the cell that GoNB counts as n.
func (k *Kernel) numberOf(n int) int {
	if n < 1 || n > len(k.counted) {
		return n
	}
	return k.counted[n-1].Number
}

// locate returns the cell and its line from which GoNB copied a line of the program it generated. It is the line that
// agrees with most lines around it, in the newest cell if there are several.
func (k *Kernel) locate(file string, line int) (number, cellLine int) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, 0
	}
	program, longest := codeLines(string(data)), 0
	if line < 1 || line > len(program) || program[line-1] == "" {
		return 0, 0
	}
	for _, c := range slices.Backward(k.counted) {
		source := codeLines(c.Source)
		for i := range source {
			n := 0
			for j := i; j >= 0 && line-1-i+j >= 0 && source[j] == program[line-1-i+j]; j-- {
				n++
			}
			for j := i; n > 0 && j < len(source) && line-1-i+j < len(program) && source[j] == program[line-1-i+j]; j++ {
				n++
			}
			if n > longest {
				longest, number, cellLine = n, c.Number, i+1
			}
		}
	}
	return number, cellLine
}

// codeLines returns lines without spaces, which gofmt changes.
func codeLines(source string) []string {
	lines := strings.Split(source, "\n")
	for i, line := range lines {
		lines[i] = strings.Join(strings.Fields(line), "")
	}
	return lines
}

// prepare returns the code that GoNB executes for a cell, or the error that the cell reports.
func (k *Kernel) prepare(c Cell, t *tidier) (string, *ErrorContent) {
	if c.Hidden {
		return c.Source, nil
	}
	s := split(k.commands(c.Source, t))
	if s.Special {
		return s.code, nil
	}
	if line, message := s.statementError(); line > 0 {
		lines := strings.Split(s.Text, "\n") // fewer than line after a //line comment
		message += k.hint("", lines[min(line, len(lines))-1])
		e := plainError(compileError, fmt.Sprintf("cell [%d], line %d: %s", c.Number, line, message))
		return "", &e
	}
	for _, name := range s.variables() {
		if k.variables[name] == 0 {
			k.variables[name] = c.Number
		}
	}
	s = split(split(s.clocked()).described())
	if s.Main < 0 {
		return s.code, nil
	}
	files := token.NewFileSet()
	body, err := parseBody(files, s.Statements())
	if err != nil {
		return s.code, nil // the compiler reports it
	}
	for _, line := range printed(body, files) {
		t.send("stream", StreamContent{"stderr", fmt.Sprintf("line %d: print writes to standard error; use "+
			"fmt.Println(x), or end the cell with x\n", line)})
	}
	names, lines := assigned(body, files, k.variables)
	for i, name := range names {
		t.send("stream", StreamContent{"stderr",
			fmt.Sprintf("line %d: %s is assigned below %%%%: later cells do not see "+
				"the new value; to keep it, declare it above %%%% (var %s = …)\n", lines[i], name, name)})
	}
	return s.showLast(body, files, k.results()), nil
}

// hint is [resultIndex.hint] for the notebook's variables.
func (k *Kernel) hint(message, line string) string {
	return k.results().hint(message, line, k.variables, k.columns())
}

// addTable stores the columns of a table for completion.
func (k *Kernel) addTable(nameAndColumns []string) {
	k.known.Lock()
	defer k.known.Unlock()
	k.tables[nameAndColumns[0]] = nameAndColumns[1:]
}

// columns returns the columns of the cells' tables, by variable.
func (k *Kernel) columns() map[string][]string {
	k.known.Lock()
	defer k.known.Unlock()
	return maps.Clone(k.tables)
}

// interruptWhenDone interrupts the running cell when ctx ends, until finished is closed. As in a terminal, all of the
// cell's processes receive the signal.
func (k *Kernel) interruptWhenDone(ctx context.Context, finished chan struct{}, giveUp func(error)) {
	select {
	case <-finished:
		return
	case <-ctx.Done():
	}
	kill, end := time.After(killAfter), time.After(giveUpAfter)
	again := time.NewTicker(interruptAgain)
	defer again.Stop()
	k.signalCell(syscall.SIGINT)
	for {
		_ = k.Interrupt() // repeated below
		select {
		case <-finished:
			return
		case <-kill:
			k.signalCell(syscall.SIGKILL)
		case <-end:
			giveUp(errors.New("the cell does not end after an interrupt; restart the kernel"))
			return
		case <-again.C:
		}
	}
}

// signalCell sends a signal to the processes of GoNB's group except GoNB: the compiler, the cell's program and its
// children. The backend has a group of its own.
func (k *Kernel) signalCell(signal syscall.Signal) {
	for _, pid := range processGroup(k.cmd.Process.Pid) {
		if pid != k.cmd.Process.Pid {
			_ = syscall.Kill(pid, signal) // gone already is fine
		}
	}
}

// processGroup lists the processes of a group.
func processGroup(group int) []int {
	var found []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:])) // state, parent, group, …
		if len(fields) > 2 && fields[2] == strconv.Itoa(group) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			found = append(found, pid)
		}
	}
	if len(stats) > 0 {
		return found
	}
	out, _ := exec.Command("pgrep", "-g", strconv.Itoa(group)).Output() // macOS; none found is an error too
	for _, field := range strings.Fields(string(out)) {
		if pid, err := strconv.Atoi(field); err == nil {
			found = append(found, pid)
		}
	}
	return found
}

// onComm sets the function that receives the messages of widgets between executions.
func (k *Kernel) onComm(receive func(Message)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.other = func(m Message) {
		if strings.HasPrefix(m.Header.Type, "comm_") {
			receive(m)
		}
	}
}
