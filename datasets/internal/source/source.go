// Package source defines the tables of data sets by a type of options, columns, and a function that reads the rows.
package source

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/datasets/table"
)

// Definition describes a source. O is a struct whose JSON is the arguments of the operation in a plan; struct{} means
// no arguments.
type Definition[O any] struct {
	Name    string // of the operation
	Title   string // of the table, in messages
	Columns string // NAME:KIND, separated by spaces
	Listed  bool   // commands accept the name in place of a file, and NAME:OPTIONS; see manifest.Table

	// Complete fills in what depends on the process that makes the table, such as absolute paths; nil = nothing.
	Complete func(o O) O
	// Parse reads the options of a listed table from JSON; nil = the JSON of O, whose fields are all known.
	Parse func(options []byte) (O, error)
	// Read adds the rows to a frame of the columns.
	Read func(o O, env datasets.SourceEnv, f *datasets.Frame) error
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
	Register(d.Name, func(_ context.Context, o O, env datasets.SourceEnv) (*datasets.Frame, error) {
		f := s.Frame()
		return f, d.Read(o, env, f)
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
				return datasets.Failed(fmt.Errorf("options of the table %s: %w", d.Name, err))
			}
			return s.Table(o)
		})
	}
	return s
}

// Strict decodes JSON that has no unknown fields.
func Strict[O any](data []byte) (o O, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err = d.Decode(&o)
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
func Register[O any](name string, read func(context.Context, O, datasets.SourceEnv) (*datasets.Frame, error)) {
	datasets.RegisterSource(name, func(ctx context.Context, raw json.RawMessage,
		env datasets.SourceEnv) (*datasets.Frame, error) {
		var o O
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &o); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		return read(ctx, o, env)
	})
}
