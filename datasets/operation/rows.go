package operation

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"antipode/datasets/table"
)

// Estimate is a value with its interval. A field of this type becomes the columns X, X_low and X_high. NaN is "no
// value": an estimate without an interval has NaN as both ends.
type Estimate struct{ Value, Low, High float64 }

// Exact returns an estimate without an interval.
func Exact(value float64) Estimate { return Estimate{value, math.NaN(), math.NaN()} }

// Group holds the values of the columns that an operation groups by. A field of this type becomes these columns.
type Group []string

// Result describes a column of an operation's result.
type Result struct {
	Name  string // a name in braces is replaced by the option of that name, for example {by}
	Unit  string
	Range string
	Help  string
	kind  table.Kind
	index []int
	part  int // of an Estimate: 0 value, 1 low, 2 high
}

const kindGroup table.Kind = "group" // expands to the columns of the option by

// kindOf returns the kind of the column of a field of this type; "" = none can hold it.
func kindOf(t reflect.Type) table.Kind {
	switch t {
	case reflect.TypeFor[bool]():
		return table.KindText
	case reflect.TypeFor[int]():
		return table.KindNumber
	case reflect.TypeFor[Group]():
		return kindGroup
	}
	return table.KindOf(reflect.Zero(t).Interface())
}

// resultsOf reads the tags of a row struct. Embedded structs are flattened.
func resultsOf(t reflect.Type) ([]Result, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("row type %s is not a struct", t)
	}
	var out []Result
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous && f.Type.Kind() == reflect.Struct {
			continue
		}
		r := Result{Name: f.Tag.Get("column"), Unit: f.Tag.Get("unit"), Range: f.Tag.Get("range"),
			Help: f.Tag.Get("help"), kind: kindOf(f.Type), index: f.Index}
		estimate := f.Type == reflect.TypeFor[Estimate]()
		if r.kind == kindGroup {
			r.Name = "{by}"
		}
		switch {
		case !f.IsExported() || r.Name == "":
			return nil, fmt.Errorf("%s.%s: a field of a row is exported and has the tag column", t, f.Name)
		case r.kind == "" && !estimate:
			return nil, fmt.Errorf("%s.%s: a column cannot hold %s", t, f.Name, f.Type)
		case estimate:
			r.kind = table.KindNumber
			for part, suffix := range []string{"", "_low", "_high"} {
				end := r
				end.Name, end.part = r.Name+suffix, part
				out = append(out, end)
			}
		default:
			out = append(out, r)
		}
	}
	return out, nil
}

// columns returns the columns of the results for options (a struct) that are complete.
func columns(results []Result, options Options, v reflect.Value) []table.ColumnSpec {
	var out []table.ColumnSpec
	for _, r := range results {
		if r.kind == kindGroup {
			for _, name := range by(options, v) {
				out = append(out, table.ColumnSpec{Name: name, Kind: table.KindText})
			}
			continue
		}
		out = append(out, table.ColumnSpec{Name: r.name(options, v), Kind: r.kind})
	}
	return out
}

// name replaces the options in braces.
func (r Result) name(options Options, v reflect.Value) string {
	name := r.Name
	for i := range options {
		if key := "{" + options[i].Name + "}"; strings.Contains(name, key) {
			text := options[i].text(v.FieldByIndex(options[i].index))
			if options[i].Type == "list" {
				text = strings.ReplaceAll(text, ",", ", ")
			}
			name = strings.ReplaceAll(name, key, text)
		}
	}
	return name
}

// by returns the grouping columns: the option "by", where there is one.
func by(options Options, v reflect.Value) []string {
	for i := range options {
		if options[i].Name == "by" && options[i].Type == "list" {
			names, _ := v.FieldByIndex(options[i].index).Interface().([]string)
			return names
		}
	}
	return nil
}

// frame puts rows, a slice of structs, into columns.
func frame(results []Result, options Options, v, rows reflect.Value) (*table.Frame, error) {
	f := table.NewFrame(columns(results, options, v))
	at := 0
	for _, r := range results {
		if r.kind == kindGroup {
			width := len(by(options, v))
			for row := range rows.Len() {
				g := rows.Index(row).FieldByIndex(r.index).Interface().(Group)
				if len(g) != width {
					return nil, fmt.Errorf("row %d has %d group values for %d columns", row+1, len(g), width)
				}
				for i, value := range g {
					f.Columns[at+i].Texts = append(f.Columns[at+i].Texts, value)
				}
			}
			at += width
			continue
		}
		c := &f.Columns[at]
		at++
		for row := range rows.Len() {
			value := rows.Index(row).FieldByIndex(r.index).Interface()
			switch x := value.(type) {
			case bool:
				value = "no"
				if x {
					value = "yes"
				}
			case int:
				value = float64(x)
			case Estimate:
				value = [3]float64{x.Value, x.Low, x.High}[r.part]
			}
			c.AddAny(value)
		}
	}
	return f, nil
}

// withoutPoints removes the intervals of no width from a result.
func withoutPoints(f *table.Frame) {
	for i := range f.Columns {
		name, is := strings.CutSuffix(f.Columns[i].Name, "_low")
		low, high := f.Columns[i].Numbers, f.Numbers(name+"_high")
		if !is || len(high) != len(low) {
			continue
		}
		for row := range low {
			if low[row] == high[row] {
				low[row], high[row] = math.NaN(), math.NaN()
			}
		}
	}
}
