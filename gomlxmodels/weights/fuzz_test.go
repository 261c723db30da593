package weights

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fuzzed opens data as torch's and reads its tensors.
func fuzzed(t *testing.T, data []byte, open func(*torchFile) ([]Info, error)) {
	f := &torchFile{set: &Set{}, path: "x", file: bytes.NewReader(data), size: int64(len(data))}
	list, err := open(f)
	for i := range list {
		x := &list[i]
		if x.unreadable != "" {
			continue
		}
		checkPlace(t, x, f.size)
		if x.bytes > 1<<20 {
			continue
		}
		if out, err := f.set.readFrom(f.file, x); err == nil && int64(len(out)) != x.bytes || errors.Is(err, io.EOF) {
			t.Errorf("%+v: %d bytes, %v", x, len(out), err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("error of more than one line: %q", err)
	}
}

// seeds adds files of torchFiles that are not large.
func seeds(f *testing.F, pattern string) {
	files, err := filepath.Glob(filepath.Join(torchFiles, pattern))
	if err != nil || len(files) == 0 {
		f.Fatalf("no files: %v", err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) < 10_000 {
			f.Add(b)
		}
	}
}

func FuzzTorchZip(f *testing.F) {
	seeds(f, "*.bin")
	for what, b := range hostileZips(f) {
		if len(b) < 2000 && what != "no members" {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, data, (*torchFile).readZip) })
}

func FuzzLegacy(f *testing.F) {
	seeds(f, "legacy*.bin")
	for _, b := range hostileLegacy() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) { fuzzed(t, data, (*torchFile).readLegacy) })
}
