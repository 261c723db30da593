package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"antipode/internal/must"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s := must.Get(Open(dir))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func itemsOf(t *testing.T, s *Store) Items {
	t.Helper()
	return must.Get(s.Items("embed-v1", "abc"))(t)
}

// count returns the number of items.
func count(it Items) int {
	n := it.(interface{ Len() int }).Len()
	if w, ok := it.(*workerItems); ok {
		for k := range w.at {
			if !w.packs.has(k) {
				n++
			}
		}
	}
	return n
}

func packsOf(t *testing.T, s *Store) []string {
	t.Helper()
	return must.Get(filepath.Glob(filepath.Join(s.Dir(), "items", "embed-v1", "abc", "[^.]*")))(t)
}

// TestFlippedBits flips a bit of every byte of a pack: an item is as it was or missing, never another one; once the
// missing ones are stored again, nothing is damaged any more.
func TestFlippedBits(t *testing.T) {
	s := openStore(t)
	keys := []Key{KeyOf("a"), KeyOf("b"), KeyOf("c")}
	payloads := [][]byte{{1, 2, 3}, {4, 5, 6, 7}, {8}}
	must.Do(t, itemsOf(t, s).Put(keys, payloads))
	pack := packsOf(t, s)[0]
	whole := must.Get(os.ReadFile(pack))(t)
	lost := 0
	for at := range whole {
		bit := 8*at + at%8
		for _, name := range packsOf(t, s) {
			os.Remove(name)
		}
		damaged := bytes.Clone(whole)
		damaged[bit/8] ^= 1 << (bit % 8)
		must.Do(t, os.WriteFile(pack, damaged, 0o600))
		it := itemsOf(t, open(t, s.Dir()))
		for i, p := range it.GetAll(keys) {
			if p == nil {
				lost++
				must.Do(t, it.Put(keys[i:i+1], payloads[i:i+1]))
			} else if !bytes.Equal(p, payloads[i]) {
				t.Fatalf("bit %d: item %d is %v", bit, i, p)
			}
		}
		must.Equal(t, it.Damage(), 1, "bit", bit, "damaged")
		healed := itemsOf(t, open(t, s.Dir()))
		for i, p := range healed.GetAll(keys) {
			if !bytes.Equal(p, payloads[i]) {
				t.Fatalf("bit %d: after healing item %d is %v", bit, i, p)
			}
		}
		n := healed.Damage()
		must.True(t, n <= 0, "bit %d: %d are damaged after healing", bit, n)
	}
	if lost != 3+4+1 { // each byte of a payload
		t.Errorf("%d items were lost", lost)
	}
}

// TestOtherProcess: what another process merged or removed is found, or missing, and breaks nothing.
func TestOtherProcess(t *testing.T) {
	s := openStore(t)
	other := open(t, s.Dir())
	a, b := itemsOf(t, s), itemsOf(t, other)
	var keys []Key
	for i := range mergeFrom / 2 {
		keys = append(keys, KeyOf(fmt.Sprint(i)))
		must.Do(t, a.Put(keys[i:], [][]byte{payload(i)}))
	}
	b = itemsOf(t, open(t, s.Dir()))
	for i := mergeFrom / 2; i < mergeFrom+5; i++ { // a merges the shards that b knows
		keys = append(keys, KeyOf(fmt.Sprint(i)))
		must.Do(t, a.Put(keys[i:], [][]byte{payload(i)}))
	}
	for i, p := range b.GetAll(keys[:mergeFrom/2]) {
		must.True(t, bytes.Equal(p, payload(i)), "merged by another process: item %d is %v", i, p)
	}
	for _, name := range packsOf(t, s) {
		must.Do(t, os.Remove(name))
	}
	if err := a.Drop(keys[:3]); err != nil {
		t.Errorf("dropping from a missing shard: %v", err)
	}
	for i, p := range b.GetAll(keys) {
		must.True(t, p == nil, "removed by another process: item %d is %v", i, p)
	}
	for i := range mergeFrom + 5 { // merges
		must.Do(t, a.Put(keys[i:i+1], [][]byte{payload(i)}))
	}
	for i, p := range a.GetAll(keys) {
		must.True(t, bytes.Equal(p, payload(i)), "stored again: item %d is %v", i, p)
	}
}

// TestDamagedBlob: a blob with a flipped bit, also one that was verified before, is damaged until it is stored again.
func TestDamagedBlob(t *testing.T) {
	s := openStore(t)
	img := must.Get(s.PutBlob([]byte("an image"), ".png"))(t)
	time.Sleep(2 * settled)
	for range 2 {
		must.Do(t, s.CheckBlob(img))
	}
	info := must.Get(os.Stat(img.Path))(t)
	must.Do(t, os.WriteFile(img.Path, []byte("an imagf"), 0o600))
	must.Do(t, os.Chtimes(img.Path, info.ModTime(), info.ModTime()))
	must.Is(s.CheckBlob(img))(t, ErrDamaged) // a flipped bit
	must.Is(s.Blob(img))(t, ErrDamaged)      // a flipped bit
	must.Get(s.PutBlob([]byte("an image"), ".png"))(t)
	if err := s.CheckBlob(img); err != nil {
		t.Errorf("stored again: %v", err)
	}
	must.Equal(t, string(must.Get(s.Blob(img))(t)), "an image")
	os.Remove(img.Path)
	must.Is(s.CheckBlob(img))(t, ErrNotFound) // a missing blob
}

