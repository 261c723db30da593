package client

import (
	"os"
	"slices"
	"strings"
)

// reasons start the lines with which the Go runtime, the C library and XLA say why a process ends; a stack follows.
var reasons = []string{"fatal error: ", "panic: ", "runtime: out of memory", "runtime: cannot", "runtime: failed",
	"runtime/cgo: ", "SIG", "terminate called", "libc++abi:", "malloc", "antipode: "}

// IsReason reports whether a line of a log says why the process ended.
func IsReason(line string) bool {
	return slices.ContainsFunc(reasons, func(r string) bool { return strings.HasPrefix(line, r) })
}

// lastReason returns the last line that says why a process ended of those of a log from an offset on, or the last line.
func lastReason(path string, from int64) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return "no log"
	}
	text := strings.TrimSpace(string(data[min(max(from, 0), int64(len(data))):]))
	if text == "" {
		return "it left no message, as a process that is killed"
	}
	lines := strings.Split(text, "\n")
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

// largestLog is the size above which the log of a backend is begun anew.
const largestLog = 8 << 20

// limitLog renames a log that has become too large to FILE.old.
func limitLog(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() > largestLog {
		_ = os.Rename(path, path+".old")
	}
}
