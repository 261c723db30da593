package execmodel

import (
	"io/fs"
	"syscall"
	"time"
)

// changed returns when a file's content, name or times were last changed.
func changed(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec))
	}
	return info.ModTime()
}
