package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"antipode/internal/must"
)

// TestWriteAtOnce writes one file from many goroutines: each succeeds, the file is one of them as a whole, and nothing
// else is left.
func TestWriteAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "file")
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			if err := Write(path, bytes.Repeat([]byte{byte(i)}, 10000)); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	data, err := os.ReadFile(path)
	must.True(t, err == nil && len(data) == 10000 && bytes.Count(data, data[:1]) == 10000,
		"%d bytes, %v", len(data), err)
	must.Equal(t, len(must.Get(os.ReadDir(filepath.Dir(path)))(t)), 1, "files")
}

// TestMakeAtOnce makes one file from many goroutines of this process, as the build of a program by two jobs does.
func TestMakeAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			if err := Make(path, func(temp string) error {
				must.True(t, IsTemporary(filepath.Dir(temp)), "%s is no temporary name", temp)
				return os.WriteFile(temp, bytes.Repeat([]byte{byte(i)}, 10000), 0o700)
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	data, err := os.ReadFile(path)
	must.True(t, err == nil && len(data) == 10000 && bytes.Count(data, data[:1]) == 10000,
		"%d bytes, %v", len(data), err)
	must.Equal(t, len(must.Get(os.ReadDir(filepath.Dir(path)))(t)), 1, "files")
}

// TestReplaceFails keeps the old file where the new one cannot be written.
func TestReplaceFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	must.Do(t, Write(path, []byte("old")))
	full := errors.New("disk full")
	err := Replace(path, 0o600, func(w io.Writer) error {
		_, _ = w.Write([]byte("n"))
		return full
	})
	data, readErr := os.ReadFile(path)
	must.True(t, errors.Is(err, full) && readErr == nil && string(data) == "old", "%v, %q, %v", err, data, readErr)
	must.Equal(t, len(must.Get(os.ReadDir(filepath.Dir(path)))(t)), 1, "files")
}

// TestGroup writes files in two folders from several goroutines: all are complete, one that fails keeps what was there,
// and nothing else is left.
func TestGroup(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"a", "b"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, folder), 0o700))
	}
	var g Group
	fail := errors.New("fail")
	var wait sync.WaitGroup
	for i := range 16 {
		path := filepath.Join(dir, []string{"a", "b"}[i%2], string(rune('0'+i/4)))
		wait.Go(func() {
			if err := g.Replace(path, 0o600, func(w io.Writer) error {
				_, err := w.Write(bytes.Repeat([]byte{byte(i)}, 10000))
				return err
			}); err != nil {
				t.Error(err)
			}
			if err := g.Replace(path, 0o600, func(io.Writer) error { return fail }); !errors.Is(err, fail) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	must.Equal(t, len(g.folders), 2, "folders are to be synced")
	g.Sync()
	must.Equal(t, len(g.folders), 0, "folders are to be synced after Sync")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	must.True(t, err == nil && len(files) == 8, "files %q, %v", files, err)
	for _, path := range files {
		if data, err := os.ReadFile(path); err != nil || len(data) != 10000 || bytes.Count(data, data[:1]) != 10000 {
			t.Errorf("%s: %d bytes, %v", path, len(data), err)
		}
	}
}
