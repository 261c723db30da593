// Package tabular is what the table forms of annotation metrics share: declared columns, rows put into them, percentile
// intervals, and options that are numbers.
package tabular

import (
	"fmt"
	"math"
	"sort"
	"strconv"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
)

// Specs makes columns from names: number columns, text columns where the name starts with "=".
func Specs(names ...string) []client.ColumnSpec {
	specs := make([]client.ColumnSpec, len(names))
	for i, n := range names {
		specs[i] = client.ColumnSpec{Name: n, Kind: client.Number}
		if n[0] == '=' {
			specs[i] = client.ColumnSpec{Name: n[1:], Kind: client.Text}
		}
	}
	return specs
}

// Fixed is a metric's Columns where they do not depend on its arguments; see [Specs].
func Fixed(names ...string) func(metrics.Args) []client.ColumnSpec {
	return func(metrics.Args) []client.ColumnSpec { return Specs(names...) }
}

// Frame puts rows into columns: row[i] belongs to specs[i]; text columns take a string, number columns an int or float64. A value of
// another type is an error that names row and column.
func Frame(specs []client.ColumnSpec, rows [][]any) (*client.Frame, error) {
	f := &client.Frame{Columns: make([]client.Column, len(specs))}
	for i, spec := range specs {
		c := client.Column{ColumnSpec: spec}
		for r, row := range rows {
			if len(row) != len(specs) {
				return nil, fmt.Errorf("row %d has %d values for %d columns", r+1, len(row), len(specs))
			}
			switch v := row[i].(type) {
			case string:
				c.Texts = append(c.Texts, v)
			case int:
				c.Numbers = append(c.Numbers, float64(v))
			case float64:
				c.Numbers = append(c.Numbers, v)
			}
			if c.Len() != r+1 {
				return nil, fmt.Errorf("row %d, column %s: %v (%T) is not %s", r+1, spec.Name, row[i], row[i], spec.Kind)
			}
		}
		f.Columns[i] = c
	}
	return f, nil
}

// Result puts a metric's rows into the columns it declares for the call.
func Result(metric string, call metrics.Call, rows [][]any) (*client.Frame, error) {
	m, err := metrics.Find(metric)
	if err != nil {
		return nil, err
	}
	return Frame(m.Columns(metrics.Args{By: call.By, Options: call.Options}), rows)
}

// Percentiles is the percentile interval of a score's draws (linear between order statistics, numpy's default), which it sorts. Draws may hold
// +Inf: an end that falls on it is NaN, no end. Without draws both are NaN.
func Percentiles(draws []float64, level float64) (low, high float64) {
	sort.Float64s(draws)
	return Quantile(draws, (1-level)/2), Quantile(draws, (1+level)/2)
}

// Quantile is the p-quantile of ascending values; NaN where it is infinite or there are none.
func Quantile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := p * float64(len(sorted)-1)
	i := int(at)
	q := sorted[i]
	if i+1 < len(sorted) && at > float64(i) {
		q += (at - float64(i)) * (sorted[i+1] - sorted[i])
	}
	if math.IsInf(q, 0) {
		return math.NaN()
	}
	return q
}

// Number reads an option that is a finite number.
func Number(call metrics.Call, name string) (float64, error) {
	x, err := strconv.ParseFloat(call.Options[name], 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("option %s=%q is not a number", name, call.Options[name])
	}
	return x, nil
}

// Count reads an option that is a whole number from 0 up.
func Count(call metrics.Call, name string) (int, error) {
	n, err := strconv.Atoi(call.Options[name])
	if err != nil || n < 0 {
		return 0, fmt.Errorf("option %s=%q is not a whole number from 0 up", name, call.Options[name])
	}
	return n, nil
}

// Set makes a setting of an option.
func Set(option, value string) metrics.Setting {
	return func(a *metrics.Args) {
		if a.Options == nil {
			a.Options = map[string]string{}
		}
		a.Options[option] = value
	}
}

// Table is the table of a metric that reads tables by role, with settings applied and named after the metric.
func Table(metric string, inputs map[string]datasets.Table, settings []metrics.Setting) datasets.Table {
	return metrics.Score(Args(metric, settings), inputs).Named(metric)
}

// Of is [Table] for a metric that reads one table, "in".
func Of(metric string, in datasets.Table, settings []metrics.Setting) datasets.Table {
	return Table(metric, map[string]datasets.Table{"in": in}, settings)
}

// Args are the arguments of a metric with settings applied.
func Args(metric string, settings []metrics.Setting) metrics.Args {
	a := metrics.Args{Metric: metric, Options: map[string]string{}}
	for _, s := range settings {
		s(&a)
	}
	return a
}
