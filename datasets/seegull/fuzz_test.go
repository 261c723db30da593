package seegull

import (
	"testing"

	"antipode/datasets/internal/fuzzread"
)

func FuzzRead(f *testing.F) {
	fuzzread.Twice(f, func(data []byte) ([]Pair, error) {
		got, _, err := Read("t.csv", data)
		return got, err
	}, "pairs.csv")
}
