package store

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const indexFile = "files.idx"

// fileIndex caches digests and traits of files by path, size, time and inode. A line of its file is the CRC-32C of the
// rest in hexadecimal, the digest, size, time and inode, the quoted path, and the traits if they are known; a line with
// another checksum is ignored.
type fileIndex struct {
	path    string
	mu      sync.Mutex
	entries map[string]fileEntry
	dirty   bool
}

type fileEntry struct {
	fileState
	digest string
	traits int // 0 = not known
}

// fileState differs before and after a change of a file.
type fileState struct {
	size    int64
	changed int64
	inode   uint64
}

func stateOf(info os.FileInfo) fileState {
	inode, changed := identity(info)
	return fileState{info.Size(), changed, inode}
}

// settled is the age from which on a file's time tells whether it has changed: file systems count in milliseconds.
const settled = 100 * time.Millisecond

// recent reports whether a change of the file now could leave its state as it is.
func (s fileState) recent() bool { return time.Since(time.Unix(0, s.changed)) < settled }

func (x *fileIndex) load() {
	x.entries = map[string]fileEntry{}
	data, err := os.ReadFile(x.path)
	if err != nil {
		return
	}
	for line := range strings.Lines(string(data)) {
		var sum uint32
		var e fileEntry
		var name string
		head, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if _, err := fmt.Sscanf(head, "%08x", &sum); !ok || err != nil || sum != checksum([]byte(rest)) {
			continue
		}
		n, _ := fmt.Sscanf(rest, "%64s %d %d %d %q %d", &e.digest, &e.size, &e.changed, &e.inode, &name, &e.traits)
		if n >= 5 {
			x.entries[name] = e
		}
	}
}

func (x *fileIndex) digest(path string) (string, error) {
	has := func(e fileEntry) bool { return e.digest != "" }
	e, err := x.entry(path, has, func(path string, e *fileEntry) (err error) {
		e.digest, err = HashFile(path)
		return err
	})
	return e.digest, err
}

// traits returns what of returns for the content of a file.
func (x *fileIndex) traits(path string, of func(data []byte) int) (int, error) {
	e, err := x.entry(path, func(e fileEntry) bool { return e.traits != 0 || of == nil }, func(path string,
		e *fileEntry) error {
		data, err := os.ReadFile(path)
		if err == nil {
			e.traits = of(data)
		}
		return err
	})
	return e.traits, err
}

// entry returns the entry of a file, to which complete adds what it lacks.
func (x *fileIndex) entry(path string, has func(fileEntry) bool, complete func(path string, e *fileEntry) error) (
	e fileEntry, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return e, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return e, err
	}
	e.fileState = stateOf(info)
	x.mu.Lock()
	old, ok := x.entries[path]
	x.mu.Unlock()
	if ok && old.fileState == e.fileState {
		e = old
	}
	if has(e) {
		return e, nil
	}
	recent := e.recent()
	if err = complete(path, &e); err != nil || recent {
		return e, err
	}
	x.mu.Lock()
	x.entries[path] = e
	x.dirty = true
	x.mu.Unlock()
	return e, nil
}

// prune removes the entries of files that no longer exist.
func (x *fileIndex) prune() error {
	x.mu.Lock()
	for path := range x.entries {
		if _, err := os.Stat(path); os.IsNotExist(err) {
			delete(x.entries, path)
			x.dirty = true
		}
	}
	x.mu.Unlock()
	return x.save()
}

func (x *fileIndex) save() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.dirty {
		return nil
	}
	var b bytes.Buffer
	for name, e := range x.entries {
		if e.digest == "" {
			continue
		}
		line := fmt.Sprintf("%s %d %d %d %q", e.digest, e.size, e.changed, e.inode, name)
		if e.traits != 0 {
			line += fmt.Sprint(" ", e.traits)
		}
		fmt.Fprintf(&b, "%08x %s\n", checksum([]byte(line)), line)
	}
	if err := WriteFile(x.path, b.Bytes()); err != nil {
		return err
	}
	x.dirty = false
	return nil
}

func checksum(data ...[]byte) (sum uint32) {
	for _, d := range data {
		sum = crc32.Update(sum, castagnoli, d)
	}
	return sum
}
