//go:build unix

package client

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// OwnedByUser reports whether a file belongs to the user.
func OwnedByUser(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// detach starts the command in a new session, so that it outlives the cell.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// socket returns the socket of the backend that serves a store: the one that it wrote into the store, where it has
// another runtime folder, or else that of [SocketPath].
func (b *Backend) socket() string {
	data, err := os.ReadFile(HolderPath(b.Home))
	path, _, _ := strings.Cut(string(data), "\n")
	if err != nil || path == b.Socket {
		return b.Socket
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeSocket || !OwnedByUser(info) {
		return b.Socket
	}
	return path
}

// HolderPath returns the file in a store that its backend locks. Its first line is the backend's socket, the second one
// says for people which process it is.
func HolderPath(home string) string { return filepath.Join(home, ".backend") }

// TryLock locks a file, which it creates if missing, or returns nil if another process has locked it.
func TryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if err == syscall.EWOULDBLOCK || err == syscall.EINTR {
		return nil, nil
	}
	return nil, err
}

// Lock waits for an exclusive lock on a file, which it creates if missing. unlock releases the lock. The file may be
// removed by who holds the lock ([RemoveLock]).
func Lock(path string) (unlock func(), err error) {
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		for {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
			if err != syscall.EINTR {
				break
			}
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		held, err := f.Stat()
		if now, nowErr := os.Stat(path); err == nil && nowErr == nil && os.SameFile(held, now) {
			return func() { f.Close() }, nil
		}
		f.Close() // it was removed while this process waited
	}
}

// RemoveLock removes the file of a lock that nobody holds.
func RemoveLock(path string) {
	if f, err := TryLock(path); err == nil && f != nil {
		_ = os.Remove(path)
		f.Close()
	}
}
