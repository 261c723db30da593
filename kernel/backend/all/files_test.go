package all_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
)

// invented returns a table with the columns that an operation's input needs: those it declares, those that its options
// name by default, and some of the column contract; text columns of digits and columns that are blank in every row are
// among them. With blank, numbers have no value in any row.
func invented(op *operation.Operation, in operation.Input, blank bool) *table.Frame {
	const n = 24
	f := &table.Frame{}
	add := func(name string, kind table.Kind) {
		if name == "" || f.Has(name) {
			return
		}
		c := table.Column{ColumnSpec: table.ColumnSpec{Name: name, Kind: kind}}
		for i := range n {
			x := float32(i*i%7) / 7
			switch kind {
			case table.KindNumber:
				v := float64(i%5) + 0.5
				if blank {
					v = math.NaN()
				}
				c.Numbers = append(c.Numbers, v)
			case table.KindImage:
				c.Images = append(c.Images, table.Image{SHA256: fmt.Sprintf("%064d", i), Path: fmt.Sprint(i)})
			case table.KindMask:
				c.Masks = append(c.Masks, table.Mask{Size: [2]int{2, 2}, Counts: "022"})
			case table.KindVector:
				c.Vectors = append(c.Vectors, []float32{1, x, x * x, float32(i%3) / 3})
			default:
				c.Kind, c.Texts = table.KindText, append(c.Texts, []string{"en", "hi", "ta"}[i%3])
			}
		}
		f.Columns = append(f.Columns, c)
	}
	add("id", table.KindText)
	for i := range f.Columns[0].Texts {
		f.Columns[0].Texts[i] = fmt.Sprint(100 + i)
	}
	for _, c := range in.Columns {
		add(c.Name, c.Kind)
	}
	for _, o := range op.Options {
		switch {
		case o.Type != "text" || len(o.Values) > 0:
		case strings.Contains(o.Help, "vector"):
			add(o.Default, table.KindVector)
		case slices.Contains([]string{"value", "p", "igc", "score", "gap"}, o.Default):
			add(o.Default, table.KindNumber)
		case strings.Contains(o.Help, "column"):
			add(o.Default, table.KindText)
		}
	}
	for _, name := range []string{"region", "language", "prompt_id", "model", "group", "object", "concept", "attribute",
		"identity", "caption", "prompt", "axis", "template", "intervention"} {
		add(name, table.KindText)
	}
	add("seed", table.KindNumber)
	f.Columns = append(f.Columns, table.TextColumn("outcome", make([]string, n)), table.TextColumn("reason",
		make([]string, n)),
		table.TextColumn("year", slices.Repeat([]string{"2024", "2025"}, n/2)))
	return f
}

// TestOperationsThroughFiles: every metric and table operation has the same result with tables in memory, saved as CSV
// and saved as Parquet; or none in any of the three.
func TestOperationsThroughFiles(t *testing.T) {
	t.Setenv("ANTIPODE_PLUGIN", "none")
	must.Do(t, all.Use(t.TempDir()))
	dir, results := t.TempDir(), 0
	for _, name := range append(operation.Names(true), operation.Names(false)...) {
		op := operation.Find(name)
		checked, err := op.Parse(nil)
		if err != nil {
			continue // an option is required; metrics/internal/tabulartest
		}
		want := ""
		for i, format := range []string{"memory", "csv", "parquet", "memory", "csv", "parquet"} {
			inputs := map[string]datasets.Table{}
			for _, in := range op.Inputs {
				f := invented(op, in, i >= 3)
				inputs[in.Role] = datasets.FromFrame(f)
				if format != "memory" {
					path := filepath.Join(dir, name+"-"+in.Role+"."+format)
					plain := slices.DeleteFunc(slices.Clone(f.Columns), func(c table.Column) bool {
						return c.Kind == table.KindImage
					})
					if _, err := datasets.FromFrame(&table.Frame{Columns: plain}).SaveE(context.Background(),
						path); err != nil {
						t.Fatal(name, err)
					}
					read := datasets.Images(path)
					for _, c := range f.Columns {
						if c.Kind == table.KindImage { // files, which the test has none of
							images := &table.Frame{Columns: []table.Column{*f.Column("id"), c}}
							read = read.Join(datasets.FromFrame(images), "id")
						}
					}
					inputs[in.Role] = read
				}
			}
			got := ""
			rows, err := datasets.Apply(op, inputs, checked).Rows(context.Background())
			if err != nil {
				got = "an error"
			} else {
				got = content(rows)
			}
			if format == "memory" {
				want = got
				if err == nil {
					results++
				}
			} else if got != want {
				t.Errorf("%s through %s:\n%.300s\nin memory:\n%.300s", name, format, got, want)
			}
		}
	}
	if results < 30 { // the tests of the metrics compare the others: metrics/internal/tabulartest
		t.Errorf("%d results, want 30", results)
	}
	t.Log(results, "results")
}

// content returns the values of a table, its columns in the order of their names.
func content(f *table.Frame) string {
	var lines []string
	for i := range f.Columns {
		c := &f.Columns[i]
		line := c.Name
		for row := range f.Len() {
			if c.Kind == table.KindImage {
				line += "," + c.Images[row].SHA256
			} else {
				line += "," + c.CSV(row)
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
