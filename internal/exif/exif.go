// Package exif reads the metadata of image files: how one wants to be turned, and the blocks of its format. Models and
// figures both use it, so that both show the same way up.
package exif

import (
	"bytes"
	"encoding/binary"
	"iter"
	"strings"
)

// Orientation reads the EXIF orientation (1 to 8) of a JPEG, PNG, WebP or TIFF file; 1, upright, where it has none or
// one that is not understood.
func Orientation(file []byte) int { return parse(blockOf(file)) }

// Camera returns the camera that the EXIF data of such a file names, "" for none.
func Camera(file []byte) string {
	return strings.TrimSpace(strings.TrimRight(string(TagBytes(blockOf(file), 0x0110)), "\x00"))
}

// blockOf returns the EXIF block of a file.
func blockOf(file []byte) []byte {
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xd8")):
		return inJPEG(file)
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")):
		return PNGChunk(file, "eXIf")
	case len(file) > 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP":
		return bytes.TrimPrefix(WebPChunk(file, "EXIF"), []byte("Exif\x00\x00"))
	}
	return file // a TIFF is itself such a block
}

// Size is the size of the upright image, the stored one being w × h.
func Size(orientation, w, h int) (width, height int) {
	if orientation >= 5 {
		return h, w
	}
	return w, h
}

// Source is the stored pixel of pixel (x, y) of the upright image, the stored one being w × h: 2 is mirrored, 3
// turned by 180°, 4 upside down, 5 and 7 transposed, 6 and 8 turned by 90°.
func Source(orientation, w, h, x, y int) (sx, sy int) {
	switch orientation {
	case 2:
		return w - 1 - x, y
	case 3:
		return w - 1 - x, h - 1 - y
	case 4:
		return x, h - 1 - y
	case 5:
		return y, x
	case 6:
		return y, h - 1 - x
	case 7:
		return w - 1 - y, h - 1 - x
	case 8:
		return w - 1 - y, x
	}
	return x, y
}

// parse reads the orientation of an EXIF block; 1 where it is missing or not understood.
func parse(b []byte) int {
	if v, _ := Tag(b, 0x0112); v >= 1 && v <= 8 {
		return v
	}
	return 1
}

// Tag returns the first 16 bits of the value of a tag in the first directory of a TIFF file or EXIF block.
func Tag(b []byte, tag uint16) (value int, found bool) {
	if e, order := entry(b, tag); e != nil {
		return int(order.Uint16(e[8:])), true
	}
	return 0, false
}

// TagBytes returns the value of a tag of bytes, nil if there is none.
func TagBytes(b []byte, tag uint16) []byte {
	e, order := entry(b, tag)
	if e == nil {
		return nil
	}
	n, from := uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:]))
	if n <= 4 {
		return e[8 : 8+n]
	}
	if from+n > uint64(len(b)) {
		return nil
	}
	return b[from : from+n]
}

// MorePages reports whether a TIFF file has more than one page.
func MorePages(b []byte) bool {
	entries, n, order := directory(b)
	return order != nil && len(entries) >= 12*n+4 && order.Uint32(entries[12*n:]) != 0
}

// directory returns the number of entries in the first directory and the bytes that begin with them, 12 for each, and
// the offset of the next directory; no order if it is damaged.
func directory(b []byte) (entries []byte, n int, order binary.ByteOrder) {
	switch {
	case len(b) < 8:
		return nil, 0, nil
	case string(b[:4]) == "II*\x00":
		order = binary.LittleEndian
	case string(b[:4]) == "MM\x00*":
		order = binary.BigEndian
	default:
		return nil, 0, nil
	}
	at := int64(order.Uint32(b[4:])) + 2
	if at > int64(len(b)) {
		return nil, 0, nil
	}
	return b[at:], int(order.Uint16(b[at-2:])), order
}

// entry returns the entry of a tag in the first directory, nil if there is none.
func entry(b []byte, tag uint16) ([]byte, binary.ByteOrder) {
	entries, n, order := directory(b)
	for ; n > 0 && len(entries) >= 12; n, entries = n-1, entries[12:] {
		if order.Uint16(entries) == tag {
			return entries[:12], order
		}
	}
	return nil, nil
}

// inJPEG finds the EXIF block of a JPEG: segment APP1 that starts with "Exif".
func inJPEG(b []byte) []byte {
	for marker, body := range JPEGSegments(b) {
		if marker == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")) {
			return body[6:]
		}
	}
	return nil
}

// JPEGSegments returns the markers and bodies of a JPEG's segments before its pixels.
func JPEGSegments(b []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		for at := 2; at+4 <= len(b) && b[at] == 0xff; {
			marker, n := b[at+1], int(binary.BigEndian.Uint16(b[at+2:]))
			if marker == 0xff { // fill
				at++
				continue
			}
			if marker == 0xda || marker == 0xd9 || n < 2 || at+2+n > len(b) || !yield(marker, b[at+4:at+2+n]) {
				return
			}
			at += 2 + n
		}
	}
}

// PNGChunk returns the body of the first chunk of that name, nil if there is none.
func PNGChunk(b []byte, name string) []byte {
	for at := 8; at+12 <= len(b); {
		n := int(binary.BigEndian.Uint32(b[at:]))
		if n < 0 || n > len(b)-at-12 {
			return nil
		}
		if string(b[at+4:at+8]) == name {
			return b[at+8 : at+8+n]
		}
		at += 12 + n
	}
	return nil
}

// WebPChunk returns the body of the first chunk of that name, nil if there is none.
func WebPChunk(b []byte, name string) []byte {
	for at := 12; at+8 <= len(b); {
		n := int(binary.LittleEndian.Uint32(b[at+4:]))
		if n < 0 || n > len(b)-at-8 {
			return nil
		}
		if string(b[at:at+4]) == name {
			return b[at+8 : at+8+n]
		}
		at += 8 + n + n%2
	}
	return nil
}
