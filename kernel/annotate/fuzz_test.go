package annotate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// FuzzAnswers: a file of answers is refused in one line, or read the same way twice.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"format":"` + answersFormat + `"}`))
	f.Add([]byte(`{"format":"x","answers":[]}`))
	path := filepath.Join(f.TempDir(), "a.json")
	f.Fuzz(func(t *testing.T, data []byte) {
		must.Do(t, os.WriteFile(path, data, 0o600))
		got, err := readFile(path)
		again, _ := readFile(path)
		if err != nil && strings.Contains(err.Error(), "\n") || fmt.Sprint(got) != fmt.Sprint(again) {
			t.Errorf("%v; read as %v and as %v", err, got, again)
		}
	})
}
