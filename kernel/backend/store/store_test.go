package store

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"antipode/datasets/table"
	"antipode/internal/must"
	_ "antipode/test/memdir"
)

func openStore(t *testing.T) *Store {
	t.Helper()
	return open(t, t.TempDir())
}

func payload(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i%7+1) }

func TestItemsSurviveReopeningAndMerging(t *testing.T) {
	s := openStore(t)
	it := must.Get(s.Items("embed-v1", "abc"))(t)
	const n = 200
	var keys []Key
	for i := range n { // one item a batch: more small shards than may stay
		keys = append(keys, KeyOf(fmt.Sprint(i)))
		must.Do(t, it.Put(keys[i:i+1], [][]byte{payload(i)}))
	}
	shards, _ := filepath.Glob(filepath.Join(s.Dir(), "items", "embed-v1", "abc", "*.pack"))
	must.True(t, len(shards) < mergeFrom, "%d shards stay for %d items", len(shards), n)
	for name, items := range map[string]Items{"the same": it, "reopened": reopen(t, s)} {
		must.Equal(t, count(items), n, name, "items")
		for i, p := range items.GetAll(keys) {
			if !bytes.Equal(p, payload(i)) {
				t.Fatalf("%s: item %d is %v", name, i, p)
			}
		}
	}
}

func reopen(t *testing.T, s *Store) Items {
	t.Helper()
	again := must.Get(Open(s.Dir()))(t)
	return must.Get(again.Items("embed-v1", "abc"))(t)
}

// TestShardsDependOnRowsOnly writes the same batches in two stores and finds the same files.
func TestShardsDependOnRowsOnly(t *testing.T) {
	list := func() string {
		s := openStore(t)
		it, _ := s.Items("embed-v1", "abc")
		for b := range 80 {
			it.Put([]Key{KeyOf(fmt.Sprint(b)), KeyOf(fmt.Sprint(-b - 1))}, [][]byte{payload(b), payload(b)})
		}
		names, _ := filepath.Glob(filepath.Join(s.Dir(), "items", "embed-v1", "abc", "[^.]*"))
		out := ""
		for _, n := range names {
			data, _ := os.ReadFile(n)
			out += filepath.Base(n) + string(data)
		}
		return out
	}
	if first, second := list(), list(); first != second {
		t.Error("equal batches gave different shards")
	}
}

func TestDamagedPacks(t *testing.T) {
	s := openStore(t)
	it := itemsOf(t, s)
	keys := []Key{KeyOf("a"), KeyOf("b")}
	must.Do(t, it.Put(keys, [][]byte{{1, 2, 3}, {4, 5, 6}}))
	pack := packsOf(t, s)[0]
	whole := must.Get(os.ReadFile(pack))(t)
	records := len(packMagic) + 2*(recordHead+3)
	for name, c := range map[string]struct {
		data []byte
		want int // items that are still there
	}{
		"empty": {nil, 0}, "noise": {[]byte("noise, not a pack"), 0},
		"magic": {append([]byte("XXXX"), whole[4:]...), 2}, "cut": {whole[:len(whole)-1], 2},
		"cut in the index": {whole[:len(whole)-packTrailer-1], 2}, "cut in a record": {whole[:records-1], 1},
		"huge":  {append(append([]byte{}, whole[:4+32]...), 255, 255, 255, 255, 0, 0, 0, 0), 0},
		"later": {[]byte("APS4" + string(whole[4:len(whole)-4]) + "APS4"), 0},
	} {
		for _, healed := range packsOf(t, s) {
			os.Remove(healed)
		}
		os.WriteFile(pack, c.data, 0o600)
		it := reopen(t, s)
		got := 0
		for _, p := range it.GetAll(keys) {
			if p != nil {
				got++
			}
		}
		if damage := it.Damage(); got != c.want || (damage != 1) != (name == "later") {
			t.Errorf("%s: %d items are there, want %d; %d are damaged", name, got, c.want, damage)
		}
		left := packsOf(t, s)
		must.True(t, len(left) == min(1, c.want) || name == "later", "%s: %d packs are left", name, len(left))
	}
}

