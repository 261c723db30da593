package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"antipode/datasets/client"
)

// FindOptions are the options of [Find]. The zero value suits programs and cells.
type FindOptions struct {
	Home string // the store's folder; "" = [client.Home]
	From string // folder that, or a parent of which, may have a sibling shared/data; "" = the working directory
}

// ErrNotFound is wrapped by the error of [Find] for a data set that is not on this machine.
var ErrNotFound = errors.New("not found on this machine")

// Find returns the folder of the data set: NAME in $ANTIPODE_DATA, else in ../shared/data next to the working
// directory, one of its parents or the module's folder, else in the store's data folder, where [Pull] puts it.
func Find(name string, where FindOptions) (string, error) {
	m, err := Get(name)
	if err != nil {
		return "", err
	}
	var tried []string
	try := func(dir string) bool {
		tried = append(tried, dir)
		return m.isIn(dir)
	}
	if root := os.Getenv("ANTIPODE_DATA"); root != "" {
		dir, err := filepath.Abs(filepath.Join(root, name)) // the backend works in another folder
		if err != nil {
			return "", err
		}
		if try(dir) {
			return dir, nil
		}
	}
	from := where.From
	if from == "" {
		if from, err = os.Getwd(); err != nil {
			return "", err
		}
	}
	for _, start := range []string{from, os.Getenv(client.ModuleVar)} {
		if dir := m.sibling(start); dir != "" {
			return dir, nil
		}
	}
	home := where.Home
	if home == "" {
		if home, err = client.Home(); err != nil {
			return "", err
		}
	}
	if dir := filepath.Join(home, "data", name); try(dir) {
		return dir, nil
	}
	return "", fmt.Errorf("the data set %s was %w (searched %v); run `antipode data pull %s`, or set ANTIPODE_DATA "+
		"to a folder that holds %s/%s",
		name, ErrNotFound, tried, name, name, m.Files[0].Path)
}

// Installed reports whether [Find] finds the data set on this machine. A notebook can test it before it uses the data.
func Installed(name string) bool {
	_, err := Find(name, FindOptions{})
	return err == nil
}

// sibling returns the data set's folder in ../shared/data of a folder or of one of its parents, or "" if there is
// none.
func (m Manifest) sibling(start string) string {
	if start == "" {
		return ""
	}
	for dir := filepath.Clean(start); ; dir = filepath.Dir(dir) {
		if data := filepath.Join(filepath.Dir(dir), "shared", "data", m.Name); m.isIn(data) {
			return data
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
	}
}

// isIn reports whether a folder contains a file of the data set, under either of its names.
func (m Manifest) isIn(dir string) bool {
	for _, f := range m.Files {
		if f.Path == "LICENSE" {
			continue
		}
		for _, name := range []string{f.Path, f.upstream()} {
			if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil &&
				info.Mode().IsRegular() {
				return true
			}
		}
	}
	return false
}

// Here returns the absolute path of the folder that the user named, else the folder that [Find] returns,
// else "". Constructors of tables call it, so that a backend with another working directory reads the same files.
func Here(name, dir string) string {
	if dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			return abs
		}
		return dir
	}
	found, _ := Find(name, FindOptions{})
	return found
}

// Dir returns the folder that a plan names, or the one that [Find] returns for the backend's store.
func Dir(name, dir, home string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	return Find(name, FindOptions{Home: home})
}
