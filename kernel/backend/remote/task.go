package remote

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"antipode/internal/objecturl"
	"antipode/kernel/backend/store"
)

// Store is a store in object storage, of which the store in a folder holds a part. It is a [store.Remote]. When the
// service could not be reached, further calls fail at once, except Put.
type Store struct {
	ctx    context.Context
	bucket *Bucket
	prefix string // of the keys
	dir    string

	pushing sync.Mutex // held by Push
	pushed  bool       // once

	mu     sync.Mutex      // guards the fields below
	there  map[string]bool // files of the folder that are in object storage
	broken error           // after which no request is tried
}

// OpenStore opens the store below a prefix, which need not exist, for the store in the folder dir. ctx is that of all
// requests.
func OpenStore(ctx context.Context, u objecturl.URL, dir string) (*Store, error) {
	b, err := Open(ctx, u)
	if err != nil {
		return nil, err
	}
	return &Store{ctx: ctx, bucket: b, prefix: u.Prefix().Key, dir: dir, there: map[string]bool{}}, nil
}

// Close ends the use of the bucket.
func (s *Store) Close() error { return s.bucket.Close() }

// Get returns the content of a file.
func (s *Store) Get(name string) ([]byte, error) { return s.get(name, 0, -1) }

func (s *Store) get(name string, offset, n int64) ([]byte, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	data, err := s.bucket.GetRange(s.ctx, s.prefix+name, offset, n)
	return data, s.note(err)
}

// usable returns the error of an earlier request that could not reach the service.
func (s *Store) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// note keeps an error for usable.
func (s *Store) note(err error) error {
	if errors.Is(err, ErrUnreachable) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.broken = err
	}
	return err
}

// Put writes a file, whole.
func (s *Store) Put(name string, data []byte) error { return s.bucket.Put(s.ctx, s.prefix+name, data) }

// List is part of [store.Remote].
func (s *Store) List(folder string) (map[string]int64, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	err := s.bucket.List(s.ctx, s.prefix+folder+"/", func(o Object) error {
		if name := strings.TrimPrefix(o.Key, s.prefix); path.Dir(name) == folder && filepath.IsLocal(name) {
			sizes[name] = o.Size
		}
		return nil
	})
	return sizes, s.note(err)
}

// ReadAt is part of [store.Remote].
func (s *Store) ReadAt(name string, p []byte, offset int64) (int, error) {
	data, err := s.get(name, offset, int64(len(p)))
	if n := copy(p, data); err != nil || n == len(p) {
		return n, err
	}
	return len(data), io.EOF
}

// Fetch is part of [store.Remote].
func (s *Store) Fetch(name string) error {
	data, err := s.Get(name)
	if err != nil {
		return err
	}
	if !store.Portable(name, data) {
		return told{s.bucket.name + s.prefix + name + ": damaged; write it again from a sound store", store.ErrDamaged}
	}
	if err := store.WriteFile(filepath.Join(s.dir, filepath.FromSlash(name)), data); err != nil {
		return err
	}
	s.is(name)
	return nil
}

// is records that a file of the folder is in object storage.
func (s *Store) is(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there[name] = true
}

// Push is part of [store.Remote]. The first one also writes what an earlier task has left in the folder.
func (s *Store) Push() error {
	s.pushing.Lock()
	defer s.pushing.Unlock()
	if err := s.usable(); err != nil {
		return err
	}
	packs, err := s.lacking("items") // before the images: those of each pack are then seen as well
	if err != nil {
		return err
	}
	images, err := s.lacking("blobs")
	if err != nil {
		return err
	}
	if err = s.push(images); err == nil {
		err = s.push(packs)
	}
	if err != nil {
		return s.note(err)
	}
	s.pushed = true
	return nil
}

// lacking returns the names of the files in a folder of the store that are not known to be in object storage.
func (s *Store) lacking(part string) (names []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = store.Files(s.dir, part, func(name string, _ fs.FileInfo) error {
		if !s.there[name] {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// push writes files. Damaged ones are left out.
func (s *Store) push(names []string) error {
	group, ctx := errgroup.WithContext(s.ctx)
	group.SetLimit(store.Requests)
	for _, name := range names {
		group.Go(func() error {
			var c copying
			var there Object
			key := s.prefix + name
			if !s.pushed {
				var err error
				if there, err = s.bucket.Stat(ctx, key); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
			err := c.push(ctx, s.bucket, key, there, name, filepath.Join(s.dir, filepath.FromSlash(name)))
			if err == nil && c.Files+c.Present > 0 {
				s.is(name)
			}
			return err
		})
	}
	return group.Wait()
}
