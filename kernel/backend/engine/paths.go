package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets"
	"antipode/internal/objecturl"

	"golang.org/x/text/unicode/norm"
)

// longPath is the maximal length of a path in a message.
const longPath = 200

func (o origin) pathReason(path string, err error) string {
	where := ""
	if !filepath.IsAbs(path) && !objecturl.IsRemote(path) && !objecturl.IsRemote(o.dir) && len(path) < longPath {
		where = fmt.Sprintf(" (%s)", filepath.Join(o.dir, filepath.FromSlash(path)))
	}
	if runes := []rune(path); len(runes) > longPath {
		path = string(runes[:longPath-1]) + "…"
	}
	if errors.Is(err, fs.ErrNotExist) {
		_, near, _ := strings.Cut(err.Error(), fs.ErrNotExist.Error()+";")
		if near != "" {
			near = ";" + near
		}
		return fmt.Sprintf("the file %s is missing%s%s", path, where, near)
	}
	return fmt.Sprintf("%s: %v", path, err)
}

// Errors of paths.
var (
	errURL = errors.New("a URL, not the path of a file; name the column otherwise, and fetch it with " +
		"antipode data images --url COLUMN")
	errOutside = errors.New("the path leaves the table's folder; copy the file into it, or name a parent folder of " +
		"both with --root (datasets.FileOptions.Root)")
	errLink = errors.New("a link that leaves the folder; copy the file into it")
)

// inside resolves a path of a table against the table's folder. A path that leaves root, by .. or by a link, is an
// error, unless it is a file of the store, which saved tables refer to.
func inside(dir, root, path, home string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("a path with a NUL byte")
	}
	if datasets.IsURL(path) {
		return "", errURL
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(dir, full)
	}
	real, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) {
		if full, err = otherSpelling(full); err == nil {
			real, err = filepath.EvalSymlinks(full)
		}
	}
	if err != nil {
		return "", plain(err)
	}
	for _, allowed := range []string{root, filepath.Join(home, "blobs")} {
		if base, err := filepath.EvalSymlinks(allowed); err == nil {
			if rel, err := filepath.Rel(base, real); err == nil && rel != ".." &&
				!strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				if info, err := os.Stat(real); err != nil {
					return "", plain(err)
				} else if !info.Mode().IsRegular() {
					return "", errors.New("not a file")
				}
				return real, nil
			}
		}
	}
	return "", errOutside
}

// spelling returns what paths that differ only in case, in Unicode's form or in blanks around them have in common.
func spelling(path string) string { return strings.ToLower(norm.NFC.String(strings.TrimSpace(path))) }

// otherSpelling returns the path of the one file whose path differs from a missing one only in case, in Unicode's form,
// in blanks or in backslashes for slashes. The error names several such files, or one with another ending.
func otherSpelling(path string) (string, error) {
	if os.PathSeparator == '/' {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	at := []string{string(filepath.Separator)} // the folders that match so far
	for _, part := range strings.Split(strings.Trim(filepath.Clean(path), string(filepath.Separator)),
		string(filepath.Separator)) {
		var next, exact []string
		near := ""
		for _, dir := range at {
			if _, err := os.Lstat(filepath.Join(dir, part)); err == nil {
				exact = append(exact, filepath.Join(dir, part))
				continue
			}
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if spelling(e.Name()) == spelling(part) {
					next = append(next, filepath.Join(dir, e.Name()))
				} else if filepath.Ext(part) != "" && stemSpelling(e.Name()) == stemSpelling(part) {
					near = fmt.Sprintf("; did you mean %q?", e.Name())
				}
			}
		}
		if at = append(exact, next...); len(at) == 0 {
			return "", fmt.Errorf("%w%s", fs.ErrNotExist, near)
		}
	}
	if len(at) > 1 {
		var names []string
		for _, p := range at {
			names = append(names, filepath.Base(p))
		}
		return "", fmt.Errorf("the file is missing, and there are several with similar names: %s; use one of them",
			strings.Join(names, ", "))
	}
	return at[0], nil
}

// stemSpelling returns the spelling of a file's name without its ending.
func stemSpelling(name string) string { return spelling(strings.TrimSuffix(name, filepath.Ext(name))) }

// isRespelled reports whether a path of a table is the file found by another spelling.
func (o origin) isRespelled(path, file string) bool {
	if strings.HasSuffix(file, filepath.FromSlash(path)) {
		return false
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(o.dir, path)
	}
	_, err := os.Lstat(path)
	return err != nil
}
