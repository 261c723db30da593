package weights

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// archive/zip is not used: it allocates for every entry it finds, whatever the archive declares, takes the first of
// contradicting records, and compares checksums that torch may leave out.

// maxMembers bounds the members of an archive.
const maxMembers = 200_000

// member is one file of a zip archive.
type member struct {
	name   string
	header int64 // position of its local header
	limit  int64 // where the next member, or the directory, begins
	packed int64 // bytes in the archive
	size   int64 // bytes it has
	method uint16
}

type zipArchive struct {
	file    io.ReaderAt
	members []member // by name
}

var (
	errZip    = errors.New("the zip archive is damaged or cut short. Fix: download the file again")
	bigNumber = uint64(math.MaxUint32)
)

// openZip reads the directory at the end of an archive of size bytes. Its records must agree with each other; names
// are unique and members do not overlap.
func openZip(f io.ReaderAt, size int64) (*zipArchive, error) {
	records, at, length, err := findDirectory(f, size)
	if err != nil {
		return nil, err
	}
	if records > maxMembers {
		return nil, fmt.Errorf("zip archive of %d members, more than %d", records, maxMembers)
	}
	if int64(records)*46 > length {
		return nil, errZip
	}
	raw := make([]byte, length)
	if _, err := f.ReadAt(raw, at); err != nil {
		return nil, errZip
	}
	a := &zipArchive{file: f, members: make([]member, 0, records)}
	names := string(raw)
	for rest := raw; len(rest) > 0; {
		m, n, err := readMember(rest, names[len(raw)-len(rest):])
		if err != nil {
			return nil, err
		}
		a.members = append(a.members, m)
		if rest = rest[n:]; uint64(len(a.members)) > records {
			return nil, errZip
		}
	}
	if uint64(len(a.members)) != records {
		return nil, errZip
	}
	return a, a.check(at)
}

// findDirectory reads the records at an archive's end: how many members it has, and where its directory is. All
// numbers are within the file.
func findDirectory(f io.ReaderAt, size int64) (records uint64, at, length int64, err error) {
	tail := make([]byte, min(size, 22+math.MaxUint16))
	if _, err := f.ReadAt(tail, size-int64(len(tail))); err != nil {
		return 0, 0, 0, errZip
	}
	i := len(tail) - 22
	for ; i >= 0; i-- {
		if string(tail[i:i+4]) == "PK\x05\x06" && int(binary.LittleEndian.Uint16(tail[i+20:])) == len(tail)-i-22 {
			break
		}
	}
	if i < 0 {
		return 0, 0, 0, errZip
	}
	end, le := tail[i:], binary.LittleEndian
	before := size - int64(len(tail)-i)
	records, n, start := uint64(le.Uint16(end[10:])), uint64(le.Uint32(end[12:])), uint64(le.Uint32(end[16:]))
	var locator [20]byte
	if before >= 20 {
		if _, err := f.ReadAt(locator[:], before-20); err != nil {
			return 0, 0, 0, errZip
		}
	}
	if string(locator[:4]) == "PK\x06\x07" {
		wide := le.Uint64(locator[8:])
		var record [56]byte
		if before < 76 || wide > uint64(before-76) {
			return 0, 0, 0, errZip
		}
		if _, err := f.ReadAt(record[:], int64(wide)); err != nil || string(record[:4]) != "PK\x06\x06" {
			return 0, 0, 0, errZip
		}
		before, records = int64(wide), le.Uint64(record[32:])
		n, start = le.Uint64(record[40:]), le.Uint64(record[48:])
	}
	if start > uint64(before) || n != uint64(before)-start { // nothing is between the directory and its end
		return 0, 0, 0, errZip
	}
	return records, int64(start), int64(n), nil
}

