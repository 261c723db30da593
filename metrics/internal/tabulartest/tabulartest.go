// Package tabulartest helps the tests of annotation metrics: it evaluates sources and metrics as the backend does.
package tabulartest

import (
	"context"
	"encoding/json"
	"testing"

	"antipode/datasets"
	"antipode/datasets/manifest/manifesttest"
	"antipode/kernel/client"
	"antipode/metrics"
)

// Released evaluates a source on the released files of a data set; where they are not on this machine the test is skipped by name.
func Released(t *testing.T, dataSet, source string, args any) *client.Frame {
	t.Helper()
	manifesttest.Dir(t, dataSet)
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	f, err := datasets.FindSource(source)(context.Background(), raw, datasets.SourceEnv{Home: t.TempDir(), Note: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	return f
}

// Run computes a metric on its "in" table.
func Run(metric string, in *client.Frame, options map[string]string, by ...string) (*client.Frame, error) {
	raw, err := json.Marshal(metrics.Args{Metric: metric, Roles: []string{"in"}, Options: options, By: by, Seed: 1})
	if err != nil {
		return nil, err
	}
	return metrics.Evaluate(context.Background(), raw, []*client.Frame{in}, metrics.Call{})
}

// Evaluate is [Run] where no error is expected; it also checks the columns against the declared ones.
func Evaluate(t *testing.T, metric string, in *client.Frame, options map[string]string) *client.Frame {
	t.Helper()
	f, err := Run(metric, in, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	m, err := metrics.Find(metric)
	if err != nil {
		t.Fatal(err)
	}
	declared := m.Columns(metrics.Args{Options: options})
	if len(declared) != len(f.Columns) {
		t.Fatalf("%s gives %d columns, declares %d", metric, len(f.Columns), len(declared))
	}
	for i, spec := range declared {
		if f.Columns[i].ColumnSpec != spec {
			t.Errorf("%s: column %d is %v, declared %v", metric, i, f.Columns[i].ColumnSpec, spec)
		}
	}
	return f
}
