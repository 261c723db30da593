// Command rename gives the module another path, for a public home:
//
//	go run ./tools/rename example.org/x/antipode
//
// It is run in the project's folder. It changes the module lines of *.mod files, imports and mentions of packages in
// Go files, imports in notebooks and mentions in documents, and prints what it changed. The program's name, the
// store's and the kernel's stay: those are not the module's path. Renaming back is the same command with the old
// path.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "rename: give the new module path: go run ./tools/rename example.org/x/antipode")
		os.Exit(2)
	}
	if err := run(".", os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

// run renames the module in a folder and prints each changed file with the number of its changed places.
func run(dir, to string, w io.Writer) error {
	r, err := newRenamer(dir, to)
	if err != nil {
		return err
	}
	names, err := r.files()
	if err != nil {
		return err
	}
	type change struct {
		name    string
		content []byte
		mode    os.FileMode
	}
	var changes []change
	total := 0
	for _, name := range names { // all are computed before the first is written: an error changes nothing
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		renamed, n, err := r.rename(name, content)
		if err != nil {
			return err
		}
		if n > 0 {
			changes = append(changes, change{name, renamed, info.Mode().Perm()})
			total += n
			fmt.Fprintf(w, "%4d  %s\n", n, name)
		}
	}
	for _, c := range changes {
		if err := os.WriteFile(filepath.Join(dir, c.name), c.content, c.mode); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%s is now %s: %d places in %d files. Next: gofmt -l . && go vet ./... && go test ./...; then say "+
		"in CONTRIBUTING.md what the path is now.\n", r.from, to, total, len(changes))
	return nil
}
