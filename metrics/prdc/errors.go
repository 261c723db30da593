package prdc

import (
	"fmt"
	"math"
)

// ErrTooFewSamples says that a set is too small for k neighbours.
type ErrTooFewSamples struct {
	Side       string // "real" or "generated"; with ", half-sample 12" where a draw is meant
	Have, Need int
}

func (e *ErrTooFewSamples) Error() string {
	return fmt.Sprintf("prdc: %d %s vectors, at least %d are needed: add pictures or lower k", e.Have, e.Side, e.Need)
}

// ErrVector says that a vector cannot be used.
type ErrVector struct {
	Side   string // "real" or "generated"
	Row    int    // position in the set, from 0
	Reason string
}

func (e *ErrVector) Error() string {
	return fmt.Sprintf("prdc: %s row %d: %s", e.Side, e.Row+1, e.Reason)
}

// largest is the largest component taken: beyond it squared distances of long vectors leave float32.
const largest = 1e17

// checkVectors returns the common width, 0 where all rows are nil.
func checkVectors(side string, rows [][]float32, width int, nilAllowed bool) (int, error) {
	for i, v := range rows {
		if v == nil && nilAllowed {
			continue
		}
		if len(v) == 0 {
			return 0, &ErrVector{side, i, "there is no vector; leave rows without one out"}
		}
		if width == 0 {
			width = len(v)
		}
		if len(v) != width {
			return 0, &ErrVector{side, i, fmt.Sprintf("%d numbers, the vectors before it have %d; was it made by another model?", len(v), width)}
		}
		for c, x := range v {
			if !(math.Abs(float64(x)) <= largest) {
				return 0, &ErrVector{side, i, fmt.Sprintf("number %d of the vector is %g; embed the picture again or leave the row out", c+1, x)}
			}
		}
	}
	return width, nil
}
