// Package store keeps what was computed: blobs (pictures) by SHA-256, items (the results of row-wise stages) by digest,
// packed in shards, and results (whole tables) with the records of the runs that made them.
//
// Everything is written to a temporary name, synced and renamed: a process killed at any moment leaves the store
// whole and loses at most the batch in flight. What is read is checked: a damaged item counts as missing and is computed again.
//
//	blobs/ab/abcdef….png          pictures
//	items/STAGE-vN/CONTEXT/*.shard items of one stage, version, model and setting
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
	"time"

	"antipode/kernel/client"
)

// Store is an open store. Its methods may be called from several goroutines.
type Store struct {
	dir   string
	mu    sync.Mutex
	items map[string]*Items
	files fileIndex
}

// Open opens the store in a folder, making it where missing.
func Open(dir string) (*Store, error) {
	for _, sub := range []string{"blobs", "items", "results", "models", "data"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, fmt.Errorf("cannot make the store: %w; set %s to a folder you may write to", err, client.HomeVar)
		}
	}
	s := &Store{dir: dir, items: map[string]*Items{}}
	s.files.path = filepath.Join(dir, "files.idx")
	s.files.load()
	return s, nil
}

// Dir is the store's folder.
func (s *Store) Dir() string { return s.dir }

// Flush writes what is kept in memory for speed only: the index of files' digests.
func (s *Store) Flush() error { return s.files.save() }

// WriteFile writes a file whole or not at all: to a temporary name beside it, synced, renamed.
func WriteFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err = f.Write(data); err == nil {
		if err = f.Chmod(0o644); err == nil {
			err = f.Sync()
		}
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	if d, err := os.Open(dir); err == nil {
		d.Sync()
		d.Close()
	}
	return nil
}

// blobPath is where a blob of that digest lies.
func (s *Store) blobPath(digest, ext string) string {
	return filepath.Join(s.dir, "blobs", digest[:2], digest+ext)
}

// PutBlob keeps bytes under their digest. ext is the file's extension with its dot. A blob that is there already is not written again.
func (s *Store) PutBlob(data []byte, ext string) (client.Image, error) {
	sum := sha256.Sum256(data)
	digest := hex.EncodeToString(sum[:])
	path := s.blobPath(digest, ext)
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(data)) {
		touch(path, info)
		return client.Image{SHA256: digest, Path: path}, nil
	}
	if err := WriteFile(path, data); err != nil {
		return client.Image{}, fmt.Errorf("cannot keep a picture in the store: %w", err)
	}
	return client.Image{SHA256: digest, Path: path}, nil
}

// HasBlob says whether a blob is still there.
func (s *Store) HasBlob(img client.Image) bool {
	info, err := os.Stat(img.Path)
	if err == nil {
		touch(img.Path, info)
	}
	return err == nil
}

// touch notes that a file was used, at most once a day: what gc goes by.
func touch(path string, info os.FileInfo) {
	if time.Since(info.ModTime()) > 24*time.Hour {
		now := time.Now()
		os.Chtimes(path, now, now)
	}
}

// FileDigest is the SHA-256 of a file, from the index where path, size, time and inode are as they were.
func (s *Store) FileDigest(path string) (string, error) {
	return s.files.digest(path)
}

func hashFile(path string) (string, error) {
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

// ErrNotFound says that the store holds nothing of that name.
var ErrNotFound = errors.New("not in the store")
