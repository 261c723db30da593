package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"antipode/datasets"
	"antipode/kernel/client"
)

// origin is where the paths of a table come from.
type origin struct {
	name string           // of the table, for messages
	dir  string           // what its paths are relative to
	root string           // the folder that they must not leave; "" = dir
	bad  []*client.BadRow // by row: what the reader of the file found, nil = nothing

	folder bool // the paths are those of a folder's files: one that leaves it is a link
}

// resolve turns a table's paths into images and masks, checks its ids, and leaves out or reports bad rows. Masks that are
// paths have them in Counts, and no size; those of a saved table are run lengths already.
func (r *run) resolve(f *client.Frame, o origin) (*client.Frame, error) {
	if o.root == "" {
		o.root = o.dir
	}
	n := f.Len()
	if n == 0 {
		r.note("%s has no rows", o.name)
	}
	bad := o.bad
	if bad == nil {
		bad = make([]*client.BadRow, n)
	}
	for i := range f.Columns {
		c := &f.Columns[i]
		switch c.Kind {
		case client.Picture:
			c.Images = slices.Clone(c.Images)
			parallel(n, func(row int) {
				img := c.Images[row]
				if img.Path == "" || bad[row] != nil {
					return
				}
				file, err := inside(o.dir, o.root, img.Path, r.store.Dir())
				if errors.Is(err, errOutside) && o.folder {
					err = errLink
				}
				var digest string
				if err == nil {
					digest, err = r.e.Store.FileDigest(file)
					err = plain(err)
				}
				if err == nil && img.SHA256 != "" && img.SHA256 != digest {
					err = fmt.Errorf("%s is not the file the table was made with (SHA-256 %.12s…, the table says %.12s…)", img.Path, digest, img.SHA256)
				}
				if err != nil {
					bad[row] = &client.BadRow{Row: row + 1, ID: rowID(f, row), Column: c.Name, Reason: pathReason(img.Path, err)}
					return
				}
				c.Images[row] = client.Image{SHA256: digest, Path: file}
			})
		case client.Masked:
			c.Masks = slices.Clone(c.Masks)
			parallel(n, func(row int) {
				m := c.Masks[row]
				if m.Counts == "" || m.Size != [2]int{} || bad[row] != nil {
					return
				}
				if strings.HasPrefix(m.Counts, "{") { // run lengths, as a saved CSV holds them
					inline, err := inlineMask(m.Counts)
					if err != nil {
						bad[row] = &client.BadRow{Row: row + 1, ID: rowID(f, row), Column: c.Name, Reason: err.Error()}
					}
					c.Masks[row] = inline
					return
				}
				file, err := inside(o.dir, o.root, m.Counts, r.store.Dir())
				if err == nil {
					c.Masks[row], err = readMask(file)
				}
				if err != nil {
					bad[row] = &client.BadRow{Row: row + 1, ID: rowID(f, row), Column: c.Name, Reason: pathReason(m.Counts, err)}
				}
			})
		case client.Vector:
			for row, v := range c.Vectors {
				if at := slices.IndexFunc(v, notFinite); at >= 0 && bad[row] == nil {
					bad[row] = &client.BadRow{Row: row + 1, ID: rowID(f, row), Column: c.Name, Reason: fmt.Sprintf("number %d of the vector is %v; a vector holds finite numbers, or is null", at+1, v[at])}
				}
			}
		}
	}
	if ids := f.Texts("id"); ids != nil {
		first := map[string]int{}
		for i, id := range ids {
			if bad[i] != nil {
				continue
			}
			if id == "" {
				bad[i] = &client.BadRow{Row: i + 1, Column: "id", Reason: "the id is empty; give every row an id of its own"}
			} else if at, twice := first[id]; twice {
				bad[i] = &client.BadRow{Row: i + 1, ID: id, Column: "id", Reason: fmt.Sprintf("the id is in row %d already; ids must be unique", at+1)}
			} else {
				first[id] = i
			}
		}
	}
	var good []int
	for i, b := range bad {
		if b == nil {
			good = append(good, i)
			continue
		}
		b.Row, b.ID, b.Reason = i+1, rowID(f, i), o.name+": "+b.Reason
		if err := r.report(*b); err != nil {
			return nil, err
		}
	}
	return r.keep(f, good), nil
}

// keep is the frame with only the good rows, which remember their numbers for messages.
func (r *run) keep(f *client.Frame, good []int) *client.Frame {
	if len(good) == f.Len() {
		return f
	}
	out := f.Pick(good)
	numbers := make([]int, len(good))
	for i, row := range good {
		numbers[i] = r.rowNumber(f, row)
	}
	r.numbers[out] = numbers
	return out
}

// rowNumber is the number, from 1, of a frame's row in the table that was read, bad rows counted.
func (r *run) rowNumber(f *client.Frame, row int) int {
	if numbers := r.numbers[f]; numbers != nil {
		return numbers[row]
	}
	return row + 1
}

func notFinite(x float32) bool { return x != x || math.IsInf(float64(x), 0) }

// longPath is how much of a path a message shows.
const longPath = 200

func pathReason(path string, err error) string {
	if runes := []rune(path); len(runes) > longPath {
		path = string(runes[:longPath-1]) + "…"
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("the file %s is missing", path)
	}
	return fmt.Sprintf("%s: %v", path, err)
}

// What is wrong with paths.
var (
	errURL     = errors.New("not fetched: download it first, and give the path of the file")
	errOutside = errors.New("the path leaves the table's folder; copy the file into it, or name a parent folder of both with --root (datasets.Root)")
	errLink    = errors.New("a link that leaves the folder; copy the file into it")
)

// inside resolves a path of a table against the table's folder and refuses one that leaves root, by .. or by a link. Files
// of the store are allowed: saved tables point at them.
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
	if err != nil {
		return "", plain(err)
	}
	for _, allowed := range []string{root, filepath.Join(home, "blobs")} {
		if base, err := filepath.EvalSymlinks(allowed); err == nil {
			if rel, err := filepath.Rel(base, real); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
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

// noEOF says in words what io's errors mean for a file.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends too early")
	}
	return err
}

// plain drops the operation and path that os puts before an error.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// parallel calls f(0) … f(n-1) on as many goroutines as there are cores.
func parallel(n int, f func(int)) {
	var wg sync.WaitGroup
	workers := min(n, runtime.NumCPU())
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				f(i)
			}
		})
	}
	wg.Wait()
}
