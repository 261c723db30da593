package tabulartest

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"sync"

	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// compared are the operations whose result with a table of many rows was compared.
var compared sync.Map

// sameThroughCSV returns an error unless an operation has the same result if its tables were saved as CSV and read
// again. Of an operation on more than 20,000 rows it compares the first result.
func sameThroughCSV(op *operation.Operation, args json.RawMessage, in []*table.Frame, want *table.Frame) error {
	again := make([]*table.Frame, len(in))
	if len(in) > 0 && in[0].Len() > 20_000 {
		if _, was := compared.LoadOrStore(op.Name, true); was {
			return nil
		}
	}
	for i, f := range in {
		var err error
		if again[i], err = throughCSV(f); err != nil {
			return fmt.Errorf("%s, input %d through CSV: %w", op.Name, i+1, err)
		}
	}
	got, err := op.Evaluate(context.Background(), operation.Call{}, args, again)
	if err == nil {
		err = sameValues(got, want)
	}
	if err != nil {
		return fmt.Errorf("%s, with tables through CSV: %w", op.Name, err)
	}
	return nil
}

// sameValues returns an error unless two frames have the same columns and values, as a file of text holds them.
func sameValues(got, want *table.Frame) error {
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
		out.Columns = append(out.Columns, table.CSVColumn(c.Name, cells, table.NumberFormat{}))
	}
	return out, nil
}
