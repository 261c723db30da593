package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"antipode/datasets/table"
	"antipode/internal/must"
)

// FuzzPack: whatever a pack contains, it is refused or its items can be read, and what salvage finds is a pack again.
func FuzzPack(f *testing.F) {
	head := header{
		Stage:   "embed-v1",
		Context: "abc",
		Columns: []table.ColumnSpec{{Name: "full", Kind: table.KindVector}},
		Origins: []Origin{{Device: "xla:cpu"}},
	}
	pack, _ := must.Get2(encodePack(head, []record{{Key{1}, []byte("one")}, {Key{2}, nil}, {Key{3},
		[]byte("three")}}))(f)
	empty, _, err := encodePack(head, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pack)
	f.Add(empty)
	f.Add(pack[:len(pack)-packTrailer])
	f.Add(slices.Concat([]byte("APS2"), make([]byte, recordHead)))
	lengths := bytes.Clone(pack) // larger than the file
	binary.LittleEndian.PutUint32(lengths[len(pack)-packTrailer+4:], 1<<31/indexEntry*indexEntry)
	f.Add(lengths)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := bytes.NewReader(data)
		if _, entries, err := parsePack(r, r.Size()); err == nil {
			for i, e := range entries {
				if e.offset < int64(len(packMagic)) || e.offset+int64(e.size) > r.Size() ||
					i > 0 && bytes.Compare(entries[i-1].key[:], e.key[:]) >= 0 {
					t.Fatalf("entry %d: %+v", i, e)
				}
			}
		}
		records, head, lost := salvage(data)
		if lost < 0 {
			t.Fatalf("%d are lost", lost)
		}
		written, entries, err := encodePack(head, records)
		if err != nil {
			return // a header that is larger when it is written
		}
		if _, again, err := openPack(bytes.NewReader(written), int64(len(written)), packName(entries)); err != nil ||
			!slices.Equal(again, entries) {
			t.Fatalf("%d records are a pack with %d: %v", len(records), len(again), err)
		}
	})
}

