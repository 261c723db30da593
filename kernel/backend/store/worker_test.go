package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"antipode/internal/must"
)

func openWorker(t *testing.T, dir string, o WorkerOptions) *Store {
	t.Helper()
	s := must.Get(OpenWorker(dir, o))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// put stores n items, the first with the given number, in batches.
func put(t *testing.T, it Items, first, n, batch, size int) (keys []Key) {
	t.Helper()
	for at := first; at < first+n; at += batch {
		var payloads [][]byte
		start := len(keys)
		for i := at; i < min(at+batch, first+n); i++ {
			keys = append(keys, KeyOf(fmt.Sprint(i)))
			payloads = append(payloads, bytes.Repeat([]byte{byte(i)}, size))
		}
		must.Do(t, it.Put(keys[start:], payloads))
	}
	return keys
}

// TestWorkerPacks: a worker's items are written in packs of 2,048 items or 16 MB and at the end, seen before, and never
// merged.
func TestWorkerPacks(t *testing.T) {
	s := openWorker(t, t.TempDir(), WorkerOptions{Origin: Origin{Build: "b", Job: "j", Shard: "1/4"}})
	it := itemsOf(t, s)
	keys := put(t, it, 0, 2*maxPackItems+100, 32, 10)
	must.Do(t, it.Drop(nil)) // as before rows are computed, none of which failed
	must.Equal(t, len(packsOf(t, s)), 2, "packs before the end")
	must.True(t, count(it) == len(keys) && it.Has(keys[len(keys)-1]), "%d items", count(it))
	for i, p := range it.GetAll(keys) {
		if len(p) != 10 || p[0] != byte(i) {
			t.Fatalf("item %d is %v", i, p)
		}
	}
	large := must.Get(s.Items("embed-v1", "large"))(t)
	put(t, large, 0, 20, 3, 1<<20)
	must.Do(t, s.Commit())
	packs := s.Packs()
	items, size := 0, int64(0)
	for _, p := range packs {
		items += p.Items
		info, err := os.Stat(filepath.Join(s.Dir(), filepath.FromSlash(p.Path)))
		must.True(t, err == nil && info.Size() == p.Size && p.Size <= maxPackSize+1<<20 && p.Items <= maxPackItems,
			"%+v: %v", p, err)
		size += p.Size
	}
	must.True(t, len(packs) == 3+2 && items == len(keys)+20 && size >= 20<<20,
		"%d packs of %d items: %v", len(packs), items, packs)
	for i := range 3 * mergeFrom {
		put(t, it, 1e6+i, 1, 1, 1)
		must.Do(t, s.Commit())
	}
	must.Equal(t, len(packsOf(t, s)), 3+3*mergeFrom, "packs: they were merged")
	put(t, it, 2e6, 1, 1, 1)
	must.Do(t, s.Close())
	must.Equal(t, count(itemsOf(t, open(t, s.Dir()))), len(keys)+3*mergeFrom+1, "items after the end")
	data := must.Get(os.ReadFile(packsOf(t, s)[0]))(t)
	head, _, err := parsePack(bytes.NewReader(data), int64(len(data)))
	if text, _ := json.Marshal(head); err != nil || string(text) !=
		`{"stage":"embed-v1","context":"abc","origins":[{"build":"b","job":"j","shard":"1/4"}]}` {
		t.Errorf("header %s, %v", text, err)
	}
}

// TestWorkerCommits: items are written when the interval has passed, also without another batch; what cannot be written
// is an error of the next batch.
func TestWorkerCommits(t *testing.T) {
	s := openWorker(t, t.TempDir(), WorkerOptions{Commit: 20 * time.Millisecond})
	it := itemsOf(t, s).(*workerItems)
	put(t, it, 0, 3, 3, 1)
	must.Within(t, 10*time.Second, "a batch is written", func() bool {
		it.mu.Lock()
		defer it.mu.Unlock()
		return len(it.collected) == 0
	})
	must.Equal(t, count(itemsOf(t, open(t, s.Dir()))), 3, "items are written")
	must.Do(t, os.RemoveAll(it.dir))
	must.Do(t, os.WriteFile(it.dir, nil, 0o600)) // in the way of the folder
	put(t, it, 3, 1, 1, 1)
	must.Within(t, 10*time.Second, "the commit fails", func() bool {
		it.mu.Lock()
		defer it.mu.Unlock()
		return it.failed != nil
	})
	must.Fail(it.Put([]Key{KeyOf("x")}, [][]byte{{1}}))(t) // after a commit that failed
	must.Do(t, os.Remove(it.dir))
	must.Do(t, s.Close())
	again := itemsOf(t, open(t, s.Dir()))
	must.True(t, again.Has(KeyOf("3")), "the item that could not be written at first is lost")
}

// blind finds nothing that others have written.
type blind struct{ *packs }

func (blind) refresh() error { return errors.New("the folder cannot be listed") }

// TestCommitsBlindly: what a worker has written is stored, also where it cannot look for what others have written.
func TestCommitsBlindly(t *testing.T) {
	s := openWorker(t, t.TempDir(), WorkerOptions{})
	it := itemsOf(t, s).(*workerItems)
	it.to = blind{it.packs}
	put(t, it, 0, maxPackItems, maxPackItems, 1) // a full pack
	must.Equal(t, count(itemsOf(t, open(t, s.Dir()))), maxPackItems, "items are written")
}

// TestCommitInterval: slow batches are written less often.
func TestCommitInterval(t *testing.T) {
	it := &workerItems{}
	must.Equal(t, it.interval(), time.Minute, "at first")
	it.batch = 11 * time.Second
	must.Equal(t, it.interval(), 5*time.Minute, "slow batches")
	it.every = time.Second
	must.Equal(t, it.interval(), time.Second, "as requested")
}

// TestWorkersShareAFolder: two workers of one folder find each other's items: those that are missing at once, all of
// them at each pack.
func TestWorkersShareAFolder(t *testing.T) {
	a := openWorker(t, t.TempDir(), WorkerOptions{})
	b := openWorker(t, a.Dir(), WorkerOptions{})
	mine, yours := itemsOf(t, a), itemsOf(t, b)
	keys := put(t, mine, 0, 10, 5, 3)
	must.Do(t, a.Commit())
	if yours.Has(keys[0]) {
		t.Fatal("found before it was looked for")
	}
	put(t, yours, 10, 1, 1, 3)
	must.Do(t, b.Commit())
	must.True(t, yours.Has(keys[0]), "not found at a pack")
	for i, p := range mine.GetAll([]Key{KeyOf("10"), keys[0]}) {
		must.Equal(t, len(p), 3, "item", i)
	}
}

// TestRemove removes a store when no process uses it.
func TestRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tasks", "job-0")
	s := must.Get(OpenWorker(dir, WorkerOptions{}))(t)
	must.Is(Remove(dir))(t, ErrInUse)
	must.Get(s.PutBlob([]byte("an image"), ".png"))(t)
	must.Do(t, s.Close())
	must.Do(t, Remove(dir))
	must.Is(os.Stat(dir))(t, fs.ErrNotExist) // the folder is removed
}
