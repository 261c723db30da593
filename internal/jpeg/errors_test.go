package jpeg

import (
	"antipode/internal/must"
	"bytes"
	"errors"
	"image"
	"image/jpeg"
	"testing"
)

// file returns the data of a golden.
func file(t testing.TB, name string) []byte {
	for _, g := range goldens(t, "testdata") {
		if g.name == name {
			return g.data
		}
	}
	t.Fatalf("no golden %s", name)
	return nil
}

// header returns where the body of the first segment with a marker starts, after its length.
func header(t testing.TB, data []byte, marker byte) int {
	at := bytes.Index(data, []byte{0xff, marker})
	if at < 0 {
		t.Fatalf("no marker %#x", marker)
	}
	return at + 4
}

// A file that is cut off anywhere is an error that says so.
func TestTruncated(t *testing.T) {
	for _, name := range []string{"420", "444", "restarts", "gray", "cmyk", "progressive", "progressive-444"} {
		data := file(t, name)
		for n := 2; n < len(data); n++ {
			if _, err := Decode(data[:n]); !errors.Is(err, ErrTruncated) {
				t.Fatalf("%s: the first %d of %d bytes: %v", name, n, len(data), err)
			}
		}
	}
}

// Damaged and unsupported files are errors of one line.
func TestErrors(t *testing.T) {
	sof := header(t, file(t, "420"), markerSOF0)
	for _, c := range []struct {
		name, file, want string
		edit             func(b []byte) []byte
	}{
		{"arithmetic coding", "420", "arithmetic coding is not supported", func(b []byte) []byte {
			b[sof-3] = 0xc9
			return b
		}},
		{"lossless", "420", "lossless JPEG is not supported", func(b []byte) []byte {
			b[sof-3] = 0xc3
			return b
		}},
		{"hierarchical", "420", "hierarchical JPEG is not supported", func(b []byte) []byte {
			b[sof-3] = 0xc5
			return b
		}},
		{"12 bits", "420", "12 bits a sample are not supported", func(b []byte) []byte {
			b[sof] = 12
			return b
		}},
		{"no pixels", "420", "no pixels (37×0)", func(b []byte) []byte {
			b[sof+1], b[sof+2] = 0, 0
			return b
		}},
		{"3 in 2 samples", "420", "subsampling", func(b []byte) []byte {
			b[sof+7], b[sof+10] = 0x31, 0x21
			return b
		}},
		{"large", "420", ErrTruncated.Error(), func(b []byte) []byte {
			b[sof+1], b[sof+3] = 0xff, 0xff
			return b
		}},
		{"too early end", "420", "damaged image data", func(b []byte) []byte {
			return append(b[:len(b)-200], 0xff, markerEOI)
		}},
		{"restart markers in a wrong order", "restarts", "instead of restart marker 0", func(b []byte) []byte {
			b[bytes.Index(b, []byte{0xff, markerRST0})+1]++
			return b
		}},
		{"no header", "420", "without an image header", func(b []byte) []byte {
			return append(b[:sof-4:sof-4], b[sof+15:]...)
		}},
		{"no quantization table", "420", "quantization table 1 is missing", func(b []byte) []byte {
			b[sof+10+2-1] = 1
			at := bytes.LastIndex(b, []byte{0xff, markerDQT})
			return append(b[:at:at], b[at+69:]...)
		}},
		{"no Huffman table", "420", "a Huffman table is missing", func(b []byte) []byte {
			b[header(t, b, markerSOS)+2] = 0x22
			return b
		}},
		{"scans in a wrong order", "progressive", "scans in a wrong order", func(b []byte) []byte {
			sos := header(t, b, markerSOS)
			b[sos+9] = 0x10 // a refinement first
			return b
		}},
		{"not a JPEG", "420", "does not start with a JPEG marker", func([]byte) []byte { return []byte("hello") }},
	} {
		_, err := Decode(c.edit(bytes.Clone(file(t, c.file))))
		must.Err(t, err, c.want)
	}
}

// FuzzDecode: no file ends the program, and the vector code computes what the other does. Where the standard library
// decodes a file too, the sizes are equal.
func FuzzDecode(f *testing.F) {
	for _, g := range goldens(f, "testdata") {
		f.Add(g.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeConfig(data)
		if err != nil || c.Width*c.Height > 1<<22 {
			return
		}
		got, err := Decode(data)
		if err != nil {
			return
		}
		size := image.Rect(0, 0, c.Width, c.Height)
		if got.Bounds() != size || len(got.Pix) != 3*c.Width*c.Height {
			t.Fatalf("%v with %d bytes of pixels; the header has %v", got.Bounds(), len(got.Pix), size)
		}
		if vectors {
			vectors = false
			plain, err := Decode(data)
			vectors = true
			if err != nil || !bytes.Equal(plain.Pix, got.Pix) {
				t.Fatalf("the vector code differs: %v", err)
			}
		}
		if std, err := jpeg.Decode(bytes.NewReader(data)); err == nil && std.Bounds() != size {
			t.Fatalf("%v; the standard library has %v", size, std.Bounds())
		}
	})
}
