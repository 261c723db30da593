package icc

import (
	"bytes"
	"compress/zlib"
	"io"
	"slices"

	"antipode/internal/exif"
)

// most is the size of the largest profile that is read.
const most = 4 << 20

// Embedded returns the profile of a PNG, JPEG, WebP or TIFF file, nil if it has none.
func Embedded(file []byte) []byte {
	switch {
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")):
		return inPNG(exif.PNGChunk(file, "iCCP"))
	case bytes.HasPrefix(file, []byte("\xff\xd8")):
		return inJPEG(file)
	case len(file) > 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP":
		return exif.WebPChunk(file, "ICCP")
	}
	return exif.TagBytes(file, 34675)
}

// inPNG unpacks the body of a chunk iCCP: a name, a method, and compressed data. Of a damaged one it returns the rest.
func inPNG(chunk []byte) []byte {
	_, body, found := bytes.Cut(chunk, []byte{0})
	if !found || len(body) < 1 {
		return nil
	}
	z, err := zlib.NewReader(bytes.NewReader(body[1:]))
	if err != nil {
		return body
	}
	p, err := io.ReadAll(io.LimitReader(z, most))
	if err != nil {
		return body
	}
	return p
}

// inJPEG joins the segments APP2 that have a part of the profile each, in the order of their numbers.
func inJPEG(file []byte) (p []byte) {
	const tag = "ICC_PROFILE\x00"
	var parts [256][]byte
	for marker, body := range exif.JPEGSegments(file) {
		if marker == 0xe2 && bytes.HasPrefix(body, []byte(tag)) && len(body) > len(tag)+2 {
			parts[body[len(tag)]] = body[len(tag)+2:]
		}
	}
	return slices.Concat(parts[:]...)
}
