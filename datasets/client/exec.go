package client

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ExecVar is the environment variable with the programs that the user allows to run as models, a line for each: the
// SHA-256 and the absolute path. A client sends it with a request like a secret; the backend does not inherit it.
const ExecVar = "ANTIPODE_ALLOW_EXEC"

// AllowExec allows this process, and those it starts, to request runs of a program, as the file is now.
func AllowExec(path string) error {
	program, err := filepath.Abs(path)
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	f, err := os.Open(program)
	if err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	line := hex.EncodeToString(h.Sum(nil)) + " " + program + "\n"
	return os.Setenv(ExecVar, line+os.Getenv(ExecVar))
}

// Allowed returns the SHA-256 with which a value of [ExecVar] allows a program, or "".
func Allowed(value, program string) (digest string) {
	for line := range strings.Lines(value) {
		sum, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if path == program {
			return sum
		}
	}
	return ""
}