func TestFileDigestFollowsTheFile(t *testing.T) {
	s := openStore(t)
	path := filepath.Join(t.TempDir(), "a \"b\"\n.png")
	os.WriteFile(path, []byte("one"), 0o644)
	time.Sleep(2 * settled)
	first := must.Get(s.FileDigest(path))(t)
	must.Do(t, s.Flush())
	again, _ := Open(s.Dir())
	e, ok := again.files.entries[path]
	must.True(t, ok && e.digest == first, "the index does not remember %q: %v", path, again.files.entries)
	os.WriteFile(path, []byte("two"), 0o644)
	os.Chtimes(path, time.Now(), time.Now().Add(time.Second))
	second, err := again.FileDigest(path)
	must.True(t, err == nil && second != first, "a changed file has the old digest (%v)", err)
	must.Is(s.FileDigest(filepath.Join(s.Dir(), "none")))(t, os.ErrNotExist) // missing file

	must.Do(t, os.Remove(path))
	must.Do(t, s.Close())
	_, _, err = again.Collect(GC{Keep: time.Hour})
	must.Do(t, err)
	again, _ = Open(s.Dir())
	must.Equal(t, len(again.files.entries), 0, "files that are remembered after they were removed")
}

func TestResults(t *testing.T) {
	s := openStore(t)
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"}),
		table.NumberColumn("v", []float64{0.25})}}
	digest := must.Get(FrameDigest(f))(t)
	id := fmt.Sprintf("%064d", 7)
	rec := &Record{ID: id, Result: digest, Plan: &table.Plan{Op: "score"}, Rows: 1, Finished: time.Now()}
	must.Do(t, s.PutResult(f, rec))
	got, _, err := s.Result(id)
	if err != nil || got.Numbers("v")[0] != 0.25 {
		t.Fatal(got, err)
	}
	must.Equal(t, must.Get(s.Record(id[:63]))(t).ID, id, "by a beginning")
	path := s.resultPath(id, ".frame")
	data, _ := os.ReadFile(path)
	data[len(data)-1] ^= 1
	os.WriteFile(path, data, 0o644)
	must.Is(s.Result(id))(t, ErrNotFound)     // a damaged result
	must.Is(s.Record("none"))(t, ErrNotFound) // a missing record
}

func TestFrameDigestIgnoresWhereImagesLie(t *testing.T) {
	frame := func(path, sha string) *table.Frame {
		return &table.Frame{Columns: []table.Column{table.ImageColumn("image",
			[]table.Image{{SHA256: sha, Path: path}})}}
	}
	a, _ := FrameDigest(frame("/a", "1"))
	b, _ := FrameDigest(frame("/b", "1"))
	c, _ := FrameDigest(frame("/a", "2"))
	must.True(t, a == b && a != c, "the digest must depend on content, not on paths")
}

// digestFrame returns rows of every kind, with values that must not be mistaken for one another.
func digestFrame() *table.Frame {
	sha := strings.Repeat("ab", 32)
	return &table.Frame{Columns: []table.Column{
		table.TextColumn("id", []string{"a", "", "b\xff\xfe", "c"}),
		table.NumberColumn("n", []float64{1, math.NaN(), math.Inf(-1), 0}),
		table.ImageColumn("image", []table.Image{{SHA256: sha, Path: "/p"}, {}, {SHA256: sha}, {}}),
		table.MaskColumn("mask", []table.Mask{{Size: [2]int{2, 3}, Counts: "04"}, {}, {Size: [2]int{3, 2}}, {}}),
		table.VectorColumn("v", [][]float32{{1, 2}, nil, {}, {3}}),
		table.CellColumn("cells", []string{"1.50", "", "2", "3"}, table.NumberFormat{})}}
}

// TestFrameDigestOfParts: the digest of a frame is that of its parts, and of the frame after it was stored; every value
// and its place count.
func TestFrameDigestOfParts(t *testing.T) {
	f := digestFrame()
	want := must.Get(FrameDigest(f))(t)
	for at := range f.Len() + 1 {
		h := NewFrameHash(f.Specs())
		must.Do(t, errors.Join(h.Add(f.Slice(0, at)), h.Add(f.Slice(at, f.Len()))))
		must.Equal(t, h.Sum(), want, "in two parts, cut at", at)
	}
	var b bytes.Buffer
	must.Do(t, f.Encode(&b))
	decoded := must.Get(table.Decode(&b))(t)
	must.Equal(t, must.Get(FrameDigest(decoded))(t), want, "after it was stored")
	seen := map[string]string{want: "the frame"}
	for name, change := range map[string]func(f *table.Frame){
		"text":           func(f *table.Frame) { f.Columns[0].Texts[1] = "x" },
		"texts shifted":  func(f *table.Frame) { f.Columns[0].Texts[0], f.Columns[0].Texts[1] = "", "a" },
		"number":         func(f *table.Frame) { f.Columns[1].Numbers[1] = 0 },
		"cell":           func(f *table.Frame) { f.Columns[5].Texts[0] = "1.5" },
		"image":          func(f *table.Frame) { f.Columns[2].Images[1].SHA256 = "cd" },
		"mask":           func(f *table.Frame) { f.Columns[3].Masks[0].Counts = "05" },
		"size of a mask": func(f *table.Frame) { f.Columns[3].Masks[0].Size = [2]int{3, 2} },
		"vector":         func(f *table.Frame) { f.Columns[4].Vectors[0][1] = 3 },
		"no vector":      func(f *table.Frame) { f.Columns[4].Vectors[1] = []float32{} },
		"vectors shifted": func(f *table.Frame) {
			f.Columns[4].Vectors[0], f.Columns[4].Vectors[2] = []float32{1}, []float32{2}
		},
		"name":       func(f *table.Frame) { f.Columns[0].Name = "ID" },
		"order":      func(f *table.Frame) { *f = *f.Pick([]int{1, 0, 2, 3}) },
		"a row less": func(f *table.Frame) { *f = *f.Slice(0, 3) },
	} {
		f := digestFrame()
		change(f)
		got := must.Get(FrameDigest(f))(t)
		must.Equal(t, seen[got], "", name, "the digest is that")
		seen[got] = name
	}
}

