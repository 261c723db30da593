package jupyter

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

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
	if toolsBuilt(dir) {
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
	if toolsBuilt(dir) { // by another process, meanwhile
		return dir, nil
	}
	if say != nil {
		say("building the notebook kernel (once, some seconds)")
	}
	for _, t := range tools {
		temporary := filepath.Join(dir, "."+t.name)
		build := exec.CommandContext(ctx, "go", "build", "-ldflags=-s -w", "-o", temporary, t.pkg)
		build.Dir = moduleDir
		build.Env = append(os.Environ(), "GOWORK=off")
		if out, err := build.CombinedOutput(); err != nil {
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			return "", fmt.Errorf("jupyter: building %s: %w: %s", t.name, err, flatten(string(out)))
		}
		if err := os.Rename(temporary, filepath.Join(dir, t.name)); err != nil {
			return "", fmt.Errorf("jupyter: %w", err)
		}
	}
	return dir, nil
}

func toolsBuilt(dir string) bool {
	for _, t := range tools {
		if _, err := os.Stat(filepath.Join(dir, t.name)); err != nil {
			return false
		}
	}
	return true
}

// toolsName names the versions, for example "gonb-v0.11.4-tools-v0.52.0-go1.26.8".
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
	cmd := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	cmd.Dir = moduleDir
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("jupyter: a notebook's cells are compiled by Go, and running go failed: %w; install it from https://go.dev/dl", err)
	}
	return name + strings.ReplaceAll(strings.TrimSpace(string(out)), " ", "-"), nil
}

// readModule reads the go.mod of module antipode.
func readModule(dir string) (*modfile.File, error) {
	path := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("jupyter: no Go module to take the cells' packages from: %w", err)
	}
	mod, err := modfile.ParseLax(path, data, nil)
	if err != nil {
		return nil, fmt.Errorf("jupyter: %w", err)
	}
	if mod.Module == nil || mod.Module.Mod.Path != "antipode" {
		return nil, fmt.Errorf("jupyter: %s is not the module antipode", path)
	}
	return mod, nil
}

func isModule(dir string) bool {
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
