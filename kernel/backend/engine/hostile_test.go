package engine

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// TestHostilePlans: plans as no user writes them are errors of the user within a second.
func TestHostilePlans(t *testing.T) {
	_, tab := images(t, 2)
	source := must.Get(datasets.CSV(tab).Plan())(t)
	deep, wide := source, source
	for range 4500 {
		deep = &table.Plan{Op: "head", Args: json.RawMessage(`{"n":1}`), Inputs: []*table.Plan{deep}}
	}
	for range 40 { // 2⁴⁰ plans
		wide = &table.Plan{Op: "concat", Inputs: []*table.Plan{wide, wide}}
	}
	on := func(op, args string) *table.Plan {
		return &table.Plan{Op: op, Args: json.RawMessage(args), Inputs: []*table.Plan{source}}
	}
	e := newEngine(t)
	for want, plan := range map[string]*table.Plan{
		"more than 1000 operations": deep, "10000 in all": wide, "Head(-1)": on("head", `{"n":-1}`),
		"Sample(-3, …)": on("sample", `{"n":-3}`), `input of "head" is missing`: {Op: "head", Inputs: []*table.Plan{nil}},
	} {
		start := time.Now()
		_, err := e.Run(t.Context(), client.Request{Plan: plan}, nil)
		var coded *table.Error
		if !errors.As(err, &coded) || coded.Code != table.CodeUsage || !strings.Contains(err.Error(), want) ||
			time.Since(start) > time.Second {
			t.Errorf("%s: %v after %v", want, err, time.Since(start))
		}
	}
}

// TestZeroVectorsAreTold: a note says how many vectors of a table are all zeros.
func TestZeroVectorsAreTold(t *testing.T) {
	e := newEngine(t)
	tab := must.Write(t, filepath.Join(t.TempDir(), "v.csv"), "id,full\na,\"[0, 0]\"\nb,\"[0, 1]\"\nc,\n")
	res, err := run1(t, e, datasets.CSV(tab), client.Request{})
	if err != nil || !slices.ContainsFunc(res.Notes, func(n string) bool {
		return strings.HasPrefix(n, `v.csv: 1 of 3 vectors of the column "full" are all zeros`)
	}) {
		t.Errorf("notes %q, %v", res.Notes, err)
	}
}
