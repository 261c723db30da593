package engine

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"antipode/datasets"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/internal/objecturl"
)

func (r *run) folderSource(p *table.Plan, a datasets.ReadFileArgs) (*table.Frame, error) {
	if datasets.IsArchive(a.Path) {
		return r.archives(p, a, filepath.Dir(a.Path), []string{filepath.Base(a.Path)})
	}
	files, err := r.imageFiles(a.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder %s: %w", a.Path, plain(err))
	}
	local := !objecturl.IsRemote(a.Path)
	switch {
	case local && len(files.Paths) == 0 && len(files.Tables) > 0:
		return r.shards(p, a, files.Tables)
	case local && len(files.Paths) == 0 && len(files.Archives) > 0:
		return r.archives(p, a, a.Path, files.Archives)
	}
	if err := files.None(a.Path); err != nil {
		return nil, err
	}
	if local {
		for _, file := range files.Metadata {
			files.Without(file)
		}
	}
	name := objecturl.Base(a.Path)
	if line := files.Note(name); line != "" {
		r.note("%s", line)
	}
	images, folders := make([]table.Image, len(files.Paths)), make([]string, len(files.Paths))
	for i, file := range files.Paths {
		if images[i].Path = file; local {
			images[i].Path = filepath.Join(a.Path, filepath.FromSlash(file))
		}
		if folder, _, nested := strings.Cut(file, "/"); nested {
			folders[i] = folder
		}
	}
	f := (&table.Frame{Columns: []table.Column{table.TextColumn("id", files.Paths),
		table.ImageColumn("image", images), table.TextColumn("folder", folders)}}).With(hiveColumns(files.Paths)...)
	if local {
		if f, err = r.metadata(f, a.Path, files.Metadata); err != nil {
			return nil, err
		}
	}
	o := originOf(a)
	o.dir, o.folder = a.Path, true
	return r.resolve(f, &source{origin: o, plan: p})
}

// hiveColumns returns the columns of folders named KEY=VALUE in paths.
func hiveColumns(paths []string) []table.Column {
	var r records
	for i, p := range paths {
		r.add(nil)
		for _, part := range strings.Split(path.Dir(p), "/") {
			key, value, is := strings.Cut(part, "=")
			if is && key != "" && !slices.Contains([]string{"id", "image", "mask", "folder"}, key) {
				if plain, err := url.PathUnescape(value); err == nil {
					value = plain
				}
				if value == "__HIVE_DEFAULT_PARTITION__" {
					value = ""
				}
				r.set(i, key, value)
			}
		}
	}
	return r.columns()
}

// shards returns the rows of a folder's Parquet files, in the order of their paths.
func (r *run) shards(p *table.Plan, a datasets.ReadFileArgs, files []string) (*table.Frame, error) {
	slices.Sort(files)
	parts := make([]*table.Frame, len(files))
	for i, file := range files {
		o, local := originOf(a), filepath.Join(a.Path, filepath.FromSlash(file))
		o.name, o.dir, o.root, o.shard = file, filepath.Dir(local), a.Path, file
		f, err := r.parquetTable(local, &source{origin: o, plan: p})
		if err != nil {
			return nil, err
		}
		for _, c := range hiveColumns([]string{file}) {
			of := c.Pick(make([]int, f.Len()))
			r.replaced(file, f, of)
			f = f.With(of)
		}
		parts[i] = f
	}
	if twice := repeatedID(parts); twice != "" && !a.RepeatedIDs {
		for i, file := range files {
			args, err := json.Marshal(datasets.PrefixIDsArgs{Prefix: file + "/"})
			if err != nil {
				return nil, err
			}
			parts[i], err = operation.EvaluatorOf("prefix-ids")(r.ctx, operation.Call{}, args, parts[i:i+1])
			if err != nil {
				return nil, err
			}
		}
		r.note("%s: several files have the id %q, so the ids begin with the name of the file", objecturl.Base(a.Path),
			twice)
	}
	return operation.EvaluatorOf("concat")(r.ctx, operation.Call{}, nil, parts)
}

// repeatedID returns an id that several tables have, or "".
func repeatedID(parts []*table.Frame) string {
	seen := map[string]bool{}
	for _, f := range parts {
		for _, id := range f.Texts("id") {
			if seen[id] {
				return id
			}
			seen[id] = true
		}
	}
	return ""
}