// TestLargePack flips bits in a pack that is larger than what is read to open it: an item is as it was, or missing and
// reported. Damage of the index loses nothing.
func TestLargePack(t *testing.T) {
	s := openStore(t)
	keys := put(t, itemsOf(t, s), 0, 300, 300, 1000)
	pack := packsOf(t, s)[0]
	whole, err := os.ReadFile(pack)
	if err != nil || len(whole) < 2*packTail {
		t.Fatal(len(whole), err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	index := len(whole) - packTrailer - len(keys)*indexEntry
	trailer := len(whole) - packTrailer
	places := []int{0, 3, 4, 40, len(whole) - 1, trailer, trailer + 4, index, index + 33, index + 41, index + 45}
	for range 10 {
		places = append(places, r.IntN(len(whole)))
	}
	for _, at := range places {
		for _, name := range packsOf(t, s) {
			os.Remove(name)
		}
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1 << r.IntN(8)
		must.Do(t, os.WriteFile(pack, damaged, 0o600))
		it := itemsOf(t, open(t, s.Dir()))
		missing := 0
		for i, p := range it.GetAll(keys) {
			if p == nil {
				missing++
			} else if len(p) != 1000 || p[0] != byte(i) || p[999] != byte(i) {
				t.Fatalf("byte %d: item %d is %v", at, i, p[:3])
			}
		}
		inIndex := at >= index && at < trailer
		damage := it.Damage()
		if missing > 1 || missing > 0 && damage == 0 || inIndex && (missing > 0 || damage != 1) {
			t.Errorf("byte %d of %d: %d are missing, %d are damaged", at, len(whole), missing, damage)
		}
		if again := itemsOf(t, open(t, s.Dir())); count(again) != len(keys)-missing || again.Damage() > 0 {
			t.Errorf("byte %d: %d items after healing", at, count(again))
		}
	}
}

// TestUnwritableDamage: in a store that cannot be written, the sound items of a damaged pack are used.
func TestUnwritableDamage(t *testing.T) {
	s := openStore(t)
	keys := put(t, itemsOf(t, s), 0, 3, 3, 5)
	pack := packsOf(t, s)[0]
	data := must.Get(os.ReadFile(pack))(t)
	it := itemsOf(t, s).(*packs)
	it.dir = filepath.Join(pack, "none") // below a file
	at := it.where[keys[1]].offset
	data[at] ^= 1
	must.Do(t, os.WriteFile(pack, data, 0o600))
	for range 2 {
		if got := it.GetAll(keys); len(got[0]) != 5 || got[1] != nil || len(got[2]) != 5 {
			t.Fatalf("%v", got)
		}
	}
	must.Equal(t, it.Damage(), 1, "damaged")
}

// TestListAgain opens items while another process writes them again and again: each that was stored before is found.
func TestListAgain(t *testing.T) {
	writer := openStore(t)
	it := itemsOf(t, writer).(*packs)
	put(t, it, 0, 5, 1, 10)
	stop, ended := make(chan bool), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			k := KeyOf(fmt.Sprint("new", i))
			err := it.Put([]Key{k}, [][]byte{{1}})
			if err == nil {
				it.mu.Lock()
				err = it.rewrite(slices.Collect(maps.Keys(it.files)))
				it.mu.Unlock()
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	reader := open(t, writer.Dir())
	for start := time.Now(); time.Since(start) < time.Second; {
		fresh := reader.packsOf("embed-v1", "abc")
		must.Do(t, fresh.scan())
		for i := range 5 {
			must.True(t, fresh.Has(KeyOf(fmt.Sprint(i))), "item %d of %d is missing", i, count(fresh))
		}
	}
	close(stop)
	must.Do(t, <-ended)
}

// TestReplaced: an item that is stored again with another payload is the new one, also after reopening, and where two
// processes had stored it.
func TestReplaced(t *testing.T) {
	for i := range 16 { // the checksums are in any order
		s := openStore(t)
		it, second := itemsOf(t, s), itemsOf(t, open(t, s.Dir()))
		k, other := KeyOf(fmt.Sprint(i)), KeyOf("other")
		must.Do(t, it.Put([]Key{k, other}, [][]byte{[]byte("old"), {7}}))
		if i >= 8 {
			must.Do(t, second.Put([]Key{k}, [][]byte{fmt.Appendf(nil, "another %d", i)}))
			it = reopen(t, s)
		}
		must.Do(t, it.Put([]Key{k}, [][]byte{fmt.Appendf(nil, "new %d", i)}))
		for name, items := range map[string]Items{"the same": it, "reopened": reopen(t, s)} {
			got := items.GetAll([]Key{k, other})
			must.True(t, string(got[0]) == fmt.Sprint("new ", i) && bytes.Equal(got[1], []byte{7}), "%s: %q", name, got)
		}
	}
}

// TestCompact writes many small packs as few, with their columns; it refuses while the store is in use.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	s := openWorker(t, dir, WorkerOptions{})
	it := itemsOf(t, s)
	columns := []table.ColumnSpec{{Name: "full", Kind: table.KindVector}}
	it.Columns(columns)
	var keys []Key
	for i := range 70 {
		keys = append(keys, put(t, it, i, 1, 1, 3)...)
		must.Do(t, s.Commit())
	}
	must.Do(t, s.Close())
	s = open(t, dir)
	job := filepath.Join(dir, "jobs", "9f31", "shard-00001.json")
	state := fmt.Sprintf(`{"state":"running","updated":%q}`, time.Now().Format(time.RFC3339))
	must.Do(t, WriteFile(job, []byte(state)))
	if _, err := s.Compact(); err == nil || len(packsOf(t, s)) != 70 {
		t.Errorf("during a job: %v", err)
	}
	state = fmt.Sprintf(`{"state":"running","updated":%q}`, time.Now().Add(-time.Hour).Format(time.RFC3339))
	must.Do(t, WriteFile(job, []byte(state)))
	done := s.Use()
	must.Fail(s.Compact())(t) // during a run
	done()
	for _, want := range []Compacted{{Items: 70, Before: 70, After: 1}, {Before: 1, After: 1}} {
		must.Equal(t, must.Get(s.Compact())(t), want)
	}
	for i, p := range reopen(t, s).GetAll(keys) {
		must.True(t, len(p) == 3 && p[0] == byte(i), "item %d is %v", i, p)
	}
	pack := packsOf(t, s)[0]
	damaged := must.Get(os.ReadFile(pack))(t)
	damaged[len(packMagic)+recordHead] ^= 1
	for _, state := range []string{"compacted", "healed"} {
		head, _, err := readIndex(packsOf(t, s)[0])
		must.True(t, err == nil && slices.Equal(head.Columns, columns), "%s: columns %v, %v", state, head.Columns, err)
		must.Do(t, os.WriteFile(pack, damaged, 0o600))
		reopen(t, s)
	}
}
