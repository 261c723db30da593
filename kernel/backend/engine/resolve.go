package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"

	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/fault"
	"antipode/internal/imagefile"
)

// origin describes where a table comes from.
type origin struct {
	name string          // of the table, for messages
	dir  string          // the folder, or the URL of the prefix, that its paths are relative to
	root string          // the folder that its paths must be in; "" = dir
	bad  []*table.BadRow // by row: the problem that the reader of the file found, or nil

	threshold    float64 // of soft masks; 0 = 0.5
	color, alpha string  // of images; see datasets.FileOptions

	repeated bool // an id may occur several times
	folder   bool // the table lists a folder: a path outside it is the target of a link

	part string // the file among several that the rows are from; ids are made from it
}

// resolve makes the paths of a table references to images and masks, checks its ids and vectors, and reports or leaves
// out bad rows. A mask that is a path has it in Counts and no size; the masks of a saved table are run lengths already.
func (r *run) resolve(f *table.Frame, s *source) (*table.Frame, error) {
	s.root = cmp.Or(s.root, s.dir)
	f = s.withIDs(f)
	n := f.Len()
	if n == 0 {
		r.note("%s has no rows", s.name)
	}
	if s.bad == nil {
		s.bad = make([]*table.BadRow, n)
	}
	f = r.add(f, s)
	o, bad := s.origin, s.bad
	for i := range f.Columns {
		if c := &f.Columns[i]; c.Kind == table.KindVector {
			r.checkVectors(f, c, o, bad)
		}
	}
	if ids := f.Texts("id"); ids != nil {
		first := map[string]int{}
		for i, id := range ids {
			if bad[i] != nil {
				continue
			}
			if id == "" {
				bad[i] = &table.BadRow{Row: i + 1, Column: "id",
					Reason: "the id is empty; give every row an id of its own"}
			} else if at, twice := first[id]; twice && !o.repeated {
				bad[i] = &table.BadRow{Row: i + 1, ID: id, Column: "id",
					Reason: fmt.Sprintf("the id is in row %d already; ids must be unique", at+1)}
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
		if err := r.report(s.described(*b, i)); err != nil {
			return nil, err
		}
	}
	return keep(f, good), nil
}

// withIDs returns a table with the column id. A table of images without ids gets the paths of its images, if they are
// different and all known, else the numbers of its rows; one of several files has its name in front.
func (o origin) withIDs(f *table.Frame) *table.Frame {
	if o.part == "" && !table.NeedsID(f.Specs()) || f.Has("id") {
		return f
	}
	ids, seen := make([]string, f.Len()), map[string]bool{"": true}
	for i, img := range f.Images("image") {
		if img.SHA256 != "" || seen[img.Path] {
			break
		}
		ids[i], seen[img.Path] = filepath.ToSlash(img.Path), true
	}
	if len(seen) != len(ids)+1 {
		for i := range ids {
			ids[i] = fmt.Sprint(i + 1)
			if o.part != "" {
				ids[i] = o.part + "#" + ids[i]
			}
		}
	}
	return &table.Frame{Columns: append([]table.Column{table.TextColumn("id", ids)}, f.Columns...)}
}

// readFiles replaces the paths in some rows of a table by the digests of images and by masks, in place. It records the
// rows that cannot be read in bad; the error is that of an object storage that cannot be reached.
func (r *run) readFiles(f *table.Frame, rows []int, o origin, bad []*table.BadRow) error {
	for i := range f.Columns {
		c := &f.Columns[i]
		if c.Kind != table.KindImage && c.Kind != table.KindMask {
			continue
		}
		asked, respelled := make([]bool, f.Len()), make([]bool, f.Len())
		for _, row := range rows {
			asked[row] = true
		}
		read := r.readImageColumn
		if c.Kind == table.KindMask {
			read = r.readMaskColumn
		}
		if err := read(f, c, rows, o, bad, respelled); err != nil {
			return err
		}
		r.reading(table.Reading{Source: o.name, Column: c.Name, What: fmt.Sprintf("paths of the column %q were found "+
			"under another spelling (upper or lower case, Unicode form, blanks, backslashes)", c.Name)}.Count(f,
			func(row int) (bool, bool) { return respelled[row], asked[row] }))
	}
	return nil
}

// readImageColumn is readFiles for the images of one column. It sets respelled for the paths that were found under
// another spelling.
func (r *run) readImageColumn(f *table.Frame, c *table.Column, rows []int, o origin, bad []*table.BadRow,
	respelled []bool) error {
	traits := make([]imagefile.Traits, f.Len())
	err := o.each(f, c, rows, bad, func(row int) (path string, err error) {
		img := c.Images[row]
		if img.Path == "" {
			return "", nil
		}
		file, digest, err := r.image(o, img)
		switch {
		case errors.Is(err, errOutside) && o.folder:
			return img.Path, errLink
		case err != nil:
			return img.Path, err
		case img.SHA256 != "" && img.SHA256 != digest:
			return img.Path, fmt.Errorf("%s is not the file the table was made with (SHA-256 %.12s…, the table "+
				"says %.12s…)", img.Path, digest, img.SHA256)
		}
		respelled[row] = o.isRespelled(img.Path, file)
		c.Images[row] = table.Image{SHA256: digest, Path: file}
		traits[row], err = r.traits(o, c.Images[row])
		return img.Path, err
	})
	if err != nil {
		return err
	}
	r.readImages(f, c.Name, o, traits)
	return r.convert(f, c, rows, o, traits, bad)
}

func (r *run) readMaskColumn(f *table.Frame, c *table.Column, rows []int, o origin, bad []*table.BadRow,
	respelled []bool) error {
	guesses := make([]mask.Guess, f.Len())
	err := o.each(f, c, rows, bad, func(row int) (path string, err error) {
		m := c.Masks[row]
		switch {
		case m.Counts == "" || m.Size != [2]int{}:
			return "", nil
		case isInline(m.Counts): // as a saved CSV holds them
			c.Masks[row], err = inlineMask(m.Counts)
			return "", err
		}
		file, _, err := r.image(o, table.Image{Path: m.Counts})
		if err == nil {
			respelled[row] = o.isRespelled(m.Counts, file)
			c.Masks[row], guesses[row], err = readMask(file, o.threshold)
		}
		return m.Counts, err
	})
	if err != nil {
		return err
	}
	masks := make([]table.Mask, f.Len()) // those of rows
	for _, row := range rows {
		if bad[row] == nil && c.Masks[row].Size != [2]int{} {
			masks[row] = c.Masks[row]
		}
	}
	r.readMasks(o.name, c.Name, o.threshold, f, masks, guesses)
	return nil
}

// each calls read for rows that are not bad, on several goroutines, and records those with an error in bad. read
// returns the path of what it reads, "" = the value is in the table itself. It ends early, with the error, where an
// object storage cannot be reached.
func (o origin) each(f *table.Frame, c *table.Column, rows []int, bad []*table.BadRow,
	read func(row int) (path string, err error)) error {
	var broken broken
	fault.Spread(len(rows), o.workers(), func(k int) {
		row := rows[k]
		if bad[row] != nil || broken.is() {
			return
		}
		path, err := read(row)
		if err == nil || broken.set(err) {
			return
		}
		bad[row] = &table.BadRow{Row: row + 1, ID: rowID(f, row), Column: c.Name, Reason: err.Error()}
		if path != "" {
			bad[row].Reason = o.pathReason(path, err)
		}
	})
	if broken.is() {
		return fmt.Errorf("%s: %w", o.name, broken.err)
	}
	return nil
}

// checkVectors records the rows whose vector has a number that is not finite in bad, and notes vectors of zeros.
func (r *run) checkVectors(f *table.Frame, c *table.Column, o origin, bad []*table.BadRow) {
	zeros := 0
	for row, v := range c.Vectors {
		if len(v) > 0 && !slices.ContainsFunc(v, func(x float32) bool { return x != 0 }) {
			zeros++
		}
		if at := slices.IndexFunc(v, notFinite); at >= 0 && bad[row] == nil {
			bad[row] = &table.BadRow{Row: row + 1, ID: rowID(f, row), Column: c.Name,
				Reason: fmt.Sprintf("number %d of the vector is %v; a vector holds finite numbers, or is null",
					at+1, v[at])}
		}
	}
	if zeros > 0 {
		r.note("%s: %d of %d vectors of the column %q are all zeros, and their cosine is not defined; leave "+
			"them blank for images without a vector", o.name, zeros, len(c.Vectors), c.Name)
	}
}

// keep returns the frame with the good rows only.
func keep(f *table.Frame, good []int) *table.Frame {
	if len(good) == f.Len() {
		return f
	}
	return f.Pick(good)
}

// numbered sets the numbers of a frame's rows for messages, unless they come from rows that have them.
func numbered(f *table.Frame) *table.Frame {
	if f.RowNumbers == nil {
		f = f.SameRows(f.Columns)
		f.RowNumbers = make([]int, f.Len())
		for row := range f.RowNumbers {
			f.RowNumbers[row] = row + 1
		}
	}
	return f
}

func notFinite(x float32) bool { return x != x || math.IsInf(float64(x), 0) }

// noEOF returns a readable error for a truncated file.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends too early")
	}
	return err
}

// plain removes the operation and the path from an error of package os.
func plain(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
