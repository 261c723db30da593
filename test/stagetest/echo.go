package stagetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"antipode/internal/must"
)

// built is the program docs/examples/echo_adapter; a process builds it once.
var built = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "echo")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "echo")
	if text, err := exec.Command("go", "build", "-o", path, "antipode/docs/examples/echo_adapter").
		CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	return os.ReadFile(path)
})

// Echo writes the echo adapter, a program for models, to a folder and returns its path.
func Echo(t testing.TB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "echo")
	must.Do(t, os.WriteFile(path, must.Get(built())(t), 0o700))
	return path
}
