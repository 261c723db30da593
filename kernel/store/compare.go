package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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
	Differ  int      // items that another pack holds with another payload: the smaller checksum is used
	Others  int      // of them, those that differ in other values than vectors
	Largest float64  // difference between their vectors, relative to the largest value
	Damaged []string // files that were left out
}

// Within reports whether items that differ do so by their vectors alone, by at most [Tolerance].
func (r *MergeReport) Within() bool { return r.Others == 0 && r.Largest <= Tolerance }

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

// compare compares the items that several packs of the merged contexts hold.
func (m *merging) compare(ctx context.Context, difference Difference) error {
	for c := range m.contexts {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.compareContext(c[0], c[1], difference); err != nil {
			return err
		}
	}
	return nil
}

func (m *merging) compareContext(stage, context string, difference Difference) error {
	dir := filepath.Join(m.s.dir, "items", stage, context)
	list, err := os.ReadDir(dir)
	if err != nil {
		return ifThere(err)
	}
	columns := map[string][]table.ColumnSpec{}
	where := map[Key]place{}
	pairs := map[[2]string][][2]entry{} // by files: items that may differ
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		head, entries, err := readIndex(path)
		if err != nil {
			return err
		}
		columns[path] = head.Columns
		for _, e := range entries {
			p := place{path, e}
			other, twice := where[e.key]
			if !twice || p.before(&other) {
				where[e.key] = p
			}
			switch {
			case !twice:
			case other.sum == e.sum && other.first == e.first:
				m.report.Twice++
			default:
				files := [2]string{other.path, path}
				pairs[files] = append(pairs[files], [2]entry{other.entry, e})
			}
		}
	}
	for files, items := range pairs {
		described := columns[files[0]]
		if described == nil {
			described = columns[files[1]]
		}
		for _, part := range chunks(len(items), func(i int) int { return int(items[i][0].size) }) {
			if err := m.comparePayloads(files, items[part[0]:part[1]], described, difference); err != nil {
				return err
			}
		}
	}
	return nil
}

// comparePayloads compares items of two files.
func (m *merging) comparePayloads(files [2]string, items [][2]entry, columns []table.ColumnSpec,
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
			m.report.Twice++
		default:
			m.report.Differ++
			vectors, others := difference(columns, a, b)
			m.report.Largest = max(m.report.Largest, vectors)
			if others {
				m.report.Others++
			}
		}
	}
	return nil
}

// readIndex returns a file's header and index, none of one that is damaged, of a later version, or removed meanwhile.
func readIndex(path string) (head header, entries []entry, err error) {
	ext := filepath.Ext(path)
	if ext != packSuffix && ext != shardSuffix {
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
	if ext == shardSuffix {
		entries, err = openShard(f, info.Size(), filepath.Base(path))
	} else {
		head, entries, err = openPack(f, info.Size(), filepath.Base(path))
	}
	if errors.Is(err, errPack) || errors.Is(err, errLater) || errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return head, entries, err
}
