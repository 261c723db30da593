package cococrola

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRecorded: a file is refused in one line, or read the same way twice.
func FuzzRecorded(f *testing.F) {
	for _, name := range []string{"recorded.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ReadRecorded("t.json", data)
		again, _ := ReadRecorded("t.json", data)
		if err != nil && strings.Contains(err.Error(), "\n") || fmt.Sprint(got) != fmt.Sprint(again) {
			t.Errorf("%v; read as %v and as %v", err, got, again)
		}
	})
}

// FuzzConcepts: a file is refused in one line, or read the same way twice.
func FuzzConcepts(f *testing.F) {
	for _, name := range []string{"concepts.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := try(ReadConcepts("t.csv", data))
		again, _ := try(ReadConcepts("t.csv", data))
		if err != nil && strings.Contains(err.Error(), "\n") || fmt.Sprint(got) != fmt.Sprint(again) {
			t.Errorf("%v; read as %v and as %v", err, got, again)
		}
	})
}

func try(concepts []Concept, _ []string, err error) ([]Concept, error) { return concepts, err }
