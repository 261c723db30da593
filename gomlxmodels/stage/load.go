package stage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"golang.org/x/sys/cpu"

	"antipode/datasets/table"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/preprocess"
	"antipode/internal/imagefile"
	"antipode/internal/jpeg"
)

// ErrNoImage is the error of a row without an image whose outcome does not say why.
var ErrNoImage = errors.New("the row has no image; add one, or set the column outcome (refused, failed, skipped)")

// ErrChanged is wrapped by the error for an image whose file has another digest than the table.
var ErrChanged = errors.New("the file has changed since the table was read (its SHA-256 differs); run it again")

// ImageFile returns the bytes of an image's file if they have the image's digest, or if it has none. Errors name the
// file by the last part of its path.
func ImageFile(img table.Image) ([]byte, error) {
	name := filepath.Base(img.Path)
	data, err := os.ReadFile(img.Path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, errors.Unwrap(err))
	}
	if sum := sha256.Sum256(data); img.SHA256 != "" && hex.EncodeToString(sum[:]) != img.SHA256 {
		return nil, fmt.Errorf("%s: %w", name, ErrChanged)
	}
	return data, nil
}

// ReadImage decodes the bytes of [ImageFile]: those that the image's digest, and so the key of its items, is of.
func ReadImage(img table.Image) (*preprocess.RGB, error) {
	data, err := ImageFile(img)
	if err != nil {
		return nil, err
	}
	rgb, err := preprocess.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(img.Path), err)
	}
	return rgb, nil
}

// ImageKey identifies the pixels of an image: by the digest of its file and, where the file is called a JPEG or TIFF,
// by the version of the decoder, which changes the pixels. Other formats have the same pixels in every decoder.
func ImageKey(img table.Image) string {
	switch strings.ToLower(filepath.Ext(img.Path)) {
	case ".jpg", ".jpeg":
		return img.SHA256 + " " + jpeg.Version
	case ".tif", ".tiff":
		return img.SHA256 + " " + imagefile.TIFF
	}
	return img.SHA256
}

// Absent reports whether a row has nothing to work on and its outcome says why: refused, failed or skipped.
func Absent(row Row) bool {
	return slices.Contains([]string{"refused", "failed", "skipped"}, row.Text("outcome"))
}

// Loaded is a model with its weights on a device.
type Loaded interface {
	Bytes() int64 // the memory of its weights
	Close()
}

// Release ends a worker's use of a loaded model. A worker embeds it as its Close.
type Release func()

// Close calls the function, unless no model was loaded.
func (r Release) Close() {
	if r != nil {
		r()
	}
}

// Load returns the model that is open under the key, or the one that open makes. open runs on the device's goroutine;
// a model that it returns with an error is closed. Call release when done: the model is closed, on that goroutine too,
// when memory is needed.
func Load[M Loaded](ctx context.Context, env Env, key string, open func(compute.Backend) (M, error)) (m M,
	release Release, err error) {
	backend, err := env.Backend()
	if err != nil {
		return m, nil, err
	}
	value, release, err := env.Shared(key, func() (any, int64, func(), error) {
		var m M
		err := env.OnDevice(ctx, func() (err error) {
			if m, err = open(backend); err != nil && !isNil(m) {
				m.Close()
			}
			return err
		})
		if err != nil {
			return nil, 0, nil, err
		}
		return m, m.Bytes(), func() { env.OnDevice(context.Background(), func() error { m.Close(); return nil }) }, nil
	})
	if err != nil {
		return m, nil, err
	}
	return value.(M), release, nil
}

// isNil reports whether a model is none: nil, or a nil pointer.
func isNil(m any) bool {
	v := reflect.ValueOf(m)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// Precision returns the number type to compute in: the requested one ("float32", "bfloat16") or, for anything else,
// that of the device's kind: bfloat16 on an NVIDIA GPU, float32 elsewhere. It notes if the processor has no
// instructions for bfloat16 and computes it slower than float32, and that pure Go computes in float32 alone.
func Precision(requested, kind string, note func(format string, args ...any)) dtypes.DType {
	if requested == "bfloat16" && kind == device.Go {
		note("pure Go (device %s) does not compute in bfloat16: float32 is used", kind)
		return dtypes.Float32
	}
	if requested == "bfloat16" && kind == device.XLACPU && !multipliesBFloat16 {
		note("this processor has no instructions for bfloat16 (AVX512-BF16, AMX): it is slower than float32 here")
	}
	if requested == "bfloat16" || requested != "float32" && kind == device.XLACUDA {
		return dtypes.BFloat16
	}
	return dtypes.Float32
}

// Batch returns the number of images in a call of a device: usual, but on an NVIDIA GPU 32 at least, where an H100
// computes 1.2 to 3 times as many a second as in fours or one by one (docs/benchmarks.md).
func Batch(kind string, usual int) int {
	if kind == device.XLACUDA {
		return max(usual, 32)
	}
	return usual
}

// multipliesBFloat16 reports whether the processor multiplies in bfloat16; of arm64 it is assumed.
var multipliesBFloat16 = runtime.GOARCH != "amd64" || cpu.X86.HasAVX512BF16 || cpu.X86.HasAMXBF16
