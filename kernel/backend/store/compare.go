package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"antipode/datasets/table"
)

// Difference compares two payloads of items with the given columns. vectors is the largest difference between values
// of their vectors, relative to the largest value; others reports whether other values differ.
type Difference func(columns []table.ColumnSpec, a, b []byte) (vectors float64, others bool)

// Tolerance is the largest difference between vectors of one item that different processors may cause.
const Tolerance = 1e-4

// MergeReport is what [Store.Merge] has done and found.
type MergeReport struct {
	Stores  int      // that were merged
	Packs   int      // that were copied
	Items   int      // in these packs
	Images  int      // that were copied
	Results int      // that were copied
	Found   int      // files that the store had already
	Twice   int      // items that another pack holds, too
	Differ  int      // items that another pack holds with another payload; of copied ones the smaller checksum is used
	Others  int      // of them, those that differ in other values than vectors
	Largest float64  // difference between their vectors, relative to the largest value
	Beyond  int      // items that differ by more than [Tolerance], or in other values than vectors
	Left    []string // the contexts that were left out because of them: number of items, context, store
	Damaged []string // files that were left out
}

// Within reports whether items that differ do so by their vectors alone, by at most [Tolerance].
func (r *MergeReport) Within() bool { return r.Beyond == 0 }

// String returns the report as one line.
func (r *MergeReport) String() string {
	line := fmt.Sprintf("merged %d stores: %d packs with %d items, %d images and %d results copied, %d files found; "+
		"%d items twice, %d of them differ", r.Stores, r.Packs, r.Items, r.Images, r.Results, r.Found,
		r.Twice+r.Differ, r.Differ)
	if r.Differ > 0 {
		line += fmt.Sprintf(" (vectors by at most %.1e of the largest value, %d in other values)", r.Largest, r.Others)
	}
	return line + fmt.Sprintf("; %d damaged files left out", len(r.Damaged))
}

// differences returns the contexts whose items differ beyond [Tolerance], as one line.
func (r *MergeReport) differences() string {
	return fmt.Sprintf("%d items of the same inputs differ by more than %g of the largest value of their vectors, or "+
		"in "+
		"other values: %s", r.Beyond, Tolerance, strings.Join(r.Left, "; "))
}

// Warning returns a line about items that were not merged, "" if there are none.
func (r *MergeReport) Warning() string {
	if len(r.Left) == 0 {
		return ""
	}
	return r.differences() + "; each was left in its store, and none of its context was copied"
}

