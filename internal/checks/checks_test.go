//go:build checks

package checks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/testbackend"
)

// python runs a script with the reference libraries, or skips the test where a module is missing.
func python(t *testing.T, modules []string, script string, args ...string) string {
	t.Helper()
	name := os.Getenv("ANTIPODE_PYTHON")
	if name == "" {
		name = "python3"
	}
	if err := exec.Command(name, "-c", "import "+strings.Join(modules, ", ")).Run(); err != nil {
		testbackend.Missing(t, "python", fmt.Sprintf("%s cannot import %s; name one that can in ANTIPODE_PYTHON", name, strings.Join(modules, ", ")))
	}
	out, err := exec.Command(name, append([]string{script}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return string(out)
}

// house is the built command with a store of its own.
type house struct {
	t      *testing.T
	binary string
	env    []string
}

// build builds the command, once in a process, and gives it an empty store; its backend ends with the test.
func build(t *testing.T) *house {
	t.Helper()
	dir := t.TempDir()
	h := &house{t: t, binary: filepath.Join(dir, "antipode"), env: append(os.Environ(), "ANTIPODE_HOME="+filepath.Join(dir, "store"), "ANTIPODE_BIN=")}
	if out, err := exec.Command("go", "build", "-o", h.binary, "antipode").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Cleanup(func() { h.run("backend", "stop") })
	return h
}

// run runs the command and gives its exit status and what it printed.
func (h *house) run(args ...string) (status int, stdout, stderr string) {
	h.t.Helper()
	cmd := exec.CommandContext(context.Background(), h.binary, args...)
	cmd.Env = h.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		status = exit.ExitCode()
	case err != nil:
		h.t.Fatal(err)
	}
	return status, out.String(), errs.String()
}

// done runs the command, which must succeed, and gives what it printed.
func (h *house) done(args ...string) string {
	h.t.Helper()
	status, out, errs := h.run(args...)
	if status != 0 {
		h.t.Fatalf("antipode %s: exit status %d\n%s%s", strings.Join(args, " "), status, out, errs)
	}
	return out
}
