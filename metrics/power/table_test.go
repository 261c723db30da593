package power

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
	"antipode/metrics/disparity"
	"antipode/metrics/internal/chain"
	"antipode/metrics/internal/tabulartest"
	"antipode/metrics/significance"
)

// poolOf has n images of each of three groups on each of two prompts; those of group "low" have a score that is
// lower by gap.
func poolOf(t *testing.T, n int, gap float64, stream uint64) *table.Frame {
	rng := near.Rand(t, stream)
	f := table.NewFrame(datasets.Columns("id:text", "group:text", "prompt:text", "score:number"))
	for i := range n {
		for _, group := range []string{"en", "same", "low"} {
			for _, prompt := range []string{"p", "q"} {
				score := rng.NormFloat64()
				if group == "low" {
					score -= gap
				}
				f.Add([]string{fmt.Sprint(group, prompt, i), group, prompt}, score)
			}
		}
	}
	return f
}

const test = "permutation-test value=score group=group against=en resamples=200"

func options(more ...string) map[string]string {
	o := map[string]string{"audit": test, "cells": "group,prompt", "sizes": "4,16", "resamples": "150",
		"subject": "group_a", "value": "difference", "p": "p"}
	for i := 0; i < len(more); i += 2 {
		o[more[i]] = more[i+1]
	}
	return o
}

// find returns the row of a subject at a size and share.
func find(t *testing.T, f *table.Frame, subject string, n, share float64) int {
	for i, s := range f.Texts("subject") {
		if s == subject && f.Numbers("n")[i] == n && f.Numbers("share")[i] == share {
			return i
		}
	}
	t.Fatalf("no row of %q", subject)
	return 0
}

// TestPowerSeesAGap: a gap of 1.2 standard deviations between 8 and 8, and 32 and 32: the t-test's power is 0.61 and
// 0.998, less after Holm's correction for two tests.
func TestPowerSeesAGap(t *testing.T) {
	f := tabulartest.Evaluate(t, "power", poolOf(t, 200, 1.2, 1), options("sign", "below", "name", "a gap"))
	few, many, same := find(t, f, "low", 4, 1), find(t, f, "low", 16, 1), find(t, f, "same", 16, 1)
	found := f.Numbers("found")
	if found[few] < 0.3 || found[few] > 0.75 || found[many] < 0.95 || found[same] > 0.09 ||
		f.Numbers("found_low")[many] > found[many] {
		t.Errorf("power %.2f with 8, %.2f with 32, false %.2f", found[few], found[many], found[same])
	}
	if e := f.Numbers("estimate"); math.Abs(e[many]+1.2) > 0.2 || f.Numbers("estimate_low")[many] >= e[many] ||
		f.Numbers("estimate_high")[many] <= e[many] {
		t.Errorf("estimate %g", e[many])
	}
	if f.Texts("audit")[0] != "a gap" || f.Texts("kind")[few] != "subject" || f.Numbers("n_rows")[few] != 24 ||
		f.Numbers("n_cells")[few] != 6 || f.Numbers("n_pool")[few] != 200 {
		t.Errorf("%v", f.Columns)
	}
	above := tabulartest.Evaluate(t, "power", poolOf(t, 200, 1.2, 1), options("sign", "above"))
	must.Equal(t, above.Numbers("found")[find(t, above, "low", 16, 1)], 0, "a gap below was found above in",
		"of the samples")
	far := tabulartest.Evaluate(t, "power", poolOf(t, 200, 1.2, 1), options("least", "5"))
	must.Equal(t, far.Numbers("found")[find(t, far, "low", 16, 1)], 0, "a gap of 1.2 was found to be at least 5 in",
		"of the samples")
}

// TestFalseAlarmsKeepTheirRate: two tests at 5 % after Holm's correction, in 600 samples of a pool without differences
// between groups; the pool is 25 times as large as a sample.
func TestFalseAlarmsKeepTheirRate(t *testing.T) {
	f := tabulartest.Evaluate(t, "power", poolOf(t, 400, 0, 2), options("sizes", "16", "resamples", "600"))
	if s := f.Numbers("found")[find(t, f, family, 16, 1)]; s > 0.09 || s < 0.01 {
		t.Errorf("%.3f of the samples have a finding", s)
	}
	loose := tabulartest.Evaluate(t, "power", poolOf(t, 400, 0, 2),
		options("sizes", "16", "resamples", "600", "correct", "none", "alpha", "0.5"))
	if s := loose.Numbers("found")[find(t, loose, family, 16, 1)]; s < 0.4 {
		t.Errorf("only %.3f of the samples have one of two findings at 50 %%", s)
	}
}

