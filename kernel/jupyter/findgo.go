package jupyter

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// goVar is the environment variable of the kernelspec with the folder of the go command: a program that is started from
// a desktop has another PATH than a terminal.
const goVar = "ANTIPODE_GO"

// ErrNoGo is the error if there is no go command.
var ErrNoGo = errors.New("Go is not installed, or not where the kernel looks for it: cells are compiled by Go. Fix: " +
	"install it from https://go.dev/dl and run `antipode install` again in a terminal where `go version` works")

// FindGo adds the folder of the go command to PATH unless PATH contains it: the folder recorded when the kernel was
// installed, else the first of the usual folders that contains it.
func FindGo() error {
	if _, err := exec.LookPath("go"); err == nil {
		return nil
	}
	home, _ := os.UserHomeDir() // "" finds nothing
	folders := []string{os.Getenv(goVar)}
	if root := os.Getenv("GOROOT"); root != "" {
		folders = append(folders, filepath.Join(root, "bin"))
	}
	folders = append(folders, "/usr/local/go/bin", "/usr/lib/go/bin", "/opt/homebrew/bin", "/usr/local/bin",
		"/snap/bin", filepath.Join(home, "go", "bin"))
	sdks, _ := filepath.Glob(filepath.Join(home, "sdk", "go*", "bin")) // the pattern is well formed
	slices.Reverse(sdks)
	for _, folder := range append(folders, sdks...) {
		if info, err := os.Stat(filepath.Join(folder, "go")); folder != "" && err == nil && !info.IsDir() {
			return os.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
		}
	}
	return ErrNoGo
}
