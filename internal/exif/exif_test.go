package exif

import (
	"testing"

	"antipode/internal/must"
)

// block is an EXIF block whose only entry is the orientation.
const block = "II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"

func TestOrientation(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want int
	}{
		"JPEG":             {"\xff\xd8\xff\xe1\x00\x1eExif\x00\x00" + block, 6},
		"JPEG, fill bytes": {"\xff\xd8\xff\xff\xe1\x00\x1eExif\x00\x00" + block, 6},
		"JPEG, cut":        {"\xff\xd8\xff\xe1\x00\x1eExif\x00\x00" + block[:12], 1},
		"JPEG, none":       {"\xff\xd8\xff\xda\x00\x02", 1},
		"PNG":              {"\x89PNG\r\n\x1a\n\x00\x00\x00\x16eXIf" + block + "\x00\x00\x00\x00", 6},
		"WebP":             {"RIFF\x24\x00\x00\x00WEBPEXIF\x16\x00\x00\x00" + block, 6},
		"other":            {"GIF89a", 1},
		"empty":            {"", 1},
	} {
		must.Equal(t, Orientation([]byte(c.file)), c.want, name)
	}
}

func TestCamera(t *testing.T) {
	block := "II*\x00\x08\x00\x00\x00\x01\x00\x10\x01\x02\x00\x06\x00\x00\x00\x1a\x00\x00\x00\x00\x00\x00\x00Reflex"
	for file, want := range map[string]string{"\xff\xd8\xff\xe1\x00\x28Exif\x00\x00" + block: "Reflex",
		block: "Reflex", block[:30]: "", "GIF89a": "",
		block[:14] + "\x04\x00\x00\x00X10\x00\x00\x00\x00\x00": "X10"} {
		must.Equal(t, Camera([]byte(file)), want)
	}
}

// FuzzOrientation: no damaged file may end the program.
func FuzzOrientation(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x1eExif\x00\x00" + block))
	f.Fuzz(func(t *testing.T, b []byte) {
		o := Orientation(b)
		must.True(t, o >= 1 && o <= 8, "orientation %d", o)
	})
}
