package engine

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/store"
)

// lockFolder makes a folder and what is in it read-only until the test ends. The permissions of files do not bind root.
func lockFolder(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			t.Cleanup(func() { os.Chmod(path, 0o700) })
			return os.Chmod(path, 0o500)
		}))
		return
	}
	if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("missing: the right to mount: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	must.Do(t, syscall.Mount("", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
}

// TestReadOnlyStore: results in a store that cannot be written are found; what is missing is an error that names it.
func TestReadOnlyStore(t *testing.T) {
	first := newEngine(t)
	home := first.Store.Dir()
	_, file := images(t, 4)
	tab := counts(datasets.CSV(file))
	allRows(t, first, tab)
	must.Do(t, first.Close())
	lockFolder(t, home)
	s := must.Get(store.Open(home))(t)
	e := New(s, Options{Build: "test"})
	defer e.Close()
	res, err := run1(t, e, tab, client.Request{})
	must.True(t, err == nil && res.Found == 4 && res.Computed == 0, "%+v, %v", res, err)
	_, other := images(t, 5) // one more
	must.Fail(run1(t, e, counts(datasets.CSV(other)), client.Request{}))(t, home)
}
