package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/kernel/view"
	"antipode/metrics"
	"antipode/metrics/interval"
)

const (
	exitRegression = 3 // compare found one
	compareArgs    = "--a TABLE --b TABLE {--metric NAME … | --audit NAME} --margin X [--by COLUMN] [--strict]"
)

// compareRuns compares the scores of two tables, and fails where they got worse.
func compareRuns(ctx context.Context, args []string) error {
	var o metrics.CompareOptions
	var paths [2]string
	var vector, out string
	var most int
	var strict bool
	name := peek(args, "metric")
	audit, err := findAudit(peek(args, "audit"))
	if err != nil {
		return err
	}
	fs := flags("compare", "")
	fs.StringVar(&paths[0], "a", "", "the `TABLE` of the first run")
	fs.StringVar(&paths[1], "b", "", "the `TABLE` of the second run, with the same columns")
	fs.String("metric", "", "the `NAME` of the metric that scores both; with it --help prints its inputs and options")
	addOptions(fs, &o)
	fs.BoolVar(&strict, "strict", false, "exit status 3 for an undecided change, too: there are too few images")
	fs.IntVar(&most, "moved", 5, "list so many of the `N` images that changed most, by --vector; 0 = none")
	fs.StringVar(&vector, "vector", "", "a vector `COLUMN`: what the metric reads, and by which images that changed "+
		"are listed; default the first that both tables have")
	fs.StringVar(&out, "out", "", "write the table to a `FILE`, too: .csv or .parquet")
	help, itself := fs.Usage, operation.Find("compare")
	var score *operationFlags
	main, tables := "", map[string]datasets.Table{}
	if name != "" {
		op, err := metricOf(name)
		if err != nil {
			return err
		}
		for _, role := range []string{"in", "generated"} {
			if op.Input(role) != nil {
				main = role
			}
		}
		if main == "" {
			return usage("compare: %s reads neither --in nor --gen: it does not score a table of images", name)
		}
		score = addOperation(fs, op, main)
	} else {
		score = addOperation(fs, itself, "a", "b")
		audit.addTo(fs, score)
	}
	fs.Usage = func() { help(); printAudits(); (&operationFlags{op: itself}).results() }
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if out != "" {
		if err := tableName(out); err != nil {
			return err
		}
	}
	if (o.Audit == "") == (name == "") {
		return usage("give --metric NAME with its options, or --audit NAME")
	}
	if name == "" {
		if err := audit.complete(&o, *score.inputs["fixed1"]); err != nil {
			return err
		}
	}
	var runs [2]datasets.Table
	for i, flag := range []string{"a", "b"} {
		if paths[i] == "" {
			return usage("--%s TABLE is missing", flag)
		}
		if runs[i], err = openInput(paths[i], score.read); err != nil {
			return err
		}
	}
	if vector != "" && name != "" && slices.ContainsFunc(score.op.Options, isVector) {
		score.given["vector"] = vector
	}
	var compared datasets.Table
	parse := func() (operation.Checked, error) { return score.op.Parse(score.given) }
	if o.Audit != "" {
		parse = func() (operation.Checked, error) { return score.op.Check([]metrics.CompareOptions{o}) }
	}
	checked, err := parse()
	if err != nil {
		return usage("%w", err)
	}
	if err := score.open(tables); err != nil {
		return err
	}
	if o.Audit != "" {
		tables["a"], tables["b"] = runs[0], runs[1]
		compared = datasets.Apply(score.op, tables, checked)
	} else {
		compared = metrics.Compare(runs[0], runs[1], func(run datasets.Table) datasets.Table {
			tables[main] = run
			return datasets.Apply(score.op, tables, checked)
		}, o)
	}
	result, err := evaluated(ctx, compared)
	if err != nil {
		return err
	}
	fmt.Print(datasets.Format(result, 0))
	if out != "" {
		if err := (&stageFlags{out: out, all: true}).save(ctx, compared); err != nil {
			return err
		}
	}
	if most > 0 {
		var both [2]*table.Frame
		for i, t := range runs {
			if both[i], err = evaluated(ctx, t); err != nil {
				return err
			}
		}
		printMoved(both, o.On, vector, most)
	}
	return gate(result.Texts("verdict"), strict)
}

func isVector(o operation.Option) bool { return o.Name == "vector" }

// printMoved prints the images of both tables whose vectors are farthest apart.
func printMoved(both [2]*table.Frame, on []string, vector string, n int) {
	moved, err := view.Moved(both[0], both[1], on, vector, n)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "the images that changed most are not listed: "+oneLine(err))
	case moved.Len() > 0:
		fmt.Printf("\nImages that changed most:\n%s", datasets.Format(moved, 0))
	}
}

// gate returns the error of the verdicts.
func gate(verdicts []string, strict bool) error {
	worse, undecided := 0, 0
	for _, v := range verdicts {
		switch v {
		case metrics.Regression:
			worse++
		case interval.Undecided:
			undecided++
		}
	}
	text := fmt.Sprintf("%d of %d scores got worse beyond the margin, %d undecided", worse, len(verdicts), undecided)
	if worse > 0 || strict && undecided > 0 {
		return exitError{errors.New(text), exitRegression}
	}
	fmt.Println(text)
	return nil
}
