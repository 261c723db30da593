package significance

import (
	"math"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
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
		must.EqualSlices(t, f.Texts("verdict"), test.want, name)
	}
	in.Columns[0].Texts[4] = "a" // two rows of a subject have no interval
	for _, test := range []struct {
		options map[string]string
		want    []string
	}{
		{map[string]string{}, []string{"found", "undecided", "found", "found", "undecided"}},
		{map[string]string{"side": "below", "at_least": "0.05"},
			[]string{"found", "undecided", "not found", "not found", "undecided"}},
		{map[string]string{"p": "p", "at_least": "0.05"},
			[]string{"found", "undecided", "not found", "undecided", "undecided"}},
	} {
		test.options["on"] = "language"
		f := must.Get(tabulartest.RunOn("verdicts", map[string]*table.Frame{"in": in}, test.options))(t)
		must.EqualSlices(t, f.Texts("verdict"), test.want, test.options)
	}
	for want, o := range map[string]VerdictOptions{
		"found = gap differs from 0 and its interval excludes 0;": {Estimate: "gap", Side: "either"},
		"found = d is at least 0.05 below 0 and p_holm is at most 0.05;": {Estimate: "d", Side: "below",
			AtLeast: 0.05, P: "p_holm", Alpha: 0.05},
	} {
		if got := o.rule(); !strings.Contains(got, want) {
			t.Errorf("%q has no %q", got, want)
		}
	}
	for want, intervals := range map[string]*table.Frame{`"difference_low"`: injected,
		`no such column: "language"`: {Columns: in.Columns[1:]}} {
		must.Fail(tabulartest.RunOn("verdicts", map[string]*table.Frame{"in": in, "intervals": intervals},
			map[string]string{"on": "language"}))(t, want)
	}
	must.Fail(tabulartest.RunOn("verdicts", map[string]*table.Frame{"in": in, "injected": injected},
		map[string]string{"on": "people"}))(t, `"people"`) // a missing column
}
