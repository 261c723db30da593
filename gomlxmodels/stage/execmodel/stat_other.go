//go:build !linux

package execmodel

import (
	"io/fs"
	"time"
)

// changed returns when a file was last modified.
func changed(info fs.FileInfo) time.Time { return info.ModTime() }
