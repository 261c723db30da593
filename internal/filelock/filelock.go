// Package filelock locks files against other processes, and against other openings of the same file in this one, with
// flock(2). A lock ends when its file is closed or its process ends, killed or not.
package filelock

import (
	"context"
	"os"
	"syscall"
	"time"
)

// Share waits for a shared lock on a file. An exclusive lock that the file has becomes a shared one.
func Share(f *os.File) error { return flock(f, syscall.LOCK_SH) }

// Try locks a file exclusively, or reports false if another process has locked it; a shared lock that the file has is
// then released (on Linux): call [Share] to have it again.
func Try(f *os.File) (bool, error) {
	err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB)
	if err == syscall.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

// Open opens a file, which it creates if missing, and locks it exclusively. It returns nil if another process has
// locked it.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	locked, err := Try(f)
	if !locked {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Wait waits for an exclusive lock on a file, which it creates if missing, until ctx ends. unlock releases the lock.
// The file may be removed by who holds the lock ([Remove]).
func Wait(ctx context.Context, path string) (unlock func(), err error) {
	for {
		f, err := Open(path)
		if err != nil {
			return nil, err
		}
		if f != nil {
			if Same(f, path) {
				return func() { f.Close() }, nil
			}
			f.Close() // it was removed meanwhile
			continue
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Same reports whether a path is still that of an open file.
func Same(f *os.File, path string) bool {
	opened, err := f.Stat()
	named, nameErr := os.Stat(path)
	return err == nil && nameErr == nil && os.SameFile(opened, named)
}

// Remove removes the file of a lock that nobody holds.
func Remove(path string) {
	if f, err := Open(path); f != nil && err == nil {
		_ = os.Remove(path)
		f.Close()
	}
}

// flock calls flock(2) until no signal interrupts it.
func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}
