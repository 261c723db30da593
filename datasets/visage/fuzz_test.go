package visage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzAnnotations: a file is refused in one line, or read the same way twice.
func FuzzAnnotations(f *testing.F) {
	for _, name := range []string{"annotations.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := try(ReadAnnotations("t.csv", data))
		again, _ := try(ReadAnnotations("t.csv", data))
		if err != nil && strings.Contains(err.Error(), "\n") || fmt.Sprint(got) != fmt.Sprint(again) {
			t.Errorf("%v; read as %v and as %v", err, got, again)
		}
	})
}

// FuzzRatings: a file is refused in one line, or read the same way twice.
func FuzzRatings(f *testing.F) {
	for _, name := range []string{"ratings.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := try(ReadRatings("t.csv", data))
		again, _ := try(ReadRatings("t.csv", data))
		if err != nil && strings.Contains(err.Error(), "\n") || fmt.Sprint(got) != fmt.Sprint(again) {
			t.Errorf("%v; read as %v and as %v", err, got, again)
		}
	})
}

// FuzzWorkbook: a file is refused in one line, or read the same way twice.
func FuzzWorkbook(f *testing.F) {
	for _, name := range []string{"ratings.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readWorkbook("t.xlsx", data, "Sheet1")
		again, _ := readWorkbook("t.xlsx", data, "Sheet1")
		if err != nil && strings.Contains(err.Error(), "\n") || fmt.Sprint(got) != fmt.Sprint(again) {
			t.Errorf("%v; read as %v and as %v", err, got, again)
		}
	})
}

func try[R any](rows []R, _ Report, err error) ([]R, error) { return rows, err }
