package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/preprocess"
)

// ErrNoImage is the error of a row without an image whose outcome does not say why.
var ErrNoImage = errors.New("the row has no image; add one, or set the column outcome (refused, failed, skipped)")

// ReadImage decodes the image at a path. Errors name it by the last part of the path.
func ReadImage(path string) (*preprocess.RGB, error) {
	name := filepath.Base(path)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", name, errors.Unwrap(err))
	}
	rgb, err := preprocess.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rgb, nil
}

// Absent reports whether a row has nothing to work on and its outcome says why: refused, failed or skipped.
func Absent(row Row) bool {
	return slices.Contains([]string{"refused", "failed", "skipped"}, row.Text("outcome"))
}

// Loaded is a model with its weights on a device.
type Loaded interface {
	Bytes() int64 // the memory of its weights
	Close()       // does nothing for nil
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
			if m, err = open(backend); err != nil && any(m) != nil {
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

// Precision returns the number type to compute in: the requested one ("float32", "bfloat16") or, for anything else,
// that of the device's kind: bfloat16 on an NVIDIA GPU, float32 elsewhere.
func Precision(requested, kind string) dtypes.DType {
	if requested == "bfloat16" || requested != "float32" && kind == device.XLACUDA {
		return dtypes.BFloat16
	}
	return dtypes.Float32
}
