package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
)

// A shard is the magic and records: the item's 32-byte key, the payload's length, the CRC-32C of all the rest of the
// record (uint32 each, little-endian), and the payload. A truncated record and one with another checksum count as
// missing. In shards with the earlier magic the checksum is of the payload alone.
const (
	shardMagic  = "APS2"
	firstMagic  = "APS1"
	recordHead  = 32 + 4 + 4
	mergeBelow  = 64  // small shards of a context before they are merged
	smallShard  = 512 // records
	maxItemSize = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Key identifies an item within its context.
type Key [32]byte

// KeyOf returns the key of a row's inputs.
func KeyOf(inputs string) Key { return sha256.Sum256([]byte(inputs)) }

// Items stores the items of one context: one stage, version, model and options.
type Items struct {
	dir    string
	mu     sync.Mutex
	where  map[Key]place
	shards map[string]int // small shards and their numbers of records
	damage int            // items and shards that were found damaged since the last call of Damage
}

type place struct {
	shard  string
	first  bool // the shard has firstMagic
	offset int64
	size   uint32
	sum    uint32
}

// payload returns the payload of a record in its shard's data, or false if it is damaged.
func (p *place) payload(k Key, data []byte) ([]byte, bool) {
	if p.offset+int64(p.size) > int64(len(data)) {
		return nil, false
	}
	payload := data[p.offset : p.offset+int64(p.size)]
	return payload, recordSum(k, payload, p.first) == p.sum
}

func recordSum(k Key, payload []byte, first bool) uint32 {
	if first {
		return checksum(payload)
	}
	return checksum(k[:], binary.LittleEndian.AppendUint32(nil, uint32(len(payload))), payload)
}

// Items opens the items of a context. stage is a name such as "embed-v1"; context is a digest.
func (s *Store) Items(stage, context string) (*Items, error) {
	dir := filepath.Join(s.dir, "items", stage, context)
	s.mu.Lock()
	defer s.mu.Unlock()
	if it := s.items[dir]; it != nil {
		return it, nil
	}
	it := &Items{dir: dir, where: map[Key]place{}, shards: map[string]int{}}
	if err := it.scan(); err != nil {
		return nil, err
	}
	s.items[dir] = it
	return it, nil
}

// scan indexes the shards of the folder.
func (it *Items) scan() error {
	clear(it.where)
	clear(it.shards)
	names, err := filepath.Glob(filepath.Join(it.dir, "*.shard"))
	if err != nil {
		return err
	}
	sort.Strings(names)
	for _, name := range names {
		if err := it.index(name); err != nil {
			return err
		}
	}
	return nil
}

// index reads the headers of a shard's records. It writes a damaged shard again, with the items that are not lost.
func (it *Items) index(name string) error {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	touch(name, info)
	magic := make([]byte, len(shardMagic))
	if _, err := io.ReadFull(f, magic); err != nil || string(magic) != shardMagic && string(magic) != firstMagic {
		if err != nil || !bytes.HasPrefix(magic, []byte(shardMagic[:3])) {
			it.damage++
		}
		return nil // damaged, or of a later version: its items count as missing
	}
	records, keys := 0, sha256.New()
	head := make([]byte, recordHead)
	at := int64(len(shardMagic))
	for at < info.Size() {
		if _, err := f.ReadAt(head, at); err != nil {
			break
		}
		p := place{shard: name, first: string(magic) == firstMagic, offset: at + recordHead,
			size: binary.LittleEndian.Uint32(head[32:]), sum: binary.LittleEndian.Uint32(head[36:])}
		if p.size > maxItemSize || p.offset+int64(p.size) > info.Size() {
			break
		}
		it.where[Key(head[:32])] = p
		keys.Write(head[:32])
		records++
		at = p.offset + int64(p.size)
	}
	if records < smallShard {
		it.shards[name] = records
	}
	if at != info.Size() || shardName(keys) != filepath.Base(name) {
		it.damage++
		it.heal(name)
	}
	return nil
}

// heal writes a damaged shard again. Where that fails, as in a store that cannot be written, the shard stays, and its
// damaged items are missing as well.
func (it *Items) heal(shard string) { _ = it.rewrite([]string{shard}) }

// Damage returns the number of items, and of shards with lost items, that were found damaged since the last call.
func (it *Items) Damage() int {
	it.mu.Lock()
	defer it.mu.Unlock()
	n := it.damage
	it.damage = 0
	return n
}

// Has reports whether an item exists.
func (it *Items) Has(k Key) bool {
	it.mu.Lock()
	defer it.mu.Unlock()
	_, ok := it.where[k]
	return ok
}

// Len returns the number of items.
func (it *Items) Len() int {
	it.mu.Lock()
	defer it.mu.Unlock()
	return len(it.where)
}

// GetAll returns the payloads of items, nil for a missing or damaged one.
func (it *Items) GetAll(keys []Key) [][]byte {
	it.mu.Lock()
	defer it.mu.Unlock()
	out := make([][]byte, len(keys))
	if !it.get(keys, out) { // another process has removed shards, or merged them
		if err := it.scan(); err == nil {
			it.get(keys, out)
		}
	}
	return out
}

// get reads the payloads that out lacks. It returns false if a shard cannot be read.
func (it *Items) get(keys []Key, out [][]byte) (complete bool) {
	byShard := map[string][]int{}
	for i, k := range keys {
		if p, ok := it.where[k]; ok && out[i] == nil {
			byShard[p.shard] = append(byShard[p.shard], i)
		}
	}
	complete = true
	for shard, at := range byShard {
		data, err := os.ReadFile(shard)
		if err != nil {
			it.forget(shard)
			complete = false
			continue
		}
		damage := it.damage
		for _, i := range at {
			p, known := it.where[keys[i]]
			if payload, ok := p.payload(keys[i], data); known && ok {
				out[i] = payload
			} else if known {
				delete(it.where, keys[i])
				it.damage++
			}
		}
		if it.damage > damage {
			it.heal(shard)
		}
	}
	return complete
}

// forget removes the items of a shard from the index.
func (it *Items) forget(shard string) {
	maps.DeleteFunc(it.where, func(_ Key, p place) bool { return p.shard == shard })
	delete(it.shards, shard)
}

// Put stores a batch of items atomically in a new shard, whose name is a hash of the keys.
func (it *Items) Put(keys []Key, payloads [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	it.mu.Lock()
	defer it.mu.Unlock()
	if err := it.write(keys, payloads); err != nil {
		return fmt.Errorf("cannot store results: %w", err)
	}
	if len(it.shards) >= mergeBelow {
		_ = it.rewrite(slices.Collect(maps.Keys(it.shards))) // the items are stored; the next batch merges them
	}
	return nil
}

// shardName returns the name of the shard of the keys that were hashed.
func shardName(keys hash.Hash) string { return hex.EncodeToString(keys.Sum(nil)[:12]) + ".shard" }

func (it *Items) write(keys []Key, payloads [][]byte) error {
	var b bytes.Buffer
	b.WriteString(shardMagic)
	names := sha256.New()
	places := make([]place, len(keys))
	for i, k := range keys {
		p := place{size: uint32(len(payloads[i])), sum: recordSum(k, payloads[i], false)}
		var head [recordHead]byte
		copy(head[:], k[:])
		binary.LittleEndian.PutUint32(head[32:], p.size)
		binary.LittleEndian.PutUint32(head[36:], p.sum)
		b.Write(head[:])
		p.offset = int64(b.Len())
		places[i] = p
		b.Write(payloads[i])
		names.Write(k[:])
	}
	path := filepath.Join(it.dir, shardName(names))
	if err := writeFile(path, b.Bytes()); err != nil {
		return err
	}
	for i, k := range keys {
		places[i].shard = path
		it.where[k] = places[i]
	}
	if len(keys) < smallShard {
		it.shards[path] = len(keys)
	} else {
		delete(it.shards, path)
	}
	return nil
}

// Drop removes items, so that they count as missing: their shards are written again without them.
func (it *Items) Drop(keys []Key) error {
	it.mu.Lock()
	defer it.mu.Unlock()
	shards := map[string]bool{}
	for _, k := range keys {
		if p, ok := it.where[k]; ok {
			shards[p.shard] = true
			delete(it.where, k)
		}
	}
	for shard := range shards {
		if err := it.rewrite([]string{shard}); err != nil {
			return fmt.Errorf("cannot remove results: %w", err)
		}
	}
	return nil
}

// rewrite writes the items of shards into one shard and removes them. Items of a shard that is missing are.
func (it *Items) rewrite(shards []string) error {
	data := map[string][]byte{}
	for _, shard := range shards {
		read, err := os.ReadFile(shard)
		if errors.Is(err, fs.ErrNotExist) {
			it.forget(shard)
			continue
		}
		if err != nil {
			return err
		}
		data[shard] = read
	}
	var keys []Key
	for k, p := range it.where {
		if _, among := data[p.shard]; among {
			keys = append(keys, k)
		}
	}
	sort.Slice(keys, func(i, j int) bool { return bytes.Compare(keys[i][:], keys[j][:]) < 0 })
	payloads := make([][]byte, 0, len(keys))
	kept := keys[:0]
	for _, k := range keys {
		p := it.where[k]
		payload, ok := p.payload(k, data[p.shard])
		if !ok {
			delete(it.where, k)
			it.damage++
			continue
		}
		kept = append(kept, k)
		payloads = append(payloads, payload)
	}
	if len(kept) > 0 {
		if err := it.write(kept, payloads); err != nil {
			return err
		}
	}
	for _, shard := range shards {
		if len(kept) > 0 && it.where[kept[0]].shard == shard {
			continue
		}
		delete(it.shards, shard)
		if err := os.Remove(shard); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
