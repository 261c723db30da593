package representation

import (
	"testing"

	"antipode/datasets/table"
	"antipode/metrics/internal/tabulartest"
)

// evaluate computes an operation on two tables and checks the columns against the declared ones.
func evaluate(t *testing.T, name string, roles [2]string, a, b *table.Frame,
	options map[string]string) (*table.Frame, error) {
	t.Helper()
	return tabulartest.RunOn(name, map[string]*table.Frame{roles[0]: a, roles[1]: b}, options)
}
