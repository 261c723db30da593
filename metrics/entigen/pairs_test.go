package entigen

import (
	"context"
	"encoding/json"
	"testing"

	"antipode/kernel/client"
	"antipode/metrics"
)

// evaluate computes a metric on two tables and checks the columns against the declared ones.
func evaluate(t *testing.T, metric string, roles [2]string, a, b *client.Frame, options map[string]string) (*client.Frame, error) {
	t.Helper()
	raw, err := json.Marshal(metrics.Args{Metric: metric, Roles: roles[:], Options: options, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := metrics.Evaluate(context.Background(), raw, []*client.Frame{a, b}, metrics.Call{})
	if err != nil {
		return nil, err
	}
	if err := f.Check(); err != nil {
		t.Fatal(err)
	}
	m, err := metrics.Find(metric)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := client.NameList(f.Specs()), client.NameList(m.Columns(metrics.Args{Options: options})); got != want {
		t.Errorf("%s gives %s, declares %s", metric, got, want)
	}
	return f, nil
}
