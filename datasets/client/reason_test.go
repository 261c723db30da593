package client

import (
	"os"
	"path/filepath"
	"testing"

	"antipode/internal/must"
)

// TestLastReason: the line of a log that says why the process ended, not one of its stack.
func TestLastReason(t *testing.T) {
	const oom = "runtime: out of memory: cannot allocate 4194304-byte block"
	for log, want := range map[string]string{
		"job 1: error\n" + oom + "\nfatal error: out of memory\n\ngoroutine 1 [running]:\nruntime: g 0: unknown pc " +
			"0x7f\n" +
			"runtime.throw()\n\t/usr/go/panic.go:1 +0x48\n": oom,
		"panic: index out of range\n\ngoroutine 5 [running]:\n\tmain.go:3 +0x1\n": "panic: index out of range",
		"SIGSEGV: segmentation violation\nPC=0x0 m=0\n\nrip 0x2\n":                "SIGSEGV: segmentation violation",
		"the store is locked\n": "the store is locked",
		"":                      "it left no message, as a process that is killed",
	} {
		path := filepath.Join(t.TempDir(), "backend.log")
		must.Do(t, os.WriteFile(path, []byte("panic: an earlier one\n"+log), 0o600))
		must.Equal(t, lastReason(path, 22), want)
	}
}

func TestLimitLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "backend.log")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	limitLog(path)
	must.Do(t, os.Truncate(path, largestLog+1))
	limitLog(path)
	must.Is(os.Stat(path))(t, os.ErrNotExist)
	must.Get(os.Stat(path + ".old"))(t)
}
