package remote_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/kernel/backend/remote"
	"antipode/kernel/backend/remote/remotetest"
	"antipode/kernel/backend/store"
	_ "antipode/test/memdir"
)

// stored fills a new store with packs of items, images and a result, and returns its folder.
func stored(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s := must.Get(store.Open(dir))(t)
	for pack := range 5 {
		items := must.Get(s.Items("embed-v1", fmt.Sprintf("context%d", pack%2)))(t)
		keys, payloads := batch(pack)
		must.Do(t, items.Put(keys, payloads))
		must.Get(s.PutBlob(fmt.Appendf(nil, "image %d", pack), ".png"))(t)
	}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"})}}
	must.Do(t, s.PutResult(f, record(t)))
	must.Do(t, s.Close())
	return dir
}

func record(t *testing.T) *store.Record {
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"})}}
	digest := must.Get(store.FrameDigest(f))(t)
	return &store.Record{ID: strings.Repeat("ab", 32), Result: digest, Plan: &table.Plan{Op: "rows"}, Rows: 1}
}

func batch(pack int) (keys []store.Key, payloads [][]byte) {
	for i := range 10 {
		text := fmt.Sprintf("item %d of pack %d", i, pack)
		keys, payloads = append(keys, store.KeyOf(text)), append(payloads, []byte(text))
	}
	return keys, payloads
}

// pulled copies the bucket's store into a new one, and reports what it then lacks.
func pulled(t *testing.T, s *remotetest.Server) (copied remote.Copied, lacks []string) {
	t.Helper()
	dir := t.TempDir()
	local := must.Get(store.Open(dir))(t)
	defer local.Close()
	folder := filepath.Join(dir, ".tmp-pulled")
	copied = must.Get(remote.Pull(t.Context(), s.Parse(t, "team/store"), dir, folder))(t)
	differs := func(_ []table.ColumnSpec, a, b []byte) (float64, bool) { return 0, !bytes.Equal(a, b) }
	must.Get(local.Merge(t.Context(), []string{folder}, store.MergeOptions{Difference: differs}))(t)
	for pack := range 5 {
		items := must.Get(local.Items("embed-v1", fmt.Sprintf("context%d", pack%2)))(t)
		keys, payloads := batch(pack)
		for i, got := range items.GetAll(keys) {
			if !bytes.Equal(got, payloads[i]) {
				lacks = append(lacks, string(payloads[i]))
			}
		}
		names, err := filepath.Glob(filepath.Join(dir, "blobs", "*", "*.png"))
		if err != nil || len(names) != 5 {
			lacks = append(lacks, fmt.Sprintf("%d images, %v", len(names), err))
		}
	}
	if f, rec, err := local.Result(record(t).ID); err != nil || f.Len() != 1 || rec.Rows != 1 {
		lacks = append(lacks, fmt.Sprintf("result: %v", err))
	}
	return copied, lacks
}

// TestStoreOfObjects pushes a store and pulls it on another machine, which then has everything. Both can be repeated.
func TestStoreOfObjects(t *testing.T) {
	s, home := remotetest.New(t), stored(t)
	for run, want := range []int{5 + 5 + 2, 0} {
		copied, err := remote.Push(t.Context(), home, s.Parse(t, "team/store"))
		must.True(t, err == nil && copied.Files == want && copied.Files+copied.Present == 12 && len(copied.Left) == 0,
			"run %d: %+v, %v", run, copied, err)
	}
	if copied, lacks := pulled(t, s); copied.Files != 12 || lacks != nil {
		t.Errorf("%+v, lacks %q", copied, lacks)
	}
	// what a store has is not copied again, except results
	copied, err := remote.Pull(t.Context(), s.Parse(t, "team/store/"), home, t.TempDir())
	must.True(t, err == nil && copied.Files == 2 && copied.Present == 10, "%+v, %v", copied, err)
	_, err = remote.Pull(t.Context(), s.Parse(t, "team/other"), home, t.TempDir())
	must.Err(t, err, "s3://lab/team/other/ is no store")
}

// TestPushGoesOn ends a push at each of its writes, by its context and by a dead server: another machine reads a part
// of the store without an error, and a further push completes it.
func TestPushGoesOn(t *testing.T) {
	home := stored(t)
	for _, most := range []int64{0, 1, 4, 6, 11, 12} {
		s := remotetest.New(t)
		ctx, cancel := context.WithCancel(t.Context())
		var puts atomic.Int64
		s.Faults(func(_ int64, r *http.Request) remotetest.Fault {
			if r.Method == http.MethodPut && puts.Add(1) > most {
				cancel()
				return remotetest.Broken
			}
			return remotetest.None
		})
		copied, err := remote.Push(ctx, home, s.Parse(t, "team/store"))
		s.Faults(nil)
		cancel()
		if (err == nil) != (most >= 12) {
			t.Fatalf("%d writes: %+v, %v", most, copied, err)
		}
		if copied.Files > 0 {
			copied, _ := pulled(t, s)
			must.True(t, len(copied.Left) == 0, "%d writes: %+v", most, copied)
		}
		again, err := remote.Push(t.Context(), home, s.Parse(t, "team/store"))
		if err != nil || again.Files+again.Present != 12 || most >= 12 && again.Files > 0 {
			t.Errorf("%d writes: %+v, %v", most, again, err)
		}
		_, lacks := pulled(t, s)
		must.True(t, lacks == nil, "%d writes: lacks %q", most, lacks)
	}
}

// TestDamagedObjects leaves out what was damaged on the way or at rest, and writes it again from a sound store.
func TestDamagedObjects(t *testing.T) {
	s, home := remotetest.New(t), stored(t)
	to := s.Parse(t, "team/store")
	must.Get(remote.Push(t.Context(), home, to))(t)
	packs, err := filepath.Glob(filepath.Join(home, "items", "*", "*", "*.pack"))
	if err != nil || len(packs) != 5 {
		t.Fatal(packs, err)
	}
	rel := must.Get(filepath.Rel(home, packs[0]))(t)
	key := "team/store/" + filepath.ToSlash(rel)
	data := must.Get(os.ReadFile(packs[0]))(t)
	data[len(data)/2] ^= 1
	must.Do(t, open(t, to).Put(t.Context(), key, data))
	if copied, lacks := pulled(t, s); len(copied.Left) != 1 || !strings.HasSuffix(copied.Left[0], key) ||
		len(lacks) != 10 {
		t.Errorf("%+v, lacks %q", copied, lacks)
	}
	must.Equal(t, must.Get(remote.Push(t.Context(), home, to))(t).Files, 1)
	if _, lacks := pulled(t, s); lacks != nil {
		t.Errorf("lacks %q", lacks)
	}
	must.Do(t, os.WriteFile(packs[0], data, 0o600)) // a damaged file is not copied
	copied, err := remote.Push(t.Context(), home, to)
	must.True(t, err == nil && copied.Files == 0 && len(copied.Left) == 1 && copied.Left[0] == packs[0],
		"%+v, %v", copied, err)
}
