// Package store stores computed data: blobs (images) by SHA-256, items (results of row-wise stages) by digest, packed
// in shards, and results (whole tables) with their run records.
//
// Files are written to a temporary name, synced and renamed, so that a process killed at any moment loses at most the
// batch in flight. Checksums are verified when data is read; a damaged item counts as missing and is computed again.
//
//	blobs/ab/abcdef….png          images
//	items/STAGE-vN/CONTEXT/*.shard items of one stage, version, model and options
//	results/DIGEST.frame, .json    tables and run records
//	files.idx                      digests of files by path, size, time and inode
package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"antipode/datasets/table"
	"antipode/internal/atomicfile"
	"antipode/kernel/client"
)

// Store is an open store. Its methods are safe for concurrent use.
type Store struct {
	dir   string
	mu    sync.Mutex
	items map[string]*Items
	files fileIndex
}

// Open opens the store in a folder and creates it if missing.
func Open(dir string) (*Store, error) {
	for _, sub := range []string{"blobs", "items", "results", "models", "data"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, fmt.Errorf("cannot create the store: %w; set %s to a writable folder", err,
				client.HomeVar)
		}
	}
	s := &Store{dir: dir, items: map[string]*Items{}}
	s.files.path = filepath.Join(dir, "files.idx")
	s.files.load()
	return s, nil
}

// Dir returns the store's folder.
func (s *Store) Dir() string { return s.dir }

// Flush writes the index of file digests.
func (s *Store) Flush() error { return s.files.save() }

// FreeSpace returns the number of bytes that the user can write to a folder's disk.
func FreeSpace(folder string) (int64, error) {
	var st syscall.Statfs_t
	err := syscall.Statfs(folder, &st)
	return int64(st.Bavail) * int64(st.Bsize), err //nolint:unconvert // the types differ between systems
}

// blobPath returns the path of a blob.
func (s *Store) blobPath(digest, ext string) string {
	return filepath.Join(s.dir, "blobs", digest[:2], digest+ext)
}

// PutBlob stores bytes by their digest unless they are stored already. ext is the file's extension with its dot.
func (s *Store) PutBlob(data []byte, ext string) (table.Image, error) {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	path := s.blobPath(digest, ext)
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(data)) {
		touch(path, info)
		return table.Image{SHA256: digest, Path: path}, nil
	}
	if err := atomicfile.Write(path, data); err != nil {
		return table.Image{}, fmt.Errorf("cannot store an image: %w", err)
	}
	return table.Image{SHA256: digest, Path: path}, nil
}

// HasBlob reports whether a blob exists.
func (s *Store) HasBlob(img table.Image) bool {
	info, err := os.Stat(img.Path)
	if err == nil {
		touch(img.Path, info)
	}
	return err == nil
}

// touch updates the time of a file's last use, at most once a day, for gc.
func touch(path string, info os.FileInfo) {
	if time.Since(info.ModTime()) > 24*time.Hour {
		now := time.Now()
		os.Chtimes(path, now, now)
	}
}

// FileDigest returns the SHA-256 of a file, from the index if path, size, time and inode are unchanged.
func (s *Store) FileDigest(path string) (string, error) {
	return s.files.digest(path)
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
