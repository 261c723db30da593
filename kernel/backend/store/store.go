package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/atomicfile"
)

// Store is an open store. Its methods are safe for concurrent use.
type Store struct {
	dir   string
	mu    sync.Mutex
	items map[string]Items // by folder
	files fileIndex

	verified sync.Map     // path → fileState of the blobs that have been found to have their digest
	lock     *os.File     // nil where the store cannot be written
	running  sync.RWMutex // held by runs, and by Collect alone

	worker  *WorkerOptions // not nil: items are collected into packs
	origin  atomic.Pointer[Origin]
	packsMu sync.Mutex
	packs   []PackInfo // that were written, of a worker
}

// Open opens the store in a folder and creates it if missing. Only its user can read the results in it. [Store.Close]
// closes it.
func Open(dir string) (*Store, error) {
	for _, sub := range append([]string{"models", "data"}, parts...) {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil && !Unwritable(err) {
			return nil, fmt.Errorf("cannot create the store: %w; set %s to a writable folder", err,
				client.HomeVar)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("cannot create the store: %w; set %s to a writable folder", err, client.HomeVar)
	}
	for _, sub := range parts { // the store's folder may be one that others use
		sub = filepath.Join(dir, sub)
		if info, err := os.Lstat(sub); err == nil && info.IsDir() && info.Mode().Perm() != 0o700 {
			_ = os.Chmod(sub, 0o700)
		}
	}
	s := &Store{dir: dir, items: map[string]Items{}}
	if err := s.share(); err != nil {
		return nil, err
	}
	s.files.path = filepath.Join(dir, indexFile)
	s.files.load()
	return s, nil
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// Flush writes the index of file digests.
func (s *Store) Flush() error { return s.files.save() }

// Close writes a worker's collected items and the index of file digests, and releases the store's lock.
func (s *Store) Close() error {
	commitErr := s.Commit()
	err := s.Flush()
	if s.lock != nil {
		s.lock.Close()
	}
	if Unwritable(err) {
		err = nil // the index saves time only
	}
	return errors.Join(commitErr, err)
}

// Scratch opens an empty store in a folder of this one. remove closes and removes it.
func (s *Store) Scratch() (scratch *Store, remove func(), err error) {
	dir, err := os.MkdirTemp(s.dir, scratchPrefix+"*")
	if err != nil {
		return nil, nil, err
	}
	if scratch, err = Open(dir); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return scratch, func() { _ = errors.Join(scratch.Close(), os.RemoveAll(dir)) }, nil
}

// Unwritable reports whether an error says that the store's folder is read-only or not permitted to be written.
func Unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// WriteFile writes a file, and its folder if missing, for the user alone.
func WriteFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// FreeSpace returns the number of bytes that the user can write to a folder's disk.
func FreeSpace(folder string) (int64, error) {
	var st syscall.Statfs_t
	err := syscall.Statfs(folder, &st)
	return int64(st.Bavail) * int64(st.Bsize), err //nolint:unconvert // the types differ between systems
}

// digestLen is the length of the digests that name blobs: SHA-256 in hexadecimal.
const digestLen = 2 * sha256.Size

// blobName returns the path of a blob relative to the store.
func blobName(digest, ext string) string { return "blobs/" + digest[:2] + "/" + digest + ext }

func (s *Store) blobPath(digest, ext string) string {
	return filepath.Join(s.dir, blobName(digest, ext))
}

// PutBlob stores bytes by their digest unless they are stored already. ext is the file's extension with its dot.
func (s *Store) PutBlob(data []byte, ext string) (table.Image, error) {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	img := table.Image{SHA256: digest, Path: s.blobPath(digest, ext)}
	if s.CheckBlob(img) == nil {
		return img, nil
	}
	if err := WriteFile(img.Path, data); err != nil {
		return table.Image{}, fmt.Errorf("cannot store an image: %w", err)
	}
	return img, nil
}

// ErrDamaged is the error for a blob that has another digest than its name.
var ErrDamaged = errors.New("the stored image is damaged; run it again to compute it anew")

// CheckBlob returns [ErrNotFound] if a blob is missing, [ErrDamaged] if it has another digest, and another error if it
// cannot be read. A blob is read once: later calls compare its size, times and inode.
func (s *Store) CheckBlob(img table.Image) error {
	info, err := os.Stat(img.Path)
	if err == nil && touch(img.Path, info) {
		info, err = os.Stat(img.Path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	state := stateOf(info)
	if known, ok := s.verified.Load(img.Path); ok && known == state {
		return nil
	}
	recent := state.recent()
	switch digest, err := HashFile(img.Path); {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case err != nil:
		return err
	case digest != img.SHA256:
		return ErrDamaged
	}
	if !recent {
		s.verified.Store(img.Path, state)
	}
	return nil
}

// Image returns an image with the path of its blob in this store; of the path that it has, the extension counts. The
// errors are those of [Store.CheckBlob]; with object storage an image that is missing here is none.
func (s *Store) Image(img table.Image) (table.Image, error) {
	if len(img.SHA256) != digestLen || strings.ContainsAny(img.SHA256, "/.") {
		return img, ErrNotFound
	}
	own := table.Image{SHA256: img.SHA256, Path: s.blobPath(img.SHA256, filepath.Ext(img.Path))}
	err := s.CheckBlob(own)
	if errors.Is(err, ErrNotFound) && s.remote() != nil {
		return own, nil
	}
	return own, err
}

// Blob returns the bytes of a blob, or the errors of [Store.CheckBlob].
func (s *Store) Blob(img table.Image) ([]byte, error) {
	data, err := os.ReadFile(img.Path)
	if err != nil {
		return nil, ErrNotFound
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != img.SHA256 {
		s.verified.Delete(img.Path)
		return nil, ErrDamaged
	}
	return data, nil
}

// touch updates the time of a file's last use, at most once a day, for gc. It reports whether it did.
func touch(path string, info os.FileInfo) bool {
	if time.Since(info.ModTime()) <= 24*time.Hour {
		return false
	}
	now := time.Now()
	return os.Chtimes(path, now, now) == nil
}

// FileDigest returns the SHA-256 of a file, from the index if path, size, time and inode are unchanged.
func (s *Store) FileDigest(path string) (string, error) {
	return s.files.digest(path)
}

// FileTraits returns what of returns for the content of a file, from the index likewise; of must not return 0, and
// return the same in every process. Without of it returns 0 for a file that is not in the index.
func (s *Store) FileTraits(path string, of func(data []byte) int) (int, error) {
	return s.files.traits(path, of)
}

// HashFile returns the SHA-256 of a file in hexadecimal.
func HashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ErrNotFound is the error for a name that the store does not contain.
var ErrNotFound = errors.New("not in the store")
