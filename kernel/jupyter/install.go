package jupyter

import (
	"context"
	_ "embed" // for the logo
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"antipode/internal/atomicfile"
)

// The name of the kernelspec and its display name.
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
	Env           map[string]string `json:"env,omitempty"`
	Metadata      map[string]any    `json:"metadata"`
}

// KernelsDir returns the user's folder of kernelspecs, as Jupyter finds it: below $JUPYTER_DATA_DIR, else
// ~/Library/Jupyter on macOS, else $XDG_DATA_HOME/jupyter, else ~/.local/share/jupyter.
func KernelsDir() (string, error) {
	dir := os.Getenv("JUPYTER_DATA_DIR")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("jupyter: no folder for the kernelspec: %w; set JUPYTER_DATA_DIR", err)
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

// launcher is the program that Jupyter starts: it hands over to the current build, which is the installed command, if
// it exists, or the one that the store used last. The environment wins over what is recorded here.
const launcher = `#!/bin/sh
[ -n "$ANTIPODE_HOME" ] || ANTIPODE_HOME=%[1]s
[ -n "$ANTIPODE_MODULE" ] || ANTIPODE_MODULE=%[2]s
[ -n "$ANTIPODE_GO" ] || ANTIPODE_GO=%[3]s
export ANTIPODE_HOME ANTIPODE_MODULE ANTIPODE_GO
unset ANTIPODE_BIN ANTIPODE_BIN_SHA256
for program in %[4]s; do
	[ -x "$program" ] && exec "$program" "$@"
done
for program in "$ANTIPODE_HOME/bin/$(cat "$ANTIPODE_HOME/bin/current" 2>/dev/null)/antipode" %[5]s; do
	[ -x "$program" ] && [ -O "$program" ] && exec "$program" "$@" # not what others put into the store
done
echo "antipode: no build of the command is left; run antipode install again" >&2
exit 1
`

// quoted returns a text as one word of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" }

// Install writes the kernelspec and returns its folder. Jupyter starts a launcher: it runs opts.Program, as it is then,
// or else the newest copy in the store. The kernel uses the packages in opts.ModuleDir and the store in opts.Home,
// unless the environment names others. Install builds the tools, so that the first start is fast.
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
	launch := filepath.Join(dir, "launch")
	spec, err := json.MarshalIndent(Spec{
		Argv:        []string{launch, "kernel", "{connection_file}"},
		DisplayName: DisplayName, Language: "go", InterruptMode: "message",
		Metadata: map[string]any{"debugger": false},
	}, "", " ")
	if err != nil {
		return "", err
	}
	program := ""
	if opts.Program != "" {
		program = quoted(opts.Program)
	}
	script := fmt.Sprintf(launcher, quoted(home), quoted(module), quoted(filepath.Dir(goPath)), program,
		quoted(opts.Binary))
	if err := atomicfile.Replace(launch, 0o755, func(w io.Writer) error {
		_, err := io.WriteString(w, script)
		return err
	}); err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "logo-svg.svg"), logo, 0o644); err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(dir, "kernel.json"), append(spec, '\n')); err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	return dir, nil
}

// Installed returns the folder of the kernelspec and its content. The error wraps fs.ErrNotExist if the kernel is not
// installed.
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

// Uninstall removes the kernelspec and returns its folder. A missing kernelspec is not an error.
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
