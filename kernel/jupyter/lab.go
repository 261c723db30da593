package jupyter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// ErrNoJupyterLab is the error if JupyterLab is not installed.
var ErrNoJupyterLab = errors.New("JupyterLab is not installed; get it with: pipx install jupyterlab (or: python3 -m " +
	"pip install --user jupyterlab). " +
	"`antipode run NOTEBOOK` needs no Jupyter")

// Lab runs JupyterLab with arguments in opts.Dir until it ends. It installs the kernel first.
func Lab(ctx context.Context, opts Options, args []string) error {
	program, found := labProgram()
	if !found {
		return ErrNoJupyterLab
	}
	if _, err := Install(ctx, opts); err != nil {
		return err
	}
	lab := exec.CommandContext(ctx, program[0], append(program[1:], args...)...)
	lab.Dir = opts.Dir
	lab.Stdin, lab.Stdout, lab.Stderr = os.Stdin, os.Stdout, os.Stderr
	lab.Cancel = func() error { return lab.Process.Signal(syscall.SIGTERM) } // JupyterLab then ends its kernels
	err := lab.Run()
	if ctx.Err() != nil {
		return nil // ended by ctx
	}
	if err != nil {
		return fmt.Errorf("jupyter: JupyterLab: %w", err)
	}
	return nil
}

// labProgram returns the command that starts JupyterLab.
func labProgram() (program []string, found bool) {
	if path, err := exec.LookPath("jupyter-lab"); err == nil {
		return []string{path}, true
	}
	if path, err := exec.LookPath("jupyter"); err == nil && exec.Command(path, "lab", "--version").Run() == nil {
		return []string{path, "lab"}, true
	}
	for _, python := range []string{"python3", "python"} {
		if path, err := exec.LookPath(python); err == nil &&
			exec.Command(path, "-c", "import jupyterlab").Run() == nil {
			return []string{path, "-m", "jupyterlab"}, true
		}
	}
	return nil, false
}

// ModuleDir returns the folder of module antipode: $ANTIPODE_MODULE, else the nearest folder whose go.mod is the
// module's, at or above the working directory, else at or above each of the places.
func ModuleDir(places ...string) (string, error) {
	if dir := os.Getenv("ANTIPODE_MODULE"); dir != "" {
		if IsModule(dir) {
			return filepath.Abs(dir)
		}
		return "", fmt.Errorf("jupyter: ANTIPODE_MODULE=%s holds no go.mod of module antipode", dir)
	}
	for _, place := range append([]string{"."}, places...) {
		dir, err := filepath.Abs(place)
		if err != nil {
			return "", err
		}
		for ; !IsModule(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		}
		if IsModule(dir) {
			return dir, nil
		}
	}
	return "", errors.New("jupyter: cells need the source of module antipode: run this in its folder, or set " +
		"ANTIPODE_MODULE to it")
}
