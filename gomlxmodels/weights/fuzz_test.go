package weights

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
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
		b := must.Get(os.ReadFile(path))(f)
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

// FuzzSafetensors: every tensor that a header lists is within the file, and has the bytes of its shape.
func FuzzSafetensors(f *testing.F) {
	for _, header := range []string{`{}`, `{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`,
		`{"__metadata__":{"a":"b"},"w":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}}`} {
		f.Add(append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), "01234567"...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := readHeader("w.safetensors", bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for _, info := range list {
			n := sizes[info.DType]
			for _, d := range info.Shape {
				n *= int64(d)
			}
			if n != info.bytes || info.data.offset < 8 || info.data.offset+n > int64(len(data)) {
				t.Errorf("%+v of a file of %d bytes", info, len(data))
			}
		}
	})
}

// FuzzZip: the members of an archive are within it, in the order of their names.
func FuzzZip(f *testing.F) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"archive/data.pkl", "archive/data/0"} {
		part := must.Get(w.Create(name))(f)
		part.Write([]byte("some bytes"))
	}
	w.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := openZip(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		for i, m := range a.members {
			if m.header+m.packed > int64(len(data)) || i > 0 && a.members[i-1].name >= m.name {
				t.Errorf("member %+v of %d bytes", m, len(data))
			}
			if text, err := a.read(m, 1<<20); err == nil && int64(len(text)) != m.size {
				t.Errorf("member %+v has %d bytes", m, len(text))
			}
		}
	})
}
