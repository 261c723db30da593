package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"antipode/datasets/table"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Key identifies an item within its context.
type Key [32]byte

// KeyOf returns the key of a row's inputs.
func KeyOf(inputs string) Key { return sha256.Sum256([]byte(inputs)) }

// Items are the items of one context: one stage, version, model and options. Its methods are safe for concurrent use.
// There are three kinds: those of a folder, of a worker ([OpenWorker]), which collects items into full packs, and of a
// worker whose store is in object storage.
type Items interface {
	// Columns names the columns of the items' values, for the headers of packs.
	Columns(columns []table.ColumnSpec)
	// Has reports whether an item exists.
	Has(k Key) bool
	// GetAll returns the payloads of items, nil for a missing or damaged one. It finds those that another process has
	// stored meanwhile.
	GetAll(keys []Key) [][]byte
	// Put stores a batch of items: when it returns they are in a pack, or of a worker will be at the next commit.
	Put(keys []Key, payloads [][]byte) error
	// Drop removes items, so that they count as missing. Copies in object storage stay, and may be found again: runs
	// that retry failed rows drop items, and workers do not retry.
	Drop(keys []Key) error
	// Damage returns the number of items, and of files with lost items, that were found damaged since the last call.
	Damage() int
	// Err returns the error of the last read since the last call, for which items count as missing, but are there.
	Err() error

	// commit writes what is collected.
	commit() error
}

// Items opens the items of a context. stage is a name with a version such as "embed-v1"; context is a digest.
func (s *Store) Items(stage, context string) (Items, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.packsOf(stage, context)
	if it := s.items[p.dir]; it != nil {
		return it, nil
	}
	var it interface {
		Items
		scan() error
	} = p
	if s.worker != nil {
		w := &workerItems{packs: p, to: p, every: s.worker.Commit, at: map[Key]int{}}
		it = w
		if s.worker.Remote != nil {
			it = newBucketItems(w)
		}
	}
	if err := it.scan(); err != nil {
		return nil, err
	}
	s.items[p.dir] = it
	return it, nil
}

// packsOf returns the packs of a context, which scan then indexes.
func (s *Store) packsOf(stage, context string) *packs {
	return &packs{s: s, stage: stage, context: context, dir: filepath.Join(s.dir, "items", stage, context)}
}

// packs are the packs of one context in a folder, and the [Items] in them.
type packs struct {
	s              *Store
	stage, context string
	dir            string

	mu      sync.Mutex           // guards the fields below, and those of the types that embed packs
	columns [][]table.ColumnSpec // lists, one of which an item has; the first is that of new items
	where   map[Key]place
	files   map[string]*file // packs that are indexed, by path
	damage  int              // items and files that were found damaged since the last call of Damage
	unread  error            // since the last call of Err
}

// file is an indexed pack.
type file struct {
	records, hidden int // hidden are those that are not used: they were dropped, or another file's is used
	size            int64
	origins         []Origin
}

// hides reports whether a file has hidden records.
func (f *file) hides() bool { return f.hidden > 0 }

// small reports whether a file is merged with others. One without records has another version.
func (f *file) small() bool {
	return f.records > 0 && f.records < maxPackItems/4 && f.size < maxPackSize/4
}

// place is where an item is stored.
type place struct {
	path string
	entry
}

// before reports whether p is used rather than q for the same key: the smaller checksum, then the smaller name, so that
// stores that are merged in any order agree.
func (p *place) before(q *place) bool {
	return cmp.Or(cmp.Compare(p.sum, q.sum), strings.Compare(filepath.Base(p.path), filepath.Base(q.path))) < 0
}

// Columns is part of [Items].
func (it *packs) Columns(columns []table.ColumnSpec) {
	it.mu.Lock()
	defer it.mu.Unlock()
	it.columns = distinct([][]table.ColumnSpec{columns}, it.columns)
}

