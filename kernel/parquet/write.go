package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	pq "github.com/parquet-go/parquet-go"

	"antipode/datasets/table"
	"antipode/internal/atomicfile"
)

// ordered is a group whose fields keep their order; those of the library are sorted by name.
type ordered struct {
	pq.Group
	names []string
}

func (o ordered) Fields() []pq.Field {
	byName := map[string]pq.Field{}
	for _, f := range o.Group.Fields() {
		byName[f.Name()] = f
	}
	fields := make([]pq.Field, len(o.names))
	for i, n := range o.names {
		fields[i] = byName[n]
	}
	return fields
}

func node(k table.Kind) pq.Node {
	switch k {
	case table.KindText:
		return pq.Optional(pq.String())
	case table.KindNumber:
		return pq.Optional(pq.Leaf(pq.DoubleType))
	case table.KindVector:
		return pq.Optional(pq.List(pq.Leaf(pq.FloatType)))
	case table.KindImage:
		return pq.Optional(ordered{pq.Group{"sha256": pq.String(), "path": pq.String()}, []string{"sha256", "path"}})
	default:
		return pq.Optional(ordered{pq.Group{"size": pq.List(pq.Leaf(pq.Int32Type)), "counts": pq.String()},
			[]string{"size", "counts"}})
	}
}

// rowGroup is the number of rows per row group.
const rowGroup = 4096

// Write writes a frame to a file atomically. Paths of images are written as they are in the frame.
func Write(path string, f *table.Frame) error {
	data, err := Encode(f)
	if err == nil {
		err = atomicfile.Write(path, data)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// Encode returns the content of a file of a frame.
func Encode(f *table.Frame) ([]byte, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if len(f.Columns) == 0 {
		return nil, errors.New("the table has no columns")
	}
	group := ordered{Group: pq.Group{}}
	for _, c := range f.Columns {
		group.Group[c.Name] = node(c.Kind)
		group.names = append(group.names, c.Name)
	}
	var b bytes.Buffer
	w := pq.NewWriter(&b, pq.NewSchema("antipode", group), pq.Compression(&pq.Zstd), pq.CreatedBy("antipode", "1", ""))
	rows := make([]pq.Row, 0, rowGroup)
	for i := range f.Len() {
		rows = append(rows, row(f, i))
		if len(rows) == rowGroup || i == f.Len()-1 {
			if _, err := w.WriteRows(rows); err != nil {
				return nil, err
			}
			if err := w.Flush(); err != nil {
				return nil, err
			}
			rows = rows[:0]
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// row is one row of the frame as leaf values with their repetition and definition levels.
func row(f *table.Frame, i int) pq.Row {
	var out pq.Row
	leaf := 0
	for c := range f.Columns {
		col := &f.Columns[c]
		switch col.Kind {
		case table.KindText:
			out = append(out, pq.ValueOf(col.Texts[i]).Level(0, 1, leaf))
			leaf++
		case table.KindNumber:
			if v := col.Numbers[i]; math.IsNaN(v) {
				out = append(out, pq.NullValue().Level(0, 0, leaf))
			} else {
				out = append(out, pq.DoubleValue(v).Level(0, 1, leaf))
			}
			leaf++
		case table.KindVector:
			v := col.Vectors[i]
			switch {
			case v == nil:
				out = append(out, pq.NullValue().Level(0, 0, leaf))
			case len(v) == 0:
				out = append(out, pq.NullValue().Level(0, 1, leaf))
			}
			for j, x := range v {
				out = append(out, pq.FloatValue(x).Level(min(j, 1), 2, leaf))
			}
			leaf++
		case table.KindImage:
			v := col.Images[i]
			if v.Path == "" {
				out = append(out, pq.NullValue().Level(0, 0, leaf), pq.NullValue().Level(0, 0, leaf+1))
			} else {
				out = append(out, pq.ValueOf(v.SHA256).Level(0, 1, leaf), pq.ValueOf(v.Path).Level(0, 1, leaf+1))
			}
			leaf += 2
		default:
			v := col.Masks[i]
			if v.Counts == "" {
				out = append(out, pq.NullValue().Level(0, 0, leaf), pq.NullValue().Level(0, 0, leaf+1))
			} else {
				out = append(out, pq.Int32Value(int32(v.Size[0])).Level(0, 2, leaf),
					pq.Int32Value(int32(v.Size[1])).Level(1, 2, leaf), pq.ValueOf(v.Counts).Level(0, 1, leaf+1))
			}
			leaf += 2
		}
	}
	return out
}
