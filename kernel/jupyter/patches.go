package jupyter

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// patch is a change to one file of GoNB.
type patch struct {
	file, old, new string // old occurs exactly once
}

// patches fix GoNB 0.11.4 where the relay cannot. They are skipped if a later version of GoNB has other source.
var patches = []patch{
	// A line on standard error with a colon before "main.go:10", as package log writes it, ended the kernel.
	{"internal/goexec/gonberror.go", "	if col == -1 {\n", "	if col < 1 {\n"},
	// An interrupted cell ends within 3 seconds, also one that ignores the signal.
	{"internal/jpyexec/jpyexec.go", "var WaitToKill = 5 * time.Second", "var WaitToKill = 2 * time.Second"},
	// What a program displays last is read before its cell ends: it may still be in the pipe, up to 64 KB of it.
	{"internal/jpyexec/jpyexec.go",
		"	pipeReader                               io.ReadCloser // GONB_PIPE\n",
		"	pipeReader io.ReadCloser // GONB_PIPE\n	drained chan struct{}\n"},
	{"internal/jpyexec/namedpipes.go", "		go exec.pollNamedPipeReader()\n",
		"		exec.drained = make(chan struct{})\n		go func() {\n			defer close(exec.drained)\n" +
			"			exec.pollNamedPipeReader()\n		}()\n"},
	{"internal/jpyexec/jpyexec.go", "	exec.exitError = cmd.Wait()\n",
		"	ended := cmd.Wait()\n	exec.exitError = ended\n" +
			"	if drained := exec.drained; drained != nil {\n" +
			"		select {\n		case <-drained:\n" +
			"		case <-time.After(2 * time.Second):\n		}\n	}\n"},
	// A cell may declare a variable flag. The hidden first cell imports this name of package flag.
	{"internal/goexec/composer.go", "w.Write(\"func main() {\\n\\tflag.Parse()\\n\")",
		"w.Write(\"func main() {\\n\\tantipode_flag.Parse()\\n\")"},
	{"internal/goexec/composer.go", "\n	flag.Parse()\n", "\n	antipode_flag.Parse()\n"},
	{"internal/goexec/parser.go", "func main() { flag.Parse() }", "func main() { antipode_flag.Parse() }"},
	// A program that reads standard input reads EOF instead of waiting forever,
	{"internal/jpyexec/jpyexec.go", "	if exec.stdinContent != nil {\n",
		"	if exec.stdinContent != nil || exec.millisecondsToInput <= 0 {\n"},
	// but a cell that uses os.Stdin or fmt.Scan receives lines that the user types.
	{"internal/goexec/execcode.go", "		CaptureDisplayDataOutput(s.CaptureFile)\n\n	err := jpyExec.Exec()\n",
		"		CaptureDisplayDataOutput(s.CaptureFile)\n" +
			"	if content, ok := msg.ComposedMsg().Content.(map[string]any); ok && content[\"allow_stdin\"] " +
			"== true {\n" +
			"		code, _ := content[\"code\"].(string)\n" +
			"		if strings.Contains(code, \"os.Stdin\") || strings.Contains(code, \"fmt.Scan\") {\n" +
			"			jpyExec.WithInputs(300)\n" +
			"		}\n" +
			"	}\n" +
			"	err := jpyExec.Exec()\n"},
	// Programs are built without the work that is the same for all of them.
	{"internal/goexec/execcode.go", "gonb/common\"\n	\"github.com/janpfeifer/gonb/internal/jpyexec\"\n",
		"gonb/common\"\n	\"github.com/janpfeifer/gonb/internal/cellbuild\"\n" +
			"	\"github.com/janpfeifer/gonb/internal/jpyexec\"\n"},
	{"internal/goexec/execcode.go",
		"output, err := cmd.CombinedOutput()\n	if err != nil {\n		klog.Errorf(\"Failed %q:",
		"output, err := programs.CombinedOutput(cmd)\n	if err != nil {\n		klog.Errorf(\"Failed %q:"},
	{"internal/goexec/execcode.go", "}\n\n// Compile compiles the currently generate go files",
		"}\n\nvar programs cellbuild.Builder\n\n// Compile compiles the currently generate go files"},
}

//go:embed cellbuild/cellbuild.go
var cellbuildSource []byte

// patchesDigest identifies what is changed in GoNB, which is built again if it differs.
func patchesDigest() string {
	sum := sha256.Sum256(fmt.Appendf(cellbuildSource, "%q", patches))
	return hex.EncodeToString(sum[:4])
}

// applyPatches applies the patches to GoNB's source in a folder and returns their number.
func applyPatches(source string) (applied int, err error) {
	for _, m := range patches {
		path := filepath.Join(source, filepath.FromSlash(m.file))
		data, err := os.ReadFile(path)
		if err != nil || bytes.Count(data, []byte(m.old)) != 1 {
			continue // other source than the patch was made for
		}
		if err := os.WriteFile(path, bytes.Replace(data, []byte(m.old), []byte(m.new), 1), 0o600); err != nil {
			return applied, fmt.Errorf("jupyter: patching GoNB: %w", err)
		}
		applied++
	}
	return applied, nil
}

// patchedModule copies GoNB's source into dir and patches it. It returns a go.mod file that replaces GoNB by this copy.
// (The go command does not overlay files of the module cache.)
func patchedModule(ctx context.Context, moduleDir, dir string) (string, error) {
	source, err := gonbSource(ctx, moduleDir)
	if err != nil {
		return "", err
	}
	copied := filepath.Join(dir, "gonb")
	if err := copySource(copied, source); err != nil {
		return "", fmt.Errorf("jupyter: copying GoNB's source: %w", err)
	}
	if _, err := applyPatches(copied); err != nil {
		return "", err
	}
	added := filepath.Join(copied, "internal", "cellbuild")
	if err := errors.Join(os.MkdirAll(added, 0o700),
		os.WriteFile(filepath.Join(added, "cellbuild.go"), cellbuildSource, 0o600)); err != nil {
		return "", fmt.Errorf("jupyter: %w", err)
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
	file := filepath.Join(dir, "patched.mod")
	for path, content := range map[string][]byte{file: text, filepath.Join(dir, "patched.sum"): sums} {
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

// gonbSource returns the folder of GoNB's source in the module cache.
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