// readMember reads an entry of the directory, of n bytes. text is the directory from there on.
func readMember(b []byte, text string) (m member, n int, err error) {
	le := binary.LittleEndian
	if len(b) < 46 || string(b[:4]) != "PK\x01\x02" {
		return m, 0, errZip
	}
	name, extra, comment := int(le.Uint16(b[28:])), int(le.Uint16(b[30:])), int(le.Uint16(b[32:]))
	if n = 46 + name + extra + comment; n > len(b) {
		return m, 0, errZip
	}
	m.name, m.method = text[46:46+name], le.Uint16(b[10:])
	if flags := le.Uint16(b[8:]); flags&1 != 0 {
		return m, 0, fmt.Errorf("member %.60q is encrypted", m.name)
	}
	if m.method != 0 && m.method != 8 {
		return m, 0, fmt.Errorf("member %.60q has compression method %d. Fix: save the file with torch.save", m.name,
			m.method)
	}
	size, packed, header := uint64(le.Uint32(b[24:])), uint64(le.Uint32(b[20:])), uint64(le.Uint32(b[42:]))
	for fields := b[46+name : 46+name+extra]; len(fields) >= 4; {
		id, length := le.Uint16(fields), int(le.Uint16(fields[2:]))
		if fields = fields[4:]; length > len(fields) {
			return m, 0, errZip
		}
		if id == 1 { // the fields that have no room above
			for _, to := range []*uint64{&size, &packed, &header} {
				if *to == bigNumber && length >= 8 {
					*to, fields, length = le.Uint64(fields), fields[8:], length-8
				}
			}
		}
		fields = fields[length:]
	}
	if size > math.MaxInt64 || packed > math.MaxInt64 || header > math.MaxInt64 || m.method == 0 && size != packed {
		return m, 0, errZip
	}
	m.size, m.packed, m.header = int64(size), int64(packed), int64(header)
	return m, n, nil
}

// check refuses members that overlap and names that occur twice, and sorts by name.
func (a *zipArchive) check(directory int64) error {
	slices.SortFunc(a.members, func(x, y member) int { return cmp.Compare(x.header, y.header) })
	for i := range a.members {
		m := &a.members[i]
		m.limit = directory
		if i+1 < len(a.members) {
			m.limit = a.members[i+1].header
		}
		if room := m.limit - m.header - 30 - int64(len(m.name)); m.limit > directory || m.packed > room {
			return fmt.Errorf("member %.60q overlaps what follows it: %w", m.name, errZip)
		}
	}
	slices.SortFunc(a.members, func(x, y member) int { return strings.Compare(x.name, y.name) })
	for i := 1; i < len(a.members); i++ {
		if a.members[i].name == a.members[i-1].name {
			return fmt.Errorf("member %.60q occurs twice: %w", a.members[i].name, errZip)
		}
	}
	return nil
}

func (a *zipArchive) find(name string) (member, bool) {
	i, ok := slices.BinarySearchFunc(a.members, name, func(m member, name string) int {
		return strings.Compare(m.name, name)
	})
	if !ok {
		return member{}, false
	}
	return a.members[i], true
}

// section is where a member's data is.
func (a *zipArchive) section(m member) (section, error) {
	local := make([]byte, 30+len(m.name))
	if _, err := a.file.ReadAt(local, m.header); err != nil || string(local[:4]) != "PK\x03\x04" {
		return section{}, errZip
	}
	name, extra := int(binary.LittleEndian.Uint16(local[26:])), int64(binary.LittleEndian.Uint16(local[28:]))
	at := m.header + int64(len(local)) + extra
	if name != len(m.name) || !bytes.Equal(local[30:], []byte(m.name)) || m.packed > m.limit-at {
		return section{}, fmt.Errorf("member %.60q: %w", m.name, errZip)
	}
	if m.method == 8 && m.size > m.packed*1032+64 { // deflate gives no more
		return section{}, fmt.Errorf("member %.60q cannot have %d bytes: %w", m.name, m.size, errZip)
	}
	return section{offset: at, length: m.size, packed: m.packed, deflated: m.method == 8}, nil
}

// read returns the data of a member of at most limit bytes.
func (a *zipArchive) read(m member, limit int64) ([]byte, error) {
	if m.size > limit {
		return nil, fmt.Errorf("member %.60q has %d bytes, more than %d", m.name, m.size, limit)
	}
	at, err := a.section(m)
	if err != nil {
		return nil, err
	}
	b, err := at.read(a.file, 0, m.size)
	if err != nil {
		return nil, fmt.Errorf("member %.60q: %w", m.name, err)
	}
	return b, nil
}

// section is a part of a file, as it is or deflated.
type section struct {
	offset int64 // in the file
	length int64 // bytes it has
	// of a deflated section
	packed   int64 // bytes in the file
	deflated bool
}

// read returns the bytes from offset from on. They must be within the section.
func (s section) read(f io.ReaderAt, from, n int64) ([]byte, error) {
	if !s.deflated {
		b := make([]byte, n)
		if n == 0 {
			return b, nil
		}
		_, err := f.ReadAt(b, s.offset+from)
		return b, err
	}
	r := flate.NewReader(io.NewSectionReader(f, s.offset, s.packed))
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, from); err != nil {
		return nil, errZip
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, errZip
	}
	if from+n == s.length {
		if more, _ := r.Read(make([]byte, 1)); more > 0 {
			return nil, errZip
		}
	}
	return b, nil
}
