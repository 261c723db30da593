package agreement

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics"
	"antipode/metrics/internal/tabular"
)

const (
	name       = "agreement"
	confidence = 0.95
)

func init() {
	metrics.Register(metrics.Metric{
		Info: metrics.Info{Name: name, Title: "how far annotators agree: percent agreement, Fleiss' kappa, Krippendorff's alpha", Unit: "share; chance-corrected",
			Range: "[0, 1]; [-1, 1]; (-∞, 1]", Direction: "higher is more agreement", Citation: "Fleiss, Psychological Bulletin 76, 1971; Krippendorff, Content Analysis, 2004"},
		Version: 1,
		Inputs:  []metrics.Input{{Role: "in", About: "one row for each rating, with a column that names the item and one that holds the label; an empty label is no rating"}},
		Options: []metrics.Option{
			{Name: "item", Default: "picture", About: "the column that names what was rated"},
			{Name: "label", Default: "label", About: "the column of the ratings, text or number"},
			{Name: "level", Default: string(Nominal), About: "what the labels mean, for alpha", Values: []string{string(Nominal), string(Ordinal), string(Interval)}},
			{Name: "order", Default: "", About: "the labels from low to high, comma-separated, for ordinal labels that are text"},
			{Name: "draws", Default: "1000", About: "bootstrap draws of items; 0 = no intervals"},
		},
		Columns: func(a metrics.Args) []client.ColumnSpec {
			var by []string
			for _, b := range a.By {
				by = append(by, "="+b)
			}
			return tabular.Specs(append(by, "percent", "percent_low", "percent_high", "kappa", "kappa_low", "kappa_high", "alpha", "alpha_low", "alpha_high",
				"n_items", "n_ratings", "n_left_out", "=level", "=interval")...)
		},
		Compute: compute,
	})
}

// Item names the column of what was rated; the default is picture.
func Item(column string) metrics.Setting { return tabular.Set("item", column) }

// AtLevel says what labels mean; the default is [Nominal]. order lists ordinal labels that are text from low to high.
func AtLevel(l Level, order ...string) metrics.Setting {
	return func(a *metrics.Args) {
		tabular.Set("level", string(l))(a)
		tabular.Set("order", strings.Join(order, ","))(a)
	}
}

// Draws is the number of bootstrap draws; the default is 1000, 0 = no intervals.
func Draws(n int) metrics.Setting { return tabular.Set("draws", strconv.Itoa(n)) }

// Table is the metric agreement: how far the labels in a column agree within items, one row for each group of [metrics.By].
func Table(ratings datasets.Table, label string, settings ...metrics.Setting) datasets.Table {
	settings = append([]metrics.Setting{tabular.Set("label", label)}, settings...)
	return tabular.Of(name, ratings, settings)
}

// group is the ratings of one line of the result.
type group struct {
	by    []string
	items map[string]int // place in counts
	list  Counts
}

func compute(_ context.Context, call metrics.Call) (*client.Frame, error) {
	draws, err := tabular.Count(call, "draws")
	if err != nil {
		return nil, err
	}
	level := Level(call.Options["level"])
	f := call.Inputs["in"]
	items, labels, values, err := read(f, call.Options["item"], call.Options["label"], call.Options["order"], level)
	if err != nil {
		return nil, err
	}
	groups := map[string]*group{}
	var order []*group
	for i, l := range labels {
		var by []string
		for _, b := range call.By {
			by = append(by, f.Texts(b)[i])
		}
		key := strings.Join(by, "\x00")
		g := groups[key]
		if g == nil {
			g = &group{by: by, items: map[string]int{}}
			groups[key] = g
			order = append(order, g)
		}
		at, known := g.items[items[i]]
		if !known {
			at = len(g.list)
			g.items[items[i]] = at
			g.list = append(g.list, make([]int, len(values)))
		}
		if l >= 0 {
			g.list[at][l]++
		}
	}
	slices.SortStableFunc(order, func(a, b *group) int { return slices.Compare(a.by, b.by) })
	interval := ""
	if draws > 0 {
		interval = "95 % bootstrap interval over items"
	}
	var rows [][]any
	var notes metrics.GroupNotes
	for _, g := range order {
		s, err := Of(g.list, level, values)
		if err != nil {
			return nil, err
		}
		percent, kappa, alpha, err := Bootstrap(g.list, level, values, draws, confidence, call.Seed, strings.Join(g.by, "\x00"))
		if err != nil {
			return nil, err
		}
		if math.IsNaN(s.Kappa) && !math.IsNaN(s.Alpha) {
			notes.Add("items have different numbers of ratings: Fleiss' kappa is not defined, alpha is", strings.Join(g.by, "/"))
		}
		var row []any
		for _, b := range g.by {
			row = append(row, b)
		}
		rows = append(rows, append(row, s.Percent, percent.Low, percent.High, s.Kappa, kappa.Low, kappa.High, s.Alpha, alpha.Low, alpha.High,
			s.Items, s.Ratings, len(g.list)-s.Items, string(level), interval))
	}
	notes.Tell(call)
	return tabular.Result(name, call, rows)
}

// read gives each row's item and the place of its label among the labels (−1 = no rating), and the labels' values in that order.
func read(f *client.Frame, item, label, order string, level Level) (items []string, places []int, values []float64, err error) {
	for _, name := range []string{item, label} {
		if c := f.Column(name); c == nil || c.Kind != client.Text && c.Kind != client.Number {
			return nil, nil, nil, fmt.Errorf("agreement: no text or number column %q; there are: %s", name, client.NameList(f.Specs()))
		}
	}
	items = texts(f, item)
	numbers := f.Numbers(label)
	if level == Interval && numbers == nil {
		return nil, nil, nil, fmt.Errorf("agreement: level interval needs numbers; the column %q holds text", label)
	}
	if numbers != nil {
		known := map[float64]bool{}
		for i, v := range numbers {
			if math.IsInf(v, 0) {
				return nil, nil, nil, client.BadRow{Row: i + 1, Column: label, Reason: "the label is infinite"}
			}
			if !math.IsNaN(v) && !known[v] {
				known[v] = true
				values = append(values, v)
			}
		}
		slices.Sort(values)
		for _, v := range numbers {
			place, found := slices.BinarySearch(values, v)
			if !found {
				place = -1
			}
			places = append(places, place)
		}
		return items, places, values, nil
	}
	var names []string
	if order != "" {
		names = strings.Split(order, ",")
	} else if level == Ordinal {
		return nil, nil, nil, fmt.Errorf("agreement: level ordinal needs the order of the labels: give order=LOW,…,HIGH")
	}
	for i, v := range f.Texts(label) {
		place := slices.Index(names, v)
		if place < 0 && v != "" {
			if order != "" {
				return nil, nil, nil, client.BadRow{Row: i + 1, Column: label, Reason: fmt.Sprintf("the label %q is not in order=%s", v, order)}
			}
			place = len(names)
			names = append(names, v)
		}
		places = append(places, place)
	}
	return items, places, make([]float64, len(names)), nil
}

// texts is a column as text.
func texts(f *client.Frame, name string) []string {
	if t := f.Texts(name); t != nil {
		return t
	}
	var out []string
	for _, v := range f.Numbers(name) {
		out = append(out, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return out
}