// compare compares the items of the store and the sources, and decides which contexts of which sources are left out.
func (m *merging) compare(ctx context.Context, difference Difference) error {
	contexts := map[string]bool{} // relative to a store
	for _, source := range m.sources {
		dirs, err := filepath.Glob(filepath.Join(escape(source.dir), "items/*/*"))
		if err != nil {
			return err
		}
		for _, dir := range dirs {
			if rel, err := filepath.Rel(source.dir, dir); err == nil {
				contexts[rel] = true
			}
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(contexts)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.compareContext(rel, difference); err != nil {
			return err
		}
	}
	return nil
}

// copies are the items of one context in one store, or in several.
type copies struct {
	dir     string
	names   []string                      // of the packs
	paths   []string                      // likewise
	entries map[string][]entry            // by path
	columns map[string][]table.ColumnSpec // likewise
}

// readCopies reads the indexes of the packs in a folder.
func readCopies(dir string) (c copies, err error) {
	c = copies{dir: dir, entries: map[string][]entry{}, columns: map[string][]table.ColumnSpec{}}
	list, err := os.ReadDir(dir)
	if err != nil {
		return c, ifThere(err)
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		head, entries, err := readIndex(path)
		if err != nil {
			return c, err
		}
		if len(entries) > 0 {
			c.names, c.paths = append(c.names, e.Name()), append(c.paths, path)
			c.entries[path], c.columns[path] = entries, head.Columns
		}
	}
	return c, nil
}

// with returns the packs of two stores, each name once: a pack is named by its content.
func (c copies) with(more copies) copies {
	out := copies{names: slices.Clone(c.names), paths: slices.Clone(c.paths), entries: maps.Clone(c.entries),
		columns: maps.Clone(c.columns)}
	for i, name := range more.names {
		if path := more.paths[i]; !slices.Contains(c.names, name) {
			out.names, out.paths = append(out.names, name), append(out.paths, path)
			out.entries[path], out.columns[path] = more.entries[path], more.columns[path]
		}
	}
	return out
}

// compareContext compares the items of one context. The store's own come first, then the sources by the names of their
// packs, so that their order does not matter.
func (m *merging) compareContext(rel string, difference Difference) error {
	own, err := readCopies(filepath.Join(m.s.dir, rel))
	if err != nil {
		return err
	}
	var others []copies
	for _, source := range m.sources {
		c, err := readCopies(filepath.Join(source.dir, rel))
		if err != nil {
			return err
		}
		others = append(others, c)
	}
	slices.SortStableFunc(others, func(a, b copies) int { return slices.Compare(a.names, b.names) })
	merged := copies{entries: map[string][]entry{}, columns: map[string][]table.ColumnSpec{}}
	for _, c := range append([]copies{own}, others...) {
		both := merged.with(c)
		d, err := both.compare(difference, merged.paths)
		if err != nil {
			return err
		}
		if d.beyond > 0 && c.dir != own.dir {
			m.left[c.dir] = true
			m.report.add(d)
			m.report.Left = append(m.report.Left, fmt.Sprintf("%d in %s of %s", d.beyond, filepath.ToSlash(rel),
				strings.TrimSuffix(c.dir, string(filepath.Separator)+rel)))
			continue
		}
		merged = both
	}
	slices.SortFunc(merged.paths, func(a, b string) int { // as they will be listed
		return strings.Compare(filepath.Base(a), filepath.Base(b))
	})
	d, err := merged.compare(difference, nil)
	d.beyond = 0 // among the store's own
	m.report.add(d)
	return err
}

// compared counts items that several packs hold.
type compared struct {
	twice, differ, others, beyond int
	largest                       float64
}

func (r *MergeReport) add(d compared) {
	r.Twice, r.Differ, r.Others, r.Beyond = r.Twice+d.twice, r.Differ+d.differ, r.Others+d.others, r.Beyond+d.beyond
	r.Largest = max(r.Largest, d.largest)
}

// compare compares the items that several packs hold with the one that is used; with old, only those of other packs
// with items of these.
func (c copies) compare(difference Difference, old []string) (d compared, err error) {
	where := map[Key]place{}
	pairs := map[[2]string][][2]entry{} // by files: items that may differ
	for at, path := range c.paths {
		for _, e := range c.entries[path] {
			p := place{path, e}
			other, twice := where[e.key]
			if !twice || old == nil && p.before(&other) {
				where[e.key] = p
			}
			switch {
			case !twice || old != nil && at < len(old):
			case other.sum == e.sum:
				d.twice++
			default:
				files := [2]string{other.path, path}
				pairs[files] = append(pairs[files], [2]entry{other.entry, e})
			}
		}
	}
	for files, items := range pairs {
		described := c.columns[files[0]]
		if described == nil {
			described = c.columns[files[1]]
		}
		for _, part := range chunks(len(items), func(i int) int { return int(items[i][0].size) }) {
			if err := d.payloads(files, items[part[0]:part[1]], described, difference); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

// payloads compares items of two files.
func (d *compared) payloads(files [2]string, items [][2]entry, columns []table.ColumnSpec,
	difference Difference) error {
	var payloads [2][][]byte
	for side, name := range files {
		entries := make([]entry, len(items))
		for i := range items {
			entries[i] = items[i][side]
		}
		var err error
		if payloads[side], err = readPayloads(name, entries); err != nil {
			return ifThere(err)
		}
	}
	for i, a := range payloads[0] {
		b := payloads[1][i]
		switch {
		case a == nil || b == nil: // damaged; it is found when it is read
		case bytes.Equal(a, b):
			d.twice++
		default:
			d.differ++
			vectors, others := difference(columns, a, b)
			d.largest = max(d.largest, vectors)
			if others {
				d.others++
			}
			if others || vectors > Tolerance {
				d.beyond++
			}
		}
	}
	return nil
}

// readIndex returns a file's header and index, none of one that is damaged, of a later version, or removed meanwhile.
func readIndex(path string) (head header, entries []entry, err error) {
	if filepath.Ext(path) != packSuffix {
		return head, nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return head, nil, ifThere(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return head, nil, err
	}
	head, entries, err = openPack(f, info.Size(), filepath.Base(path))
	if errors.Is(err, errPack) || errors.Is(err, errLater) || errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return head, entries, err
}
