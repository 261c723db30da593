// Package stagekit holds what the workers of stages share: the check of a table's columns, reading a row's picture, and the use of
// one loaded model by several runs.
package stagekit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
)

// ErrNoImage is what a row without an image is told that does not say why in its outcome.
var ErrNoImage = errors.New("the row has no image; give it one, or say why in a column outcome (refused, failed, skipped)")

// Picture decodes the picture at a path. Errors call it by the last part of the path.
func Picture(path string) (*preprocess.RGB, error) {
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

// Model is a model loaded on a device.
type Model interface {
	Bytes() int64 // the memory its weights take
	Close()       // a nil one is left alone
}

// Load gives the model that is open under the key, or the one that open makes. open runs on the device's goroutine; a model it
// gives beside an error is closed. Release the model when done: it is closed, on that goroutine too, when memory is wanted.
func Load[M Model](ctx context.Context, env stage.Env, key string, open func(compute.Backend) (M, error)) (m M, release func(), err error) {
	handle, err := env.Device()
	if err != nil {
		return m, nil, err
	}
	backend := handle.(*device.Device).Backend
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

// Precision is what a model computes in, asked for ("float32", "bfloat16") or, for anything else, by the device's kind: bfloat16 on
// an NVIDIA GPU, float32 elsewhere.
func Precision(asked, kind string) dtypes.DType {
	if asked == "bfloat16" || asked != "float32" && kind == device.XLACUDA {
		return dtypes.BFloat16
	}
	return dtypes.Float32
}
