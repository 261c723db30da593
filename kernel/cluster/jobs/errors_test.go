package jobs

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"antipode/internal/must"
)

// TestUnreachable tries again where a file system or a device cannot be reached.
func TestUnreachable(t *testing.T) {
	for err, want := range map[error]int{
		nil:                1,
		errors.New("full"): 1,
		syscall.ENOSPC:     1,
		&os.PathError{Op: "open", Path: "x", Err: syscall.ESTALE}: tries,
		fmt.Errorf("store: %w", syscall.EIO):                      tries,
	} {
		n := 0
		got := again(t.Context(), time.Millisecond, t.Logf, func() error { n++; return err })
		must.True(t, got == err && n == want, "%v: %v after %d tries, want %d", err, got, n, want)
	}
}
