package checks

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
	_ "antipode/test/memdir"
)

// installation is the built command with its own store.
type installation struct {
	t      *testing.T
	binary string
	env    []string
}

// build builds the command, once in a process, and gives it an empty store; its backend ends with the test.
func build(t *testing.T) *installation {
	t.Helper()
	dir := t.TempDir()
	h := &installation{t: t, binary: filepath.Join(dir, "antipode"),
		env: append(os.Environ(), "ANTIPODE_HOME="+filepath.Join(dir, "store"), "ANTIPODE_BIN=")}
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", h.binary, "antipode")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	t.Cleanup(func() { h.run("backend", "stop") })
	return h
}

// run runs the command and returns its exit status and output.
func (h *installation) run(args ...string) (status int, stdout, stderr string) {
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

// done runs the command, which must succeed, and returns its output.
func (h *installation) done(args ...string) string {
	h.t.Helper()
	status, out, errs := h.run(args...)
	if status != 0 {
		h.t.Fatalf("antipode %s: exit status %d\n%s%s", strings.Join(args, " "), status, out, errs)
	}
	return out
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(path))(t)
}

// image writes an image of that size, a PNG or JPEG by its name.
func writeImage(t *testing.T, path string, side int) {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		img.Set(i%side, i/side, color.NRGBA{uint8(i), uint8(i / side * 3), uint8(len(path) * 40), 255})
	}
	var b strings.Builder
	encode := func() error { return png.Encode(&b, img) }
	if filepath.Ext(path) == ".jpg" {
		encode = func() error { return jpeg.Encode(&b, img, nil) }
	}
	must.Do(t, encode())
	must.Write(t, path, b.String())
}

// oneLine checks that a command failed with status 1 and one line on standard error that holds the words.
func oneLine(t *testing.T, status int, stderr string, words ...string) {
	t.Helper()
	failedOnce(t, status, 1, stderr, words...)
}

// failedOnce checks that a command failed with the status that is wanted and one line that holds the words.
func failedOnce(t *testing.T, status, want int, stderr string, words ...string) {
	t.Helper()
	must.Equal(t, status, want, "exit status")
	line := strings.TrimRight(stderr, "\n")
	if strings.Contains(line, "\n") || !strings.HasPrefix(line, "antipode: ") || strings.Contains(line, "goroutine") {
		t.Errorf("not one line: %q", stderr)
	}
	must.Has(t, line, words...)
	t.Log(line)
}
