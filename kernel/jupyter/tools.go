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
	"time"

	"golang.org/x/mod/modfile"

	"antipode/datasets/client"
	"antipode/internal/filelock"
	"antipode/kernel/jupyter/complete"
)

// tools are the programs that a kernel needs besides Go. The module's go.mod determines their versions.
var tools = []struct{ name, pkg, module string }{
	{"gonb", "github.com/janpfeifer/gonb", "github.com/janpfeifer/gonb"},
	{"goimports", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools"},
}

// Tools returns the folder of gonb and goimports and builds them if they are missing. The folder's name contains their
// versions and Go's. say, if not nil, receives a line before a build.
func Tools(ctx context.Context, moduleDir, home string, say func(string)) (string, error) {
	name, err := toolsName(moduleDir)
	if err != nil {
		return "", err
	}
	programs, err := client.Programs(home)
	if err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	dir := filepath.Join(programs, name)
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
	unlock, err := filelock.Wait(ctx, filepath.Join(dir, ".lock"))
	if err != nil {
		return "", fmt.Errorf("jupyter: locking %s: %w", dir, err)
	}
	defer unlock()
	if say != nil && !(toolsBuilt(dir) && exists(stamp)) {
		say("preparing the notebook kernel (once: it fetches Go modules that are missing and builds GoNB)")
	}
	if !exists(stamp) { // another process may have done it in the meantime
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
		if err := runGo(ctx, moduleDir, "off", "build", "-modfile="+module, "-mod=readonly", "-ldflags=-s -w", "-o",
			temporary, t.pkg); err != nil {
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

// modulesStamp returns the path of the file that records that the modules of this go.sum are downloaded.
func modulesStamp(dir, moduleDir string) (string, error) {
	sums, err := os.ReadFile(filepath.Join(moduleDir, "go.sum"))
	if err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	digest := sha256.Sum256(sums)
	return filepath.Join(dir, ".modules-"+hex.EncodeToString(digest[:8])), nil
}

// fetchModules downloads the modules that the packages of cells need and the module cache lacks: cells are built
// offline. It uses a workspace like that of a cell, whose module graph needs more go.mod files than the module itself.
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
	for _, p := range imports(moduleDir) {
		args = append(args, p)
		if p == "antipode/datasets" || p == "antipode/metrics" || p == "antipode/plots" {
			args = append(args, p+"/...")
		}
	}
	if err := runGo(ctx, dir, filepath.Join(dir, "go.work"), args...); err != nil {
		return fmt.Errorf("jupyter: fetching the modules that cells import: %w", err)
	}
	return nil
}

// runGo runs a go command in a folder with a workspace ("off" = none). The error contains the command's output in one
// line.
func runGo(ctx context.Context, dir, workspace string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
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

// toolsName returns the name of the tools' folder, for example "gonb-v0.11.4-tools-v0.52.0-go1.26.8-0b1c2d3e".
func toolsName(moduleDir string) (string, error) {
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
	env, err := complete.ReadGoEnv(moduleDir)
	if err != nil {
		return "", fmt.Errorf("jupyter: cells are compiled by Go: %w", err)
	}
	return name + strings.ReplaceAll(env.Version, " ", "-") + "-" + patchesDigest(), nil
}

// readModule reads the go.mod of module antipode.
func readModule(dir string) (*modfile.File, error) {
	path := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("jupyter: no Go module of the packages that cells import: %w", err)
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

// IsModule reports whether a folder is that of module antipode.
func IsModule(dir string) bool {
	_, err := readModule(dir)
	return err == nil
}

// flatten joins the lines of a message.
func flatten(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " · ")
}
