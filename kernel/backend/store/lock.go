package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"antipode/internal/filelock"
)

// lockFile is the file that every process which has the store open locks: shared to use it, alone to remove files.
const lockFile = ".lock"

// ErrInUse is the error of what needs the store alone, such as [Store.Collect], while runs use it.
var ErrInUse = errors.New("the store is in use; run it again when other work has ended (antipode ps lists the " +
	"backend's jobs)")

// share waits for a shared lock on the store. A store that cannot be written needs none.
func (s *Store) share() error {
	path := filepath.Join(s.dir, lockFile)
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if Unwritable(err) {
			if f, err = os.Open(path); err != nil {
				return nil
			}
		}
		if err == nil {
			err = filelock.Share(f)
		}
		if err == nil && filelock.Same(f, path) {
			s.lock = f
			return nil
		}
		f.Close() // it was removed, with the store, while this process waited
		if err != nil {
			return fmt.Errorf("cannot lock the store %s: %w", s.dir, err)
		}
	}
}

// Use marks the store as in use until done is called: what needs the store alone fails meanwhile with [ErrInUse].
func (s *Store) Use() (done func()) {
	s.running.RLock()
	return s.running.RUnlock
}

// alone locks the store for this call alone, or returns [ErrInUse] if a run or another process uses it.
func (s *Store) alone() (done func(), err error) {
	if !s.running.TryLock() {
		return nil, ErrInUse
	}
	err = s.lockAlone()
	done = func() {
		if s.lock != nil {
			_ = filelock.Share(s.lock) // which a failed change of the lock has released, too
		}
		s.running.Unlock()
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// Remove removes a store, unless a process uses it: the error is then [ErrInUse].
func Remove(dir string) error {
	s := &Store{dir: dir}
	if err := s.share(); err != nil {
		return err
	}
	if s.lock != nil {
		defer s.lock.Close()
	}
	done, err := s.alone()
	if err != nil {
		return err
	}
	defer done()
	return os.RemoveAll(dir)
}

// lockAlone makes the lock an exclusive one. The error is [ErrInUse] if another process has locked the store.
func (s *Store) lockAlone() error {
	if s.lock == nil {
		return fmt.Errorf("the store %s cannot be written: %w", s.dir, fs.ErrPermission)
	}
	locked, err := filelock.Try(s.lock)
	if err == nil && !locked {
		err = ErrInUse
	}
	return err
}
