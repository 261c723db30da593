package imagefile

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

const toPNG = "convert it to PNG or JPEG, for example with ImageMagick: magick FILE FILE.png"

// foreignFormats are formats that files with an image's name may have and that are not supported, each with the fix.
var foreignFormats = []struct {
	name, fix string
	is        func([]byte) bool
}{
	{"an AVIF image", toPNG, brand("avif", "avis")},
	{"a HEIC image", toPNG, brand("heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1")},
	{"a JPEG 2000 image", toPNG, either(starts("\x00\x00\x00\x0cjP  "), starts("\xff\x4f\xff\x51"))},
	{"a JPEG XL image", toPNG, either(starts("\x00\x00\x00\x0cJXL "), starts("\xff\x0a"))},
	{"a Photoshop document", toPNG, starts("8BPS")},
	{"a PDF document", "export its pages as PNG", starts("%PDF")},
	{"an SVG drawing", toPNG, text("<svg")},
	{"an HTML page", "it is what a server sent in place of an image; download the image again",
		text("<html", "<!doctype html")},
	{"a Git LFS pointer", "fetch the file itself: git lfs pull", starts("version https://git-lfs")},
}

// Extension returns the extension of the name that a file of these bytes has, such as ".png". The error about bytes
// that are no image of a supported format is that of [Decode].
func Extension(data []byte) (string, error) {
	if len(data) == 0 {
		return "", errEmpty
	}
	for _, f := range formats {
		if f.is(data) {
			return "." + strings.ToLower(f.name), nil
		}
	}
	return "", foreign(data)
}

// foreign says what data is that no decoder reads.
func foreign(data []byte) error {
	for _, f := range foreignFormats {
		if f.is(data) {
			return fmt.Errorf("%s, which is not supported: %s", f.name, f.fix)
		}
	}
	return errors.New("not an image of a known format (PNG, JPEG, GIF, WebP, TIFF, BMP)")
}

// variant is the fix for an image whose format is supported and whose variant of it is not, "" for a damaged one.
func variant(data []byte, err error) string {
	var unsupported tiff.UnsupportedError
	animated := len(data) > 20 && starts("RIFF")(data) && string(data[12:16]) == "VP8X" && data[20]&2 != 0
	switch {
	case animated:
		return " (an animation; save its first frame as PNG)"
	case errors.As(err, &unsupported), errors.Is(err, bmp.ErrUnsupported), strings.HasPrefix(err.Error(), "ccitt: "):
		return "; " + toPNG
	}
	return ""
}

// brand recognizes an ISO media file by its brands.
func brand(names ...string) func([]byte) bool {
	return func(b []byte) bool {
		if len(b) < 16 || string(b[4:8]) != "ftyp" {
			return false
		}
		size := min(len(b), int(b[2])<<8|int(b[3]), 64)
		for at := 8; at+4 <= size; at += 4 {
			if at != 12 && slices.Contains(names, string(b[at:at+4])) { // at 12 is the version
				return true
			}
		}
		return false
	}
}

// text recognizes a document by a tag in its first bytes.
func text(tags ...string) func([]byte) bool {
	return func(b []byte) bool {
		head := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(b[:min(len(b), 512)], []byte("\xef\xbb\xbf"))))
		return bytes.HasPrefix(head, []byte("<")) && slices.ContainsFunc(tags, func(tag string) bool {
			return bytes.Contains(head, []byte(tag))
		})
	}
}

// either recognizes what one of two does.
func either(a, b func([]byte) bool) func([]byte) bool {
	return func(data []byte) bool { return a(data) || b(data) }
}
