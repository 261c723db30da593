package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"antipode/internal/atomicfile"
	"antipode/internal/filelock"
)

// lock acquires a file lock, which is released when its process ends. It calls waiting if the lock is held.
func lock(ctx context.Context, file string, waiting func()) (unlock func(), err error) {
	f, err := filelock.Open(file)
	if f != nil {
		return func() { f.Close() }, nil
	}
	if err == nil {
		waiting()
		unlock, err = filelock.Wait(ctx, file)
	}
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("locking %s: %w", file, err)
	}
	return unlock, err
}

// record describes a plugin: what go-xla's installer installed, and whether it was loaded once.
type record struct {
	SHA256  string    `json:"sha256,omitempty"` // of a plugin that go-xla's installer installed for us
	Source  string    `json:"source,omitempty"`
	Version string    `json:"version,omitempty"`
	License string    `json:"license,omitempty"`
	Size    int64     `json:"size"`
	Time    time.Time `json:"time"`             // modification time of the file
	Loaded  bool      `json:"loaded,omitempty"` // loaded and tested, at this size and time
}

const recordFile = "plugins.json"

// readRecords returns the records by path; none if the file is missing or damaged.
func readRecords(folder string) map[string]record {
	records := map[string]record{}
	if data, err := os.ReadFile(filepath.Join(folder, recordFile)); err == nil {
		if json.Unmarshal(data, &records) != nil {
			return map[string]record{}
		}
	}
	return records
}

func writeRecord(folder, path string, change func(*record)) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	records := readRecords(folder)
	r := records[path]
	if r.Size != info.Size() || !r.Time.Equal(info.ModTime()) {
		r.Loaded = false
	}
	r.Size, r.Time = info.Size(), info.ModTime()
	change(&r)
	records[path] = r
	data, err := json.MarshalIndent(records, "", "\t")
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(folder, recordFile), append(data, '\n'))
}

// loadedBefore reports whether this file was loaded and tested before.
func loadedBefore(folder, path string) bool {
	r, ok := readRecords(folder)[path]
	info, err := os.Stat(path)
	return ok && err == nil && r.Loaded && r.Size == info.Size() && r.Time.Equal(info.ModTime())
}
