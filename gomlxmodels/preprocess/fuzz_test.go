package preprocess

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: a preprocessor that is read is valid for the size that it names, or the error is one line.
func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/pipelines/*.json")
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil && len(text) < 4000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := ParseHuggingFace(text)
		_, timm := ParseTimm(text, 32, 32)
		for _, err := range []error{err, timm} {
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q is not one line", err)
			}
		}
	})
}
