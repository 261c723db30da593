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
	"antipode/internal/glob"
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
		for _, dir := range glob.In(source.dir, "items/*/*") {
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

// indexed is a pack whose index has been read.
type indexed struct {
	path    string
	head    header
	entries []entry
}

func (p *indexed) name() string { return filepath.Base(p.path) }

func byName(a, b indexed) int { return strings.Compare(a.name(), b.name()) }

// readContext reads the indexes of the packs in a folder, in the order of their names.
func readContext(dir string) (packs []indexed, err error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, ifThere(err)
	}
	for _, e := range list {
		path := filepath.Join(dir, e.Name())
		head, entries, err := readIndex(path)
		if err != nil {
			return nil, err
		}
		if len(entries) > 0 {
			packs = append(packs, indexed{path, head, entries})
		}
	}
	return packs, nil
}

// with returns the packs of two stores, each name once: a pack is named by its content.
func with(packs, more []indexed) []indexed {
	names, both := map[string]bool{}, slices.Clone(packs)
	for _, p := range packs {
		names[p.name()] = true
	}
	for _, p := range more {
		if !names[p.name()] {
			both = append(both, p)
		}
	}
	return both
}

// compareContext compares the items of one context. The store's own come first, then the sources by the names of their
// packs, so that their order does not matter.
func (m *merging) compareContext(rel string, difference Difference) error {
	merged, err := readContext(filepath.Join(m.s.dir, rel))
	if err != nil {
		return err
	}
	type copies struct {
		dir   string
		packs []indexed
	}
	var others []copies
	for _, source := range m.sources {
		packs, err := readContext(filepath.Join(source.dir, rel))
		if err != nil {
			return err
		}
		others = append(others, copies{source.dir, packs})
	}
	slices.SortStableFunc(others, func(a, b copies) int { return slices.CompareFunc(a.packs, b.packs, byName) })
	for _, c := range others {
		both := with(merged, c.packs)
		d, err := compare(both, difference, len(merged))
		if err != nil {
			return err
		}
		if d.beyond > 0 {
			m.left[filepath.Join(c.dir, rel)] = true
			m.report.add(d)
			m.report.Left = append(m.report.Left, fmt.Sprintf("%d in %s of %s", d.beyond, filepath.ToSlash(rel), c.dir))
			continue
		}
		merged = both
	}
	slices.SortFunc(merged, byName) // as they will be listed
	d, err := compare(merged, difference, 0)
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

// compare compares the items that several packs hold with the one that is used or, with old > 0, with the first pack's.
// The first packs, as many as old, are not compared with each other.
func compare(packs []indexed, difference Difference, old int) (d compared, err error) {
	type found struct {
		place
		pack int
	}
	where := map[Key]found{}
	pairs := map[[2]int][][2]entry{} // by packs: items that may differ
	for at, pack := range packs {
		for _, e := range pack.entries {
			p := found{place{pack.path, e}, at}
			other, twice := where[e.key]
			if !twice || old == 0 && p.before(&other.place) {
				where[e.key] = p
			}
			switch {
			case !twice || at < old:
			case other.sum == e.sum:
				d.twice++
			default:
				both := [2]int{other.pack, at}
				pairs[both] = append(pairs[both], [2]entry{other.entry, e})
			}
		}
	}
	for both, items := range pairs {
		a, b := packs[both[0]], packs[both[1]]
		lists := distinct(a.head.lists(), b.head.lists())
		if lists == nil {
			lists = append(lists, nil) // not known
		}
		for _, part := range chunks(len(items), func(i int) int { return int(items[i][0].size) }) {
			if err := d.payloads([2]string{a.path, b.path}, items[part[0]:part[1]], lists, difference); err != nil {
				return d, err
			}
		}
	}
	return d, nil
}

func (d *compared) payloads(files [2]string, items [][2]entry, lists [][]table.ColumnSpec,
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
			vectors, others := 0.0, true
			for _, columns := range lists { // payloads with others do not decode, which counts as a difference
				if vectors, others = difference(columns, a, b); !others {
					break
				}
			}
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

// readIndex returns a file's header and index, none of one that is damaged, of another version, or removed meanwhile.
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
	if errors.Is(err, errPack) || errors.Is(err, errVersion) || errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return head, entries, err
}
