package commands

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/manifest"
	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// tableStep is one option of `antipode table` that makes a new table of the one before it.
type tableStep struct {
	flag, value string
	modifiers   map[string]string // flags after it that belong to it
}

// tableVerb is a flag of `antipode table`.
type tableVerb struct {
	name, about string
	modifiers   []string
	apply       func(c *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error)
}

var tableVerbs = []tableVerb{
	{"where", "keep rows: `'COLUMN OP VALUE'`, OP one of == != < <= > >= in contains, or 'COLUMN missing', " +
		"'COLUMN present'; a VALUE with spaces may be in double quotes; after in: A,B,…", nil,
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			return whereStep(t, s.value)
		}},
	{"select", "keep these columns, `A,B,…`, in that order", nil,
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			return t.Select(datasets.SplitColumns(s.value)...), nil
		}},
	{"rename", "rename column A to B: `A=B`", nil,
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			from, to, ok := strings.Cut(s.value, "=")
			if !ok {
				return t, usage("table: --rename %s: write A=B", s.value)
			}
			return t.Rename(from, to), nil
		}},
	{"with", "set a column to one value in every row: `COLUMN=VALUE`", nil,
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			column, value, ok := strings.Cut(s.value, "=")
			if !ok {
				return t, usage("table: --with %s: write COLUMN=VALUE", s.value)
			}
			x, err := (table.NumberFormat{}).ParseNumbers([]string{value})
			if err == nil && strings.TrimSpace(value) != "" {
				return t.With(column, x[0]), nil
			}
			return t.With(column, unquote(value)), nil
		}},
	{"sort", "sort by a `COLUMN`, smallest first (--as text: in the order of texts)", []string{"as"},
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			return t.Sort(s.value, datasets.SortOptions{As: table.Kind(s.modifiers["as"])}), nil
		}},
	{"sort-down", "sort by a `COLUMN`, largest first (--as text: in the order of texts)", []string{"as"},
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			return t.SortDown(s.value, datasets.SortOptions{As: table.Kind(s.modifiers["as"])}), nil
		}},
	{"head", "keep the first `N` rows", nil,
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			n, err := s.rows(0)
			return t.Head(n), err
		}},
	{"sample", "keep `N` random rows of every group (--by A,B,… --seed S)", []string{"by", "seed"},
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			n, err := s.rows(1)
			if err != nil {
				return t, err
			}
			var seed int64
			if text, given := s.modifiers["seed"]; given {
				if seed, err = s.integer("seed", text); err != nil {
					return t, err
				}
			}
			return t.Sample(n, s.modifiers["by"], seed), nil
		}},
	{"count", "count the rows of every group of the columns `A,B,…`", nil,
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			return t.Count(datasets.SplitColumns(s.value)...), nil
		}},
	{"unique", "keep one row for every combination of values in the columns `A,B,…`, and these columns", nil,
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			return t.Unique(datasets.SplitColumns(s.value)...), nil
		}},
	groupVerb("mean", datasets.Grouped.Mean), groupVerb("sum", datasets.Grouped.Sum),
	groupVerb("min", datasets.Grouped.Min), groupVerb("max", datasets.Grouped.Max),
	groupVerb("median", func(g datasets.Grouped, column string) datasets.Table { return g.Quantile(column, 0.5) }),
	{describeFlag, "describe the columns: values, missing and different ones, mean, deviation, quartiles", nil,
		func(_ *tableCommand, t datasets.Table, _ tableStep) (datasets.Table, error) { return t.Describe(), nil }},
	{"cast", "read a column as text or as numbers: `COLUMN=number`", nil,
		func(c *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			column, kind, ok := strings.Cut(s.value, "=")
			if !ok {
				return t, usage("table: --cast %s: write COLUMN=text or COLUMN=number", s.value)
			}
			return t.Cast(column, table.Kind(kind), table.NumberFormat{Decimal: c.read.Decimal,
				Thousands: c.read.Thousands}), nil
		}},
	{"join", "add the columns of another `TABLE` (--on COLUMN, else id; --suffix TEXT)", []string{"on", "suffix"},
		func(c *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			other, err := c.open(s.value, c.read)
			if err != nil {
				return t, err
			}
			on := cmp.Or(s.modifiers["on"], "id")
			return t.Join(other, on, datasets.JoinOptions{Suffix: s.modifiers["suffix"]}), nil
		}},
	{"concat", "append the rows of another `TABLE` (--by COLUMN: the names of the tables become a column, and part " +
		"of ids)",
		[]string{"by"}, func(c *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			other, err := c.open(s.value, c.read)
			if by := s.modifiers["by"]; by != "" && err == nil {
				one, two := baseName(c.in), baseName(s.value)
				again := table.Position(t.Columns(), by) >= 0 // of an earlier --concat
				if one == two && !again {
					one = c.in
				}
				if one == two || slices.Contains(c.named, two) {
					two = s.value
				}
				c.named = append(c.named, one, two)
				if again {
					return t.Concat(datasets.ConcatBy(by, map[string]datasets.Table{two: other})), nil
				}
				return datasets.ConcatBy(by, map[string]datasets.Table{one: t, two: other}), nil
			}
			return t.Concat(other), err
		}},
	{"grow-masks", "dilate the masks by so many `PIXELS`, or erode them by a negative number (--grow-masks=-3)", nil,
		func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			pixels, err := strconv.ParseFloat(s.value, 64)
			if err != nil {
				return t, usage("table: --grow-masks %s: not a number", s.value)
			}
			return t.GrowMasks(pixels), nil
		}},
	{"apply", "apply an operation of --list by its `NAME`; its options follow", nil,
		func(c *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) { return c.operation(t, s) }},
}

