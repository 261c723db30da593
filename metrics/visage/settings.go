package visage

import (
	"fmt"
	"net/url"
	"sort"
	"strconv"
	"strings"

	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

// Settings is what every table of this package says in its last column about how it was made: metric/version, seed, and each option that is not the default; what
// a table saved as CSV or Markdown needs to be made again. [ParseSettings] reads it.
func Settings(metric string, call metrics.Call) string {
	m, err := metrics.Find(metric)
	if err != nil {
		return metric
	}
	var given []string
	for _, o := range m.Options {
		if v, has := call.Options[o.Name]; has && v != o.Default {
			given = append(given, o.Name+"="+url.QueryEscape(v))
		}
	}
	sort.Strings(given)
	return strings.Join(append([]string{fmt.Sprintf("%s/%d", metric, m.Version), fmt.Sprintf("seed=%d", call.Seed)}, given...), " ")
}

// ParseSettings reads what [Settings] wrote: the arguments that make the table again. Settings of another version of the metric are an error, as defaults may have changed.
func ParseSettings(text string) (metrics.Args, error) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return metrics.Args{}, fmt.Errorf("visage: there are no settings in %q", text)
	}
	name, version, _ := strings.Cut(fields[0], "/")
	m, err := metrics.Find(name)
	if err != nil {
		return metrics.Args{}, err
	}
	if version != strconv.Itoa(m.Version) {
		return metrics.Args{}, fmt.Errorf("visage: settings of %s version %s; this program has version %d", name, version, m.Version)
	}
	a := metrics.Args{Metric: name, Version: m.Version, Options: map[string]string{}}
	for _, f := range fields[1:] {
		option, value, ok := strings.Cut(f, "=")
		if ok {
			value, err = url.QueryUnescape(value)
		}
		if !ok || err != nil {
			return a, fmt.Errorf("visage: %q in the settings is not NAME=VALUE", f)
		}
		if option != "seed" {
			a.Options[option] = value
		} else if a.Seed, err = strconv.ParseInt(value, 10, 64); err != nil {
			return a, fmt.Errorf("visage: the seed %q is not a whole number", value)
		}
	}
	return a, nil
}

// fixed is a metric's Columns where they do not depend on its arguments, the settings' after them.
func fixed(names ...string) func(metrics.Args) []client.ColumnSpec {
	return tabular.Fixed(append(append([]string(nil), names...), "=settings")...)
}

// result puts a metric's rows, each with the settings, into its columns.
func result(metric string, call metrics.Call, rows [][]any) (*client.Frame, error) {
	settings := Settings(metric, call)
	for i := range rows {
		rows[i] = append(rows[i], settings)
	}
	return tabular.Result(metric, call, rows)
}
