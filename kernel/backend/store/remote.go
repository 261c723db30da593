package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"antipode/datasets/table"
)

// Portable reports whether a file of a store, by its path relative to it with slashes and its content, is one that
// other stores can use: an image, a pack, or a part of a result. Damaged files are not, nor are those of earlier
// versions.
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

// requests is the number of requests to object storage at the same time.
const requests = 16

// remote returns the store in object storage, nil if there is none.
func (s *Store) remote() Remote {
	if s.worker == nil {
		return nil
	}
	return s.worker.Remote
}

// push writes what the store has to object storage.
func (s *Store) push() error {
	if r := s.remote(); r != nil {
		return r.Push()
	}
	return nil
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
		errors.Is(err, errLater)
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

// listFar returns the sizes of the packs in object storage that the folder lacks, by the paths that they will have.
func (it *Items) listFar(local map[string]bool) (map[string]int64, error) {
	r := it.s.remote()
	if r == nil {
		return nil, nil
	}
	sizes, err := r.List(it.s.name(it.dir))
	if err != nil {
		return nil, err
	}
	far := map[string]int64{}
	for name, size := range sizes {
		path := filepath.Join(it.s.dir, filepath.FromSlash(name))
		if filepath.Ext(path) == packSuffix && filepath.Dir(path) == it.dir && !local[path] && !it.lost[path] {
			far[path] = size
		}
	}
	return far, nil
}

// indexFar reads the indexes of packs in object storage that are not known yet.
func (it *Items) indexFar(far map[string]int64) error {
	var names []string
	for name := range far {
		if it.files[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	heads, entries, errs := make([]header, len(names)), make([][]entry, len(names)), make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(requests)
	for i, name := range names {
		group.Go(func() error {
			pack := &farPack{Remote: it.s.remote(), name: it.s.name(name)}
			heads[i], entries[i], errs[i] = openPack(pack, far[name], filepath.Base(name))
			if errs[i] == nil || lost(errs[i]) {
				return nil
			}
			return errs[i]
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, name := range names {
		if errs[i] != nil {
			it.lose(name, errs[i])
			continue
		}
		it.add(name, &file{size: far[name], far: true, origins: heads[i].Origins}, entries[i], false)
	}
	return nil
}

// lose records that a pack in object storage cannot be used: its items count as missing.
func (it *Items) lose(name string, err error) {
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errLater) {
		it.damage++
	}
	it.lost[name] = true
	it.forget(name)
}

// fetch copies the packs of the paths that are in object storage only. It returns false if some cannot be used. What
// cannot be read now is an error of [Items.Err].
func (it *Items) fetch(paths []string) bool {
	var names []string
	for _, name := range paths {
		if f := it.files[name]; f != nil && f.far {
			names = append(names, name)
		}
	}
	errs := make([]error, len(names))
	var group errgroup.Group
	group.SetLimit(requests)
	for i, name := range names {
		group.Go(func() error {
			errs[i] = it.s.remote().Fetch(it.s.name(name))
			return nil
		})
	}
	_ = group.Wait()
	complete := true
	for i, name := range names {
		switch err := errs[i]; {
		case err == nil:
			it.files[name].far = false
		case lost(err):
			it.lose(name, err)
			complete = false
		default:
			it.note(err)
		}
	}
	return complete
}

// note keeps an error for [Items.Err].
func (it *Items) note(err error) {
	if err != nil && it.s.remote() != nil {
		it.unread = err
	}
}

// Err returns the error of the last read of object storage since the last call, for which items count as missing.
func (it *Items) Err() error {
	it.mu.Lock()
	defer it.mu.Unlock()
	err := it.unread
	it.unread = nil
	return err
}