// describeFlag is the verb without a value.
const describeFlag = "describe"

// groupVerb returns the verb of a method of [datasets.Grouped].
func groupVerb(name string, of func(g datasets.Grouped, column string) datasets.Table) tableVerb {
	return tableVerb{name, name + " of a `COLUMN` of numbers in every group (--by A,B,…, else of all rows)",
		[]string{"by"}, func(_ *tableCommand, t datasets.Table, s tableStep) (datasets.Table, error) {
			return of(t.GroupBy(datasets.SplitColumns(s.modifiers["by"])...), s.value), nil
		}}
}

func (s tableStep) integer(name, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, usage("table: --%s %s: not an integer", name, text)
	}
	return n, nil
}

// rows returns the number of rows of a step, at least least.
func (s tableStep) rows(least int64) (int, error) {
	n, err := s.integer(s.flag, s.value)
	if err == nil && n < least {
		err = usage("table: --%s %d: use a number from %d", s.flag, n, least)
	}
	return int(n), err
}

// stepFlag appends a step to the command, or a modifier to its last step.
type stepFlag struct {
	c      *tableCommand
	name   string
	verb   bool // a step; false = a modifier
	toggle bool
}

func (f *stepFlag) String() string   { return "" }
func (f *stepFlag) IsBoolFlag() bool { return f.toggle }
func (f *stepFlag) Set(value string) error {
	if f.verb {
		f.c.steps = append(f.c.steps, tableStep{f.name, value, map[string]string{}})
		return nil
	}
	if len(f.c.steps) > 0 {
		if last := &f.c.steps[len(f.c.steps)-1]; slices.Contains(last.takes(), f.name) {
			last.modifiers[f.name] = value
			return nil
		}
	}
	return errors.New("the option before it does not take it")
}

// takes lists the modifiers of a step.
func (s *tableStep) takes() []string {
	if s.flag == "apply" {
		op := operation.Find(s.value)
		if op == nil {
			return nil
		}
		return operationModifiers(op)
	}
	at := slices.IndexFunc(tableVerbs, func(v tableVerb) bool { return v.name == s.flag })
	return tableVerbs[at].modifiers
}

// operationModifiers lists the flags of an operation's options, and of the tables it reads besides "in".
func operationModifiers(op *operation.Operation) []string {
	var names []string
	for _, o := range op.Options {
		names = append(names, o.Flag)
	}
	for _, in := range op.Inputs {
		if in.Role != "in" {
			names = append(names, roleFlag(in.Role))
		}
	}
	return names
}

// tableCommand is a call of `antipode table`.
type tableCommand struct {
	readFlags
	in      string
	steps   []tableStep
	named   []string // the tables that --concat --by named so far
	current bool     // there is a table that the next step changes

	open func(path string, o datasets.ImagesOptions) (datasets.Table, error)
}