// TestSharesWeakenAGap: half of a pool whose group is lower by 2, and half of one without a gap, have a gap of 1.
func TestSharesWeakenAGap(t *testing.T) {
	injected := table.NewFrame(datasets.Columns("subject:text", "size:number"))
	injected.Add([]string{"low"}, -2)
	f := must.Get(tabulartest.RunOn("power", map[string]*table.Frame{"in": poolOf(t, 100, 2, 3),
		"other": poolOf(t, 100, 0, 4), "injected": injected}, options("shares", "0,0.5,1")))(t)
	for share, want := range map[float64]float64{0: 0, 0.5: -1, 1: -2} {
		i := find(t, f, "low", 16, share)
		must.Near(t, f.Numbers("estimate")[i], want, 0.25, "share", share)
		must.Equal(t, f.Texts("kind")[i], "injected", "share", share)
		must.Equal(t, f.Numbers("injected")[i], -2, "share", share)
	}
	must.Equal(t, f.Texts("kind")[find(t, f, "same", 16, 1)], "control", "kinds are wrong")
	must.Equal(t, f.Texts("kind")[find(t, f, family, 16, 1)], "family", "kinds are wrong")
	if s := f.Numbers("found")[find(t, f, family, 16, 1)]; s > 0.15 {
		t.Errorf("the group with the injected gap counts as a false alarm: %.2f", s)
	}
}

// TestFindings: a row for each sample and subject; power counts them.
func TestFindings(t *testing.T) {
	pool, o := poolOf(t, 60, 1, 9), options("sizes", "16", "resamples", "40")
	curve, findings := tabulartest.Evaluate(t, "power", pool, o), tabulartest.Evaluate(t, "power-findings", pool, o)
	if findings.Len() != 80 || findings.Numbers("resample")[79] != 40 {
		t.Fatalf("%d rows", findings.Len())
	}
	found, sum := 0.0, 0.0
	for i, s := range findings.Texts("subject") {
		if s != "low" {
			continue
		}
		sum += findings.Numbers("estimate")[i]
		is := findings.Texts("found")[i] == "yes"
		if is {
			found++
		}
		if p := findings.Numbers("p")[i]; is != (p <= 0.05) || p <= 0 ||
			!math.IsNaN(findings.Numbers("estimate_low")[i]) {
			t.Errorf("sample %d: found %v, p %g", i/2+1, is, p)
		}
	}
	at := find(t, curve, "low", 16, 1)
	must.Equal(t, found, curve.Numbers("n_found")[at])
	must.Near(t, sum/40, curve.Numbers("estimate")[at], 1e-12)
}

// TestNeeded: the smallest size from which on the power is reached, for each audit, subject and share.
func TestNeeded(t *testing.T) {
	f := table.NewFrame(datasets.Columns("audit:text", "kind:text", "subject:text", "share:number", "n:number",
		"found:number", "injected:number", "estimate:number", "n_rows:number"))
	add := func(kind, subject string, share, n, found float64) {
		f.Add([]string{"x", kind, subject}, share, n, found, -1, -n, 10*n)
	}
	for i, found := range []float64{0.85, 0.7, 0.9, 0.8} { // not from 2 on: 4 falls below
		add("injected", "V", 1, []float64{2, 4, 16, 8}[i], found)
	}
	add("injected", "V", 0.5, 2, 0.2)
	add("injected", "V", 0.5, 4, 0.79)
	add("control", "W", 1, 2, 1)
	add("family", "any", 1, 2, 1)
	got := tabulartest.Evaluate(t, "power-needed", f, nil)
	if got.Len() != 2 || got.Numbers("n")[0] != 8 || got.Numbers("n_rows")[0] != 80 ||
		got.Numbers("estimate")[0] != -16 || got.Numbers("n_largest")[0] != 16 || !math.IsNaN(got.Numbers("n")[1]) ||
		got.Numbers("share")[1] != 0.5 {
		t.Errorf("%+v", got.Columns)
	}
	must.Equal(t, tabulartest.Evaluate(t, "power-needed", f, map[string]string{"power": "0.75"}).Numbers("n")[1], 4)
	must.Fail(tabulartest.Run("power-needed", f, map[string]string{"power": "80"}))(t) // a power of 80
	must.Do(t, Needed(datasets.FromFrame(f), NeededOptions{Power: 0.9}).Err())
	add("injected", "X", 1, 2, math.NaN())
	must.True(t, math.IsNaN(tabulartest.Evaluate(t, "power-needed", f, nil).Numbers("n")[2]), "no share has a power")
	add("injected", "V", 0.5, 4, 0.9)
	must.Fail(tabulartest.Run("power-needed", f, nil))(t, "row 10", "give the audits names")
	add("injected", "W", math.NaN(), 2, 1)
	f = f.Pick([]int{0, 10})
	must.Fail(tabulartest.Run("power-needed", f, nil))(t, "row 2", "column share: it is blank")
}

