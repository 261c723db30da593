package commands

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/interval"
)

const (
	exitDifferent = 3 // the tables that were compared differ
	diffArgs      = "A B [--on COLUMNS]"
)

// diff compares two tables row by row.
func diff(ctx context.Context, args []string) error {
	var on, root string
	fs := flags("diff", "")
	fs.StringVar(&on, "on", "", "the columns `A,B` that identify a row in both; default prompt_id,seed, else id, else "+
		"all texts that both have")
	fs.StringVar(&root, "root", "", "a parent `DIR` that images may be in")
	rest, err := parseN(fs, args, 2, "antipode diff "+diffArgs)
	if err != nil {
		return err
	}
	var both [2]*table.Frame
	for i, path := range rest {
		if both[i], err = rows(ctx, path, root); err != nil {
			return err
		}
	}
	pairs, by, err := table.Match(both[0], both[1], datasets.SplitColumns(on))
	if err != nil {
		return err
	}
	found := different(both[0], both[1], pairs, by)
	fmt.Println(found.summary)
	if found.columns.Len() > 0 {
		fmt.Print(datasets.Format(found.columns, 0))
	}
	if found.equal {
		return nil
	}
	return exitError{errors.New("the tables differ"), exitDifferent}
}

// difference is what [diff] finds.
type difference struct {
	equal   bool
	summary string
	columns *table.Frame // a row for each column with differences
}

// different compares the columns of rows that both tables have: texts, numbers and vectors by value, images by the
// SHA-256 of their files, masks by their runs. Of the rows with a number in both it says how far the mean moved, with
// Student's interval of the paired differences.
func different(a, b *table.Frame, pairs [][2]int, by []string) difference {
	var shared [][2]int
	var alone [2][]int
	for _, p := range pairs {
		switch {
		case p[1] < 0:
			alone[0] = append(alone[0], p[0])
		case p[0] < 0:
			alone[1] = append(alone[1], p[1])
		default:
			shared = append(shared, p)
		}
	}
	out := difference{equal: len(shared) == len(pairs)}
	out.summary = fmt.Sprintf("%d rows in both, by %s; %d only in the first%s, %d only in the second%s", len(shared),
		strings.Join(by, " and "), len(alone[0]), firstRows(a, by, alone[0]), len(alone[1]), firstRows(b, by, alone[1]))
	out.columns = table.NewFrame(datasets.Columns("column:text", "differ:number", "rows:number", "mean_change:number",
		"mean_change_low:number", "mean_change_high:number", "largest_change:number"))
	for i := range a.Columns {
		x := &a.Columns[i]
		y := b.Column(x.Name)
		if y == nil || y.Kind != x.Kind {
			out.equal = false
			if out.summary += fmt.Sprintf("; column %s only in the first", x.Name); y != nil {
				out.summary += fmt.Sprintf(" as %s, in the second as %s", x.Kind, y.Kind)
			}
			continue
		}
		n, number := 0, x.Kind == table.KindNumber
		var changes []float64 // where both have a number
		for _, p := range shared {
			if d := y.Value(p[1]).Number - x.Value(p[0]).Number; number && !math.IsNaN(d) {
				changes = append(changes, d)
			}
			if !table.Same(x, p[0], y, p[1]) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		out.equal = false
		change := [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
		if k := float64(len(changes)); k > 0 {
			mean, sd := stat.MeanStdDev(changes, nil)
			change[0], change[3] = mean, max(slices.Max(changes), -slices.Min(changes))
			if k > 1 {
				half := interval.Student(0.95, k-1) * sd / math.Sqrt(k)
				change[1], change[2] = mean-half, mean+half
			}
		}
		out.columns.Add([]string{x.Name}, append([]float64{float64(n), float64(len(shared))}, change[:]...)...)
	}
	for i := range b.Columns {
		if name := b.Columns[i].Name; !a.Has(name) {
			out.equal = false
			out.summary += fmt.Sprintf("; column %s only in the second", name)
		}
	}
	return out
}

// firstRows names the first three of some rows.
func firstRows(f *table.Frame, by []string, rows []int) string {
	if len(rows) == 0 {
		return ""
	}
	var names []string
	for _, row := range rows[:min(3, len(rows))] {
		var cells []string
		for _, name := range by {
			cells = append(cells, f.Column(name).Cell(row))
		}
		names = append(names, strings.Join(cells, ", "))
	}
	if len(rows) > 3 {
		names = append(names, "…")
	}
	return " (" + strings.Join(names, "; ") + ")"
}
