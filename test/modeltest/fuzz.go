package modeltest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"antipode/internal/must"
)

// FuzzConfig fuzzes the reader of a configuration, with the files of the patterns and {} as its corpus: an error is one
// line, a configuration that is read is valid (nil = not checked) and the same when it is read again, and neither
// takes a second.
func FuzzConfig[C any](f *testing.F, parse func([]byte) (C, error), validate func(C) error, patterns ...string) {
	f.Add([]byte("{}"))
	for _, pattern := range patterns {
		paths := must.Get(filepath.Glob(filepath.Join("testdata", pattern)))(f)
		for _, path := range paths {
			text := must.Get(os.ReadFile(path))(f)
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		start := time.Now()
		c, err := parse(text)
		if err != nil {
			must.Fail(err)(t)
			return
		}
		if !json.Valid(text) {
			t.Errorf("%q is read and is not JSON", text)
		}
		if validate != nil && validate(c) != nil {
			t.Errorf("%q is read and not valid: %v", text, validate(c))
		}
		if again, err := parse(text); err != nil || !reflect.DeepEqual(c, again) {
			t.Errorf("%q is read as %+v and as %+v, %v", text, c, again, err)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("%d bytes took %v", len(text), took)
		}
	})
}