func TestCollect(t *testing.T) {
	s := openStore(t)
	old := time.Now().Add(-90 * 24 * time.Hour)
	put := func(data string, used time.Time) string {
		img := must.Get(s.PutBlob([]byte(data), ".png"))(t)
		os.Chtimes(img.Path, used, used)
		rel, _ := filepath.Rel(s.Dir(), img.Path)
		return rel
	}
	pinned, damaged, stale := put("pinned", old), put("damaged", old), put("stale", old)
	fresh := put("fresh", time.Now())
	it, _ := s.Items("embed-v1", "ctx")
	for i, file := range []string{pinned, damaged} {
		it.Put([]Key{KeyOf(fmt.Sprint(i))}, [][]byte{append(make([]byte, 40*i), filepath.Base(file)...)})
	}
	shards, _ := filepath.Glob(filepath.Join(s.Dir(), "items", "*", "*", "*.pack"))
	for _, shard := range shards {
		if data := must.Get(os.ReadFile(shard))(t); bytes.Contains(data, make([]byte, 40)) {
			must.Do(t, os.WriteFile(shard, data[:len(data)-20], 0o600)) // of the item of damaged
		}
		os.Chtimes(shard, old, old)
	}
	rec := &Record{ID: fmt.Sprintf("%064d", 1), Plan: &table.Plan{Op: "embed"}, Saved: "/x/e.parquet",
		Uses: []string{"items/embed-v1/ctx"}}
	must.Do(t, s.PutResult(nil, rec))
	gc := GC{Keep: 30 * 24 * time.Hour, DryRun: true}
	would, stays, err := s.Collect(gc)
	if err != nil || len(would) != 1 || would[0].Path != stale {
		t.Fatalf("%v %v, want %s alone", would, err, stale)
	}
	if _, err := os.Stat(filepath.Join(s.Dir(), stale)); err != nil {
		t.Error("a dry run removed something")
	}
	gc.DryRun = false
	removed, left, err := s.Collect(gc)
	must.True(t, err == nil && len(removed) == 1 && left == stays, "%v %d %v", removed, left, err)
	for path, want := range map[string]bool{pinned: true, damaged: true, stale: false, fresh: true} {
		if _, err := os.Stat(filepath.Join(s.Dir(), path)); (err == nil) != want {
			t.Errorf("%s there: %v, want %v", path, err == nil, want)
		}
	}
	if removed, _, err = s.Collect(GC{Keep: 30 * 24 * time.Hour, Max: 1}); err != nil || len(removed) != 1 ||
		removed[0].Path != fresh {
		t.Errorf("with a size: %v %v, want %s alone", removed, err, fresh)
	}
	must.Equal(t, len(s.items), 0, "items stay indexed after gc")
}

// TestDrop: dropped items are missing, also after reopening; the others of their shards stay.
func TestDrop(t *testing.T) {
	s := openStore(t)
	it := must.Get(s.Items("embed-v1", "abc"))(t)
	var keys []Key
	var payloads [][]byte
	for i := range 9 {
		keys, payloads = append(keys, KeyOf(fmt.Sprint(i))), append(payloads, payload(i))
	}
	for at := 0; at < len(keys); at += 3 {
		must.Do(t, it.Put(keys[at:at+3], payloads[at:at+3]))
	}
	dropped := []int{1, 3, 4, 5} // one of the first shard, all of the second
	must.Do(t, it.Drop([]Key{keys[1], keys[3], keys[4], keys[5], KeyOf("no item")}))
	for name, items := range map[string]Items{"the same": it, "reopened": reopen(t, s)} {
		for i, p := range items.GetAll(keys) {
			if slices.Contains(dropped, i) != (p == nil) || p != nil && !bytes.Equal(p, payload(i)) {
				t.Errorf("%s: item %d is %v", name, i, p)
			}
		}
	}
}