// flags makes the flags of a call: those of the operations that it applies, too.
func (c *tableCommand) flags(s *stageFlags, args []string) (*flag.FlagSet, error) {
	fs := flags("table", "--in TABLE [--where 'COLUMN OP VALUE'] [--sample N --by A,B --seed S] [--apply NAME …] … "+
		"--out TABLE\n  Options apply in their order. Without --out, the result is printed.")
	fs.StringVar(&c.in, "in", "", "the `TABLE` to read: .csv, .parquet, a folder of images, or a name")
	fs.Bool("list", false, "list the operations of --apply")
	s.addOut(fs)
	for _, v := range tableVerbs {
		fs.Var(&stepFlag{c: c, name: v.name, verb: true, toggle: v.name == describeFlag}, v.name, v.about)
	}
	fs.Var(&stepFlag{c: c, name: "by"}, "by", "of --sample, --mean and so on: the `COLUMNS` that define the groups; "+
		"of --concat: the COLUMN of the tables' names")
	fs.Var(&stepFlag{c: c, name: "seed"}, "seed", "of --sample: the `SEED`; 0 by default")
	fs.Var(&stepFlag{c: c, name: "suffix"}, "suffix", "of --join: the `TEXT` that is appended to the names of "+
		"columns that "+
		"both tables have")
	fs.Var(&stepFlag{c: c, name: "as"}, "as", "of --sort: the `KIND` that values are compared as, text or number")
	fs.Var(&stepFlag{c: c, name: "on"}, "on", "of --join: the text `COLUMN` that both tables have")
	for i := range args {
		name := peek(args[i:min(i+2, len(args))], "apply")
		if name == "" {
			continue
		}
		op := operation.Find(name)
		if op == nil || op.Metric {
			return nil, noOperation(name, op)
		}
		for _, o := range op.Options {
			if fs.Lookup(o.Flag) == nil {
				fs.Var(&stepFlag{c: c, name: o.Flag, toggle: o.Type == "switch"}, o.Flag, "of "+op.Name+": "+o.Usage())
			}
		}
		for _, in := range op.Inputs {
			if flag := roleFlag(in.Role); fs.Lookup(flag) == nil {
				fs.Var(&stepFlag{c: c, name: flag}, flag, "of "+op.Name+": a `TABLE`: "+in.About)
			}
		}
	}
	c.addRead(fs)
	return fs, nil
}

func noOperation(name string, op *operation.Operation) error {
	if op != nil {
		return usage("%s is a metric: `antipode score --metric %s`", name, op.Name)
	}
	return usage("no table operation %q: `antipode table --list` lists them%s", name,
		table.Hint(name, operation.Names(false)))
}

// operation applies a defined operation; the table so far is its input "in".
func (c *tableCommand) operation(t datasets.Table, s tableStep) (datasets.Table, error) {
	op := operation.Find(s.value)
	if op == nil {
		return t, noOperation(s.value, nil)
	}
	if op.Input("in") == nil && c.current {
		return t, usage("table: %s does not read --in; it reads %s, and comes first", op.Name,
			"--"+strings.Join(operationModifiers(op)[len(op.Options):], " --"))
	}
	given := maps.Clone(s.modifiers)
	tables := map[string]datasets.Table{}
	for _, in := range op.Inputs {
		if in.Role == "in" {
			if !c.current {
				return t, usage("table: %s: give --in TABLE: %s", op.Name, in.About)
			}
			tables["in"] = t
			continue
		}
		path := given[roleFlag(in.Role)]
		delete(given, roleFlag(in.Role))
		switch {
		case path == "" && in.Optional:
		case path == "":
			return t, usage("table: %s: give --%s TABLE: %s", op.Name, roleFlag(in.Role), in.About)
		default:
			var err error
			if tables[in.Role], err = c.open(path, c.input(&in)); err != nil {
				return t, err
			}
		}
	}
	checked, err := op.Parse(given)
	if err != nil {
		return t, usage("%w", err)
	}
	return datasets.Apply(op, tables, checked), nil
}

