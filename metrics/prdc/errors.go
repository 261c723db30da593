package prdc

import (
	"fmt"
	"math"
)

// ErrTooFewSamples reports a set that is too small for k neighbors.
type ErrTooFewSamples struct {
	Side       string // "real" or "generated", for a half-sample followed by ", half-sample 12:"
	Have, Need int
}

func (e *ErrTooFewSamples) Error() string {
	return fmt.Sprintf("prdc: %d %s vectors, at least %d are needed: add images or lower k", e.Have, e.Side, e.Need)
}

// ErrVector reports a vector that cannot be used.
type ErrVector struct {
	Side   string // "real" or "generated"
	Row    int    // position in the set, from 0
	Reason string
}

func (e *ErrVector) Error() string {
	return fmt.Sprintf("prdc: %s row %d: %s", e.Side, e.Row+1, e.Reason)
}

// largest is the largest valid component: with larger ones squared distances of long vectors overflow float32.
const largest = 1e17

// checkVectors returns the common width of the vectors, or 0 if all rows are nil.
func checkVectors(side string, rows [][]float32, width int, nilAllowed bool) (int, error) {
	for i, v := range rows {
		if v == nil && nilAllowed {
			continue
		}
		if len(v) == 0 {
			return 0, &ErrVector{side, i, "there is no vector; omit rows without one"}
		}
		if width == 0 {
			width = len(v)
		}
		if len(v) != width {
			return 0, &ErrVector{side, i,
				fmt.Sprintf("%d numbers, the vectors before it have %d; use vectors of one model", len(v), width)}
		}
		for c, x := range v {
			if !(math.Abs(float64(x)) <= largest) {
				return 0, &ErrVector{side, i,
					fmt.Sprintf("number %d of the vector is %g; embed the image again or omit the row", c+1, x)}
			}
		}
	}
	return width, nil
}
