package commands

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/plaintext"
)

// Exit statuses.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnreachable = 69 // a store or a device could not be reached: another machine may do
	exitStopped     = 75 // stopped early, all finished work is stored: run it again
	exitInterrupted = 130
)

type exitError struct {
	error
	status int
}

func (e exitError) Unwrap() error { return e.error }

// usageError is an error in the arguments (exit status 2).
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

func (u usageError) Unwrap() error { return u.error }

// command is one of antipode's commands.
type command struct {
	name  string
	args  string // as the usage line shows them
	about string
	run   func(ctx context.Context, args []string) error
}

// commands lists the commands in the order of the help.
func commands() []command {
	return []command{
		{"run", "NOTEBOOK [-o OUT.ipynb] [--html OUT.html] [--in-place] [-p name=value]…",
			"run a notebook headless; writes the executed notebook and an HTML page", runNotebook},
		{"export", exportArgs, "run a notebook; writes its figures as PDF, SVG and PNG, its tables as CSV and LaTeX",
			exportNotebook},
		{"record", recordArgs, "run a notebook; writes a folder (RO-Crate) with which others recompute its results: " +
			"store verify --record DIR", recordNotebook},
		{"new", "[--audit NAME [--images PATH] [-p name=value]…] NAME.ipynb",
			"write a starter notebook, or that of an audit with your images", newNotebook},
		{"install", "", "install the kernel \"Go (Antipode)\" in Jupyter", install},
		{"uninstall", "[--yes]", "remove the kernel from Jupyter, temporary files and, after a question, the store",
			uninstall},
		{"lab", "[NOTEBOOK]", "open an installed JupyterLab with the kernel", lab},
		{"doctor", "[--json] [--devices LIST]",
			"check compiler, plugin, device, store, disk and Jupyter, and suggest fixes",
			runDoctor},
		{"version", "", "print the version of the module, of Go, and the build id; --version does the same", version},
		{"ps", "[--json]", "list the jobs and models of the backend; the same as backend status", ps},
		{"backend", "start [--devices LIST] | status [--json] | stop | log",
			"control the resident backend of the store", backendCommand},
		{"models", modelsArgs, "list or download models, or check whether a folder can be loaded", models},
		{"data", dataArgs, "list, download or check data sets, or fetch images by URL", data},
		{"store", storeArgs, "list, verify or remove stored results, merge other stores into this one, or merge " +
			"small files", storeCommand},
		{"generate", "--prompt TEXT | --model NAME|DIR --prompts TABLE --out TABLE [--n N] [--steps N] …",
			"generate images of prompts",
			generate},
		{"check-adapter", "exec:PATH [--exec-arg A]… [--task NAME] [--quick]",
			"test a program for --model exec:PATH against the protocol of docs/adapters.md", checkAdapter},
		{"import", "--dir DIR --model NAME --out TABLE [--names PATTERN | --midjourney] [--sidecar FILE] " +
			"[--grid N] …",
			"make a table of images that a generator outside Antipode made", importImages},
		{"segment", "--masks DIR | --model NAME|DIR --object COLUMN   --in TABLE --out TABLE",
			"add masks from files, or segment the object by its name", segment},
		{"embed", "--model NAME|DIR --in TABLE --out TABLE [--vector NAME] [--text COLUMN]",
			"add embeddings of images (whole, object, background) or of texts", embed},
		{"tokenize", "--model NAME|DIR --in TABLE --out TABLE [--text COLUMN]",
			"count the tokens of prompts: unknown, cut, parts of characters, transliterated words", tokenize},
		{"caption", "--model NAME|DIR --in TABLE --out TABLE [--n N] [--decode HOW] …",
			"caption images, a row for each caption", caption},
		{"ask", "--model chat:NAME|exec:PATH|DIR --question TEXT --choices A,B,…|--questions TABLE --in TABLE " +
			"--out FILE …",
			"ask a chat model, a program of yours or a BLIP questions about images", ask},
		{"annotate", annotateArgs, "make pages on which people annotate images offline, and collect their answers",
			annotateCommand},
		{"score", "--metric NAME … --out FILE",
			"compute a metric; without flags list the metrics, `--metric NAME --help` " +
				"prints inputs and options", score},
		{"view", viewArgs, "show the images of a table in the browser: sort, filter, enlarge, compare, tag", viewTable},
		{"diff", diffArgs, "compare two tables row by row: what differs, and how far numbers moved; exit status 3 if " +
			"anything does", diff},
		{"compare", compareArgs, "compare a metric of two tables with intervals; exit status 3 if it got worse " +
			"beyond the margin", compareRuns},
		{"table", "--in TABLE [--where 'COLUMN OP VALUE'] [--sample N --by A,B] [--apply NAME …] … --out TABLE",
			"filter, sort, sample, join tables and apply operations; --list lists these", tableOperations},
		{"job", jobArgs, "make an array job of commands that compute rows, or show its state and its cost", jobCommand},
		{"work", "JOB.json [--shard I/N] [--grace 25s] [--commit 60s] [--store DIR|URL] …",
			"compute one shard of an array job in this process; a task of a scheduler runs it", work},
		{"kernel", "CONNECTION_FILE", "run the kernel; Jupyter starts it", kernel},
	}
}

