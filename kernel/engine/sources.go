package engine

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/kernel/parquet"
)

var builtinSources = map[string]func(*run, json.RawMessage) (*client.Frame, error){
	"csv": (*run).csvSource, "parquet": (*run).parquetSource, "folder": (*run).folderSource, "rows": (*run).rowsSource,
}

func (r *run) rowsSource(raw json.RawMessage) (*client.Frame, error) {
	var a datasets.RowsArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	return client.Decode(bytes.NewReader(a.Frame))
}

func (r *run) csvSource(raw json.RawMessage) (*client.Frame, error) {
	var a datasets.ReadFileArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	name := filepath.Base(a.Path)
	file, err := os.Open(a.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table %s: %w", a.Path, plain(err))
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table %s: %w", a.Path, plain(err))
	}
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%s is not UTF-8 (first at byte %d); save the table as UTF-8", name, invalidAt(data))
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	kinds := a.Kinds
	if kinds == nil {
		if kinds, err = datasets.SniffCSV(bytes.NewReader(data), name); err != nil {
			return nil, err
		}
	}
	cr := csv.NewReader(bytes.NewReader(data))
	header, err := cr.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(header) != len(kinds) || !slices.EqualFunc(header, kinds, func(h string, s client.ColumnSpec) bool { return h == s.Name }) {
		return nil, fmt.Errorf("%s changed while the notebook ran: its columns are now %s; run the cell again", name, strings.Join(header, ", "))
	}
	f := &client.Frame{Columns: make([]client.Column, len(kinds))}
	for i, k := range kinds {
		f.Columns[i].ColumnSpec = k
	}
	for {
		row, err := cr.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := cr.FieldPos(0)
		for i, v := range row {
			if err := appendCell(&f.Columns[i], v); err != nil {
				return nil, fmt.Errorf("%s, line %d, column %q: %w", name, line, kinds[i].Name, err)
			}
		}
	}
	return r.resolve(f, name, a.Path, a.Root)
}

func appendCell(c *client.Column, v string) error {
	switch c.Kind {
	case client.Text:
		c.Texts = append(c.Texts, v)
	case client.Number:
		n := math.NaN()
		if v != "" {
			var err error
			if n, err = strconv.ParseFloat(v, 64); err != nil {
				return fmt.Errorf("%q is not a number, as the column's first values are", v)
			}
		}
		c.Numbers = append(c.Numbers, n)
	case client.Picture:
		c.Images = append(c.Images, client.Image{Path: v})
	case client.Masked:
		c.Masks = append(c.Masks, client.Mask{Counts: v}) // a path, until it is resolved
	default:
		var vec []float32
		if v != "" {
			if err := json.Unmarshal([]byte(v), &vec); err != nil {
				return fmt.Errorf("%.40q is not a list of numbers such as [0.1, 0.2]", v)
			}
		}
		c.Vectors = append(c.Vectors, vec)
	}
	return nil
}

func (r *run) parquetSource(raw json.RawMessage) (*client.Frame, error) {
	var a datasets.ReadFileArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	f, err := parquet.Read(a.Path)
	if err != nil {
		return nil, err
	}
	return r.resolve(f, filepath.Base(a.Path), a.Path, a.Root)
}

// resolve turns a table's paths into pictures and masks, checks its ids, and leaves out or reports bad rows. Masks of
// a CSV are paths in Counts; those of a Parquet file are run lengths already (their size is known).
func (r *run) resolve(f *client.Frame, name, path, root string) (*client.Frame, error) {
	if root == "" {
		root = filepath.Dir(path)
	}
	n := f.Len()
	bad := make([]*client.BadRow, n)
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
				file, err := inside(filepath.Dir(path), root, img.Path, r.store.Dir())
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
				file, err := inside(filepath.Dir(path), root, m.Counts, r.store.Dir())
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
				bad[i] = &client.BadRow{Row: i + 1, ID: id, Column: "id", Reason: fmt.Sprintf("the id stands in row %d already; ids must be unique", at+1)}
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
		b.Reason = name + ": " + b.Reason
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

func pathReason(path string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("the file %s is missing", path)
	}
	return fmt.Sprintf("%s: %v", path, err)
}

// inside resolves a path of a table against the table's folder and refuses one that leaves root, by .. or by a link. Files
// of the store are allowed: saved tables point at them.
func inside(dir, root, path, home string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("a path with a NUL byte")
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
	return "", errors.New("the path leaves the table's folder; move the file, or name a parent folder with --root")
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

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(data)
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

// pictureNames are the endings Folder takes for pictures.
var pictureNames = []string{".jpg", ".jpeg", ".png", ".gif", ".webp"}

func (r *run) folderSource(raw json.RawMessage) (*client.Frame, error) {
	var a datasets.ReadFileArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, err
	}
	var ids, folders []string
	var images []client.Image
	err := filepath.WalkDir(a.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path != a.Path && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		if d.IsDir() || !slices.Contains(pictureNames, strings.ToLower(filepath.Ext(path))) {
			return nil
		}
		rel, err := filepath.Rel(a.Path, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		ids = append(ids, rel)
		images = append(images, client.Image{Path: path})
		folder, _, nested := strings.Cut(rel, "/")
		if !nested {
			folder = ""
		}
		folders = append(folders, folder)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder %s: %w", a.Path, plain(err))
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("no pictures (%s) in %s", strings.Join(pictureNames, " "), a.Path)
	}
	f := &client.Frame{Columns: []client.Column{client.TextColumn("id", ids), client.ImageColumn("image", images), client.TextColumn("folder", folders)}}
	return r.resolve(f, filepath.Base(a.Path), filepath.Join(a.Path, "."), a.Path)
}
