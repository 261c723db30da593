package seegull

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzRead: a file is refused in one line, or read the same way twice.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"pairs.csv"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := try(Read("t.csv", data))
		again, _ := try(Read("t.csv", data))
		if err != nil && strings.Contains(err.Error(), "\n") || fmt.Sprint(got) != fmt.Sprint(again) {
			t.Errorf("%v; read as %v and as %v", err, got, again)
		}
	})
}

func try(pairs []Pair, _ Report, err error) ([]Pair, error) { return pairs, err }