// Main runs antipode with the arguments after its name and returns the exit status.
func Main(args []string) int {
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if len(args) > 0 && args[0] == "work" {
		ending = ending[:1] // it drains upon TERM
	}
	ctx, stop := signal.NotifyContext(context.Background(), ending...)
	defer stop()
	client.Register(nil) // plans go to the resident backend, not to the engine of package all
	err := dispatch(ctx, args)
	var u usageError
	var remote *table.Error
	var exit exitError
	switch {
	case ctx.Err() == nil && errors.As(err, &exit):
		fmt.Fprintln(os.Stderr, "antipode: "+oneLine(err))
		return exit.status
	case err == nil || errors.Is(err, flag.ErrHelp):
		return exitDone
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "antipode: interrupted; finished rows are kept")
		return exitInterrupted
	case errors.As(err, &u), errors.As(err, &remote) && remote.Code == table.CodeUsage:
		fmt.Fprintln(os.Stderr, "antipode: "+oneLine(err))
		return exitUsage
	default:
		fmt.Fprintln(os.Stderr, "antipode: "+oneLine(err))
		return exitFailed
	}
}

// oneLine returns an error's message as one line, with control characters escaped and the absolute path of a file that
// was opened by a relative one.
func oneLine(err error) string {
	text := err.Error()
	var path *os.PathError
	if errors.As(err, &path) && !filepath.IsAbs(path.Path) && strings.HasSuffix(text, path.Error()) {
		if abs, absErr := filepath.Abs(path.Path); absErr == nil {
			text += " (" + abs + ")"
		}
	}
	return plaintext.OneLine(text)
}

func dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		help()
		return nil
	}
	name, rest := args[0], args[1:]
	switch {
	case (name == "help" || isHelp(name)) && len(rest) == 0:
		help()
		return nil
	case name == "help":
		name, rest = rest[0], []string{"--help"}
	case name == "--version" || name == "-version":
		name = "version"
	}
	var names []string
	for _, c := range commands() {
		if c.name == name && slices.Contains(bare, name) && len(rest) > 0 && isHelp(rest[0]) {
			fmt.Printf("antipode %s %s\n  %s\n", c.name, c.args, c.about)
			return nil
		}
		if c.name == name {
			return c.run(ctx, rest)
		}
		names = append(names, c.name)
	}
	return usage("unknown command %q; see `antipode help`%s", name, hint("antipode ", table.Nearest(name, names)))
}

// bare are the commands without a flag set; dispatch prints their help.
var bare = []string{"lab", "backend", "models", "data", "store", "annotate", "job", "kernel"}

func isHelp(arg string) bool { return arg == "-h" || arg == "-help" || arg == "--help" }

// hint returns the end of a message about an unknown name: the most similar one with its prefix, or "".
func hint(prefix, name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + prefix + name + "?"
}

func help() {
	fmt.Print("antipode audits how text-to-image models depict the world.\n\n")
	printExamples(examples[""])
	for _, c := range commands() {
		fmt.Printf("  antipode %s %s\n      %s\n", c.name, c.args, c.about)
	}
	fmt.Printf("\nThe store is $%s, else antipode/ in the user's cache directory.\n", client.HomeVar)
}

// flags returns a flag set whose errors are usage errors and whose help includes the command's arguments and examples,
// by default those of its name; "" = its arguments in the list of the commands.
func flags(name, args string, own ...string) *flag.FlagSet {
	fs := flag.NewFlagSet(name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	for _, c := range commands() {
		if c.name == name && args == "" {
			args = c.args
		}
	}
	fs.Usage = func() {
		fmt.Printf("antipode %s %s\n", name, args)
		if own == nil {
			own = examples[name]
		}
		printExamples(own)
		printFlags(fs)
	}
	return fs
}

// aliases are alternative names of flags.
var aliases = map[string]string{"input": "in", "output": "out"}

// parse parses flags and arguments in any order and returns the arguments.
func parse(fs *flag.FlagSet, args []string) ([]string, error) {
	for alias, name := range aliases {
		if f := fs.Lookup(name); f != nil && fs.Lookup(alias) == nil {
			fs.Var(f.Value, alias, "the same as --"+name)
		}
	}
	help := fs.Usage
	fs.Usage = func() {} // package flag prints it with every error
	var rest []string
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				help()
				return nil, err
			}
			return nil, wrongFlag(fs, err)
		}
		if fs.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}

// parseN is parse of a command with n arguments; wrong is the usage error for another number.
func parseN(fs *flag.FlagSet, args []string, n int, wrong string) ([]string, error) {
	rest, err := parse(fs, args)
	if err == nil && len(rest) != n {
		err = usage("%s", wrong)
	}
	return rest, err
}

// subcommands are a command's own commands, by name.
type subcommands map[string]func(ctx context.Context, args []string) error

// run runs the one that the first argument names.
func (own subcommands) run(ctx context.Context, command, synopsis string, args []string) error {
	if len(args) == 0 {
		return usage("antipode %s %s", command, synopsis)
	}
	if run := own[args[0]]; run != nil {
		return run(ctx, args[1:])
	}
	return usage("antipode %s %s%s", command, synopsis, hint("", table.Nearest(args[0], slices.Sorted(maps.Keys(own)))))
}

// wrongFlag returns the error of an invalid flag as one line, with the most similar name of an unknown flag.
func wrongFlag(fs *flag.FlagSet, err error) error {
	text := strings.NewReplacer("flag -", "flag --", ": -", ": --").Replace(err.Error())
	if name, unknown := strings.CutPrefix(text, "flag provided but not defined: --"); unknown {
		var names []string
		fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
		if near := table.Nearest(name, names); near != "" {
			return usage("%s: unknown flag --%s%s", fs.Name(), name, hint("--", near))
		}
		text = "unknown flag --" + name
	}
	return usage("%s: %s; see `antipode %s --help`", fs.Name(), text, fs.Name())
}

// list is a repeatable flag.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }
