package commands

import (
	_ "embed" // the Go calls
	"flag"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
)

// goCalls has a line for each metric: its name, the package, and the call in Go.
//
//go:embed gocalls.txt
var goCalls string

// goCall returns the lines of a metric's help on its call in Go, "" for another operation.
func goCall(name string) string {
	for line := range strings.Lines(goCalls) {
		if fields := strings.Split(strings.TrimSpace(line), "\t"); fields[0] == name {
			return fmt.Sprintf("In Go (import %q):\n  %s\n\n", "antipode/"+fields[1], fields[2])
		}
	}
	return ""
}

// operationFlags are the flags of a metric or table operation.
type operationFlags struct {
	readFlags
	op     *operation.Operation
	inputs map[string]*string
	given  map[string]string
}

// addOperation adds the flags of an operation, without inputs that are given otherwise, and to the help the columns of
// its result.
func addOperation(fs *flag.FlagSet, op *operation.Operation, without ...string) *operationFlags {
	o := &operationFlags{op: op, inputs: map[string]*string{}, given: map[string]string{}}
	for _, in := range op.Inputs {
		if slices.Contains(without, in.Role) {
			continue
		}
		about := "a `TABLE`: " + in.About
		if len(in.Columns) > 0 {
			about += " (columns " + table.NameList(in.Columns) + ")"
		}
		if in.Optional {
			about += "; optional"
		}
		o.inputs[in.Role] = fs.String(roleFlag(in.Role), "", about)
	}
	known := func(o operation.Option) bool { return fs.Lookup(o.Flag) != nil }
	addFlags(fs, slices.DeleteFunc(slices.Clone(op.Options), known),
		func(flag, text string) error { o.given[flag] = text; return nil })
	o.addRead(fs)
	options := fs.Usage
	fs.Usage = func() {
		fmt.Printf("%s: %s\n\n%s", op.Name, op.Title, goCall(op.Name))
		options()
		o.results()
	}
	return o
}

// operationExamples returns calls of a command with an operation: by default options, and by group into a pipe.
func operationExamples(command string, op *operation.Operation) []string {
	line := "antipode " + command + " " + op.Name
	for _, in := range op.Inputs {
		if !in.Optional {
			line += fmt.Sprintf(" --%s %[1]s.parquet", roleFlag(in.Role))
		}
	}
	for _, o := range op.Options {
		if o.Required {
			line += fmt.Sprintf(" --%s %s", o.Flag, kinds[o.Type])
		}
	}
	lines := []string{line, line + " --out result.csv"}
	if slices.ContainsFunc(op.Options, func(o operation.Option) bool { return o.Flag == "by" && !o.Required }) {
		lines[1] = line + " --by region --out result.csv"
	}
	return append(lines, line+" --out - | head")
}

// results prints the columns of the result.
func (o *operationFlags) results() {
	fmt.Println("\nColumns of the result:")
	if o.op.Results == nil {
		if checked, err := o.op.Parse(nil); err == nil {
			if specs, known := checked.Columns(); known {
				fmt.Printf("  %s\n", table.NameList(specs))
				return
			}
		}
		fmt.Println("  depend on the input and the options")
		return
	}
	for _, r := range o.op.Results {
		var parts []string
		for _, part := range []string{r.Help, r.Unit, r.Range} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		fmt.Println(strings.TrimRight(fmt.Sprintf("  %-24s %s", r.Name, strings.Join(parts, "; ")), " "))
	}
}

// table returns the operation's result for the tables and options of the command line.
func (o *operationFlags) table() (datasets.Table, error) {
	checked, err := o.op.Parse(o.given)
	if err != nil {
		return datasets.Table{}, usage("%w", err)
	}
	tables := map[string]datasets.Table{}
	if err := o.open(tables); err != nil {
		return datasets.Table{}, err
	}
	return datasets.Apply(o.op, tables, checked), nil
}

// open opens the tables of the inputs that have flags.
func (o *operationFlags) open(tables map[string]datasets.Table) (err error) {
	for _, in := range o.op.Inputs {
		path := o.inputs[in.Role]
		switch {
		case path == nil || *path == "" && in.Optional:
			continue
		case *path == "":
			return usage("%s: give --%s TABLE: %s", o.op.Name, roleFlag(in.Role), in.About)
		}
		if tables[in.Role], err = openInput(*path, o.input(&in)); err != nil {
			return err
		}
	}
	return nil
}

// scoreDefined runs `antipode score` for a metric that is defined by types.
func scoreDefined(op *operation.Operation, args []string) (t datasets.Table, out *stageFlags, err error) {
	fs := flags("score", "--metric "+op.Name+" … --out FILE", operationExamples("score --metric", op)...)
	out = &stageFlags{}
	fs.String("metric", "", "the metric: "+op.Title)
	fs.StringVar(&out.out, "out", "", "the `FILE` to write: .csv or .parquet, or - for CSV on standard "+
		"output; without it, the result is printed")
	fs.BoolVar(&out.skipBad, "skip-bad", false, "leave bad rows out and list them")
	o := addOperation(fs, op)
	if err := noArguments(fs, args); err != nil {
		return t, nil, err
	}
	t, err = o.table()
	return t, out, err
}