// replaced reads the values of a file that differ from those that replace them.
func (r *run) replaced(source string, f *table.Frame, by table.Column) {
	old := f.Column(by.Name)
	if old == nil {
		return
	}
	r.reading(table.Reading{Source: source, Column: by.Name,
		What: fmt.Sprintf("values of %q differ from that of the folder's name (%s=…), which counts", by.Name, by.Name),
	}.Count(f, func(row int) (bool, bool) { return old.Text(row) != by.Text(row), old.Text(row) != "" }))
}

// metadata adds the columns of metadata files to a folder's images.
func (r *run) metadata(f *table.Frame, dir string, files []string) (*table.Frame, error) {
	if len(files) == 0 {
		return f, nil
	}
	rows, spellings := map[string]int{}, map[string][]int{}
	var out records
	for i, id := range f.Texts("id") {
		rows[id] = i
		spellings[spelling(id)] = append(spellings[spelling(id)], i)
		out.add(nil)
	}
	listed, respelled := make([]bool, f.Len()), make([]bool, f.Len())
	missing, first, twice, again := 0, "", 0, ""
	left := map[string]bool{}
	for _, file := range files {
		r.opened(filepath.Join(dir, filepath.FromSlash(file)), "")
		err := readMetadata(filepath.Join(dir, filepath.FromSlash(file)), file, func(name string,
			fields []field) error {
			name = path.Join(path.Dir(file), strings.ReplaceAll(name, "\\", "/"))
			row, known := rows[name]
			if same := spellings[spelling(name)]; !known && len(same) == 1 {
				row, known = same[0], true
				respelled[row] = true
			}
			if !known {
				if missing++; missing == 1 {
					first = name
				}
				return nil
			}
			if listed[row] {
				if twice++; twice == 1 {
					again = name
				}
				return nil
			}
			listed[row] = true
			for _, v := range fields {
				if v.name == "image" || v.name == "folder" {
					left[v.name] = true
					continue
				}
				out.set(row, v.name, v.value)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if missing > 0 {
		r.reading(table.Reading{Source: files[0], Column: "file_name", N: missing, Of: missing + f.Len(),
			What: fmt.Sprintf("rows name files that are not in the folder, such as %.60q", first)})
	}
	if twice > 0 {
		r.reading(table.Reading{Source: files[0], Column: "file_name", N: twice, Of: twice + f.Len(),
			What: fmt.Sprintf("rows name a file that an earlier row names, such as %.60q, and are left out", again)})
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		r.note("%s: the column %q is not read: it is that of the folder's images; rename it to read it", files[0], name)
	}
	r.reading(table.Reading{Source: files[0], Column: "file_name", What: "images were found under another spelling " +
		"of file_name (upper or lower case, Unicode form)"}.Count(f, func(row int) (bool, bool) {
		return respelled[row], true
	}))
	for _, name := range out.names { // the folder's name counts for images without a row
		if old := f.Column(name); old != nil {
			for row, is := range listed {
				if !is {
					out.set(row, name, old.Text(row))
				}
			}
		}
	}
	columns := out.columns()
	for _, c := range columns {
		if old := f.Column(c.Name); old != nil && c.Name != "id" {
			r.reading(table.Reading{Source: files[0], Column: c.Name, What: fmt.Sprintf("values of %q differ from "+
				"that of the folder's name (%s=…), which does not count", c.Name, c.Name)}.Count(f,
				func(row int) (bool, bool) {
					return listed[row] && old.Text(row) != c.Text(row), listed[row]
				}))
		}
	}
	f = f.With(columns...)
	r.reading(table.Reading{Source: files[0], Column: "file_name", What: "images have no row in the metadata"}.Count(f,
		func(row int) (bool, bool) { return !listed[row], true }))
	return f, nil
}

// field is one value of a record.
type field struct{ name, value string }

// records collects records with different fields.
type records struct {
	names []string
	rows  []map[string]string
}

func (r *records) add(fields []field) {
	r.rows = append(r.rows, map[string]string{})
	for _, f := range fields {
		r.set(len(r.rows)-1, f.name, f.value)
	}
}

func (r *records) set(row int, name, value string) {
	if !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
	r.rows[row][name] = value
}

// columns returns the fields as the columns of a CSV file.
func (r *records) columns() (out []table.Column) {
	for _, name := range r.names {
		cells := make([]string, len(r.rows))
		for i, row := range r.rows {
			cells[i] = row[name]
		}
		out = append(out, table.CSVColumn(name, cells, table.NumberFormat{}))
	}
	return out
}

// readMetadata calls use for every row of a metadata file, with its file_name and its other fields.
func readMetadata(path, name string, use func(file string, fields []field) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", name, plain(err))
	}
	defer f.Close()
	row := func(line int, fields []field) error {
		at := slices.IndexFunc(fields, func(v field) bool { return v.name == "file_name" })
		if at < 0 {
			return fmt.Errorf("%s, line %d: no file_name, which names the image of a row", name, line)
		}
		return use(fields[at].value, slices.Delete(slices.Clone(fields), at, at+1))
	}
	if filepath.Ext(name) == ".jsonl" {
		lines := json.NewDecoder(f)
		for line := 1; ; line++ {
			var raw json.RawMessage
			if err := lines.Decode(&raw); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return fmt.Errorf("%s, record %d: %w", name, line, noEOF(err))
			}
			fields, err := jsonFields(raw)
			if err == nil {
				err = row(line, fields)
			}
			if err != nil {
				return fmt.Errorf("%s, record %d: %w", name, line, err)
			}
		}
	}
	cr, err := datasets.OpenCSV(f, name)
	if err != nil {
		return err
	}
	for {
		record, line, err := cr.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		fields := make([]field, len(record))
		for i, v := range record {
			fields[i] = field{cr.Header[i], v}
		}
		if err == nil {
			err = row(line, fields)
		}
		if err != nil {
			return err
		}
	}
}

// jsonFields returns the fields of a JSON object in their order: texts as they are, null as no value, and other values
// as JSON.
func jsonFields(raw []byte) (out []field, err error) {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		text := string(value)
		if text == "null" {
			text = ""
		} else if value[0] == '"' {
			if err := json.Unmarshal(value, &text); err != nil {
				return nil, err
			}
		}
		name, _ := key.(string)
		out = append(out, field{name, text})
	}
	return out, nil
}

// archives returns the rows of .tar files in the layout of WebDataset: members with the same name up to the first dot
// of their base name are one row.
func (r *run) archives(p *table.Plan, a datasets.ReadFileArgs, dir string, files []string) (*table.Frame, error) {
	slices.Sort(files)
	var ids []string
	var images []table.Image
	var bad []*table.BadRow
	var fields records
	skipped := map[string]int{}
	for _, file := range files {
		prefix := ""
		if len(files) > 1 {
			prefix = file[:len(file)-len(".tar")] + "/"
		}
		rows, had := map[string]int{}, map[string]bool{}
		r.opened(filepath.Join(dir, filepath.FromSlash(file)), "")
		err := eachMember(filepath.Join(dir, filepath.FromSlash(file)), func(name string, data []byte) error {
			folder, base := path.Split(name)
			key, extension, _ := strings.Cut(base, ".")
			if key == "" { // a hidden file, such as ._0001.png of macOS
				skipped["hidden"]++
				return nil
			}
			id := prefix + folder + key
			row, known := rows[id]
			if !known {
				row = len(ids)
				rows[id] = row
				ids, images, bad = append(ids, id), append(images, table.Image{}), append(bad, nil)
				fields.add(nil)
			}
			extension = strings.ToLower(extension)
			kind := kindOfMember(extension)
			if had[id+"\x00"+kind] {
				skipped["."+extension+" of a row that has one already"]++
				return nil
			}
			had[id+"\x00"+kind] = !strings.Contains(extension, ".")
			switch {
			case kind == "image" && !strings.Contains(extension, "."):
				img, err := r.putImage(data)
				var reason table.BadRow
				if errors.As(err, &reason) {
					bad[row] = &table.BadRow{Column: "image", Reason: name + ": " + reason.Reason}
				} else if err != nil {
					return err
				}
				images[row] = img
			case extension == "txt" && !utf8.Valid(data):
				skipped[".txt that are not UTF-8"]++
			case extension == "txt":
				fields.set(row, "caption", strings.TrimRight(string(data), "\r\n"))
			case extension == "cls":
				fields.set(row, "class", strings.TrimSpace(string(data)))
			case extension == "json":
				list, err := jsonFields(data)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				for _, v := range list {
					if v.name != "id" && v.name != "image" && (v.name != "caption" ||
						fields.rows[row]["caption"] == "") {
						fields.set(row, v.name, v.value)
					}
				}
			default:
				skipped["."+extension]++
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if len(skipped) > 0 {
		var list []string
		for extension, n := range skipped {
			list = append(list, strconv.Itoa(n)+" "+extension)
		}
		slices.Sort(list)
		r.note("%s: members that are not read: %s", strings.Join(files, ", "), strings.Join(list, ", "))
	}
	f := (&table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.ImageColumn("image", images)}}).
		With(fields.columns()...)
	o := originOf(a)
	o.name, o.dir, o.bad = strings.Join(files, ", "), dir, bad
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
