package commands

import (
	"context"
	"errors"
	"flag"
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

// comparison is what the flags of compare say.
type comparison struct {
	own struct {
		A      string `json:"a" kind:"TABLE" help:"the TABLE of the first run"`
		B      string `json:"b" kind:"TABLE" help:"the TABLE of the second run, with the same columns"`
		Strict bool   `json:"strict" help:"exit status 3 for an undecided change, too: there are too few images"`
		Moved  int    `json:"moved" default:"5" none:"-1" help:"list so many of the N images that changed most, by --vector"`
		Vector string `json:"vector" kind:"COLUMN" help:"a vector COLUMN: what the metric reads, and by which images that changed are listed; default the first that both tables have"`
		Out    string `json:"out" kind:"FILE" help:"write the table to a FILE, too: .csv or .parquet"`
	}
	o      metrics.CompareOptions
	name   string          // of the metric; "" = an audit
	score  *operationFlags // of the metric, or of the audit
	main   string          // input of the metric that is the run
	tables map[string]datasets.Table
	runs   [2]datasets.Table
}

// compareRuns compares the scores of two tables, and fails where they got worse.
func compareRuns(ctx context.Context, args []string) error {
	c, err := parseComparison(args)
	if err != nil {
		return err
	}
	compared, err := c.table()
	if err != nil {
		return err
	}
	result, err := evaluated(ctx, compared)
	if err != nil {
		return err
	}
	fmt.Print(datasets.Format(result, 0))
	if c.own.Out != "" {
		if err := (&stageFlags{out: c.own.Out, all: true}).save(ctx, compared); err != nil {
			return err
		}
	}
	if c.own.Moved > 0 {
		var both [2]*table.Frame
		for i, t := range c.runs {
			if both[i], err = evaluated(ctx, t); err != nil {
				return err
			}
		}
		printMoved(both, c.o.On, c.own.Vector, c.own.Moved)
	}
	return gate(result.Texts("verdict"), c.own.Strict)
}

// parseComparison reads the flags.
func parseComparison(args []string) (*comparison, error) {
	c := &comparison{name: peek(args, "metric"), tables: map[string]datasets.Table{}}
	audit, err := findAudit(peek(args, "audit"))
	if err != nil {
		return nil, err
	}
	fs := flags("compare", "")
	fs.String("metric", "", "the `NAME` of the metric that scores both; with it --help prints its inputs and options")
	addOptions(fs, &c.o)
	addOwn(fs, &c.own)
	help := fs.Usage // without the metric's page
	if err := c.addScore(fs, audit); err != nil {
		return nil, err
	}
	fs.Usage = func() { help(); printAudits(); (&operationFlags{op: operation.Find("compare")}).results() }
	if err := noArguments(fs, args); err != nil {
		return nil, err
	}
	if c.own.Out != "" {
		if err := tableName(c.own.Out); err != nil {
			return nil, err
		}
	}
	if (c.o.Audit == "") == (c.name == "") {
		return nil, usage("give --metric NAME with its options, or --audit NAME")
	}
	if c.name == "" {
		if err := audit.complete(&c.o, *c.score.inputs["fixed1"]); err != nil {
			return nil, err
		}
	}
	for i, path := range []string{c.own.A, c.own.B} {
		if path == "" {
			return nil, usage("--%c TABLE is missing", 'a'+i)
		}
		if c.runs[i], err = openInput(path, c.score.read); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// addScore adds the flags of the metric or the audit.
func (c *comparison) addScore(fs *flag.FlagSet, audit *namedAudit) error {
	if c.name == "" {
		c.score = addOperation(fs, operation.Find("compare"), "a", "b")
		audit.addTo(fs, c.score)
		return nil
	}
	op, err := metricOf(c.name)
	if err != nil {
		return err
	}
	for _, role := range []string{"in", "generated"} {
		if op.Input(role) != nil {
			c.main = role
		}
	}
	if c.main == "" {
		return usage("compare: %s reads neither --in nor --gen: it does not score a table of images", c.name)
	}
	c.score = addOperation(fs, op, c.main)
	return nil
}

// table is the table of the comparison.
func (c *comparison) table() (compared datasets.Table, err error) {
	var checked operation.Checked
	if c.name == "" {
		checked, err = c.score.op.Check([]metrics.CompareOptions{c.o})
	} else {
		if c.own.Vector != "" && slices.ContainsFunc(c.score.op.Options, isVector) {
			c.score.given["vector"] = c.own.Vector
		}
		checked, err = c.score.op.Parse(c.score.given)
	}
	if err != nil {
		return compared, usage("%w", err)
	}
	if err := c.score.open(c.tables); err != nil {
		return compared, err
	}
	if c.name == "" {
		c.tables["a"], c.tables["b"] = c.runs[0], c.runs[1]
		return datasets.Apply(c.score.op, c.tables, checked), nil
	}
	return metrics.Compare(c.runs[0], c.runs[1], func(run datasets.Table) datasets.Table {
		c.tables[c.main] = run
		return datasets.Apply(c.score.op, c.tables, checked)
	}, c.o), nil
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
