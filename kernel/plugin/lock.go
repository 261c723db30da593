package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// lock takes a file's lock, which ends with the process that holds it. It calls waiting once if another holds it.
func lock(ctx context.Context, file string, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err {
		case nil:
			return func() { f.Close() }, nil
		case syscall.EWOULDBLOCK, syscall.EINTR:
		default:
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", file, err)
		}
		if first {
			waiting()
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		}
	}
}

// record is what is remembered of a plugin: what go-xla's installer brought, and that it was loaded once.
type record struct {
	SHA256  string    `json:"sha256,omitempty"` // of a plugin that was installed at our request
	Source  string    `json:"source,omitempty"`
	Version string    `json:"version,omitempty"`
	Licence string    `json:"licence,omitempty"`
	Size    int64     `json:"size"`
	Time    time.Time `json:"time"`             // the file's
	Loaded  bool      `json:"loaded,omitempty"` // it was loaded and computed, with this size and time
}

const recordFile = "plugins.json"

// readRecords returns what is remembered, by path; nothing where the file is missing or damaged.
func readRecords(folder string) map[string]record {
	records := map[string]record{}
	if data, err := os.ReadFile(filepath.Join(folder, recordFile)); err == nil {
		if json.Unmarshal(data, &records) != nil {
			return map[string]record{}
		}
	}
	return records
}

// writeRecord changes what is remembered of one plugin.
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
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, ".records-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(append(data, '\n')); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(folder, recordFile))
}

// loadedBefore says whether this very file was loaded and computed before.
func loadedBefore(folder, path string) bool {
	r, ok := readRecords(folder)[path]
	info, err := os.Stat(path)
	return ok && err == nil && r.Loaded && r.Size == info.Size() && r.Time.Equal(info.ModTime())
}
