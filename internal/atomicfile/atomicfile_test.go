package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
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
	if err != nil || len(data) != 10000 || bytes.Count(data, data[:1]) != 10000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("%d files, %v", len(list), err)
	}
}

// TestMakeAtOnce makes one file from many goroutines of this process, as the build of a program by two jobs does.
func TestMakeAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	var wait sync.WaitGroup
	for i := range 16 {
		wait.Go(func() {
			if err := Make(path, func(temp string) error {
				if !IsTemporary(filepath.Dir(temp)) {
					t.Errorf("%s is no temporary name", temp)
				}
				return os.WriteFile(temp, bytes.Repeat([]byte{byte(i)}, 10000), 0o700)
			}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	data, err := os.ReadFile(path)
	if err != nil || len(data) != 10000 || bytes.Count(data, data[:1]) != 10000 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("%d files, %v", len(list), err)
	}
}

// TestReplaceFails keeps the old file where the new one cannot be written.
func TestReplaceFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := Write(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	err := Replace(path, 0o600, func(w io.Writer) error {
		_, _ = w.Write([]byte("n"))
		return full
	})
	data, readErr := os.ReadFile(path)
	if !errors.Is(err, full) || readErr != nil || string(data) != "old" {
		t.Errorf("%v, %q, %v", err, data, readErr)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("%d files, %v", len(list), err)
	}
}
