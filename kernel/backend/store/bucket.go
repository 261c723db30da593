package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"antipode/datasets/table"
)

// Portable reports whether a file of a store, by its path relative to it with slashes and its content, is one that
// other stores can use: an image, a pack, or a part of a result. Damaged files are not, nor are packs of another
// version.
func Portable(name string, data []byte) bool {
	base, depth := path.Base(name), strings.Count(name, "/")
	switch part, _, _ := strings.Cut(name, "/"); {
	case part == "blobs" && depth == 2:
		sum := sha256.Sum256(data)
		digest, _, _ := strings.Cut(base, ".")
		return digest == hex.EncodeToString(sum[:])
	case part == "items" && depth == 3 && path.Ext(base) == packSuffix:
		_, _, err := openPack(bytes.NewReader(data), int64(len(data)), base)
		return err == nil && sound(data)
	case part == "results" && depth == 1 && path.Ext(base) == ".json":
		rec := &Record{}
		return json.Unmarshal(data, rec) == nil && rec.Plan != nil
	case part == "results" && depth == 1 && path.Ext(base) == ".frame":
		_, err := table.Decode(bytes.NewReader(data))
		return err == nil
	}
	return false
}

// Remote is a store in object storage of which a worker's store holds a part; see [WorkerOptions]. Names of files are
// relative to the store, with slashes. The errors for a file that is missing or damaged are [fs.ErrNotExist] and
// [ErrDamaged]. Its methods are safe for concurrent use.
type Remote interface {
	// List returns the sizes of the files in a folder by their names.
	List(folder string) (map[string]int64, error)
	// ReadAt reads a part of a file as [io.ReaderAt] does.
	ReadAt(name string, p []byte, offset int64) (int, error)
	// Fetch copies a file into the worker's store, and checks it.
	Fetch(name string) error
	// Push writes the images and packs that the worker's store has and the other lacks, packs after their images.
	Push() error
}

// Requests is the number of requests to object storage at the same time.
const Requests = 16

// remote returns the store in object storage, nil if there is none.
func (s *Store) remote() Remote {
	if s.worker == nil {
		return nil
	}
	return s.worker.Remote
}

// name returns the name of a file of the store in object storage.
func (s *Store) name(file string) string {
	rel, err := filepath.Rel(s.dir, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(rel)
}

// Provide copies the file of an image that [Store.Image] returned from object storage, unless the file exists or there
// is no object storage.
func (s *Store) Provide(img table.Image) error {
	r := s.remote()
	if r == nil || !strings.HasPrefix(img.Path, filepath.Join(s.dir, "blobs")+string(filepath.Separator)) {
		return nil
	}
	if _, err := os.Stat(img.Path); err == nil {
		return nil
	}
	return r.Fetch(s.name(img.Path))
}

// lost reports whether an error says that a file of object storage cannot be used, not that it cannot be read now.
func lost(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrDamaged) || errors.Is(err, errPack) ||
		errors.Is(err, errVersion)
}

// farPack reads a pack in object storage. It keeps what it has read last, which is the whole of a small pack.
type farPack struct {
	Remote
	name string
	at   int64
	last []byte
}

// ReadAt is part of [io.ReaderAt].
func (f *farPack) ReadAt(p []byte, offset int64) (int, error) {
	if offset < f.at || offset+int64(len(p)) > f.at+int64(len(f.last)) {
		read := make([]byte, len(p))
		n, err := f.Remote.ReadAt(f.name, read, offset)
		if f.at, f.last = offset, read[:n]; err != nil {
			return copy(p, f.last), err
		}
	}
	return copy(p, f.last[offset-f.at:]), nil
}

// bucketItems are the [Items] of a worker whose store is in object storage. A pack that another worker has written is
// copied into the folder when one of its items is needed.
type bucketItems struct {
	*workerItems
	remote Remote
	far    *packs          // those that the folder lacks: an index only
	lost   map[string]bool // packs that cannot be used
}

func newBucketItems(w *workerItems) *bucketItems {
	it := &bucketItems{workerItems: w, remote: w.s.remote(), far: &packs{}, lost: map[string]bool{}}
	w.to = it
	return it
}

// scan indexes the folder and object storage anew.
func (it *bucketItems) scan() error {
	it.far.reset()
	if err := it.packs.scan(); err != nil {
		return err
	}
	return it.refreshFar()
}

