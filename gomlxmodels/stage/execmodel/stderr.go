package execmodel

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Sizes of what is kept of standard error, in bytes.
const (
	tailSize = 64 << 10 // in memory
	logSize  = 10 << 20 // in the file
)

// stderrLog keeps what the processes of a slot write to standard error: the end in memory, the beginning in a file.
// Values of secrets are replaced.
type stderrLog struct {
	path    string // "" = no file
	replace *strings.Replacer

	mu      sync.Mutex
	lines   []string // the last ones, tailSize bytes in all
	current int      // how many of them are of the current process
	size    int
	file    *os.File
	written int
}

func newLog(path string, secrets map[string]string) *stderrLog {
	var pairs []string
	for _, value := range secrets {
		if value != "" {
			pairs = append(pairs, value, "***")
		}
	}
	return &stderrLog{path: path, replace: strings.NewReplacer(pairs...)}
}

// begin is called before a process starts.
func (l *stderrLog) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = 0
}

// copy reads standard error until it ends.
func (l *stderrLog) copy(r io.Reader, active *atomic.Int64) {
	in := bufio.NewReaderSize(r, tailSize)
	for {
		line, err := in.ReadSlice('\n') // a longer line is split
		if len(line) > 0 {
			active.Store(time.Now().UnixNano())
			l.add(string(line))
		}
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

// close closes the file.
func (l *stderrLog) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// add appends a line.
func (l *stderrLog) add(line string) {
	line = l.replace.Replace(strings.TrimRight(line, "\r\n"))
	if i := strings.LastIndexByte(line, '\r'); i >= 0 { // a progress bar: its last state
		line = line[i+1:]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	l.current++
	for l.size += len(line) + 1; l.size > tailSize; l.lines = l.lines[1:] {
		l.size -= len(l.lines[0]) + 1
	}
	if l.file == nil && l.path != "" && l.written == 0 {
		l.file, _ = os.Create(l.path) // without it there is no file
	}
	if l.file != nil && l.written+len(line) < logSize {
		n, _ := fmt.Fprintln(l.file, line)
		l.written += n
	}
}

// last returns the last line with text of the current process, cleaned.
func (l *stderrLog) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(lastLines(l.lines[max(0, len(l.lines)-l.current):], 1), "")
}

// tail returns the last n lines with text, cleaned.
func (l *stderrLog) tail(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return lastLines(l.lines, n)
}

func lastLines(all []string, n int) (lines []string) {
	for _, line := range slices.Backward(all) {
		if text := clip(line, 400); text != "" {
			lines = append(lines, text)
		}
		if len(lines) == n {
			break
		}
	}
	slices.Reverse(lines)
	return lines
}
