package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"antipode/internal/glob"
)

// jobSilent is the age of a job's status from which on its worker counts as ended.
const jobSilent = 90 * time.Second

// Compacted is what [Store.Compact] has done.
type Compacted struct {
	Items         int // in the contexts that were compacted
	Before, After int // files of all contexts
}

// Compact writes small packs and packs whose items others hold as well again as few packs. While a run, another process
// or a worker of a job uses the store the error is [ErrInUse].
func (s *Store) Compact() (c Compacted, err error) {
	done, err := s.alone()
	if err != nil {
		return c, err
	}
	defer done()
	if err := s.openJobs(); err != nil {
		return c, err
	}
	for _, dir := range glob.In(s.dir, "items/*/*") {
		before, after, items, err := s.packsOf(filepath.Base(filepath.Dir(dir)), filepath.Base(dir)).compact()
		c.Before, c.After, c.Items = c.Before+before, c.After+after, c.Items+items
		if err != nil {
			return c, fmt.Errorf("cannot compact %s: %w", dir, err)
		}
	}
	return c, nil
}

func (it *packs) compact() (before, after, items int, err error) {
	if err := it.scan(); err != nil {
		return 0, 0, 0, err
	}
	before = len(it.files)
	names := it.which(func(f *file) bool { return f.hides() || f.small() })
	if len(names) < 2 && len(it.which((*file).hides)) == 0 {
		return before, before, 0, nil
	}
	err = it.rewrite(names)
	return before, len(it.files), len(it.where), err
}

// openJobs returns [ErrInUse] if a worker of a job has said within jobSilent that it is running.
func (s *Store) openJobs() error {
	for _, name := range glob.In(s.dir, jobsDir+"/*/shard-*.json") {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		var status struct {
			State   string    `json:"state"`
			Updated time.Time `json:"updated"`
		}
		if json.Unmarshal(data, &status) == nil && status.State == "running" && time.Since(status.Updated) < jobSilent {
			return fmt.Errorf("the job %s is running: %w", filepath.Base(filepath.Dir(name)), ErrInUse)
		}
	}
	return nil
}
