package engine

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"antipode/datasets"
	"antipode/datasets/table"
)

// members are the rows of .tar files, while these are read.
type members struct {
	r       *run
	ids     []string
	images  []table.Image
	bad     []*table.BadRow
	fields  records
	skipped map[string]int

	prefix string // of the file's ids
	rows   map[string]int
	had    map[string]bool // kinds of members by row
}

// add adds a member of a file.
func (m *members) add(name string, data []byte) error {
	folder, base := path.Split(name)
	key, extension, _ := strings.Cut(base, ".")
	if key == "" { // a hidden file, such as ._0001.png of macOS
		m.skipped["hidden"]++
		return nil
	}
	id := m.prefix + folder + key
	row, known := m.rows[id]
	if !known {
		row = len(m.ids)
		m.rows[id] = row
		m.ids, m.images, m.bad = append(m.ids, id), append(m.images, table.Image{}), append(m.bad, nil)
		m.fields.add(nil)
	}
	extension = strings.ToLower(extension)
	kind := kindOfMember(extension)
	if m.had[id+"\x00"+kind] {
		m.skipped["."+extension+" of a row that has one already"]++
		return nil
	}
	m.had[id+"\x00"+kind] = !strings.Contains(extension, ".")
	switch {
	case kind == "image" && !strings.Contains(extension, "."):
		img, err := m.r.putImage(data)
		var reason table.BadRow
		if errors.As(err, &reason) {
			m.bad[row] = &table.BadRow{Column: "image", Reason: name + ": " + reason.Reason}
		} else if err != nil {
			return err
		}
		m.images[row] = img
	case extension == "txt" && !utf8.Valid(data):
		m.skipped[".txt that are not UTF-8"]++
	case extension == "txt":
		m.fields.set(row, "caption", strings.TrimRight(string(data), "\r\n"))
	case extension == "cls":
		m.fields.set(row, "class", strings.TrimSpace(string(data)))
	case extension == "json":
		list, err := jsonFields(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, v := range list {
			if v.name != "id" && v.name != "image" && (v.name != "caption" ||
				m.fields.rows[row]["caption"] == "") {
				m.fields.set(row, v.name, v.value)
			}
		}
	default:
		m.skipped["."+extension]++
	}
	return nil
}

// archives returns the rows of .tar files in the layout of WebDataset: members with the same name up to the first dot
// of their base name are one row.
func (r *run) archives(p *table.Plan, a datasets.ReadFileArgs, dir string, files []string) (*table.Frame, error) {
	slices.Sort(files)
	m := &members{r: r, skipped: map[string]int{}}
	for _, file := range files {
		if len(files) > 1 {
			m.prefix = file[:len(file)-len(".tar")] + "/"
		}
		m.rows, m.had = map[string]int{}, map[string]bool{}
		at := filepath.Join(dir, filepath.FromSlash(file))
		r.traced(at, "")
		if err := eachMember(at, m.add); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(m.skipped) > 0 {
		var list []string
		for extension, n := range m.skipped {
			list = append(list, strconv.Itoa(n)+" "+extension)
		}
		slices.Sort(list)
		r.note("%s: members that are not read: %s", strings.Join(files, ", "), strings.Join(list, ", "))
	}
	f := (&table.Frame{Columns: []table.Column{table.TextColumn("id", m.ids), table.ImageColumn("image", m.images)}}).
		With(m.fields.columns()...)
	o := originOf(a)
	o.name, o.dir, o.bad = strings.Join(files, ", "), dir, m.bad
	return r.resolve(f, &source{origin: o, plan: p})
}

// kindOfMember returns what a row has one of: an image, in whatever format, or a member of another extension.
func kindOfMember(extension string) string {
	if len(datasets.ImageFilesOf([]string{"x." + extension}).Paths) > 0 {
		return "image"
	}
	return extension
}

// maxMember is the largest member of an archive that is read.
const maxMember = 1 << 30

// eachMember calls use for every file in a .tar file.
func eachMember(path string, use func(name string, data []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read the archive: %w", plain(err))
	}
	defer f.Close()
	for members := tar.NewReader(f); ; {
		head, err := members.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("not a .tar file, or damaged: %w", noEOF(err))
		}
		if head.Typeflag != tar.TypeReg {
			continue
		}
		if head.Size > maxMember {
			return fmt.Errorf("%s: %d bytes, more than %d", head.Name, head.Size, maxMember)
		}
		data, err := io.ReadAll(members)
		if err != nil {
			return fmt.Errorf("%s: %w", head.Name, noEOF(err))
		}
		if err := use(strings.TrimPrefix(head.Name, "./"), data); err != nil {
			return err
		}
	}
}
