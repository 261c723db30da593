package commands

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets/client"
	"antipode/internal/atomicfile"
	"antipode/kernel/jupyter"
	"antipode/kernel/jupyter/runner"
)

func runNotebook(ctx context.Context, args []string) error {
	var o runner.Options
	var params list
	fs := flags("run", "")
	fs.StringVar(&o.Out, "o", "", "the executed `NOTEBOOK`; default NAME.out.ipynb in the working directory")
	fs.StringVar(&o.HTML, "html", "", "the `PAGE`; default NAME.out.html in the working directory, "+
		"and none with -o or --in-place")
	fs.BoolVar(&o.InPlace, "in-place", false, "write the outputs into the notebook itself")
	fs.Var(&params, "p", "a parameter, `name=value`; may be given several times")
	fs.Func("allow-exec", "a `PATH` of a program that cells may run as a model (exec:PATH); may be given several times",
		client.AllowExec)
	rest, err := parseN(fs, args, 1, "run takes one notebook: antipode run NOTEBOOK")
	if err != nil {
		return err
	}
	if o.InPlace && o.Out != "" {
		return usage("run: --in-place writes the notebook itself, -o another file: give one of them")
	}
	if err := missingNotebook("run", rest[0]); err != nil {
		return err
	}
	o.Notebook, o.Params = rest[0], params
	return execute(ctx, o)
}

// missingNotebook is the error of a command for a notebook that does not exist: before anything is downloaded.
func missingNotebook(command, path string) error {
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		return nil
	}
	tried, _ := filepath.Abs(path) // only for the message
	return usage("%s: there is no notebook %s (%s); `antipode new %[2]s` creates one from a template", command, path,
		tried)
}

// execute runs a notebook.
func execute(ctx context.Context, o runner.Options) (err error) {
	o.Progress = os.Stderr
	if o.ModuleDir, err = moduleDir(filepath.Dir(o.Notebook)); err != nil {
		return err
	}
	if o.Home, o.Binary, err = prepare(ctx); err != nil {
		return err
	}
	err = runner.Run(ctx, o)
	var wrong *runner.UsageError
	switch {
	case errors.As(err, &wrong):
		return usageError{err}
	case errors.Is(err, runner.ErrInterrupted):
		return context.Canceled
	}
	return err
}

// jupyterOptions are what the kernel needs; they record where the module is, for calls from elsewhere.
func jupyterOptions(ctx context.Context) (o jupyter.Options, err error) {
	if o.ModuleDir, err = moduleDir(); err != nil {
		return o, err
	}
	if o.Home, o.Binary, err = prepare(ctx); err != nil {
		return o, err
	}
	if o.Program, err = os.Executable(); err != nil {
		return o, err
	}
	isCopy := strings.HasPrefix(o.Program, filepath.Join(o.Home, "bin")+string(filepath.Separator))
	if isCopy || strings.Contains(o.Program, string(filepath.Separator)+"go-build") { // the latter of `go run`
		o.Program = ""
	}
	o.Say = func(line string) { say("%s", line) }
	return o, atomicfile.Write(filepath.Join(o.Home, "module"), []byte(o.ModuleDir+"\n"))
}

func install(ctx context.Context, args []string) error {
	fs := flags("install", "")
	remove := fs.Bool("remove", false, "take the kernel out of Jupyter again")
	if err := noArguments(fs, args); err != nil {
		return err
	}
	if *remove {
		dir, err := jupyter.Uninstall()
		if err == nil {
			fmt.Printf("removed %s\n", dir)
		}
		return err
	}
	o, err := jupyterOptions(ctx)
	if err != nil {
		return err
	}
	dir, err := jupyter.Install(ctx, o)
	if err != nil {
		return err
	}
	fmt.Printf("Jupyter now has the kernel %q (%s)\n", jupyter.DisplayName, dir)
	return nil
}

func lab(ctx context.Context, args []string) error {
	o, err := jupyterOptions(ctx)
	if err != nil {
		return err
	}
	return jupyter.Lab(ctx, o, args)
}

func kernel(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return usage("antipode kernel CONNECTION_FILE: Jupyter starts it; `antipode install` tells Jupyter how")
	}
	module, _ := moduleDir() // where it is missing, each cell says so
	prepared := func(ctx context.Context, tell func(string)) (jupyter.Options, error) {
		o, err := jupyterOptions(ctx)
		o.Say = tell
		return o, err
	}
	// it hears signals itself: an interrupt is the cell's
	return jupyter.Serve(context.WithoutCancel(ctx), args[0], module, prepared)
}
