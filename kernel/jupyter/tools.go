package jupyter

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/mod/modfile"
)

// tools are the programs a kernel needs beside Go itself, with the version of each pinned by the module's go.mod.
var tools = []struct{ name, pkg, module string }{
	{"gonb", "github.com/janpfeifer/gonb", "github.com/janpfeifer/gonb"},
	{"goimports", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools"},
}

// Tools returns the folder that holds gonb and goimports, building them first where they are missing. The folder's name
// carries both versions and Go's; say, where not nil, is told in one line before a build.
func Tools(ctx context.Context, moduleDir, home string, say func(string)) (string, error) {
	name, err := toolsName(ctx, moduleDir)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(home, "bin", name)
	stamp, err := modulesStamp(dir, moduleDir)
	if err != nil {
		return "", err
	}
	if toolsBuilt(dir) && exists(stamp) {
		return dir, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	unlock, err := lockFile(filepath.Join(dir, ".lock"))
	if err != nil {
		return "", fmt.Errorf("jupyter: locking %s: %w", dir, err)
	}
	defer unlock()
	if say != nil && !(toolsBuilt(dir) && exists(stamp)) {
		say("preparing the notebook kernel (once: it fetches Go modules that are missing and builds GoNB)")
	}
	if !exists(stamp) { // another process may have done it meanwhile
		if err := fetchModules(ctx, moduleDir); err != nil {
			return "", err
		}
		if err := os.WriteFile(stamp, nil, 0o600); err != nil {
			return "", fmt.Errorf("jupyter: %w", err)
		}
	}
	if toolsBuilt(dir) {
		return dir, nil
	}
	patched, err := os.MkdirTemp("", "apm-")
	if err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	defer os.RemoveAll(patched)
	module, err := patchedModule(ctx, moduleDir, patched)
	if err != nil {
		return "", err
	}
	for _, t := range tools {
		temporary := filepath.Join(dir, "."+t.name)
		if err := runGo(ctx, moduleDir, "off", "build", "-modfile="+module, "-mod=readonly", "-ldflags=-s -w", "-o", temporary, t.pkg); err != nil {
			return "", fmt.Errorf("jupyter: building %s: %w", t.name, err)
		}
		if err := os.Rename(temporary, filepath.Join(dir, t.name)); err != nil {
			return "", fmt.Errorf("jupyter: %w", err)
		}
	}
	return dir, nil
}

func toolsBuilt(dir string) bool {
	for _, t := range tools {
		if !exists(filepath.Join(dir, t.name)) {
			return false
		}
	}
	return true
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// modulesStamp is the file which says that the modules of this go.sum have been fetched.
func modulesStamp(dir, moduleDir string) (string, error) {
	sums, err := os.ReadFile(filepath.Join(moduleDir, "go.sum"))
	if err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	digest := sha256.Sum256(sums)
	return filepath.Join(dir, ".modules-"+hex.EncodeToString(digest[:8])), nil
}

// fetchModules downloads what the packages that cells import need, where the module cache lacks it: cells themselves
// are built offline. It asks from a workspace like a cell's, whose module graph needs more go.mod files than the module's own.
func fetchModules(ctx context.Context, moduleDir string) error {
	mod, err := readModule(moduleDir)
	if err != nil {
		return err
	}
	if moduleDir, err = filepath.Abs(moduleDir); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "apm-")
	if err != nil {
		return fmt.Errorf("jupyter: %w", err)
	}
	defer os.RemoveAll(dir)
	version := ""
	if mod.Go != nil {
		version = "go " + mod.Go.Version + "\n"
	}
	for name, content := range map[string]string{
		"go.mod":  "module cells\n" + version,
		"go.work": version + "use .\nuse " + modfile.AutoQuote(moduleDir) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return fmt.Errorf("jupyter: %w", err)
		}
	}
	args := []string{"list", "-deps", "-f", "{{.Name}}"}
	for _, p := range present(moduleDir) {
		args = append(args, "antipode/"+p)
		if p == "datasets" || p == "metrics" || p == "plots" {
			args = append(args, "antipode/"+p+"/...")
		}
	}
	if err := runGo(ctx, dir, filepath.Join(dir, "go.work"), args...); err != nil {
		return fmt.Errorf("jupyter: fetching the modules that cells import: %w", err)
	}
	return nil
}

// runGo runs a go command in a folder, with a workspace ("off" = none); an error carries what it printed, in one line.
func runGo(ctx context.Context, dir, workspace string, args ...string) error {
	return run(ctx, dir, workspace, append([]string{"go"}, args...)...)
}

// run is runGo with the whole command line.
func run(ctx context.Context, dir, workspace string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.WaitDelay = time.Second // go's own children may outlive it when ctx ends
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK="+workspace, "GOFLAGS="+goFlags())
	var printed bytes.Buffer
	cmd.Stderr = &printed
	err := cmd.Run()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, flatten(printed.String()))
	}
	return nil
}

// toolsName names the versions, for example "gonb-v0.11.4-tools-v0.52.0-go1.26.8-1".
func toolsName(ctx context.Context, moduleDir string) (string, error) {
	mod, err := readModule(moduleDir)
	if err != nil {
		return "", err
	}
	name := ""
	for _, t := range tools {
		version := ""
		for _, r := range mod.Require {
			if r.Mod.Path == t.module {
				version = r.Mod.Version
			}
		}
		if version == "" {
			return "", fmt.Errorf("jupyter: the go.mod in %s requires no %s", moduleDir, t.module)
		}
		name += filepath.Base(t.module) + "-" + version + "-"
	}
	if err := FindGo(); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	cmd.Dir = moduleDir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("jupyter: cells are compiled by Go, and `go env` failed: %w", err)
	}
	return name + strings.ReplaceAll(strings.TrimSpace(string(out)), " ", "-") + fmt.Sprintf("-%d", patchesRevision), nil
}

// readModule reads the go.mod of module antipode.
func readModule(dir string) (*modfile.File, error) {
	path := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("jupyter: no Go module to take the cells' packages from: %w", err)
	}
	mod, err := modfile.Parse(path, data, nil)
	if err != nil {
		return nil, fmt.Errorf("jupyter: %w", err)
	}
	if mod.Module == nil || mod.Module.Mod.Path != "antipode" {
		return nil, fmt.Errorf("jupyter: %s is not the module antipode", path)
	}
	return mod, nil
}

// IsModule says whether a folder is that of module antipode.
func IsModule(dir string) bool {
	_, err := readModule(dir)
	return err == nil
}

// lockFile takes an exclusive lock that other processes respect; it is released by the returned function or by death.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// flatten turns a message of several lines into one.
func flatten(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " · ")
}
