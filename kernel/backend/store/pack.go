package store

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"antipode/datasets/table"
)

// The form of packs; see the package comment.
const (
	packMagic  = "APS3"
	packSuffix = ".pack"

	recordHead  = 32 + 4 + 4
	indexEntry  = 32 + 8 + 4 + 4
	packSum     = sha256.Size + len(packMagic) // after what the SHA-256 is of
	packTrailer = 4 + 4 + packSum
	packTail    = 128 << 10

	maxItemSize  = 1 << 30
	maxHeader    = 1 << 20
	maxPackItems = 2048
	maxPackSize  = 16 << 20 // of payloads and their heads; a pack of one item may be larger
)

// Origin is where the items of a pack were computed. Fields that are not known are empty.
type Origin struct {
	Build       string `json:"build,omitempty"`
	Device      string `json:"device,omitempty"`      // "xla:cpu", …
	Description string `json:"description,omitempty"` // of the device
	Plugin      string `json:"plugin,omitempty"`
	Features    string `json:"features,omitempty"` // of the processor
	Job         string `json:"job,omitempty"`
	Shard       string `json:"shard,omitempty"`
}

// header is a pack's header.
type header struct {
	Stage   string             `json:"stage"` // with its version: "embed-v1"
	Context string             `json:"context"`
	Columns []table.ColumnSpec `json:"columns,omitempty"` // of the items' values
	// Others are further lists of columns, one of which an item may have instead: with masks a stage may return more.
	Others  [][]table.ColumnSpec `json:"others,omitempty"`
	Origins []Origin             `json:"origins,omitempty"`
}

// lists returns the lists of columns that the items may have.
func (h header) lists() [][]table.ColumnSpec {
	if h.Columns == nil {
		return nil
	}
	return slices.Concat([][]table.ColumnSpec{h.Columns}, h.Others)
}

// record is an item of a pack.
type record struct {
	key     Key
	payload []byte
}

// entry is an item in a pack's index.
type entry struct {
	key       Key
	offset    int64 // of the payload
	size, sum uint32
}

// holds reports whether a payload is the one that the entry describes.
func (e *entry) holds(payload []byte) bool {
	return uint32(len(payload)) == e.size && recordSum(e.key, payload) == e.sum
}

func recordSum(k Key, payload []byte) uint32 {
	return checksum(k[:], binary.LittleEndian.AppendUint32(nil, uint32(len(payload))), payload)
}

// packName returns the name of the pack of the entries, which are in the order of their keys.
func packName(entries []entry) string {
	h := sha256.New()
	for i := range entries {
		h.Write(entries[i].key[:])
		h.Write(binary.LittleEndian.AppendUint32(nil, entries[i].sum))
	}
	return hex.EncodeToString(h.Sum(nil)[:12]) + packSuffix
}

// encodePack returns a pack of records, which are in the order of their keys, and its index.
func encodePack(head header, records []record) (data []byte, entries []entry, err error) {
	size := len(packMagic) + packTrailer
	for _, r := range records {
		size += recordHead + len(r.payload) + indexEntry
	}
	data = append(make([]byte, 0, size+1024), packMagic...)
	var index []byte
	for _, r := range records {
		if len(r.payload) > maxItemSize {
			return nil, nil, fmt.Errorf("an item of %d bytes; the limit is %d", len(r.payload), maxItemSize)
		}
		e := entry{key: r.key, size: uint32(len(r.payload)), sum: recordSum(r.key, r.payload),
			offset: int64(len(data)) + recordHead}
		entries = append(entries, e)
		data = append(data, r.key[:]...)
		data = binary.LittleEndian.AppendUint32(data, e.size)
		data = binary.LittleEndian.AppendUint32(data, e.sum)
		data = append(data, r.payload...)
		index = append(index, r.key[:]...)
		index = binary.LittleEndian.AppendUint64(index, uint64(e.offset))
		index = binary.LittleEndian.AppendUint32(index, e.size)
		index = binary.LittleEndian.AppendUint32(index, e.sum)
	}
	text, err := json.Marshal(head)
	if err != nil {
		return nil, nil, err
	}
	if len(text) > maxHeader {
		return nil, nil, fmt.Errorf("a pack's header of %d bytes; the limit is %d", len(text), maxHeader)
	}
	data = append(append(data, text...), index...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(text)))
	data = binary.LittleEndian.AppendUint32(data, uint32(len(index)))
	sum := sha256.Sum256(data)
	return append(append(data, sum[:]...), packMagic...), entries, nil
}

var (
	errPack    = errors.New("a damaged pack")
	errVersion = errors.New("a pack of another version")
)

// openPack reads the header and index of the pack of a name. The error is errPack if they are damaged, or another part
// is and the pack is at most packTail long, and errVersion for a pack of another version.
func openPack(f io.ReaderAt, size int64, name string) (head header, entries []entry, err error) {
	head, entries, err = parsePack(f, size)
	if err != nil {
		return header{}, nil, err
	}
	if packName(entries) != name {
		return header{}, nil, errPack
	}
	if size <= packTail {
		data := make([]byte, size)
		if err := readAt(f, data, 0); err != nil {
			return header{}, nil, err
		}
		if !sound(data) {
			return header{}, nil, errPack
		}
	}
	return head, entries, nil
}

