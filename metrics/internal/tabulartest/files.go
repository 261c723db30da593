package tabulartest

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/kernel/parquet"
)

// SameThroughFiles returns an error unless an operation has the same result if its tables were saved as CSV, and as
// Parquet, and read again.
func SameThroughFiles(op *operation.Operation, args json.RawMessage, in []*table.Frame, want *table.Frame) error {
	for format, read := range map[string]func(*table.Frame) (*table.Frame, error){"CSV": throughCSV,
		"Parquet": throughParquet} {
		again := make([]*table.Frame, len(in))
		for i, f := range in {
			var err error
			if again[i], err = read(f); err != nil {
				return fmt.Errorf("%s, input %d through %s: %w", op.Name, i+1, format, err)
			}
		}
		got, err := op.Evaluate(context.Background(), operation.Call{}, args, again)
		if err != nil {
			return fmt.Errorf("%s, with tables through %s: %w", op.Name, format, err)
		}
		if err := SameValues(got, want); err != nil {
			return fmt.Errorf("%s, with tables through %s: %w", op.Name, format, err)
		}
	}
	return nil
}

// SameValues returns an error unless two frames have the same columns and values, as a file of text holds them.
func SameValues(got, want *table.Frame) error {
	if got.Len() != want.Len() || len(got.Columns) != len(want.Columns) {
		return fmt.Errorf("%d rows of %s, want %d of %s", got.Len(), table.NameList(got.Specs()), want.Len(),
			table.NameList(want.Specs()))
	}
	for i := range want.Columns {
		a, b := &got.Columns[i], &want.Columns[i]
		for row := range want.Len() {
			if x, y := a.CSV(row), b.CSV(row); a.Name != b.Name || x != y {
				return fmt.Errorf("row %d, column %s: %q, want %q of %s", row+1, a.Name, x, y, b.Name)
			}
		}
	}
	return nil
}

// throughCSV returns a frame as it is saved as CSV and read. Images and masks stay as they are.
func throughCSV(f *table.Frame) (*table.Frame, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	header := make([]string, len(f.Columns))
	for i, c := range f.Columns {
		header[i] = c.Name
	}
	w.Write(header)
	for row := range f.Len() {
		record := make([]string, len(f.Columns))
		for i := range f.Columns {
			record[i] = f.Columns[i].CSV(row)
		}
		w.Write(record)
	}
	w.Flush()
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		return nil, err
	}
	out := &table.Frame{}
	for i, c := range f.Columns {
		if c.Kind == table.KindImage || c.Kind == table.KindMask {
			out.Columns = append(out.Columns, c)
			continue
		}
		cells := make([]string, f.Len())
		for row := range cells {
			cells[row] = records[row+1][i]
		}
		out.Columns = append(out.Columns, datasets.CSVColumn(c.Name, cells, table.NumberFormat{}))
	}
	return out, nil
}

// throughParquet returns a frame as it is saved as Parquet and read.
func throughParquet(f *table.Frame) (*table.Frame, error) {
	dir, err := os.MkdirTemp("", "tabulartest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "t.parquet")
	if err := parquet.Write(path, f); err != nil {
		return nil, err
	}
	t, err := parquet.Read(path, parquet.Options{Kind: datasets.KindByName})
	if err != nil {
		return nil, err
	}
	return t.Frame, nil
}
