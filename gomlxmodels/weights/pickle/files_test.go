package pickle

import (
	"archive/zip"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// written are the pickles of files that torch.save wrote, by the file's name.
func written(t testing.TB) map[string][]byte {
	files := must.Get(filepath.Glob("../testdata/torch/*.bin"))(t)
	all := map[string][]byte{}
	for _, path := range files {
		z, err := zip.OpenReader(path)
		if err != nil {
			continue // of before torch 1.6
		}
		for _, f := range z.File {
			if strings.HasSuffix(f.Name, "/data.pkl") {
				r := must.Get(f.OpenRaw())(t) // checksums may be left out
				b := must.Get(io.ReadAll(r))(t)
				if f.Method == zip.Store {
					all[filepath.Base(path)] = b
				}
			}
		}
		z.Close()
	}
	if len(all) < 10 {
		t.Fatalf("%d pickles", len(all))
	}
	return all
}

// TestCutShort reads the pickles of torch.save up to each byte.
func TestCutShort(t *testing.T) {
	for name, b := range written(t) {
		if _, err := Parse(b, Limits{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for i := range b {
			if _, err := Parse(b[:i], Limits{}); err == nil {
				t.Fatalf("%s: no error at byte %d of %d", name, i, len(b))
			}
		}
	}
}
