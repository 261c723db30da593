// Package fuzzread fuzzes the readers of released files.
package fuzzread

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Twice fuzzes a reader of files: a file is refused in one line, or read the same way twice. The seeds are files of
// testdata.
func Twice[V any](f *testing.F, read func(data []byte) (V, error), seeds ...string) {
	f.Helper()
	for _, name := range seeds {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := read(data)
		again, _ := read(data)
		if err != nil && strings.Contains(err.Error(), "\n") || fmt.Sprint(got) != fmt.Sprint(again) {
			t.Errorf("%v; read as %v and as %v", err, got, again)
		}
	})
}
