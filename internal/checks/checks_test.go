//go:build checks

package checks

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

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
