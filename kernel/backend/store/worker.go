package store

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// The intervals after which a worker's collected items are written; the longer one is that of slow batches.
const (
	commitInterval     = time.Minute
	slowCommitInterval = 5 * time.Minute
	slowBatch          = 10 * time.Second
)

// WorkerOptions configure [OpenWorker].
type WorkerOptions struct {
	// Commit is the time for which items are collected at most; 0 = a minute, or five minutes where batches are more
	// than ten seconds apart.
	Commit time.Duration
	// Origin is written into the packs.
	Origin Origin
	// Remote has, unless it is nil, what this store has and more: packs are written to it when they are complete, and
	// items and images that this store lacks are read from it.
	Remote Remote
}

// PackInfo is a pack that a worker has written.
type PackInfo struct {
	Path  string `json:"path"` // relative to the store, with slashes
	Items int    `json:"items"`
	Size  int64  `json:"size"`
}

// OpenWorker opens a store as [Open] does, for one of several processes that fill it: [Items.Put] collects items and
// writes them at 16 MB, at 2,048 items, when [WorkerOptions.Commit] has passed, and at [Store.Commit] and
// [Store.Close]. Packs are not merged.
func OpenWorker(dir string, o WorkerOptions) (*Store, error) {
	s, err := Open(dir)
	if err != nil {
		return nil, err
	}
	s.worker = &o
	s.SetOrigin(o.Origin)
	return s, nil
}

// Origin returns the origin of the packs that are written.
func (s *Store) Origin() Origin {
	if o := s.origin.Load(); o != nil {
		return *o
	}
	return Origin{}
}

// SetOrigin sets the origin of the packs that are written from now on.
func (s *Store) SetOrigin(o Origin) { s.origin.Store(&o) }

// Packs returns the packs that a worker's store has written since it was opened.
func (s *Store) Packs() []PackInfo {
	s.packsMu.Lock()
	defer s.packsMu.Unlock()
	return s.packs[:len(s.packs):len(s.packs)]
}

func (s *Store) wrote(path string, items, size int) {
	if s.worker == nil {
		return
	}
	s.packsMu.Lock()
	defer s.packsMu.Unlock()
	s.packs = append(s.packs, PackInfo{s.name(path), items, int64(size)})
}

// Commit writes the items that a worker has collected, and what it has to object storage.
func (s *Store) Commit() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, it := range s.items {
		errs = append(errs, it.commit())
	}
	if r := s.remote(); r != nil && errors.Join(errs...) == nil {
		return r.Push()
	}
	return errors.Join(errs...)
}

// workerItems are the [Items] of a worker.
type workerItems struct {
	*packs
	to    sink
	every time.Duration // see [WorkerOptions.Commit]

	collected []record      // not written yet
	at        map[Key]int   // their positions
	bytes     int           // their size
	timer     *time.Timer   // writes them when the commit interval has passed
	lastPut   time.Time     // to estimate the time of a batch
	batch     time.Duration // the time between the last two batches
	failed    error         // of the timer's commit
}

// sink is where a worker's items are written: its folder, or object storage, too.
type sink interface {
	store(records []record) error
	refresh() error // finds what others have written
}

// Put is part of [Items].
func (it *workerItems) Put(keys []Key, payloads [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	if err := it.collect(recordsOf(keys, payloads)); err != nil {
		return fmt.Errorf("cannot store results: %w", err)
	}
	return nil
}

// collect adds records to those that are written later, and writes them when they fill a pack.
func (it *workerItems) collect(records []record) error {
	size := 0
	for _, r := range records {
		size += recordHead + len(r.payload)
	}
	if it.failed != nil || len(it.collected) > 0 &&
		(len(it.collected)+len(records) > maxPackItems || it.bytes+size > maxPackSize) {
		if err := it.flush(); err != nil {
			return err
		}
	}
	now := time.Now()
	if !it.lastPut.IsZero() {
		it.batch = now.Sub(it.lastPut)
	}
	it.lastPut = now
	for _, r := range records {
		if at, ok := it.at[r.key]; ok {
			it.collected[at] = r
			continue
		}
		it.at[r.key] = len(it.collected)
		it.collected = append(it.collected, r)
	}
	it.bytes += size
	if len(it.collected) >= maxPackItems || it.bytes >= maxPackSize {
		return it.flush()
	}
	if it.timer == nil {
		it.timer = time.AfterFunc(it.interval(), func() {
			it.mu.Lock()
			defer it.mu.Unlock()
			it.failed = it.flush()
		})
	}
	return nil
}

// interval returns the time for which items are collected.
func (it *workerItems) interval() time.Duration {
	switch {
	case it.every > 0:
		return it.every
	case it.batch > slowBatch:
		return slowCommitInterval
	}
	return commitInterval
}

// commit is part of [Items].
func (it *workerItems) commit() error {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.flush()
}

// flush writes the collected items, and looks for those of others. If it cannot write them they stay collected.
func (it *workerItems) flush() error {
	if len(it.collected) == 0 {
		return nil
	}
	if it.timer != nil {
		it.timer.Stop()
		it.timer = nil
	}
	if err := it.to.store(slices.Clone(it.collected)); err != nil {
		return err
	}
	it.collected, it.at, it.bytes, it.failed = nil, map[Key]int{}, 0, nil
	_ = it.to.refresh() // else they are found later
	return nil
}

// Has is part of [Items].
func (it *workerItems) Has(k Key) bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.has(k)
}

func (it *workerItems) has(k Key) bool {
	_, collected := it.at[k]
	return collected || it.packs.has(k)
}

// GetAll is part of [Items].
func (it *workerItems) GetAll(keys []Key) [][]byte {
	it.mu.Lock()
	defer it.mu.Unlock()
	out := make([][]byte, len(keys))
	it.note(it.getAll(keys, out))
	return out
}

func (it *workerItems) getAll(keys []Key, out [][]byte) error {
	for i, k := range keys {
		if at, ok := it.at[k]; ok {
			out[i] = it.collected[at].payload
		}
	}
	return it.packs.getAll(keys, out)
}

// Drop is part of [Items].
func (it *workerItems) Drop(keys []Key) error {
	it.mu.Lock()
	defer it.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	if err := it.flush(); err != nil {
		return err
	}
	return it.drop(keys)
}
