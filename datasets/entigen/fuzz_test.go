package entigen

import (
	"testing"

	"antipode/datasets/internal/fuzzread"
)

func FuzzRead(f *testing.F) {
	fuzzread.Twice(f, func(data []byte) ([]Rating, error) {
		return Read("t.csv", data)
	}, "people.csv", "scenes.csv")
}