// TestExchangedLabels: in a pool with a gap that is always found, permuted groups differ only by chance; values stay
// within their strata.
func TestExchangedLabels(t *testing.T) {
	pool := poolOf(t, 100, 3, 10)
	f := tabulartest.Evaluate(t, "power", pool, options("sizes", "16", "resamples", "400", "exchange", "group",
		"within", "prompt"))
	if s := f.Numbers("found")[find(t, f, family, 16, 1)]; s > 0.09 || s < 0.01 {
		t.Errorf("%.3f of the samples have a finding", s)
	}
	if e := f.Numbers("estimate")[find(t, f, "low", 16, 1)]; math.Abs(e) > 0.1 {
		t.Errorf("the permuted group is lower by %.2f", e)
	}
	mixed, err := exchanged(pool, "group", []string{"prompt", "score"}, 1)
	if err != nil || fmt.Sprint(mixed.Texts("group")) != fmt.Sprint(pool.Texts("group")) {
		t.Errorf("rows that are alone in their group have other values: %v", err)
	}
	mixed, err = exchanged(pool, "group", []string{"prompt"}, 1)
	if err != nil || fmt.Sprint(mixed.Texts("group")) == fmt.Sprint(pool.Texts("group")) ||
		pool.Texts("group")[0] != "en" {
		t.Errorf("no value is exchanged, or the pool is changed: %v", err)
	}
	counts := map[string]int{}
	for i, g := range mixed.Texts("group") {
		counts[g+mixed.Texts("prompt")[i]]++
	}
	if len(counts) != 6 || counts["lowp"] != 100 || counts["enq"] != 100 {
		t.Errorf("%v", counts)
	}
	for _, o := range []map[string]string{options("exchange", "nose"), options("exchange", "group", "within", "nose"),
		options("exchange", "group", "within", "group")} {
		if _, err := tabulartest.Run("power", pool, o); err == nil {
			t.Errorf("exchange=%s within=%s is no error", o["exchange"], o["within"])
		}
	}
}

// TestUnits: rows of a unit are sampled together.
func TestUnits(t *testing.T) {
	f := tabulartest.Evaluate(t, "power", poolOf(t, 3, 1, 5), options("cells", "group", "unit", "prompt", "sizes", "1",
		"resamples", "20"))
	i := find(t, f, "low", 1, 1)
	if f.Texts("unit")[i] != "prompt" || f.Numbers("n_rows")[i] != 9 || f.Numbers("n_pool")[i] != 2 {
		t.Errorf("%v of %v, %v in the pool", f.Numbers("n_rows")[i], f.Texts("unit")[i], f.Numbers("n_pool")[i])
	}
}

func TestErrors(t *testing.T) {
	pool := poolOf(t, 20, 0, 6)
	for want, o := range map[string]map[string]string{
		"cell group=en, prompt=p has 20 in the pool, and 21 are to be sampled": options("sizes", "21"),
		"audit is missing":             options("audit", ""),
		"no metric":                    options("audit", "permutation"),
		"is not option=value":          options("audit", "permutation-test value"),
		"no option \"vaule\"":          options("audit", "permutation-test vaule=score"),
		"no such column: \"effect\"":   options("value", "effect"),
		"two rows for \"independent\"": options("subject", "design"),
		"subject is missing":           options("subject", ""),
		"is not an integer":            options("sizes", "1.5"),
		"fixed1":                       options("audit", "region-gaps by=group", "sizes", "2"),
		"two rows for \"low\"":         options("audit", test+";"+test, "sizes", "2"),
		"no such column: \"people\"":   options("cells", "people"),
	} {
		must.Fail(tabulartest.Run("power", pool, o))(t, want)
	}
	injected := table.NewFrame(datasets.Columns("subject:text", "size:number"))
	injected.Add([]string{"lwo"}, -2)
	must.Fail(tabulartest.RunOn("power", map[string]*table.Frame{"in": pool, "injected": injected},
		options("sizes", "2", "resamples", "3")))(t, `no row for "lwo"; it has: low; same`)
}

