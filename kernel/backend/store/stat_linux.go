package store

import (
	"os"
	"syscall"
)

// identity returns the number of a file and the time of the last change of its content or its attributes.
func identity(info os.FileInfo) (inode uint64, changed int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino, st.Ctim.Nano()
	}
	return 0, info.ModTime().UnixNano()
}
