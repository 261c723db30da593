package jobs

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/kernel/backend/parquet"
)

// countRows returns the number of rows of a table.
func countRows(path, op string) (int, error) {
	if op == "parquet" {
		t, err := parquet.Read(path, parquet.Options{N: 1, Kind: table.KindByName})
		if err != nil {
			return 0, err
		}
		return t.Rows, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	r, err := datasets.OpenCSV(f, filepath.Base(path))
	if err != nil {
		return 0, err
	}
	for n := 0; ; n++ {
		if _, _, err := r.Read(); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return 0, err
		}
	}
}