// whereStep reads a condition. A value that is a number compares with number and text columns.
func whereStep(t datasets.Table, condition string) (datasets.Table, error) {
	condition = strings.TrimSpace(condition)
	column, rest, ok := strings.Cut(condition, " ")
	if strings.HasPrefix(condition, `"`) {
		if column, rest, ok = strings.Cut(condition[1:], `"`); !ok {
			return t, usage("table: --where %s: the quote is not closed", condition)
		}
	}
	op, value, hasValue := strings.Cut(strings.TrimSpace(rest), " ")
	value = strings.TrimSpace(value)
	if !ok || op == "" || !hasValue && op != "missing" && op != "present" {
		return t, usage("table: --where %s: write 'COLUMN OP VALUE'", condition)
	}
	if op == "in" {
		values := datasets.SplitColumns(value)
		return t.NeedValues(column, values).Where(column, op, values), nil
	}
	x, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsNaN(x) || op == "contains" {
		return t.Where(column, op, unquote(value)), nil
	}
	if checked := t.Where(column, op, value); checked.Err() != nil {
		return checked, nil
	}
	return datasets.Extend(t).Derive("where", datasets.WhereArgs{Column: column, Op: op, Text: []string{value},
		Number: &x}).Table, nil
}

// baseName returns the name of a table's file without its extension.
func baseName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// unquote removes double quotes around a value.
func unquote(s string) string {
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// tableHelp prints the operations, or the help of the operation or of the named table that the arguments name; done is
// false where they name none of these.
func tableHelp(args []string) (done bool, err error) {
	if slices.Contains(args, "--list") || slices.Contains(args, "-list") {
		for _, name := range operation.Names(false) {
			fmt.Printf("  %-24s %s\n", name, operation.Find(name).Title)
		}
		fmt.Println("\nInputs and options of an operation: antipode table --apply NAME --help\n" +
			"Columns and options of a named table: antipode table --in NAME --help; the names are " +
			strings.Join(manifest.Tables(), ", "))
		return true, nil
	}
	if !slices.ContainsFunc(args, isHelp) {
		return false, nil
	}
	if name := peek(args, "apply"); name != "" {
		op := operation.Find(name)
		if op == nil || op.Metric {
			return true, noOperation(name, op)
		}
		fs := flags("table", "--apply "+op.Name+" … --out TABLE", operationExamples("table --apply", op)...)
		addOperation(fs, op)
		_, err := parse(fs, []string{"--help"})
		return true, err
	}
	help, named := manifest.TableHelp(peek(args, "in"))
	fmt.Print(help)
	return named, nil
}

// tableOperations runs `antipode table`.
func tableOperations(ctx context.Context, args []string) error {
	if done, err := tableHelp(args); done {
		return err
	}
	var s stageFlags
	c := &tableCommand{open: func(path string, o datasets.ImagesOptions) (datasets.Table, error) {
		return s.open(ctx, path, o)
	}}
	fs, err := c.flags(&s, args)
	if err != nil {
		return err
	}
	if err := noArguments(fs, args); err != nil {
		return err
	}
	var t datasets.Table
	switch {
	case c.in != "":
		var in *operation.Input
		if len(c.steps) > 0 && c.steps[0].flag == "apply" {
			op := operation.Find(c.steps[0].value)
			if op == nil {
				return noOperation(c.steps[0].value, nil)
			}
			in = op.Input("in")
		}
		if t, err = c.open(c.in, c.input(in)); err != nil {
			return err
		}
		c.current = true
	case len(c.steps) == 0 || c.steps[0].flag != "apply":
		return usage("give --in TABLE; `antipode table --help` lists the options")
	}
	for _, step := range c.steps {
		at := slices.IndexFunc(tableVerbs, func(v tableVerb) bool { return v.name == step.flag })
		if t, err = tableVerbs[at].apply(c, t, step); err != nil {
			return err
		}
		if err := t.Err(); err != nil {
			return fmt.Errorf("table: --%s %s: %w", step.flag, step.value, err)
		}
		c.current = true
	}
	if s.out == "" {
		return s.print(ctx, t)
	}
	if err := s.outName(); err != nil {
		return err
	}
	s.all = true
	return s.save(ctx, t)
}