// distinct returns the lists of columns of both, each once.
func distinct(lists, more [][]table.ColumnSpec) (all [][]table.ColumnSpec) {
	for _, columns := range slices.Concat(lists, more) {
		if !slices.ContainsFunc(all, func(l []table.ColumnSpec) bool { return slices.Equal(l, columns) }) {
			all = append(all, columns)
		}
	}
	return all
}

// scan indexes the folder anew.
func (it *packs) scan() error {
	it.reset()
	return it.refresh()
}

// reset empties the index.
func (it *packs) reset() { it.where, it.files = map[Key]place{}, map[string]*file{} }

// relist is the number of times that a folder whose files vanish while they are opened is listed.
const relist = 20

// refresh indexes the files that other processes have written. If they have removed some, it indexes all anew.
func (it *packs) refresh() error {
	for range relist {
		names, err := it.list()
		if err != nil {
			return err
		}
		for name := range it.files {
			if _, listed := slices.BinarySearch(names, name); !listed {
				it.reset()
				break
			}
		}
		vanished := false
		for _, name := range names {
			if it.files[name] == nil {
				gone, err := it.index(name)
				if err != nil {
					return err
				}
				vanished = vanished || gone
			}
		}
		if !vanished {
			return nil
		}
	}
	return errors.New("the files of " + it.dir + " are removed faster than they can be read; run it again")
}

// list returns the paths of the packs, sorted.
func (it *packs) list() (names []string, err error) {
	list, err := os.ReadDir(it.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range list {
		if filepath.Ext(e.Name()) == packSuffix {
			names = append(names, filepath.Join(it.dir, e.Name()))
		}
	}
	return names, nil
}

// index reads a file's index. It writes a damaged file again, with the items that are not lost.
// gone reports that the file has been removed meanwhile.
func (it *packs) index(name string) (gone bool, err error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	touch(name, info)
	head, entries, err := openPack(f, info.Size(), filepath.Base(name))
	added := &file{size: info.Size(), origins: head.Origins}
	switch {
	case errors.Is(err, errVersion):
		entries = nil // its items count as missing
	case errors.Is(err, errPack):
		_, err := it.heal(name)
		return false, err
	case err != nil:
		return false, err
	}
	it.describe(head)
	it.add(name, added, entries, false)
	return false, nil
}

// describe takes over the columns that a pack names.
func (it *packs) describe(head header) { it.columns = distinct(it.columns, head.lists()) }

// add adds the entries of a file to the index. With replace they are used rather than those of other files.
func (it *packs) add(name string, f *file, entries []entry, replace bool) {
	f.records = len(entries)
	it.files[name] = f
	for _, e := range entries {
		p := place{name, e}
		old, known := it.where[e.key]
		if known && !replace && !p.before(&old) {
			f.hidden++
			continue
		}
		it.where[e.key] = p
		if other := it.files[old.path]; known && other != nil && other != f {
			other.hidden++
		}
	}
}

// forget removes a file and its items from the index.
func (it *packs) forget(name string) {
	delete(it.files, name)
	maps.DeleteFunc(it.where, func(_ Key, p place) bool { return p.path == name })
}

// heal writes the items of a damaged file that are not lost into a pack, and removes the file: gone is true, as for a
// file that another process has removed. Where that fails, as in a store that cannot be written, the sound items of the
// file are used all the same.
func (it *packs) heal(name string) (gone bool, err error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	records, head, lost := salvage(data)
	it.damage += max(1, lost)
	it.forget(name)
	it.describe(head)
	written, err := it.write(records, head.Origins, false)
	if err == nil {
		return true, it.remove(map[string]bool{name: true}, written)
	}
	scanned := scanHeads(bytes.NewReader(data), int64(len(data)))
	it.add(name, &file{size: int64(len(data))}, slices.DeleteFunc(scanned, func(e entry) bool {
		return !e.holds(data[e.offset : e.offset+int64(e.size)])
	}), false)
	return false, nil
}

// Damage is part of [Items].
func (it *packs) Damage() int {
	it.mu.Lock()
	defer it.mu.Unlock()
	n := it.damage
	it.damage = 0
	return n
}

// Err is part of [Items].
func (it *packs) Err() error {
	it.mu.Lock()
	defer it.mu.Unlock()
	err := it.unread
	it.unread = nil
	return err
}

// note keeps an error for Err.
func (it *packs) note(err error) {
	if err != nil {
		it.unread = err
	}
}

// Has is part of [Items].
func (it *packs) Has(k Key) bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.has(k)
}

