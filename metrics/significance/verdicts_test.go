package significance

import (
	"math"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/metrics/internal/tabulartest"
)

func TestVerdicts(t *testing.T) {
	in := &table.Frame{Columns: []table.Column{
		table.TextColumn("language", []string{"a", "b", "c", "d", "e"}),
		table.NumberColumn("difference", []float64{-0.2, -0.2, -0.01, 0.3, math.NaN()}),
		table.NumberColumn("difference_low", []float64{-0.3, -0.3, -0.02, 0.2, math.NaN()}),
		table.NumberColumn("difference_high", []float64{-0.1, 0.1, -0.005, 0.4, math.NaN()}),
		table.NumberColumn("p", []float64{0.001, 0.2, 0.04, 0.06, math.NaN()}),
	}}
	injected := &table.Frame{Columns: []table.Column{table.TextColumn("language", []string{"a", "b", "a"})}}
	for name, test := range map[string]struct {
		options map[string]string
		want    []string
	}{
		"interval": {map[string]string{},
			[]string{"found", "missed", "flagged by mistake", "flagged by mistake", "not flagged"}},
		"below": {map[string]string{"side": "below"},
			[]string{"found", "missed", "flagged by mistake", "not flagged", "not flagged"}},
		"at least": {map[string]string{"side": "below", "at_least": "0.05"},
			[]string{"found", "missed", "not flagged", "not flagged", "not flagged"}},
		"p": {map[string]string{"p": "p"},
			[]string{"found", "missed", "flagged by mistake", "not flagged", "not flagged"}},
		"alpha": {map[string]string{"p": "p", "alpha": "0.5", "side": "above", "null": "0.1"},
			[]string{"missed", "missed", "not flagged", "flagged by mistake", "not flagged"}},
	} {
		test.options["on"] = "language"
		f, err := tabulartest.RunOn("verdicts", map[string]*table.Frame{"in": in, "injected": injected}, test.options)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := f.Texts("verdict"); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	_, err := tabulartest.RunOn("verdicts", map[string]*table.Frame{"in": in, "injected": injected},
		map[string]string{"on": "people"})
	if err == nil || !strings.Contains(err.Error(), `"people"`) {
		t.Errorf("a missing column: %v", err)
	}
}
