// Package memdir makes testing.T.TempDir a folder in memory, where nothing waits for a disk: a test program imports it
// for that alone. It does nothing where /dev/shm is missing, has less than 1 GB free or does not execute programs.
package memdir

import (
	"os"
	"syscall"
)

func init() {
	const memory, noExec = "/dev/shm", 8
	var s syscall.Statfs_t
	if err := syscall.Statfs(memory, &s); err == nil && s.Bavail*uint64(s.Bsize) >= 1e9 && s.Flags&noExec == 0 {
		_ = os.Setenv("TMPDIR", memory)
	}
}
