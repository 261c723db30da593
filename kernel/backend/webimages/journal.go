package webimages

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"antipode/internal/atomicfile"
	"antipode/internal/filelock"
	"antipode/kernel/backend/store"
)

// Journal is the name of the journal in the folder of the images.
const Journal = "fetched.jsonl"

// entry is a line of the journal: a finished URL.
type entry struct {
	URL    string `json:"url"`
	SHA256 string `json:"sha256,omitempty"`
	File   string `json:"file,omitempty"` // name in the folder
	Reason string `json:"reason,omitempty"`

	fresh bool // added by this run
}

// journal is the open journal of a folder, locked against other processes.
type journal struct {
	dir     string
	file    *os.File
	entries map[string]entry
}

// openJournal locks and reads the journal of a folder. Entries whose image is missing or has changed are left out.
func openJournal(dir string) (*journal, error) {
	f, err := os.OpenFile(filepath.Join(dir, Journal), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	j := &journal{dir: dir, file: f, entries: map[string]entry{}}
	if locked, err := filelock.Try(f); !locked || err != nil {
		f.Close()
		return nil, fmt.Errorf("another run fetches images into %s; wait until it ends, or name another table", dir)
	}
	if err := j.read(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, Journal), err)
	}
	return j, nil
}

func (j *journal) read() error {
	data, err := io.ReadAll(j.file)
	if err != nil {
		return err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole < len(data) { // a line that was not finished
		if err := j.file.Truncate(int64(whole)); err != nil {
			return err
		}
	}
	line := 0
	for text := range bytes.Lines(data[:whole]) {
		line++
		var e entry
		if err := json.Unmarshal(text, &e); err != nil || e.File != "" && !filepath.IsLocal(e.File) {
			return fmt.Errorf("line %d is not one of the journal; remove it, and its URL is fetched again", line)
		}
		j.entries[e.URL] = e
	}
	for at, e := range j.entries {
		if e.Reason != "" {
			continue
		}
		if sum, err := store.HashFile(filepath.Join(j.dir, e.File)); err != nil || sum != e.SHA256 {
			delete(j.entries, at)
		}
	}
	return nil
}

// store writes an image under its SHA-256 and returns its entry.
func (j *journal) store(url string, data []byte, extension string) (entry, error) {
	sum := sha256.Sum256(data)
	e := entry{URL: url, SHA256: hex.EncodeToString(sum[:])}
	e.File = e.SHA256 + extension
	path := filepath.Join(j.dir, e.File)
	if have, err := store.HashFile(path); err == nil && have == e.SHA256 {
		return e, nil
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return e, err
	}
	return e, atomicfile.Write(path, data)
}

// add appends a finished URL.
func (j *journal) add(e entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	e.fresh = true
	j.entries[e.URL] = e
	return nil
}

// Close unlocks the journal.
func (j *journal) Close() error { return j.file.Close() }
