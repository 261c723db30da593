package stage

import (
	"testing"

	"github.com/gomlx/compute/dtypes"

	"antipode/datasets/table"
	"antipode/gomlxmodels/device"
	"antipode/internal/must"
)

// bfloat16 is for the GPU alone, unless requested, and not for pure Go.
func TestPrecision(t *testing.T) {
	defer func(has bool) { multipliesBFloat16 = has }(multipliesBFloat16)
	for _, c := range []struct {
		requested, kind string
		want            dtypes.DType
	}{
		{"", device.XLACPU, dtypes.Float32}, {"auto", device.XLACPU, dtypes.Float32},
		{"auto", device.Go, dtypes.Float32}, {"bfloat16", device.XLACPU, dtypes.BFloat16},
		{"", device.XLACUDA, dtypes.BFloat16}, {"auto", device.XLACUDA, dtypes.BFloat16},
		{"float32", device.XLACUDA, dtypes.Float32}, {"bfloat16", device.Go, dtypes.Float32},
	} {
		for _, multipliesBFloat16 = range []bool{true, false} {
			noted := false
			got := Precision(c.requested, c.kind, func(string, ...any) { noted = true })
			told := c.kind == device.XLACPU && c.want == dtypes.BFloat16 && !multipliesBFloat16 ||
				c.kind == device.Go && c.requested == "bfloat16"
			must.Equal(t, got, c.want, c.requested, "on", c.kind)
			must.Equal(t, noted, told, c.requested, "on", c.kind)
		}
	}
}

// Keys of images other than JPEG are those of stores of earlier versions; those of JPEG change with the decoder.
func TestImageKey(t *testing.T) {
	for path, want := range map[string]string{"a.png": "ab", "a": "ab", "a.webp": "ab", "": "ab",
		"b/a.jpg": "ab jpeg/1", "a.JPEG": "ab jpeg/1"} {
		must.Equal(t, ImageKey(table.Image{Path: path, SHA256: "ab"}), want, path, "key")
	}
}
