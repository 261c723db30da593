package runner

import (
	"errors"
	"fmt"

	"github.com/gomlx/compute/dtypes"
)

// Recovered turns a panic into an error that begins with the package's name. A public function defers it directly:
//
//	defer runner.Recovered("clip", &err)
func Recovered(name string, err *error) {
	switch r := recover().(type) {
	case nil:
	case error:
		*err = fmt.Errorf("%s: %w", name, r)
	default:
		*err = fmt.Errorf("%s: %v", name, r)
	}
}

// DType sets a dtype that was not chosen to Float32; one that no model runs in is an error.
func DType(d *dtypes.DType) error {
	switch *d {
	case dtypes.InvalidDType:
		*d = dtypes.Float32
	case dtypes.Float32, dtypes.BFloat16, dtypes.Float16:
	default:
		return fmt.Errorf("dtype %s is not one a model runs in (Float32, BFloat16, Float16)", *d)
	}
	return nil
}

// Count sets a number that was not chosen, 0, to the usual one; one below 1 or above the most is an error that calls
// it by name.
func Count(name string, n *int, usual, most int) error {
	if *n == 0 {
		*n = usual
	}
	if *n < 0 || *n > most {
		return fmt.Errorf("%s %d is not between 1 and %d", name, *n, most)
	}
	return nil
}

// ErrNotFinite is in the errors of results that hold NaN or an infinity. It concerns one input, and other inputs of the
// same model may give numbers.
var ErrNotFinite = errors.New("weights or inputs are out of range")

// Row is row i of n of a flat result, whose memory it shares. A value that is no finite number is an [ErrNotFinite].
//
// Shapes: flat [n,D] → [D].
func Row(flat []float32, i, n int) ([]float32, error) {
	d := len(flat) / n
	row := flat[i*d : (i+1)*d : (i+1)*d]
	for _, x := range row {
		if x-x != 0 {
			return nil, fmt.Errorf("the network gave %v: %w", x, ErrNotFinite)
		}
	}
	return row, nil
}
