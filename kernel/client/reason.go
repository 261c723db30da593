package client

import (
	"os"
	"slices"
	"strings"
)

// reasons start the lines with which the Go runtime, the C library and XLA say why a process ends; a stack follows.
var reasons = []string{"fatal error: ", "panic: ", "runtime: ", "SIG", "terminate called", "libc++abi:", "F0000", "F1"}

// IsReason reports whether a line of a log says why the process ended.
func IsReason(line string) bool {
	return slices.ContainsFunc(reasons, func(r string) bool { return strings.HasPrefix(line, r) })
}

// lastReason returns the last line of a log that says why the process ended, after the last start, or its last line.
func lastReason(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "no log"
	}
	lines := strings.Split(strings.TrimSpace(string(data[max(0, len(data)-1<<18):])), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if IsReason(lines[i]) {
			for i > 0 && IsReason(lines[i-1]) { // the first of them
				i--
			}
			return strings.TrimSpace(lines[i])
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}
