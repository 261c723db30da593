package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"

	"antipode/internal/atomicfile"
)

// A shard is the magic and records: the item's 32-byte key, the payload's length and CRC-32C (uint32 each,
// little-endian), and the payload. A truncated record and a payload with another checksum count as missing.
const (
	shardMagic  = "APS1"
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
}

type place struct {
	shard  string
	offset int64
	size   uint32
	sum    uint32
}

// Items opens the items of a context. stage is a name such as "embed-v1"; context is a digest.
func (s *Store) Items(stage, context string) (*Items, error) {
	dir := filepath.Join(s.dir, "items", stage, context)
	s.mu.Lock()
	defer s.mu.Unlock()
	if it := s.items[dir]; it != nil {
		if _, err := os.Stat(dir); err == nil {
			return it, nil
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	it := &Items{dir: dir, where: map[Key]place{}, shards: map[string]int{}}
	names, err := filepath.Glob(filepath.Join(dir, "*.shard"))
	if err != nil {
		return nil, err
	}
	sort.Strings(names)
	for _, name := range names {
		if err := it.index(name); err != nil {
			return nil, err
		}
	}
	s.items[dir] = it
	return it, nil
}

// index reads the headers of a shard's records.
func (it *Items) index(name string) error {
	f, err := os.Open(name)
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
	if _, err := io.ReadFull(f, magic); err != nil || string(magic) != shardMagic {
		return nil // damaged: its items count as missing
	}
	records := 0
	head := make([]byte, recordHead)
	for at := int64(len(shardMagic)); ; {
		if _, err := f.ReadAt(head, at); err != nil {
			break
		}
		p := place{shard: name, offset: at + recordHead, size: binary.LittleEndian.Uint32(head[32:]),
			sum: binary.LittleEndian.Uint32(head[36:])}
		if p.size > maxItemSize || p.offset+int64(p.size) > info.Size() {
			break
		}
		it.where[Key(head[:32])] = p
		records++
		at = p.offset + int64(p.size)
	}
	if records < smallShard {
		it.shards[name] = records
	}
	return nil
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
	byShard := map[string][]int{}
	for i, k := range keys {
		if p, ok := it.where[k]; ok {
			byShard[p.shard] = append(byShard[p.shard], i)
		}
	}
	for shard, at := range byShard {
		data, err := os.ReadFile(shard)
		for _, i := range at {
			p := it.where[keys[i]]
			if err == nil && p.offset+int64(p.size) <= int64(len(data)) {
				payload := data[p.offset : p.offset+int64(p.size)]
				if crc32.Checksum(payload, castagnoli) == p.sum {
					out[i] = payload
					continue
				}
			}
			delete(it.where, keys[i])
		}
	}
	return out
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
		return it.merge()
	}
	return nil
}

func (it *Items) write(keys []Key, payloads [][]byte) error {
	var b bytes.Buffer
	b.WriteString(shardMagic)
	names := sha256.New()
	offsets := make([]int64, len(keys))
	for i, k := range keys {
		var head [recordHead]byte
		copy(head[:], k[:])
		binary.LittleEndian.PutUint32(head[32:], uint32(len(payloads[i])))
		binary.LittleEndian.PutUint32(head[36:], crc32.Checksum(payloads[i], castagnoli))
		b.Write(head[:])
		offsets[i] = int64(b.Len())
		b.Write(payloads[i])
		names.Write(k[:])
	}
	path := filepath.Join(it.dir, hex.EncodeToString(names.Sum(nil)[:12])+".shard")
	if err := atomicfile.Write(path, b.Bytes()); err != nil {
		return err
	}
	for i, k := range keys {
		it.where[k] = place{path, offsets[i], uint32(len(payloads[i])), crc32.Checksum(payloads[i], castagnoli)}
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

// merge writes the items of the small shards into one.
func (it *Items) merge() error {
	return it.rewrite(slices.Collect(maps.Keys(it.shards)))
}

// rewrite writes the items of shards into one shard and removes them.
func (it *Items) rewrite(shards []string) error {
	data := map[string][]byte{}
	for _, shard := range shards {
		var err error
		if data[shard], err = os.ReadFile(shard); err != nil {
			return err
		}
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
		payload := data[p.shard][p.offset : p.offset+int64(p.size)]
		if crc32.Checksum(payload, castagnoli) != p.sum {
			delete(it.where, k)
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
