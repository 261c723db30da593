package thumb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// TestUpright checks the eight EXIF orientations against how the standard defines them: where the stored first row
// and first column are shown.
func TestUpright(t *testing.T) {
	stored := image.NewGray(image.Rect(0, 0, 2, 3)) // 1 2 / 3 4 / 5 6
	copy(stored.Pix, []uint8{1, 2, 3, 4, 5, 6})
	for o, want := range []string{1: "12/34/56", 2: "21/43/65", 3: "65/43/21", 4: "56/34/12", 5: "135/246",
		6: "531/642", 7: "642/531", 8: "246/135"} {
		if o == 0 {
			continue
		}
		img := upright(stored, o)
		var rows []string
		for y := range img.Bounds().Dy() {
			row := ""
			for x := range img.Bounds().Dx() {
				row += fmt.Sprint(color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y)
			}
			rows = append(rows, row)
		}
		must.Equal(t, strings.Join(rows, "/"), want, "orientation", o)
	}
}

// TestLoad reads a transparent image onto white and refuses what is too large to decode, before it is decoded.
func TestLoad(t *testing.T) {
	folder := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		must.Do(t, os.WriteFile(path, data, 0o600))
		return path
	}
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 30, 10))))
	img, err := Load(file("clear.png", b.Bytes()))
	if err != nil || img.RGBAAt(3, 3) != (color.RGBA{255, 255, 255, 255}) {
		t.Fatalf("%v, %v", img.RGBAAt(3, 3), err)
	}
	small := Within(img, 15)
	must.True(t, small.Rect.Dx() == 15 && small.Rect.Dy() == 5, "within 15: %v", small.Rect)
	w, h, err := Size(filepath.Join(folder, "clear.png"))
	must.True(t, w == 30 && h == 10 && err == nil, "size %d×%d, %v", w, h, err)
	header := bytes.Clone(b.Bytes())
	binary.BigEndian.PutUint32(header[16:], 60000)
	binary.BigEndian.PutUint32(header[20:], 60000)
	binary.BigEndian.PutUint32(header[29:], crc32.ChecksumIEEE(header[12:29]))
	for name, want := range map[string]string{
		file("huge.png", header):             "60000×60000 pixels, more than 100 million",
		file("text.png", []byte("text")):     "not an image of a known format",
		filepath.Join(folder, "missing.png"): "no such file or directory",
	} {
		if _, err := Load(name); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), folder) {
			t.Errorf("%s: %v, want %q", filepath.Base(name), err, want)
		}
	}
}
