package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/datasets/table"
	"antipode/internal/filelock"
	"antipode/internal/must"
)

// TestLaterPacksStay: packs of another version are not merged with small ones, which would remove them.
func TestLaterPacksStay(t *testing.T) {
	s := openStore(t)
	it := itemsOf(t, s)
	put := func(i int) { must.Do(t, it.Put([]Key{KeyOf(fmt.Sprint(i))}, [][]byte{payload(i)})) }
	put(0)
	first := packsOf(t, s)[0]
	whole := must.Get(os.ReadFile(first))(t)
	later := filepath.Join(filepath.Dir(first), strings.Repeat("a", 24)+packSuffix)
	must.Do(t, os.WriteFile(later, []byte("APS4"+string(whole[4:len(whole)-4])+"APS4"), 0o600))
	it = reopen(t, s)
	for i := range 2 * mergeFrom {
		put(i + 1)
	}
	must.Get(os.Stat(later))(t)
	must.True(t, len(packsOf(t, s)) < mergeFrom, "%d packs", len(packsOf(t, s)))
}

// TestDropMerged: an item is dropped although another process has merged its pack meanwhile.
func TestDropMerged(t *testing.T) {
	s := openStore(t)
	it := itemsOf(t, s)
	keys := []Key{KeyOf("a"), KeyOf("b")}
	for i, k := range keys {
		must.Do(t, it.Put([]Key{k}, [][]byte{payload(i)}))
	}
	other := reopen(t, s).(*packs)
	must.Do(t, other.rewrite(packsOf(t, s)))
	must.Do(t, it.Drop(keys[:1]))
	again := reopen(t, s)
	must.True(t, !again.Has(keys[0]) && again.Has(keys[1]), "%v, %v", again.Has(keys[0]), again.Has(keys[1]))
}

// TestReadError: an item that cannot be read is not one that is missing.
func TestReadError(t *testing.T) {
	s := openStore(t)
	it := itemsOf(t, s)
	must.Do(t, it.Put([]Key{KeyOf("a")}, [][]byte{payload(1)}))
	pack := packsOf(t, s)[0]
	must.Do(t, os.Rename(pack, pack+".moved"))
	must.Do(t, os.Mkdir(pack, 0o700)) // opens, and cannot be read
	must.True(t, it.GetAll([]Key{KeyOf("a")})[0] == nil && it.Err() != nil, "no error")
	must.Do(t, os.Remove(pack))
	must.Do(t, os.Rename(pack+".moved", pack))
	must.Equal(t, string(it.GetAll([]Key{KeyOf("a")})[0]), string(payload(1)))
	must.Do(t, it.Err())

	img := table.Image{SHA256: strings.Repeat("0", digestLen), Path: s.Dir()}
	err := s.CheckBlob(img)
	must.True(t, err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNotFound), "%v", err)
}

// TestFolderNames: records are found in a folder whose name has the characters of patterns.
func TestFolderNames(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), `exp[1]*\a`))
	id := strings.Repeat("0", 64)
	must.Do(t, s.PutResult(nil, &Record{ID: id, Plan: &table.Plan{Op: "x"}, Saved: "a.csv"}))
	must.Equal(t, len(must.Get(s.Records())(t)), 1)
	must.Equal(t, must.Get(s.Record("000"))(t).ID, id)
	must.Fail(s.Record("*"))(t, `no result begins with "*"`)
}

// TestUsedResultsStay: a result that was read lately stays, with its record.
func TestUsedResultsStay(t *testing.T) {
	s := openStore(t)
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"})}}
	rec := &Record{ID: strings.Repeat("1", 64), Plan: &table.Plan{Op: "x"}, Result: must.Get(FrameDigest(f))(t)}
	must.Do(t, s.PutResult(f, rec))
	old := time.Now().Add(-100 * 24 * time.Hour)
	for _, ext := range []string{".json", ".frame"} {
		must.Do(t, os.Chtimes(s.resultPath(rec.ID, ext), old, old))
	}
	_, _, err := s.Result(rec.ID)
	must.Do(t, err)
	removed, _, err := s.Collect(GC{Keep: 24 * time.Hour})
	must.True(t, err == nil && len(removed) == 0, "%v, %v", removed, err)
}

// TestLockOfRemovedStore: who waited for the lock of a store that was removed locks the new file.
func TestLockOfRemovedStore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, lockFile)
	held := must.Get(filelock.Open(path))(t)
	opened := make(chan *Store)
	go func() {
		s, _ := Open(dir)
		opened <- s
	}()
	time.Sleep(50 * time.Millisecond) // until it waits
	must.Do(t, os.Remove(path))
	must.Do(t, held.Close())
	s := <-opened
	defer s.Close()
	must.True(t, filelock.Same(s.lock, path), "the lock is on a file that was removed")
}
