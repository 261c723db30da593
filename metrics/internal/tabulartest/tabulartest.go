// Package tabulartest helps the tests of annotation metrics: it evaluates sources and metrics as the backend does.
package tabulartest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"antipode/datasets"
	"antipode/datasets/manifest/manifesttest"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// known are the frames that this process evaluated, by source and arguments.
var known sync.Map

// Released evaluates a source on the released files of a data set; where they are not on this machine the test is
// skipped by name. Tests share its rows and change none.
func Released(t *testing.T, dataSet, source string, args any) *table.Frame {
	t.Helper()
	manifesttest.Dir(t, dataSet)
	raw := must.Get(json.Marshal(args))(t)
	if f, ok := known.Load(source + string(raw)); ok {
		return f.(*table.Frame).With()
	}
	call := datasets.Call{Home: t.TempDir(), Note: t.Logf}
	f := must.Get(operation.EvaluatorOf(source)(context.Background(), call, raw, nil))(t)
	must.Do(t, f.Check())
	known.Store(source+string(raw), f)
	return f.With()
}

// Run computes a metric or table operation on its "in" table, with seed 1. options are as flags take them.
func Run(metric string, in *table.Frame, options map[string]string, by ...string) (*table.Frame, error) {
	return seeded(metric, operation.Call{}, map[string]*table.Frame{"in": in}, options, by...)
}

// seeded is [run] with seed 1, unless the options have another, of operations that take one.
func seeded(name string, call operation.Call, in map[string]*table.Frame, options map[string]string, by ...string) (
	*table.Frame, error) {
	op := operation.Find(name)
	if op == nil {
		return nil, fmt.Errorf("no operation %q", name)
	}
	given := map[string]string{}
	for _, o := range op.Options {
		if o.Name == "seed" {
			given["seed"] = "1"
		}
	}
	maps.Copy(given, options)
	return run(op, call, in, given, by...)
}

// run computes a defined operation on tables by role, and compares its columns with those that it declares.
func run(op *operation.Operation, call operation.Call, in map[string]*table.Frame, options map[string]string,
	by ...string) (*table.Frame, error) {
	given := map[string]string{}
	maps.Copy(given, options)
	if len(by) > 0 {
		given["by"] = strings.Join(by, ",")
	}
	checked, err := op.Parse(given)
	if err != nil {
		return nil, err
	}
	var roles []string
	var frames []*table.Frame
	for _, input := range op.Inputs {
		if f := in[input.Role]; f != nil {
			roles, frames = append(roles, input.Role), append(frames, f)
		}
	}
	args, err := checked.Args(roles)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	f, err := op.Evaluate(context.Background(), call, raw, frames)
	if err == nil {
		err = sameThroughCSV(op, raw, frames, f)
	}
	if specs, known := checked.Columns(); err == nil && known && !slices.Equal(specs, f.Specs()) {
		err = fmt.Errorf("%s returns the columns %v, declares %v", op.Name, f.Specs(), specs)
	}
	return f, err
}

// RunOn computes a defined metric or table operation on tables by role, and checks its columns against the declared
// ones. options are as flags take them; notes receives the notes.
func RunOn(name string, in map[string]*table.Frame, options map[string]string, notes ...*[]string) (*table.Frame,
	error) {
	call := operation.Call{Note: func(format string, args ...any) {
		for _, n := range notes {
			*n = append(*n, fmt.Sprintf(format, args...))
		}
	}}
	f, err := seeded(name, call, in, options)
	if err == nil {
		err = f.Check()
	}
	return f, err
}

// Evaluate is [Run] where no error is expected; it also checks the columns against the declared ones.
func Evaluate(t *testing.T, metric string, in *table.Frame, options map[string]string) *table.Frame {
	t.Helper()
	f := must.Get(Run(metric, in, options))(t)
	must.Do(t, f.Check())
	return f
}

// Show prints columns of a table of rows in memory, for examples; without names, all columns.
func Show(t datasets.Table, columns ...string) {
	if len(columns) > 0 {
		t = t.Select(columns...)
	}
	plan, err := t.Plan()
	if err == nil {
		plan, err = plan.Resolved(context.Background())
	}
	var f *table.Frame
	if err == nil {
		f, err = (&operation.Call{}).Evaluate(context.Background(), plan)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(datasets.Format(f, 0))
}