// TestCurve: the parts of the audit that do not depend on the pool become inputs, each once; the rest reads the pool.
func TestCurve(t *testing.T) {
	photos := datasets.FromRows([]map[string]any{{"id": "a", "region": "V", "full": []float32{1}}})
	pool := datasets.FromRows([]map[string]any{{"id": "b", "region": "V", "full": []float32{1}}})
	curve := Curve(Pools{Pool: pool}, func(pool datasets.Table) datasets.Table {
		sets := metrics.Sets{Real: photos.Where("id", "!=", ""), Generated: pool.Where("region", "==", "V")}
		return disparity.Gaps(sets, disparity.GapsOptions{By: metrics.By("region")}).
			Concat(disparity.Gaps(sets, disparity.GapsOptions{By: metrics.By("region"), Vector: "other"}))
	}, Options{Cells: []string{"region"}, Sizes: []int{1, 2}, Shares: []float64{0.5, 1}, Resamples: 3,
		Subject: []string{"region", "vector"}, Value: "gap", Sign: "below", Null: 0.5, Least: 0.1, Alpha: 0.01, P: "p",
		Correct: "bh", Unit: "id", Name: "x"})
	plan := must.Get(curve.Plan())(t)
	var args operation.Args
	must.Do(t, json.Unmarshal(plan.Args, &args))
	var o Options
	must.Do(t, json.Unmarshal(args.Options, &o))
	if strings.Join(args.Roles, " ") != "in fixed1" || len(plan.Inputs) != 2 || plan.Inputs[0].Op != "rows" ||
		plan.Inputs[1].Op != "where" {
		t.Errorf("%v, %+v", args.Roles, plan.Inputs)
	}
	if fmt.Sprintln(o.Cells, o.Sizes, o.Shares, o.Resamples, o.Subject, o.Value, o.Sign, o.Null, o.Least, o.Alpha, o.P,
		o.Correct, o.Unit, o.Name) != "[region] [1 2] [0.5 1] 3 [region vector] gap below 0.5 0.1 0.01 p bh id x\n" {
		t.Errorf("options %+v", o)
	}
	inner, err := chain.Compile(o.Audit, 1)
	if err != nil || inner.Op != "concat" || string(inner.Inputs[0].Inputs[0].Args) != "1" ||
		inner.Inputs[0].Inputs[1].Op != "where" || string(inner.Inputs[0].Inputs[1].Inputs[0].Args) != "0" {
		t.Errorf("%s, %v", o.Audit, err)
	}
	if other := Curve(Pools{Pool: pool}, func(datasets.Table) datasets.Table { return photos }); other.Err() == nil ||
		!strings.Contains(other.Err().Error(), "does not read the pool") {
		t.Errorf("%v", other.Err())
	}
	if other := Curve(Pools{Pool: pool},
		func(p datasets.Table) datasets.Table { return p.Select("nose") }); other.Err() == nil ||
		!strings.Contains(other.Err().Error(), "nose") {
		t.Errorf("%v", other.Err())
	}
}

// TestCurveIsTheChain: the audit as a function, with verbs of tables, and as text have the same result; a subject that
// has no row in the larger samples counts as not found there.
func TestCurveIsTheChain(t *testing.T) {
	frame := poolOf(t, 20, 1, 7)
	evaluate := func(below float64, sizes ...int) *table.Frame {
		curve := Curve(Pools{Pool: datasets.FromFrame(frame)}, func(pool datasets.Table) datasets.Table {
			return significance.PermutationTest(pool.Head(1000), significance.TestOptions{Value: "score",
				Against: "en", Resamples: 200}).Where("difference", "<", below)
		}, Options{Cells: []string{"group", "prompt"}, Sizes: sizes, Resamples: 20, Subject: []string{"group_a"},
			Value: "difference", P: "p", Seed: 1})
		plan := must.Get(curve.Plan())(t)
		plan.Inputs = []*table.Plan{operation.InputPlan(0)}
		return must.Get(new(operation.Call).Evaluate(t.Context(), plan, frame))(t)
	}
	some := evaluate(-1.9, 1, 16)
	large := find(t, some, "low", 16, 1)
	must.Equal(t, fmt.Sprint(some.Numbers("found")[large], some.Numbers("estimate")[large]), "0 NaN", "of 16")
	got := evaluate(100, 4)
	want := tabulartest.Evaluate(t, "power", frame, options("sizes", "4", "resamples", "20"))
	near.Check(t, "found", got.Numbers("found"), want.Numbers("found"), 0, 0)
	near.Check(t, "estimate", got.Numbers("estimate")[:2], want.Numbers("estimate")[:2], 0, 0)
}

// TestNotesAreReportedOnce: a note of many samples is reported once, with their number.
func TestNotesAreReportedOnce(t *testing.T) {
	var n notes
	for i := range 9 {
		n.add("note %c of %d", "abcde"[min(i, 4)], max(i, 7))
	}
	var reported []string
	n.report(&metrics.Call{Note: func(format string,
		args ...any) {
		reported = append(reported, fmt.Sprintf(format, args...))
	}})
	if len(reported) != 4 || reported[0] != "in 5 audits of samples, for example: note e of 7" ||
		reported[1] != "in 1 audits of samples: note a of 7" || reported[3] != "and 2 more notes of the audit" {
		t.Errorf("%q", reported)
	}
}
