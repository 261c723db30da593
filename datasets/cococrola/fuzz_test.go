package cococrola

import (
	"testing"

	"antipode/datasets/internal/fuzzread"
)

func FuzzRecorded(f *testing.F) {
	fuzzread.Twice(f, func(data []byte) (ListOptions, error) {
		return ReadRecorded("t.json", data)
	}, "recorded.json")
}

func FuzzConcepts(f *testing.F) {
	fuzzread.Twice(f, func(data []byte) ([]Concept, error) {
		got, _, err := readConcepts("t.csv", data)
		return got, err
	}, "concepts.csv")
}
