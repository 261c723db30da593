package doctor

import (
	"context"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"antipode/gomlxmodels/device"
	"antipode/kernel/backend/plugin"

	"golang.org/x/mod/modfile"
)

// oldest is the required Go version if go.mod does not name one.
const oldest = "go1.26"

// output runs a command without letting it fetch a toolchain, and returns its trimmed output.
func output(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = os.TempDir() // has no go.mod
	c.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off")
	c.WaitDelay = 100 * time.Millisecond
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}

// goCommand checks the Go toolchain that compiles cells.
func goCommand(ctx context.Context, moduleDir string) Check {
	const install = "install Go 1.26 or later from https://go.dev/dl and put its bin folder on PATH"
	path, err := exec.LookPath("go")
	if err != nil {
		return fail(install, "no go command on PATH: notebook cells cannot be compiled")
	}
	have, err := output(ctx, path, "env", "GOVERSION")
	if err != nil || !strings.HasPrefix(have, "go") {
		return fail(install, "%s does not work: %s", path, why(err, have))
	}
	need := oldest
	if data, err := os.ReadFile(filepath.Join(moduleDir, "go.mod")); err == nil && moduleDir != "" {
		if mod, err := modfile.ParseLax("go.mod", data, nil); err == nil && mod.Go != nil {
			need = "go" + mod.Go.Version
		}
	}
	plain, _, _ := strings.Cut(have, " ") // "go1.26.8 X:simd"
	if version.Compare(plain, need) < 0 {
		if version.Compare(plain, "go1.21") >= 0 && os.Getenv("GOTOOLCHAIN") != "local" {
			return warn(install, "%s at %s is older than %s: it fetches that one by itself, where there is a network",
				plain, path, need)
		}
		return fail(install, "%s at %s is older than %s", plain, path, need)
	}
	return ok("%s at %s", have, path)
}

// cCompiler checks the C compiler that cgo, and therefore XLA, needs.
func cCompiler(ctx context.Context) Check {
	install := "install a C compiler (Debian and Ubuntu: apt install gcc libc6-dev) and run the command again"
	if runtime.GOOS == "darwin" {
		install = "run xcode-select --install, then the command again"
	}
	cc, cgo := os.Getenv("CC"), os.Getenv("CGO_ENABLED")
	if text, err := output(ctx, "go", "env", "CC", "CGO_ENABLED"); err == nil {
		if lines := strings.Split(text, "\n"); len(lines) == 2 {
			cc, cgo = strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1])
		}
	}
	words := strings.Fields(cc)
	if len(words) == 0 {
		words = []string{"cc"}
	}
	path, err := exec.LookPath(words[0])
	switch {
	case !device.HasXLA() && err == nil:
		return warn("run the command again with CGO_ENABLED=1: it is built with XLA then",
			"%s exists, but this program was built without cgo, so without XLA: pure Go is used", path)
	case !device.HasXLA():
		return warn(install, "none (%s): this program was built without XLA, pure Go serves", words[0])
	case err != nil:
		return warn(install, "none (%s): this program has XLA, but the next build will not", words[0])
	case cgo == "0":
		return warn("unset CGO_ENABLED", "%s, but cgo is turned off: the next build will be without XLA", path)
	}
	return ok("%s; this program was built with cgo", path)
}

// module checks the source that cells import.
func module(dir string) Check {
	const fix = "run the command in the folder of Antipode's source, or name it in ANTIPODE_MODULE"
	if dir == "" {
		return fail(fix, "Antipode's source was not found: notebook cells cannot import it")
	}
	file := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(file)
	if err != nil {
		return fail(fix, "%v", err)
	}
	if modfile.ModulePath(data) != "antipode" {
		return fail(fix, "%s is not Antipode's", file)
	}
	return ok("%s", dir)
}

