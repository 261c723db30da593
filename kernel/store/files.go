package store

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"antipode/internal/atomicfile"
)

// fileIndex caches digests of files by path, size, time and inode.
type fileIndex struct {
	path    string
	mu      sync.Mutex
	entries map[string]fileEntry
	dirty   bool
}

type fileEntry struct {
	size   int64
	time   int64
	inode  uint64
	digest string
}

func (x *fileIndex) load() {
	x.entries = map[string]fileEntry{}
	f, err := os.Open(x.path)
	if err != nil {
		return
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		digest, rest, ok := strings.Cut(sc.Text(), " ")
		var e fileEntry
		var name string
		if !ok || len(digest) != 64 {
			continue
		}
		numbers, quoted, ok := strings.Cut(rest, " \"")
		if !ok {
			continue
		}
		if _, err := fmt.Sscanf(numbers, "%d %d %d", &e.size, &e.time, &e.inode); err != nil {
			continue
		}
		if _, err := fmt.Sscanf("\""+quoted, "%q", &name); err != nil {
			continue
		}
		e.digest = digest
		x.entries[name] = e
	}
}

func (x *fileIndex) digest(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	e := fileEntry{size: info.Size(), time: info.ModTime().UnixNano(), inode: inode(info)}
	x.mu.Lock()
	old, ok := x.entries[path]
	x.mu.Unlock()
	if ok && old.size == e.size && old.time == e.time && old.inode == e.inode {
		return old.digest, nil
	}
	if e.digest, err = HashFile(path); err != nil {
		return "", err
	}
	x.mu.Lock()
	x.entries[path] = e
	x.dirty = true
	x.mu.Unlock()
	return e.digest, nil
}

func (x *fileIndex) save() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.dirty {
		return nil
	}
	var b bytes.Buffer
	for name, e := range x.entries {
		fmt.Fprintf(&b, "%s %d %d %d %q\n", e.digest, e.size, e.time, e.inode, name)
	}
	if err := atomicfile.Write(x.path, b.Bytes()); err != nil {
		return err
	}
	x.dirty = false
	return nil
}
