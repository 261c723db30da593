package jupyter

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mendsRevision is raised when mends change, so that GoNB is built again.
const mendsRevision = 1

// mend is a change to one file of GoNB, made in a copy while it is built.
type mend struct {
	file, old, new string // old occurs exactly once
}

// mends are faults of GoNB 0.11.4 that end the kernel or leave a front end waiting. Where a later GoNB has other source,
// they do not apply and are left out.
var mends = []mend{
	// A line on standard error with a colon before "main.go:10", as package log writes it, ended the kernel.
	{"internal/goexec/gonberror.go", "	if col == -1 {\n", "	if col < 1 {\n"},
	// Console front ends wait for these replies.
	{"internal/dispatcher/dispatcher.go",
		"			klog.V(2).Infof(\"Received is_complete_request: ignoring, since it's not a console like kernel.\")\n",
		"			err = msg.Reply(\"is_complete_reply\", map[string]any{\"status\": \"unknown\"})\n\n" +
			"		case \"history_request\":\n" +
			"			err = msg.Reply(\"history_reply\", map[string]any{\"status\": \"ok\", \"history\": []any{}})\n"},
}

// applyMends changes GoNB's source in a folder and says how many mends applied.
func applyMends(source string) (applied int, err error) {
	for _, m := range mends {
		path := filepath.Join(source, filepath.FromSlash(m.file))
		data, err := os.ReadFile(path)
		if err != nil || bytes.Count(data, []byte(m.old)) != 1 {
			continue // other source than the mend was made for
		}
		if err := os.WriteFile(path, bytes.Replace(data, []byte(m.old), []byte(m.new), 1), 0o600); err != nil {
			return applied, fmt.Errorf("jupyter: mending GoNB: %w", err)
		}
		applied++
	}
	return applied, nil
}

// mendedModule copies GoNB's source into dir, mends it, and returns a module file that is the module's own with GoNB
// taken from there. (The go command refuses to overlay files of the module cache.)
func mendedModule(ctx context.Context, moduleDir, dir string) (string, error) {
	source, err := gonbSource(ctx, moduleDir)
	if err != nil {
		return "", err
	}
	copied := filepath.Join(dir, "gonb")
	if err := copySource(copied, source); err != nil {
		return "", fmt.Errorf("jupyter: copying GoNB's source: %w", err)
	}
	if _, err := applyMends(copied); err != nil {
		return "", err
	}
	mod, err := readModule(moduleDir)
	if err != nil {
		return "", err
	}
	if err := mod.AddReplace(tools[0].module, "", copied, ""); err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	text, err := mod.Format()
	if err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	sums, err := os.ReadFile(filepath.Join(moduleDir, "go.sum"))
	if err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
	}
	file := filepath.Join(dir, "mended.mod")
	for path, content := range map[string][]byte{file: text, filepath.Join(dir, "mended.sum"): sums} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return "", fmt.Errorf("jupyter: %w", err)
		}
	}
	return file, nil
}

// copySource copies GoNB's source without its documentation, which is a hundred times as large.
func copySource(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		source, target := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		switch {
		case e.Name() == "docs" || e.Name() == "examples":
		case e.IsDir():
			err = os.CopyFS(target, os.DirFS(source))
		default:
			var data []byte
			if data, err = os.ReadFile(source); err == nil {
				err = os.WriteFile(target, data, 0o600)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// gonbSource is the folder of GoNB's source in the module cache.
func gonbSource(ctx context.Context, moduleDir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", tools[0].pkg)
	cmd.Dir = moduleDir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS="+goFlags())
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("jupyter: finding GoNB's source: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