// parsePack reads a pack's header and index, whose bounds it checks.
func parsePack(f io.ReaderAt, size int64) (head header, entries []entry, err error) {
	if size < int64(len(packMagic)+packTrailer) {
		return head, nil, errPack
	}
	tail := make([]byte, min(size, packTail))
	if err := readAt(f, tail, size-int64(len(tail))); err != nil {
		return head, nil, err
	}
	trailer := tail[len(tail)-packTrailer:]
	if end := trailer[packTrailer-len(packMagic):]; string(end) != packMagic {
		start := make([]byte, len(packMagic))
		if err := readAt(f, start, 0); err != nil {
			return head, nil, err
		}
		if bytes.Equal(start, end) && bytes.HasPrefix(start, []byte(packMagic[:3])) {
			return head, nil, errVersion
		}
		return head, nil, errPack
	}
	headLen, indexLen := binary.LittleEndian.Uint32(trailer), binary.LittleEndian.Uint32(trailer[4:])
	end := size - int64(packTrailer) - int64(headLen) - int64(indexLen) // of the records
	if headLen > maxHeader || indexLen%indexEntry != 0 || end < int64(len(packMagic)) {
		return head, nil, errPack
	}
	described := tail[:len(tail)-packTrailer]
	if n := int64(headLen) + int64(indexLen); n > int64(len(described)) {
		described = make([]byte, n)
		if err := readAt(f, described, end); err != nil {
			return head, nil, err
		}
	} else {
		described = described[int64(len(described))-n:]
	}
	if json.Unmarshal(described[:headLen], &head) != nil {
		return head, nil, errPack
	}
	entries, ok := parseIndex(described[headLen:], end)
	if !ok {
		return head, nil, errPack
	}
	return head, entries, nil
}

// parseIndex returns the entries of an index. They must be those of adjacent records in the order of their keys, from
// the magic to end.
func parseIndex(index []byte, end int64) ([]entry, bool) {
	entries := make([]entry, len(index)/indexEntry)
	at := uint64(len(packMagic))
	for i := range entries {
		b := index[i*indexEntry:]
		offset := binary.LittleEndian.Uint64(b[32:])
		e := entry{key: Key(b[:32]), offset: int64(offset), size: binary.LittleEndian.Uint32(b[40:]),
			sum: binary.LittleEndian.Uint32(b[44:])}
		if offset != at+recordHead || e.size > maxItemSize || offset+uint64(e.size) > uint64(end) ||
			i > 0 && bytes.Compare(entries[i-1].key[:], e.key[:]) >= 0 {
			return nil, false
		}
		entries[i], at = e, offset+uint64(e.size)
	}
	return entries, at == uint64(end)
}

// sound reports whether a pack's bytes have its SHA-256.
func sound(pack []byte) bool {
	at := len(pack) - len(packMagic) - sha256.Size
	if at < len(packMagic) || !bytes.HasPrefix(pack, []byte(packMagic)) || !bytes.HasSuffix(pack, []byte(packMagic)) {
		return false
	}
	sum := sha256.Sum256(pack[:at])
	return bytes.Equal(sum[:], pack[at:at+sha256.Size])
}

// readAt fills a buffer from an offset. A file that ends before, because it was cut meanwhile, is a damaged pack.
func readAt(f io.ReaderAt, to []byte, offset int64) error {
	n, err := f.ReadAt(to, offset)
	if n == len(to) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return errPack
	}
	return err
}

// scanHeads returns the entries of the records of a pack whose index is damaged, by their heads. The payloads have not
// been read.
func scanHeads(f io.ReaderAt, size int64) (entries []entry) {
	head := make([]byte, recordHead)
	at := int64(len(packMagic))
	for at < size {
		if readAt(f, head, at) != nil {
			return entries
		}
		e := entry{key: Key(head[:32]), offset: at + recordHead, size: binary.LittleEndian.Uint32(head[32:]),
			sum: binary.LittleEndian.Uint32(head[36:])}
		if e.size > maxItemSize || e.offset+int64(e.size) > size {
			return entries
		}
		entries = append(entries, e)
		at = e.offset + int64(e.size)
	}
	return entries
}

// salvage returns the records of a damaged file that have their checksum, in the order of their keys, the fields of its
// header that can be read, and the number of records that are lost.
func salvage(data []byte) (records []record, head header, lost int) {
	f, size := bytes.NewReader(data), int64(len(data))
	head, indexed, _ := parsePack(f, size)
	scanned := scanHeads(f, size)
	seen := map[Key]bool{}
	for _, e := range append(indexed, scanned...) {
		if payload := data[e.offset : e.offset+int64(e.size)]; !seen[e.key] && e.holds(payload) {
			seen[e.key] = true
			records = append(records, record{e.key, payload})
		}
	}
	slices.SortFunc(records, func(a, b record) int { return bytes.Compare(a.key[:], b.key[:]) })
	return records, head, max(0, max(len(indexed), len(scanned))-len(records))
}

// union returns the distinct origins of packs that are written as one, without jobs.
func union(origins ...[]Origin) []Origin {
	var all []Origin
	for _, some := range origins {
		for _, o := range some {
			o.Job, o.Shard = "", ""
			if o != (Origin{}) {
				all = append(all, o)
			}
		}
	}
	slices.SortFunc(all, func(a, b Origin) int {
		return cmp.Or(cmp.Compare(a.Build, b.Build), cmp.Compare(a.Device, b.Device),
			cmp.Compare(a.Description, b.Description), cmp.Compare(a.Plugin, b.Plugin),
			cmp.Compare(a.Features, b.Features))
	})
	return slices.Compact(all)
}
