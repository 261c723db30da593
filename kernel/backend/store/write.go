package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// mergeFrom is the number of small packs of a context from which on they are merged.
const mergeFrom = 64

// Put is part of [Items].
func (it *packs) Put(keys []Key, payloads [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	if err := it.store(recordsOf(keys, payloads)); err != nil {
		return fmt.Errorf("cannot store results: %w", err)
	}
	it.mergeSmall()
	return nil
}

// commit is part of [Items]: everything is in a pack.
func (it *packs) commit() error { return nil }

func recordsOf(keys []Key, payloads [][]byte) []record {
	records := make([]record, len(keys))
	for i, k := range keys {
		records[i] = record{k, payloads[i]}
	}
	return records
}

// mergeSmall merges small packs if there are many. Where that fails the next batch tries it again.
func (it *packs) mergeSmall() {
	if small := it.which((*file).small); len(small) >= mergeFrom {
		_ = it.rewrite(small)
	}
}

// which returns the names of the files for which f is true.
func (it *packs) which(f func(*file) bool) (names []string) {
	for name, file := range it.files {
		if f(file) {
			names = append(names, name)
		}
	}
	return names
}

// store writes records of any order. They replace items of their keys, whose packs are written again without them.
func (it *packs) store(records []record) error {
	records = newest(records)
	replaced := slices.ContainsFunc(records, func(r record) bool {
		p, stored := it.where[r.key]
		return stored && !p.holds(r.payload)
	})
	if _, err := it.write(records, it.origins(), true); err != nil || !replaced {
		return err
	}
	return it.purge()
}

// purge writes the files again that hold hidden records, without these: another process would use them.
func (it *packs) purge() error { return it.rewrite(it.which((*file).hides)) }

// newest returns records in the order of their keys, the last one of each.
func newest(records []record) []record {
	slices.SortStableFunc(records, func(a, b record) int { return bytes.Compare(a.key[:], b.key[:]) })
	last := records[:0]
	for i, r := range records {
		if i+1 == len(records) || records[i+1].key != r.key {
			last = append(last, r)
		}
	}
	return last
}

// origins returns the origin of what is computed now.
func (it *packs) origins() []Origin {
	if o := it.s.Origin(); o != (Origin{}) {
		return []Origin{o}
	}
	return nil
}

// chunks splits n records, whose sizes size returns, into those of packs.
func chunks(n int, size func(i int) int) (parts [][2]int) {
	start, bytes := 0, 0
	for i := range n {
		s := size(i) + recordHead
		if i > start && (i-start == maxPackItems || bytes+s > maxPackSize) {
			parts = append(parts, [2]int{start, i})
			start, bytes = i, 0
		}
		bytes += s
	}
	if n > start {
		parts = append(parts, [2]int{start, n})
	}
	return parts
}

// write writes records, which are in the order of their keys, into packs, and adds them to the index.
func (it *packs) write(records []record, origins []Origin, replace bool) (names map[string]bool, err error) {
	names = map[string]bool{}
	head := header{Stage: it.stage, Context: it.context, Origins: origins}
	if len(it.columns) > 0 {
		head.Columns, head.Others = it.columns[0], it.columns[1:]
	}
	for _, part := range chunks(len(records), func(i int) int { return len(records[i].payload) }) {
		name, size, entries, err := writePack(it.dir, head, records[part[0]:part[1]])
		if err != nil {
			return names, err
		}
		it.add(name, &file{size: int64(size), origins: origins}, entries, replace)
		it.s.wrote(name, len(entries), size)
		names[name] = true
	}
	return names, nil
}

// writePack writes a pack of records, which are in the order of their keys, into a folder.
func writePack(dir string, head header, records []record) (path string, size int, entries []entry, err error) {
	data, entries, err := encodePack(head, records)
	if err != nil {
		return "", 0, nil, err
	}
	path = filepath.Join(dir, packName(entries))
	return path, len(data), entries, WriteFile(path, data)
}

// Drop is part of [Items]: the packs of the items are written again without them.
func (it *packs) Drop(keys []Key) error {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.drop(keys)
}

func (it *packs) drop(keys []Key) error {
	for range relist { // again where another process has merged their packs meanwhile
		if err := it.refresh(); err != nil {
			return err
		}
		dropped := false
		for _, k := range keys {
			if p, ok := it.where[k]; ok {
				it.files[p.path].hidden++
				delete(it.where, k)
				dropped = true
			}
		}
		if !dropped {
			break
		}
		if err := it.purge(); err != nil {
			return fmt.Errorf("cannot remove results: %w", err)
		}
	}
	return nil
}

// rewrite writes the items of files into as few packs as possible, in the order of their keys, and removes the files.
func (it *packs) rewrite(names []string) error {
	from := map[string]bool{}
	var origins [][]Origin
	slices.Sort(names)
	for _, name := range names {
		from[name] = true
		if f := it.files[name]; f != nil {
			origins = append(origins, f.origins)
		}
	}
	var moved []place
	for _, p := range it.where {
		if from[p.path] {
			moved = append(moved, p)
		}
	}
	slices.SortFunc(moved, func(a, b place) int { return bytes.Compare(a.key[:], b.key[:]) })
	written, vanished := map[string]bool{}, false
	for _, part := range chunks(len(moved), func(i int) int { return int(moved[i].size) }) {
		records, gone, err := it.read(moved[part[0]:part[1]])
		if err != nil {
			return err
		}
		vanished = vanished || gone
		added, err := it.write(records, union(origins...), true)
		if err != nil {
			return err
		}
		maps.Copy(written, added)
	}
	if err := it.remove(from, written); err != nil {
		return err
	}
	if vanished {
		return it.scan()
	}
	return nil
}

// read returns the records of places, in their order, without those that are damaged, which it removes from the index,
// and those of files that another process has removed.
func (it *packs) read(places []place) (records []record, vanished bool, err error) {
	byFile := map[string][]int{}
	for i, p := range places {
		byFile[p.path] = append(byFile[p.path], i)
	}
	payloads := make([][]byte, len(places))
	for name, at := range byFile {
		entries := make([]entry, len(at))
		for j, i := range at {
			entries[j] = places[i].entry
		}
		read, err := readPayloads(name, entries)
		if errors.Is(err, fs.ErrNotExist) {
			it.forget(name)
			vanished = true
			continue
		}
		if err != nil {
			return nil, vanished, err
		}
		for j, i := range at {
			if payloads[i] = read[j]; read[j] == nil {
				delete(it.where, places[i].key)
				it.damage++
			}
		}
	}
	for i, p := range places {
		if payloads[i] != nil {
			records = append(records, record{p.key, payloads[i]})
		}
	}
	return records, vanished, nil
}

// remove removes files that were written again, but not those that have the name of a new one.
func (it *packs) remove(names, written map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if written[name] {
			continue
		}
		delete(it.files, name)
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
