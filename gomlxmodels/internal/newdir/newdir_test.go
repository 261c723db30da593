package newdir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"antipode/internal/must"
)

func TestWrite(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "a", "b")
	failed := errors.New("failed")
	if err := Write(dir, func(to string) error {
		must.Do(t, os.WriteFile(filepath.Join(to, "half"), nil, 0o600))
		return failed
	}); err != failed {
		t.Error(err)
	}
	must.Equal(t, len(must.Get(os.ReadDir(filepath.Join(root, "a")))(t)), 0, "after a failure")
	fill := func(to string) error { return os.WriteFile(filepath.Join(to, "file"), nil, 0o600) }
	must.Do(t, os.Mkdir(dir, 0o700)) // empty
	must.Do(t, Write(dir, fill))
	must.Equal(t, len(must.Get(os.ReadDir(filepath.Join(root, "a")))(t)), 1)
	must.Fail(Write(dir, fill))(t) // written over a folder
}