// xlaPlugin reports the selected backend, and whether its hash is right.
func xlaPlugin(home string) Check {
	c := plugin.Current(home)
	switch {
	case c.Kind == device.Go && device.Wanted() == device.Go:
		return ok("none requested (GOMLX_BACKEND=go): the pure Go backend is used, %s", c.Slower)
	case c.Kind == device.Go && os.Getenv(plugin.Env) == "none":
		return ok("none wanted (%s=none): the pure Go backend is used, %s", plugin.Env, c.Slower)
	case c.Kind == device.Go && !device.HasXLA():
		return warn("see c compiler", "none can be used: %s; the pure Go backend is used, %s", c.Source, c.Slower)
	case c.Kind == device.Go && plugin.Decided():
		return fail(fmt.Sprintf("name a plugin in %s, or unset it", plugin.Env), "%s", c.Source)
	case c.Kind == device.Go:
		return warn("the next command that computes fetches one (HTTPS_PROXY and PIP_INDEX_URL are heeded); without "+
			"a network, put a PJRT plugin into a folder and name it in PJRT_PLUGIN_LIBRARY_PATH",
			"%s; without one the pure Go backend is used, %s", c.Source, c.Slower)
	}
	if err := c.Check(); err != nil {
		fix := "it is fetched again when next needed"
		if plugin.Decided() {
			return fail(fmt.Sprintf("name another plugin in %s, or unset it", plugin.Env), "%v", err)
		}
		return warn(fix, "%v", err)
	}
	hash := "no SHA-256 known"
	if c.SHA256 != "" {
		hash = "SHA-256 right"
	} else if sum, v, license := plugin.Identify(c.Path); v != "" {
		c.Version, c.License, hash = v, license, "SHA-256 known"
	} else if sum != "" {
		hash = "SHA-256 " + sum + " (not one that Antipode knows)"
	}
	return ok("%s", join(c.Kind, c.Version, c.License, hash, c.Path, "from "+c.Source))
}

// accelerator reports the devices and why they were selected.
func accelerator(home string) Check {
	chosen, err := device.Select(os.Getenv(device.ListEnv))
	if err != nil {
		return fail("set or unset "+device.ListEnv, "%v", err)
	}
	c := oneDevice(home)
	switch n := len(chosen.GPUs); {
	case chosen.CPUs > 1:
		c.Detail += fmt.Sprintf("; %d processes on the processor", chosen.CPUs)
	case n > 1 && plugin.Current(home).Kind == device.XLACUDA:
		c.Detail += fmt.Sprintf("; %d GPUs, a process for each: %s", n, strings.Join(chosen.GPUs, ", "))
	}
	return c
}

func oneDevice(home string) Check {
	c := plugin.Current(home)
	threads := fmt.Sprintf("%d threads", runtime.GOMAXPROCS(0))
	if runtime.GOOS == "linux" && device.SeesNVIDIA() {
		card := join("NVIDIA GPU detected", driver())
		switch c.Kind {
		case device.XLACUDA:
			return ok("%s: %s", card, c.Kind)
		case device.XLACPU:
			return warn("set GOMLX_BACKEND=xla:cuda once: the CUDA plugin is fetched then",
				"%s, but no CUDA plugin is here: %s on the processor, %s", card, c.Kind, threads)
		}
		return warn("see plugin", "%s, but there is no XLA: pure Go on the processor, %s", card, threads)
	}
	text := "no NVIDIA GPU seen: " + c.Kind + " on the processor, " + threads
	if c.Kind == device.Go && !device.SIMD && runtime.GOARCH == "amd64" {
		return warn("build with GOEXPERIMENT=simd where pure Go must serve: about three times faster",
			"%s, without simd", text)
	}
	return ok("%s", text)
}

// driver returns the NVIDIA driver's version, "" = unknown.
func driver() string {
	data, err := os.ReadFile("/proc/driver/nvidia/version")
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	for _, word := range strings.Fields(line) {
		if strings.Count(word, ".") >= 1 && word[0] >= '0' && word[0] <= '9' {
			return "driver " + word
		}
	}
	return ""
}

// join joins the parts that are not empty.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), ", ")
}

// why returns the most informative line of a failed command.
func why(err error, out string) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if line := strings.TrimSpace(string(exit.Stderr)); line != "" {
			line, _, _ = strings.Cut(line, "\n")
			return line
		}
	}
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("it answers %q", out)
}
