// Package source defines the tables of data sets by a type of options, columns, and a function that reads the rows.
package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// Definition describes a source. O is a struct whose JSON is the arguments of the operation in a plan; struct{} means
// no arguments.
type Definition[O any] struct {
	Name    string // of the operation
	Title   string // of the table, in messages
	Columns string // NAME:KIND, separated by spaces
	Listed  bool   // commands accept the name in place of a file, and NAME:OPTIONS; see manifest.Table
	Example string // options of a listed table, as JSON, for its help

	// Complete fills in what depends on the process that makes the table, such as absolute paths; nil = nothing.
	Complete func(o O) O
	// Parse reads the options of a listed table from JSON; nil = the JSON of O, whose fields are all known.
	Parse func(options []byte) (O, error)
	// Read adds the rows to a frame of the columns.
	Read func(o O, call *datasets.Call, f *datasets.Frame) error
}

// Source is a registered source.
type Source[O any] struct {
	name, title string
	columns     []table.ColumnSpec
	complete    func(o O) O
}

// Define registers a source. It panics if the name is taken.
func Define[O any](d Definition[O]) Source[O] {
	s := Source[O]{d.Name, d.Title, datasets.Columns(strings.Fields(d.Columns)...), d.Complete}
	Register(d.Name, func(_ context.Context, o O, call *datasets.Call) (*datasets.Frame, error) {
		f := s.Frame()
		return f, d.Read(o, call, f)
	})
	if d.Listed {
		if d.Parse == nil {
			d.Parse = Strict[O]
		}
		manifest.RegisterTableOf(d.Name, func(options []byte) datasets.Table {
			if options == nil {
				return s.Table()
			}
			o, err := d.Parse(options)
			if err != nil {
				return datasets.Failed(fmt.Errorf("options of the table %s: %w", d.Name, plain[O](err)))
			}
			return s.Table(o)
		})
		manifest.DescribeTable(d.Name, d.help())
	}
	return s
}

// Strict decodes one JSON value that has no unknown fields.
func Strict[O any](data []byte) (o O, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err = d.Decode(&o); err == nil && d.More() {
		err = errors.New("text follows the JSON object")
	}
	return o, err
}

// Frame returns a frame of the source's columns without rows.
func (s Source[O]) Frame() *datasets.Frame { return table.NewFrame(s.columns) }

// Table returns the source's table. options has at most one element.
func (s Source[O]) Table(options ...O) datasets.Table {
	o, err := table.One(options)
	if err != nil {
		return datasets.Failed(err)
	}
	if s.complete != nil {
		o = s.complete(o)
	}
	var args any = o
	if _, none := args.(struct{}); none {
		args = nil
	}
	return datasets.Extend(datasets.New(s.name, args, s.columns)).Named(s.title).Table
}

// Register registers the evaluator of a source whose columns depend on its options or data.
func Register[O any](name string, read func(context.Context, O, *datasets.Call) (*datasets.Frame, error)) {
	operation.Register(name, func(ctx context.Context, call datasets.Call, raw json.RawMessage,
		_ []*datasets.Frame) (*datasets.Frame, error) {
		var o O
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &o); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return read(ctx, o, &call)
	})
}

// AddPrinted adds what a paper prints, a CSV file with the columns item and printed, to a frame of the columns paper,
// item and printed, which metrics.Ledger reads.
func AddPrinted(f *datasets.Frame, paper string, file []byte) error {
	s, err := manifest.ReadSheet("the printed values of "+paper, file, "item", "printed")
	if err != nil {
		return err
	}
	for row := range s.Rows {
		f.Add([]string{paper, s.Cell(row, "item"), s.Cell(row, "printed")})
	}
	return nil
}

// field is an option of a listed table.
type field struct{ name, kind, help string }

// fields returns the options of a struct, those of embedded structs and of a field named Options included.
func fields(t reflect.Type) (out []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case (f.Anonymous || f.Name == "Options") && f.Type.Kind() == reflect.Struct && name != "-":
			out = append(out, fields(f.Type)...)
		case name != "" && name != "-":
			out = append(out, field{name, kindOf(f.Type), f.Tag.Get("help")})
		}
	}
	return out
}

// kindOf says what JSON a type takes.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list of " + map[bool]string{true: "objects", false: "values"}[t.Elem().Kind() == reflect.Struct]
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

// help returns the columns and options of a listed table.
func (d Definition[O]) help() string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "Columns: %s\n", strings.Join(strings.Fields(d.Columns), ", "))
	all := fields(reflect.TypeFor[O]())
	if len(all) == 0 {
		return b.String() + "It takes no options.\n"
	}
	fmt.Fprintf(b, "\nOptions, as JSON in NAME:{…} or in a file, NAME:FILE.json:\n")
	for _, f := range all {
		fmt.Fprintf(b, "  %s (%s)  %s\n", f.name, f.kind, f.help)
	}
	if d.Example != "" {
		fmt.Fprintf(b, "\nExample:\n    antipode table --in '%s:%s' --out t.csv\n", d.Name, d.Example)
	}
	return b.String()
}

// plain returns an error of decoding JSON that names options, not Go types.
func plain[O any](err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("%s: %s is expected, not a %s", cmp.Or(wrong.Field, "the options"), kindOf(wrong.Type),
			wrong.Value)
	}
	if _, name, unknown := strings.Cut(err.Error(), "unknown field "); unknown {
		var names []string
		for _, f := range fields(reflect.TypeFor[O]()) {
			names = append(names, f.name)
		}
		return fmt.Errorf("there is no option %s; the options are %s", name, strings.Join(names, ", "))
	}
	return err
}
