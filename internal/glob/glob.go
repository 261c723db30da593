// Package glob finds files by patterns below a folder whose own name is no pattern: filepath.Glob finds nothing in a
// folder named "models [old]".
package glob

import (
	"io/fs"
	"os"
	"path/filepath"
)

// In returns the paths in a folder that match a pattern of [path.Match], with slashes, relative to it, in the order of
// their names. A folder that cannot be read has none, and a pattern that is not well formed matches nothing.
func In(dir, pattern string) []string {
	names, _ := fs.Glob(os.DirFS(dir), pattern)
	for i, name := range names {
		names[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return names
}
