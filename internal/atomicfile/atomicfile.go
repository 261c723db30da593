// Package atomicfile writes files that are complete or not there, also where several processes or goroutines write the
// same one. Their temporary names are unique; those of a process that was killed stay, until IsTemporary finds them.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// prefix is that of temporary names.
const prefix = ".tmp-"

// IsTemporary reports whether a path has the name of a temporary file or folder of this package.
func IsTemporary(path string) bool { return strings.HasPrefix(filepath.Base(path), prefix) }

// TempName returns a path with its name changed to a temporary one.
func TempName(path string) string {
	return filepath.Join(filepath.Dir(path), prefix+filepath.Base(path))
}

// Write writes a file with [Replace], and its folder if missing.
func Write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return Replace(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Temp creates a temporary file in a folder, for a caller that renames or removes it.
func Temp(dir string) (*os.File, error) { return os.CreateTemp(dir, prefix+"*") }

// Replace writes a file atomically: write fills a temporary file next to it, which is synced and renamed.
func Replace(path string, mode fs.FileMode, write func(w io.Writer) error) error {
	if err := replace(path, mode, write); err != nil {
		return err
	}
	syncFolder(filepath.Dir(path))
	return nil
}

// replace is [Replace] without syncing the folder: the file's name is not durable yet, its content is.
func replace(path string, mode fs.FileMode, write func(w io.Writer) error) error {
	f, err := Temp(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err = write(f); err == nil {
		if err = f.Chmod(mode); err == nil {
			err = f.Sync()
		}
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Group writes many files and syncs each of their folders once. The zero Group has none. Its methods may be called by
// several goroutines.
type Group struct {
	mu      sync.Mutex
	folders map[string]bool // that are not synced since a file was written
}

// Replace is the function [Replace], but the file may be missing after a crash before [Group.Sync].
func (g *Group) Replace(path string, mode fs.FileMode, write func(w io.Writer) error) error {
	if err := replace(path, mode, write); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.folders == nil {
		g.folders = map[string]bool{}
	}
	g.folders[filepath.Dir(path)] = true
	return nil
}

// Sync syncs the folders.
func (g *Group) Sync() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for folder := range g.folders {
		syncFolder(folder)
	}
	g.folders = nil
}

// Make is [Replace] for a file that another program writes: run makes the file temp, in a temporary folder next to it.
func Make(path string, run func(temp string) error) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), prefix+"*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	temp := filepath.Join(dir, filepath.Base(path))
	if err := run(temp); err != nil {
		return err
	}
	f, err := os.Open(temp)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return rename(temp, path)
}

func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	syncFolder(filepath.Dir(to))
	return nil
}

func syncFolder(path string) {
	if d, err := os.Open(path); err == nil {
		d.Sync()
		d.Close()
	}
}
