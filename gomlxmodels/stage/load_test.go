package stage

import (
	"testing"

	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels/device"
)

// bfloat16 is for the GPU alone, unless requested.
func TestPrecision(t *testing.T) {
	for _, c := range []struct {
		requested, kind string
		want            dtypes.DType
	}{
		{"", device.XLACPU, dtypes.Float32}, {"auto", device.XLACPU, dtypes.Float32},
		{"auto", device.Go, dtypes.Float32}, {"bfloat16", device.XLACPU, dtypes.BFloat16},
		{"", device.XLACUDA, dtypes.BFloat16}, {"auto", device.XLACUDA, dtypes.BFloat16},
		{"float32", device.XLACUDA, dtypes.Float32},
	} {
		if got := Precision(c.requested, c.kind); got != c.want {
			t.Errorf("%q on %s: %s, want %s", c.requested, c.kind, got, c.want)
		}
	}
}
