package commands

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"

	"antipode/datasets/operation"
	"antipode/gomlxmodels"
)

type optionFlag struct {
	operation.Option
	at   int    // its position among the options
	kind string // what stands for its value in the help
	text string
	set  func(text string) error
}

func (f *optionFlag) String() string   { return f.text }
func (f *optionFlag) IsBoolFlag() bool { return f.Type == "switch" }

// Set returns errors without the name and the value, which package flag adds.
func (f *optionFlag) Set(s string) error {
	f.text = s
	err := f.set(s)
	if wrong := (*operation.Invalid)(nil); errors.As(err, &wrong) {
		_, must, _ := strings.Cut(wrong.Problem, "; ")
		return errors.New(cmp.Or(must, wrong.Problem))
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), f.Flag+": "))
	}
	return nil
}

// addFlags adds a flag for each option, which set takes the text of. A flag that there is already stays.
func addFlags(fs *flag.FlagSet, options operation.Options, set func(flag, text string) error) {
	for i, o := range options {
		if before := fs.Lookup(o.Flag); before != nil {
			twice := func(p operation.Option) bool { return p.Flag == o.Flag }
			if f, ok := before.Value.(*optionFlag); ok && slices.ContainsFunc(options[:i], twice) {
				f.kind += "x" + f.kind // of two numbers, such as a width and a height
			}
			continue
		}
		f := &optionFlag{Option: o, at: i, text: o.Default, kind: cmp.Or(o.Kind, kinds[o.Type]),
			set: func(text string) error { return set(o.Flag, text) }}
		if o.Type == "text" && o.Values != nil {
			f.kind, o.Values = strings.Join(o.Values, "|"), nil
		}
		fs.Var(f, o.Flag, o.Usage())
	}
}

// kinds are what stands for the values of options in the help.
var kinds = map[string]string{"list": "A,B,…", "numbers": "X,Y,…", "integers": "N,M,…", "integer": "N", "number": "X",
	"text": "TEXT", "repeated": "TEXT", "duration": "TIME", "string": "TEXT", "int": "N", "float": "X"}

// addOptions adds the flags of an options struct, except those left out.
func addOptions[O any](fs *flag.FlagSet, o *O, without ...string) {
	options := operation.OptionsOf[O]()
	addFlags(fs, slices.DeleteFunc(slices.Clone(options), func(o operation.Option) bool {
		return slices.Contains(without, o.Flag)
	}), func(flag, text string) error { return options.Set(o, flag, text) })
}

// addOwn adds the flags of a command's own options and fills in their defaults.
func addOwn[O any](fs *flag.FlagSet, o *O) {
	options := operation.OptionsOf[O]()
	for i := range options {
		options[i].Group = otherOptions
		if options[i].Default != "" {
			options.Set(o, options[i].Flag, options[i].Default) // OptionsOf checked it
		}
	}
	addFlags(fs, options, func(flag, text string) error { return options.Set(o, flag, text) })
}

// otherOptions is the heading of flags that have none of their own.
const otherOptions = "Other options"

// usageOf returns the error of a stage, one of its options as a usage error that names the flag.
func usageOf(err error) error {
	if wrong := (gomlxmodels.OptionError{}); errors.As(err, &wrong) {
		return usage("%w", wrong.Flags())
	}
	return err
}

// finalHeadings are those at the end of the help, with their positions.
var finalHeadings = map[string]int{"Rare options": 999, "Reading tables and images": 1000, otherOptions: 1001}

// groupOf returns the heading of a flag in the help and its position; "" are the common flags, which come first.
func groupOf(f *flag.Flag) (heading string, position int) {
	if at := slices.Index(common, f.Name); at >= 0 {
		return "", at
	}
	if o, ok := f.Value.(*optionFlag); ok {
		if at, known := finalHeadings[o.Group]; known {
			return o.Group, at
		}
		return o.Group, len(common) + o.at
	}
	return otherOptions, finalHeadings[otherOptions]
}

// printFlags prints the common flags and then the others, by their headings.
func printFlags(fs *flag.FlagSet) {
	var all []*flag.Flag
	fs.VisitAll(func(f *flag.Flag) {
		if aliases[f.Name] == "" {
			all = append(all, f)
		}
	})
	first := map[string]int{}
	for _, f := range all {
		heading, at := groupOf(f)
		if known, seen := first[heading]; !seen || at < known {
			first[heading] = at
		}
	}
	first[""] = -1
	slices.SortStableFunc(all, func(a, b *flag.Flag) int {
		groupA, atA := groupOf(a)
		groupB, atB := groupOf(b)
		return cmp.Or(first[groupA]-first[groupB], atA-atB)
	})
	before := ""
	for i, f := range all {
		if heading, _ := groupOf(f); heading != before {
			if before = heading; i > 0 {
				fmt.Println()
			}
			fmt.Println(heading + ":")
		}
		printFlag(f)
	}
}

func printFlag(f *flag.Flag) {
	kind, about := flag.UnquoteUsage(f)
	if o, ok := f.Value.(*optionFlag); ok {
		kind, about = o.kind, f.Usage
	}
	kind = cmp.Or(kinds[kind], kind)
	fmt.Println(strings.TrimRight("  -"+f.Name+" "+kind, " "))
	if d := f.DefValue; d != "" && d != "0" && (d != "false" || strings.HasPrefix(kind, d)) {
		about += " (default " + d + ")"
	}
	fmt.Println("    \t" + about)
}
