package commands

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// examples are shown first in the help of commands; "" are those of `antipode help`.
var examples = map[string][]string{
	"": {
		"antipode run notebooks/tour.ipynb",
		`antipode generate --prompt "a boat"`,
		"antipode new mine.ipynb",
	},
	"run": {"antipode run notebooks/tour.ipynb -p n=2"},
	"generate": {
		`antipode generate --prompt "a boat"`,
		"antipode generate --model archipelago-diffusion --prompts prompts.csv --n 4 --out images.parquet",
	},
	"segment": {
		"antipode segment --model archipelago-clipseg --object object --in images.parquet --out masked.parquet",
	},
	"embed":   {"antipode embed --model archipelago-vit --in masked.parquet --out embedded.parquet"},
	"caption": {"antipode caption --model archipelago-blip --in images.parquet --out captions.csv"},
	"score": {
		"antipode score --metric precision-coverage --real photos.parquet --gen embedded.parquet --by region",
		"antipode score --metric agreement --in ratings.csv --out - | head",
	},
	"table":  {`antipode table --in images.parquet --where "region == Ilvanar" --out some.csv`},
	"import": {"antipode import --dir images --model name --out images.csv"},
}

// common are the flags that help lists before the others, in this order.
var common = strings.Fields("metric model prompt prompts masks object text vector in real gen dir where apply by n " +
	"steps seed question choices p o html out")

// printExamples prints the examples of a command, if it has any.
func printExamples(name string) {
	for _, line := range examples[name] {
		fmt.Println("    " + line)
	}
	if examples[name] != nil {
		fmt.Println()
	}
}

// printFlags prints the common flags and then the others.
func printFlags(fs *flag.FlagSet) {
	printed := 0
	show := func(f *flag.Flag) {
		one := flag.NewFlagSet("", flag.ContinueOnError)
		one.SetOutput(stdout{})
		one.Var(f.Value, f.Name, f.Usage)
		one.Lookup(f.Name).DefValue = f.DefValue
		one.PrintDefaults()
		printed++
	}
	for _, name := range common {
		if f := fs.Lookup(name); f != nil {
			show(f)
		}
	}
	first := printed > 0
	fs.VisitAll(func(f *flag.Flag) {
		if slices.Contains(common, f.Name) {
			return
		}
		if first {
			fmt.Println("\nOther options:")
			first = false
		}
		show(f)
	})
}

// stdout writes to the current os.Stdout.
type stdout struct{}

func (stdout) Write(p []byte) (int, error) { return fmt.Print(string(p)) }
