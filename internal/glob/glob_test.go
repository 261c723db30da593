package glob_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/glob"
	"antipode/internal/must"
)

func TestIn(t *testing.T) {
	for _, name := range []string{"plain", "models [old]", `a\b*?`} {
		dir := filepath.Join(t.TempDir(), name)
		must.Do(t, os.MkdirAll(filepath.Join(dir, "x"), 0o700))
		for _, file := range []string{"b.txt", "a.txt", "x/c.txt", "d.csv"} {
			must.Do(t, os.WriteFile(filepath.Join(dir, file), nil, 0o600))
		}
		must.Equal(t, strings.Join(glob.In(dir, "*.txt"), " "),
			filepath.Join(dir, "a.txt")+" "+filepath.Join(dir, "b.txt"))
		must.Equal(t, strings.Join(glob.In(dir, "*/*.txt"), " "), filepath.Join(dir, "x", "c.txt"))
		must.Equal(t, len(glob.In(filepath.Join(dir, "none"), "*"))+len(glob.In(dir, "[")), 0)
	}
}
