// Package testengine evaluates tables in the process of a test.
package testengine

import (
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/internal/must"
	"antipode/kernel/backend/all"
	"antipode/kernel/backend/engine"
	_ "antipode/test/memdir"
)

// Use makes this process evaluate plans with the pure Go backend, in a store of its own.
func Use(t *testing.T) {
	t.Helper()
	t.Setenv("ANTIPODE_PLUGIN", "none")
	must.Do(t, all.Use(t.TempDir()))
}

// Engine makes this process evaluate plans in a store of its own until the test ends, and returns what does it.
func Engine(t *testing.T) *engine.Engine {
	t.Helper()
	e := must.Get(all.NewEngine(t.TempDir(), "test"))(t)
	before := client.Registered()
	client.Register(e)
	t.Cleanup(func() {
		client.Register(before)
		must.Do(t, e.Close())
	})
	return e
}

// Rows runs a table, which name stands for in an error.
func Rows(t *testing.T, name string, tab datasets.Table) *datasets.Frame {
	t.Helper()
	f, err := tab.Rows(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return f
}
