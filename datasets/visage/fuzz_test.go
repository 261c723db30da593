package visage

import (
	"testing"

	"antipode/datasets/internal/fuzzread"
)

func FuzzAnnotations(f *testing.F) {
	fuzzread.Twice(f, func(data []byte) ([]Annotation, error) {
		got, _, err := readAnnotations("t.csv", data)
		return got, err
	}, "annotations.csv")
}

func FuzzRatings(f *testing.F) {
	fuzzread.Twice(f, func(data []byte) ([]Rating, error) {
		got, _, err := readRatings("t.csv", data)
		return got, err
	}, "ratings.csv")
}

func FuzzWorkbook(f *testing.F) {
	fuzzread.Twice(f, func(data []byte) ([][]string, error) {
		return readWorkbook("t.xlsx", data, "Sheet1")
	}, "ratings.csv")
}