// TestDamagedIndex flips every bit of the index of files: the digest of a file is right or computed again.
func TestDamagedIndex(t *testing.T) {
	s := openStore(t)
	path := filepath.Join(t.TempDir(), "a.png")
	must.Do(t, os.WriteFile(path, []byte("one"), 0o600))
	time.Sleep(2 * settled)
	want, err := s.FileDigest(path)
	if err == nil {
		err = s.Flush()
	}
	whole, readErr := os.ReadFile(s.files.path)
	if err := errors.Join(err, readErr); err != nil || len(whole) == 0 {
		t.Fatal(err)
	}
	for bit := range 8 * len(whole) {
		damaged := bytes.Clone(whole)
		damaged[bit/8] ^= 1 << (bit % 8)
		must.Do(t, os.WriteFile(s.files.path, damaged, 0o600))
		s.files.load()
		if got, err := s.FileDigest(path); err != nil || got != want {
			t.Fatalf("bit %d: %s, %v", bit, got, err)
		}
	}
}

// TestPrivate: others can read nothing of the store, also of one whose folders others could read.
func TestPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	must.Do(t, os.MkdirAll(filepath.Join(dir, "blobs"), 0o755))
	s := open(t, dir)
	must.Get(s.PutBlob([]byte("an image"), ".png"))(t)
	must.Do(t, itemsOf(t, s).Put([]Key{KeyOf("a")}, [][]byte{{1}}))
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if info, statErr := os.Stat(path); err == nil && statErr == nil && path != dir &&
			info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %s", path, info.Mode())
		}
		n++
		return err
	})
	must.True(t, err == nil && n >= 10, "%d files, %v", n, err)
	must.Equal(t, must.Get(os.Stat(dir))(t).Mode().Perm(), 0o755, "the mode of the user's folder has changed")
}

// TestCollectInUse: nothing is removed while a run or another process uses the store.
func TestCollectInUse(t *testing.T) {
	s := openStore(t)
	img := must.Get(s.PutBlob([]byte("an image"), ".png"))(t)
	done := s.Use()
	must.Is(s.Collect(GC{}))(t, ErrInUse) // during a run
	done()
	other := open(t, s.Dir())
	must.Is(s.Collect(GC{}))(t, ErrInUse) // next to another process
	must.Do(t, other.Close())
	for _, name := range []string{"blobs/.tmp-1", "bin/.tmp-1", "bin/.tmp-2/file", "verify-1/blobs/a",
		"bin/new/.tmp-3"} {
		must.Do(t, WriteFile(filepath.Join(s.Dir(), name), []byte("x")))
	}
	old := time.Now().Add(-2 * otherWriters)
	for _, name := range []string{"bin/.tmp-1", "bin/.tmp-2"} {
		must.Do(t, os.Chtimes(filepath.Join(s.Dir(), name), old, old))
	}
	removed, _, err := s.Collect(GC{Keep: time.Hour})
	must.True(t, err == nil && len(removed) == 4, "%v, %v", removed, err)
	for _, r := range removed {
		must.Fail(os.Stat(filepath.Join(s.Dir(), r.Path)))(t)
	}
	if removed, _, err := s.Collect(GC{}); err != nil || len(removed) != 1 || s.CheckBlob(img) == nil {
		t.Errorf("alone: %v, %v", removed, err)
	}
	open(t, s.Dir()) // does not wait
}

// TestNullPlan: a record without a plan is damaged.
func TestNullPlan(t *testing.T) {
	s := openStore(t)
	must.Do(t, WriteFile(s.resultPath(strings.Repeat("0", 64), ".json"), []byte(`{"id":"0","plan":null}`)))
	must.Equal(t, len(must.Get(s.Records())(t)), 0)
}

// BenchmarkCheckBlob measures the first check of a blob of 300 kB, which reads it, and the later ones.
func BenchmarkCheckBlob(b *testing.B) {
	s := must.Get(Open(b.TempDir()))(b)
	defer s.Close()
	img := must.Get(s.PutBlob(bytes.Repeat([]byte("x"), 300_000), ".png"))(b)
	time.Sleep(2 * settled)
	for _, first := range []bool{true, false} {
		b.Run(fmt.Sprintf("first=%v", first), func(b *testing.B) {
			for b.Loop() {
				if first {
					s.verified.Delete(img.Path)
				}
				must.Do(b, s.CheckBlob(img))
			}
		})
	}
}
