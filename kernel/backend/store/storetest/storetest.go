// Package storetest gives tests a folder for a store, in memory where there is one.
package storetest

import (
	"os"
	"syscall"
	"testing"

	"antipode/internal/must"
)

// Dir returns a folder that ends with the test: in /dev/shm, where nothing waits for a disk, if it has 1 GB free.
func Dir(t testing.TB) string {
	const memory = "/dev/shm"
	var s syscall.Statfs_t
	if syscall.Statfs(memory, &s) != nil || s.Bavail*uint64(s.Bsize) < 1e9 {
		return t.TempDir()
	}
	dir := must.Get(os.MkdirTemp(memory, "antipode-test-"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
