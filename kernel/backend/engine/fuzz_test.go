package engine

import (
	"bytes"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/internal/must"
)

// FuzzItem: a stored item that is read is written as the same bytes.
func FuzzItem(f *testing.F) {
	outputs := datasets.Columns("text:text", "number:number", "image:image", "mask:mask", "full:vector")
	f.Add(bytes.Repeat([]byte{0xff}, 20))
	f.Add([]byte("\x01\x00\x00\x00a\x08\x00\x00\x0000000000\x00\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00\x01\x00" +
		"\x00\x00\x04\x00\x00\x000000"))
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := decodeItem(data, outputs)
		if err != nil {
			return
		}
		written, err := encodeItem(values, outputs)
		if err != nil { // NaN in a vector
			return
		}
		must.Equal(t, len(must.Get(decodeItem(written, outputs))(t)), len(values), data, "written as", written)
	})
}

// FuzzInlineMask: a mask in a cell of a table is refused in one line, or can be decoded.
func FuzzInlineMask(f *testing.F) {
	for _, text := range []string{`{"size":[2,2],"counts":"04"}`, `{"size":[100000,100000],"counts":"0"}`, `{}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := inlineMask(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q is not one line", err)
			}
			return
		}
		if b, err := mask.Decode(m); m.Counts != "" && (err != nil || len(b.Pix) != m.Size[0]*m.Size[1]) {
			t.Errorf("%q: %d pixels, %v", text, len(b.Pix), err)
		}
	})
}