func (it *packs) has(k Key) bool {
	_, stored := it.where[k]
	return stored
}

// Len returns the number of items in packs of the folder.
func (it *packs) Len() int {
	it.mu.Lock()
	defer it.mu.Unlock()
	return len(it.where)
}

// GetAll is part of [Items].
func (it *packs) GetAll(keys []Key) [][]byte {
	it.mu.Lock()
	defer it.mu.Unlock()
	out := make([][]byte, len(keys))
	it.note(it.getAll(keys, out))
	return out
}

// getAll reads the payloads that out lacks, and looks for packs of other processes if it has not all of them. After an
// error it returns those that it can read all the same.
func (it *packs) getAll(keys []Key, out [][]byte) (err error) {
	for i, k := range keys {
		if out[i] == nil && !it.has(k) {
			err = it.refresh()
			break
		}
	}
	for try := range relist {
		complete, failed := it.get(keys, out)
		if complete {
			break
		}
		if failed != nil && try > 0 {
			return failed
		}
		if again := it.scan(); again != nil { // files were removed, or damaged ones written again
			return again
		}
	}
	return err
}

// get reads the payloads that out lacks. complete is false if files have been removed, were damaged or, with the error
// failed, cannot be read.
func (it *packs) get(keys []Key, out [][]byte) (complete bool, failed error) {
	byFile := map[string][]int{}
	for i, k := range keys {
		if p, ok := it.where[k]; ok && out[i] == nil {
			byFile[p.path] = append(byFile[p.path], i)
		}
	}
	complete = true
	for _, name := range slices.Sorted(maps.Keys(byFile)) {
		at := byFile[name]
		entries := make([]entry, len(at))
		for j, i := range at {
			entries[j] = it.where[keys[i]].entry
		}
		payloads, err := readPayloads(name, entries)
		if err != nil {
			if complete = false; !errors.Is(err, fs.ErrNotExist) {
				failed = err
			}
			continue
		}
		damaged := false
		for j, i := range at {
			out[i] = payloads[j]
			if payloads[j] == nil {
				damaged = true
				delete(it.where, keys[i])
			}
		}
		if damaged {
			gone, err := it.heal(name)
			complete = complete && err == nil && !gone
		}
	}
	return complete, failed
}

// readPayloads returns the payloads of entries of a file, nil for a damaged one.
func readPayloads(name string, entries []entry) ([][]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	first, last, sum := info.Size(), int64(0), int64(0)
	for _, e := range entries {
		first, last, sum = min(first, e.offset), max(last, e.offset+int64(e.size)), sum+int64(e.size)
	}
	last = min(last, info.Size())
	var span []byte // where most of it is needed
	if first < last && last-first <= 2*sum+recordHead*int64(len(entries)) {
		span = make([]byte, last-first)
		if err := readAt(f, span, first); err != nil {
			return nil, err
		}
	}
	payloads := make([][]byte, len(entries))
	for i, e := range entries {
		end := e.offset + int64(e.size)
		var payload []byte
		switch {
		case end > info.Size():
			continue
		case span != nil:
			payload = span[e.offset-first : end-first : end-first]
		default:
			payload = make([]byte, e.size)
			if err := readAt(f, payload, e.offset); err != nil {
				return nil, err
			}
		}
		if e.holds(payload) {
			payloads[i] = payload
		}
	}
	return payloads, nil
}
