package jupyter

import (
	"context"
	_ "embed" // for the logo
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"antipode/kernel/store"
)

// The kernelspec's name and what front ends show.
const (
	SpecName    = "antipode"
	DisplayName = "Go (Antipode)"
)

//go:embed logo.svg
var logo []byte

// Spec is a kernelspec: the contents of kernel.json.
type Spec struct {
	Argv          []string          `json:"argv"`
	DisplayName   string            `json:"display_name"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
	Metadata      map[string]any    `json:"metadata"`
}

// KernelsDir is the user's folder of kernelspecs, as Jupyter finds it: below $JUPYTER_DATA_DIR, else ~/Library/Jupyter on
// macOS, else $XDG_DATA_HOME/jupyter, else ~/.local/share/jupyter.
func KernelsDir() (string, error) {
	dir := os.Getenv("JUPYTER_DATA_DIR")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("jupyter: no place for the kernelspec: %w; set JUPYTER_DATA_DIR", err)
		}
		switch {
		case runtime.GOOS == "darwin":
			dir = filepath.Join(home, "Library", "Jupyter")
		case os.Getenv("XDG_DATA_HOME") != "":
			dir = filepath.Join(os.Getenv("XDG_DATA_HOME"), "jupyter")
		default:
			dir = filepath.Join(home, ".local", "share", "jupyter")
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "kernels"), nil
}

// Install puts "Go (Antipode)" into the user's Jupyter and returns the kernelspec's folder. The kernel runs
// opts.Binary, which must stay where it is, takes the cells' packages from moduleDir and the store from home. The tools are built now,
// so that the first start is quick.
func Install(ctx context.Context, opts Options) (string, error) {
	module, err := filepath.Abs(opts.ModuleDir)
	if err != nil {
		return "", err
	}
	if _, err := Tools(ctx, module, opts.Home, opts.Say); err != nil {
		return "", err
	}
	home, err := filepath.Abs(opts.Home)
	if err != nil {
		return "", err
	}
	kernels, err := KernelsDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(kernels, SpecName)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	goPath, err := exec.LookPath("go")
	if err != nil {
		return "", ErrNoGo
	}
	spec, err := json.MarshalIndent(Spec{
		Argv:        []string{opts.Binary, "kernel", "{connection_file}"},
		DisplayName: DisplayName, Language: "go", InterruptMode: "message",
		Env: map[string]string{
			"ANTIPODE_MODULE": module, "ANTIPODE_HOME": home, "ANTIPODE_BIN": opts.Binary, goVar: filepath.Dir(goPath),
		},
		Metadata: map[string]any{"debugger": false},
	}, "", " ")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "logo-svg.svg"), logo, 0o644); err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	if err := store.WriteFile(filepath.Join(dir, "kernel.json"), append(spec, '\n')); err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	return dir, nil
}

// Installed is the folder of the kernelspec, with its contents; an error wraps fs.ErrNotExist where there is none.
func Installed() (string, Spec, error) {
	var spec Spec
	kernels, err := KernelsDir()
	if err != nil {
		return "", spec, err
	}
	dir := filepath.Join(kernels, SpecName)
	data, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		return dir, spec, fmt.Errorf("jupyter: the kernel is not installed: %w", err)
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		return dir, spec, fmt.Errorf("jupyter: %s: %w", filepath.Join(dir, "kernel.json"), err)
	}
	return dir, spec, nil
}

// Uninstall takes the kernelspec out of the user's Jupyter and returns the folder it was in; where there was none, that is no error.
func Uninstall() (string, error) {
	kernels, err := KernelsDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(kernels, SpecName)
	if err := os.RemoveAll(dir); err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	return dir, nil
}