// refresh is part of sink.
func (it *bucketItems) refresh() error {
	if err := it.packs.refresh(); err != nil {
		return err
	}
	return it.refreshFar()
}

// refreshFar indexes the packs that other workers have written, from their ends. If some were removed, it indexes all
// anew.
func (it *bucketItems) refreshFar() error {
	listed, err := it.remote.List(it.s.name(it.dir))
	if err != nil {
		return err
	}
	sizes := map[string]int64{}
	for name, size := range listed {
		path := filepath.Join(it.s.dir, filepath.FromSlash(name))
		if filepath.Ext(path) == packSuffix && filepath.Dir(path) == it.dir && it.files[path] == nil && !it.lost[path] {
			sizes[path] = size
		}
	}
	for path := range it.far.files {
		if _, there := sizes[path]; !there {
			it.far.reset()
			break
		}
	}
	var paths []string
	for path := range sizes {
		if it.far.files[path] == nil {
			paths = append(paths, path)
		}
	}
	entries := make([][]entry, len(paths))
	for i, err := range each(paths, func(i int, path string) (err error) {
		pack := &farPack{Remote: it.remote, name: it.s.name(path)}
		_, entries[i], err = openPack(pack, sizes[path], filepath.Base(path))
		return err
	}) {
		switch {
		case err == nil:
			it.far.add(paths[i], &file{}, entries[i], false)
		case lost(err):
			it.lose(paths[i], err)
		default:
			return err
		}
	}
	return nil
}

// each calls f for each path, several at the same time.
func each(paths []string, f func(i int, path string) error) []error {
	errs := make([]error, len(paths))
	var group errgroup.Group
	group.SetLimit(Requests)
	for i, path := range paths {
		group.Go(func() error {
			errs[i] = f(i, path)
			return nil
		})
	}
	_ = group.Wait()
	return errs
}

// lose records that a pack cannot be used: its items count as missing.
func (it *bucketItems) lose(path string, err error) {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errVersion) {
		it.damage++
	}
	it.lost[path] = true
	it.far.forget(path)
}

// fetch copies the packs into the folder whose items it lacks, or has with a larger checksum. It returns false if some
// cannot be used.
func (it *bucketItems) fetch(keys []Key) (complete bool) {
	needed := map[string]bool{}
	for _, k := range keys {
		near, stored := it.where[k]
		if p, far := it.far.where[k]; far && (!stored || p.sum < near.sum) {
			needed[p.path] = true
		}
	}
	paths := slices.Collect(maps.Keys(needed))
	complete = true
	for i, err := range each(paths, func(_ int, path string) error { return it.remote.Fetch(it.s.name(path)) }) {
		switch {
		case err == nil:
			_, err = it.index(paths[i])
			it.note(err)
			delete(it.far.files, paths[i]) // its items are found in the folder first
		case lost(err):
			it.lose(paths[i], err)
			complete = false
		default:
			it.note(err)
		}
	}
	return complete
}

// store is part of sink. Packs in object storage are not written again without the items that others replace.
func (it *bucketItems) store(records []record) error {
	if _, err := it.write(newest(records), it.origins(), true); err != nil {
		return err
	}
	for _, r := range records {
		delete(it.far.where, r.key)
	}
	return it.remote.Push()
}

// Has is part of [Items].
func (it *bucketItems) Has(k Key) bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.has(k)
}

func (it *bucketItems) has(k Key) bool { return it.far.has(k) || it.workerItems.has(k) }

// GetAll is part of [Items].
func (it *bucketItems) GetAll(keys []Key) [][]byte {
	it.mu.Lock()
	defer it.mu.Unlock()
	if slices.ContainsFunc(keys, func(k Key) bool { return !it.has(k) }) {
		it.note(it.refresh())
	}
	for range relist {
		if it.fetch(keys) {
			break
		}
		it.note(it.scan()) // other packs may hold the items
	}
	out := make([][]byte, len(keys))
	it.note(it.getAll(keys, out))
	return out
}

// Drop is part of [Items].
func (it *bucketItems) Drop(keys []Key) error {
	it.mu.Lock()
	for _, k := range keys {
		delete(it.far.where, k)
	}
	it.mu.Unlock()
	return it.workerItems.Drop(keys)
}
