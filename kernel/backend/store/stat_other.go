//go:build unix && !linux

package store

import (
	"os"
	"syscall"
)

// identity returns the number of a file and the time of the last change of its content.
func identity(info os.FileInfo) (inode uint64, changed int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		inode = uint64(st.Ino) //nolint:unconvert // the type differs between systems
	}
	return inode, info.ModTime().UnixNano()
}
