package remote_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/remote/remotetest"
	"antipode/kernel/backend/store"
)

// task is the store of a task, in a folder with object storage.
type task struct {
	*store.Store
	far *remote.Store
}

func openTask(t *testing.T, s *remotetest.Server, dir string) task {
	t.Helper()
	far := must.Get(remote.OpenStore(t.Context(), s.Parse(t, "job/store"), dir))(t)
	t.Cleanup(func() { far.Close() })
	local := must.Get(store.OpenWorker(dir, store.WorkerOptions{Commit: time.Hour, Remote: far}))(t)
	return task{local, far}
}

func (k task) items(t *testing.T) store.Items {
	t.Helper()
	return must.Get(k.Items("embed-v1", "context"))(t)
}

func keysOf(pack int) []store.Key {
	keys, _ := batch(pack)
	return keys
}

func finds(t *testing.T, items store.Items, pack int) (n int) {
	t.Helper()
	keys, payloads := batch(pack)
	for i, got := range items.GetAll(keys) {
		must.True(t, got == nil || bytes.Equal(got, payloads[i]), "item %d of pack %d: %q", i, pack, got)
		if got != nil {
			n++
		}
	}
	must.Do(t, items.Err())
	return n
}

// TestTaskStore fills a store in object storage by two tasks on machines that share nothing else. Each finds what the
// other has committed, with its images, and reads no more than it needs.
func TestTaskStore(t *testing.T) {
	s := remotetest.New(t)
	a, b := openTask(t, s, t.TempDir()), openTask(t, s, t.TempDir())
	ofA, ofB := a.items(t), b.items(t)
	put := func(k task, items store.Items, pack int) {
		t.Helper()
		keys, payloads := batch(pack)
		must.Do(t, items.Put(keys, payloads))
		must.Do(t, k.Commit())
	}
	img := must.Get(a.PutBlob([]byte("an image"), ".png"))(t)
	put(a, ofA, 0)
	must.Equal(t, finds(t, ofB, 0), 10, "of 10 items are found when they are needed")
	put(a, ofA, 2)
	put(b, ofB, 1) // looks for what is new
	for i, k := range keysOf(2) {
		must.True(t, ofB.Has(k), "item %d is not found after a commit", i)
	}
	c := openTask(t, s, t.TempDir())
	ofC := c.items(t)
	for i, k := range append(keysOf(0), keysOf(1)...) {
		must.True(t, ofC.Has(k), "item %d is missing", i)
	}
	must.Equal(t, len(must.Get(filepath.Glob(filepath.Join(c.Dir(), "items", "*", "*", "*")))(t)), 0,
		"copied before they are needed")
	must.Equal(t, finds(t, ofC, 1), 10, "of 10 items")
	must.Equal(t, len(must.Get(filepath.Glob(filepath.Join(c.Dir(), "items", "*", "*", "*")))(t)), 1,
		"the pack that is needed")
	there := must.Get(c.Image(table.Image{SHA256: img.SHA256, Path: ".png"}))(t)
	must.Fail(os.Stat(there.Path))(t) // the image is copied before it is needed
	must.Do(t, c.Provide(there))
	must.Equal(t, string(must.Get(c.Blob(there))(t)), "an image")
	writes := 0
	s.Faults(func(_ int64, r *http.Request) remotetest.Fault {
		if r.Method == http.MethodPut {
			writes++
		}
		return remotetest.None
	})
	for _, k := range []task{a, b, c} {
		must.Do(t, k.Close())
	}
	must.True(t, writes == 0, "%d writes of what is there", writes)
}

// TestTaskReplaces: an item that a task computes again, or drops, is its own, whatever another task has committed.
func TestTaskReplaces(t *testing.T) {
	s := remotetest.New(t)
	a := openTask(t, s, t.TempDir())
	keys, payloads := batch(0)
	must.Do(t, a.items(t).Put(keys, payloads))
	must.Do(t, a.Commit())
	b := openTask(t, s, t.TempDir())
	items := b.items(t)
	if n := finds(t, items, 0); n != 10 {
		t.Fatalf("%d of 10 items", n)
	}
	c := openTask(t, s, t.TempDir())
	for i, of := range []store.Items{items, c.items(t)} { // with the other's pack in the folder, and without
		own := [][]byte{fmt.Appendf(nil, "own %d", i)}
		must.Do(t, of.Put(keys[:1], own))
		for _, when := range []string{"collected", "written"} {
			if got := of.GetAll(keys[:2]); !bytes.Equal(got[0], own[0]) || !bytes.Equal(got[1], payloads[1]) {
				t.Errorf("store %d, %s: %q", i, when, got)
			}
			must.Do(t, []task{b, c}[i].Commit())
		}
	}
	d := openTask(t, s, t.TempDir()).items(t)
	must.Do(t, d.Drop(keys[2:3]))
	must.True(t, !d.Has(keys[2]) && d.Has(keys[3]), "an item that was dropped is there")
}

