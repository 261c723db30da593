package backend

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"

	"antipode/datasets/client"
	"antipode/internal/filelock"
	"antipode/kernel/backend/store"
)

// collected is the reply to a request to remove files from the store: the results of [store.Store.Collect].
type collected struct {
	Removed []store.Removal `json:"removed"`
	Stays   int64           `json:"stays"`
	Error   string          `json:"error,omitempty"`
}

// Collect removes files from a store that nobody else uses: its backend does it if one runs, or else this process.
func Collect(ctx context.Context, home string, gc store.GC) (removed []store.Removal, stays int64, err error) {
	b, err := client.ConnectTo(home)
	if err != nil {
		return nil, 0, err
	}
	var reply collected
	err = b.Post(ctx, "/v1/gc", gc, &reply)
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	if !errors.Is(err, client.ErrNoBackend) {
		return reply.Removed, reply.Stays, err
	}
	s, err := store.Open(home)
	if err != nil {
		return nil, 0, err
	}
	removed, stays, err = s.Collect(gc)
	return removed, stays, errors.Join(err, s.Close())
}

// handover is the time for which a new backend waits for one that is ending, or that has not opened its socket yet.
const handover = 10 * time.Second

// listener is the socket of a store's backend. Its holder is the lock on the store.
type listener struct {
	*net.UnixListener
	path   string
	made   os.FileInfo // the socket
	holder *os.File
}

// Listen locks a store for its backend and opens the backend's socket. It replaces the socket of a dead backend. A
// backend that serves the store, also one with another runtime folder, is an error.
func Listen(home string) (net.Listener, error) {
	path, err := client.SocketPath(home)
	if err != nil {
		return nil, err
	}
	holder, err := hold(home, path)
	if err != nil {
		return nil, err
	}
	l, err := listen(path)
	if err != nil {
		holder.Close()
		return nil, err
	}
	l.holder = holder
	return l, nil
}

func listen(path string) (*listener, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	err = os.Chmod(path, 0o600)
	made, statErr := os.Lstat(path)
	if err := errors.Join(err, statErr); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{UnixListener: l, path: path, made: made}, nil
}

// Close closes the socket and removes its file, unless that is the socket of another backend.
func (l *listener) Close() error {
	err := l.UnixListener.Close()
	if now, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(l.made, now) {
		err = errors.Join(err, os.Remove(l.path))
		filelock.Remove(l.path + ".lock") // of the client that started this process
	}
	return err
}

// hold locks the store for the backend with a socket. A store that cannot be written is locked by its socket alone:
// there is nothing that two backends could do to it.
func hold(home, socket string) (*os.File, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	for end := time.Now().Add(handover); ; time.Sleep(50 * time.Millisecond) {
		f, err := filelock.Open(client.HolderPath(home))
		if store.Unwritable(err) {
			if c, err := net.DialTimeout("unix", socket, time.Second); err == nil {
				c.Close()
				return nil, fmt.Errorf("a backend already serves %s", home)
			}
			return os.Open(home)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot lock the store %s: %w", home, err)
		}
		if f != nil {
			host, _ := os.Hostname()
			text := fmt.Sprintf("%s\nprocess %d on %s\n", socket, os.Getpid(), host)
			if err = f.Truncate(0); err == nil {
				_, err = f.WriteAt([]byte(text), 0)
			}
			if err != nil {
				return nil, errors.Join(fmt.Errorf("cannot lock the store %s: %w", home, err), f.Close())
			}
			return f, nil
		}
		data, _ := os.ReadFile(client.HolderPath(home))
		other, who, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
		if c, err := net.DialTimeout("unix", other, time.Second); err == nil {
			c.Close()
			return nil, fmt.Errorf("a backend already serves %s", home)
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("a backend that cannot be reached serves %s (%s, socket %s): end it, or set %s to "+
				"another folder", home, who, other, client.HomeVar)
		}
	}
}
