// Package newdir writes folders that are complete or missing.
package newdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write calls fill with a new folder next to dir and renames it to dir when it returns no error. dir must not exist, or
// be empty; its parents are made.
func Write(dir string, fill func(to string) error) error {
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return fmt.Errorf("%s is not empty; name a new folder", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	to, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".")
	if err != nil {
		return err
	}
	defer os.RemoveAll(to) // nothing, once renamed
	if err := fill(to); err != nil {
		return err
	}
	if err := os.Chmod(to, 0o755); err != nil {
		return err
	}
	_ = os.Remove(dir) // empty, or missing
	return os.Rename(to, dir)
}