// TestTaskKilled abandons a task whose packs are on its disk but not all in object storage: the next one in the folder
// writes them, and only them. Faults in between change nothing.
func TestTaskKilled(t *testing.T) {
	s, dir := remotetest.New(t), t.TempDir()
	killed := openTask(t, s, dir)
	items := killed.items(t)
	down := func(_ int64, r *http.Request) remotetest.Fault {
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, ".pack") {
			return remotetest.Unavailable
		}
		return remotetest.None
	}
	for pack := range 3 {
		if pack == 2 {
			s.Faults(down)
		}
		must.Get(killed.PutBlob(fmt.Appendf(nil, "image %d", pack), ".png"))(t)
		keys, payloads := batch(pack)
		must.Do(t, items.Put(keys, payloads))
		err := killed.Commit()
		if pack < 2 && err != nil || pack == 2 && !errors.Is(err, remote.ErrUnreachable) {
			t.Fatalf("pack %d: %v", pack, err)
		}
	}
	before := s.Requests.Load()
	if err := killed.Commit(); !errors.Is(err, remote.ErrUnreachable) || s.Requests.Load() != before {
		t.Errorf("%v after %d more requests; want the first error", err, s.Requests.Load()-before)
	}
	var puts, faults atomic.Int64
	s.Faults(func(n int64, r *http.Request) remotetest.Fault {
		if r.Method == http.MethodPut {
			puts.Add(1)
		}
		if n%3 == 0 { // five tries get through
			faults.Add(1)
			return []remotetest.Fault{remotetest.Unavailable, remotetest.Broken}[n/3%2]
		}
		return remotetest.None
	})
	next := openTask(t, s, dir)
	must.Do(t, next.far.Push())
	if n := puts.Load(); n == 0 || n > 5 {
		t.Errorf("%d writes, want those of one pack", n)
	}
	s.Faults(func(n int64, r *http.Request) remotetest.Fault {
		if n%3 == 0 && r.Method == http.MethodGet {
			faults.Add(1)
			return remotetest.Cut
		}
		return remotetest.None
	})
	other := openTask(t, s, t.TempDir())
	for pack := range 3 {
		must.Equal(t, finds(t, other.items(t), pack), 10, "pack", pack, "of 10 items")
	}
	must.True(t, faults.Load() >= 3, "%d faults", faults.Load())
}

// TestTaskReadFails reports storage that fails while items are read, for which they would count as missing, and lets
// items of a damaged or removed pack count as missing.
func TestTaskReadFails(t *testing.T) {
	s := remotetest.New(t)
	a := openTask(t, s, t.TempDir())
	for pack := range 2 {
		keys, payloads := batch(pack)
		for i := range payloads {
			payloads[i] = append(payloads[i], make([]byte, 20<<10)...) // a pack that is not read whole for its index
		}
		must.Do(t, a.items(t).Put(keys, payloads))
		must.Do(t, a.Commit())
	}
	packs, err := a.far.List("items/embed-v1/context")
	if err != nil || len(packs) != 2 {
		t.Fatal(packs, err)
	}
	get := func(items store.Items) (n int) {
		for pack := range 2 {
			keys, _ := batch(pack)
			for _, got := range items.GetAll(keys) {
				if got != nil {
					n++
				}
			}
		}
		return n
	}
	b := openTask(t, s, t.TempDir()).items(t)
	s.Faults(func(int64, *http.Request) remotetest.Fault { return remotetest.Unavailable })
	must.Equal(t, get(b), 0, "items")
	must.Is(b.Err())(t, remote.ErrUnreachable)
	s.Faults(nil)
	before := s.Requests.Load()
	if n, err := get(b), b.Err(); n != 0 || !errors.Is(err, remote.ErrUnreachable) || s.Requests.Load() != before {
		t.Errorf("%d items and %v after %d more requests; want the first error", n, err, s.Requests.Load()-before)
	}
	b = openTask(t, s, t.TempDir()).items(t)
	if n := get(b); n != 20 || b.Err() != nil {
		t.Errorf("%d of 20 items", n)
	}
	c := openTask(t, s, t.TempDir()).items(t)
	for name := range packs {
		data := must.Get(a.far.Get(name))(t)
		data[100] ^= 1 // a payload
		must.Do(t, a.far.Put(name, data))
		break
	}
	if n := get(c); n != 10 || c.Err() != nil || c.Damage() != 1 {
		t.Errorf("%d items, want those of the sound pack", n)
	}
}
