package jupyter

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// goVar names the variable of the kernelspec that holds the folder of the go command: a program that is started from a
// desktop has another PATH than a terminal.
const goVar = "ANTIPODE_GO"

// ErrNoGo reports that no go command was found.
var ErrNoGo = errors.New("Go is not installed, or not where the kernel looks for it: cells are compiled by Go. Fix: install it " +
	"from https://go.dev/dl and run `antipode install` again in a terminal where `go version` works")

// FindGo makes sure that PATH leads to a go command: where it does not, the folder recorded when the kernel was
// installed and the usual places are searched, and the one found is added to this process's PATH.
func FindGo() error {
	if _, err := exec.LookPath("go"); err == nil {
		return nil
	}
	home, _ := os.UserHomeDir() // "" finds nothing
	folders := []string{
		os.Getenv(goVar), filepath.Join(runtime.GOROOT(), "bin"), "/usr/local/go/bin", "/usr/lib/go/bin", "/opt/homebrew/bin",
		"/usr/local/bin", "/snap/bin", filepath.Join(home, "go", "bin"),
	}
	sdks, _ := filepath.Glob(filepath.Join(home, "sdk", "go*", "bin")) // the pattern is well formed
	slices.Reverse(sdks)
	for _, folder := range append(folders, sdks...) {
		if info, err := os.Stat(filepath.Join(folder, "go")); folder != "" && err == nil && !info.IsDir() {
			return os.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
		}
	}
	return ErrNoGo
}
