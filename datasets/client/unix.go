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
