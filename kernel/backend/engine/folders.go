package engine

import (
	"cmp"
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
	"strings"

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
		return r.parquetFiles(p, a, files.Tables)
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

// parquetFiles returns the rows of a folder's Parquet files, in the order of their paths.
func (r *run) parquetFiles(p *table.Plan, a datasets.ReadFileArgs, files []string) (*table.Frame, error) {
	slices.Sort(files)
	parts := make([]*table.Frame, len(files))
	for i, file := range files {
		o, local := originOf(a), filepath.Join(a.Path, filepath.FromSlash(file))
		o.name, o.dir, o.root, o.part = file, filepath.Dir(local), a.Path, file
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

// listing are the metadata of a folder's images, while their files are read.
type listing struct {
	rows              map[string]int
	spellings         map[string][]int
	out               records
	listed, respelled []bool
	missing, twice    int // rows whose image is missing, or has a row already
	first, again      string
	left              map[string]bool // columns that are not read
}

// add adds a row: the fields of the image of a name.
func (l *listing) add(name string, fields []field) {
	row, known := l.rows[name]
	if same := l.spellings[spelling(name)]; !known && len(same) == 1 {
		row, known = same[0], true
		l.respelled[row] = true
	}
	switch {
	case !known:
		l.first = cmp.Or(l.first, name)
		l.missing++
		return
	case l.listed[row]:
		l.again = cmp.Or(l.again, name)
		l.twice++
		return
	}
	l.listed[row] = true
	for _, v := range fields {
		if v.name == "image" || v.name == "folder" {
			l.left[v.name] = true
			continue
		}
		l.out.set(row, v.name, v.value)
	}
}

// metadata adds the columns of metadata files to a folder's images.
func (r *run) metadata(f *table.Frame, dir string, files []string) (*table.Frame, error) {
	if len(files) == 0 {
		return f, nil
	}
	l := &listing{rows: map[string]int{}, spellings: map[string][]int{}, listed: make([]bool, f.Len()),
		respelled: make([]bool, f.Len()), left: map[string]bool{}}
	for i, id := range f.Texts("id") {
		l.rows[id] = i
		l.spellings[spelling(id)] = append(l.spellings[spelling(id)], i)
		l.out.add(nil)
	}
	for _, file := range files {
		at := filepath.Join(dir, filepath.FromSlash(file))
		r.traced(at, "")
		err := readMetadata(at, file, func(name string, fields []field) error {
			l.add(path.Join(path.Dir(file), strings.ReplaceAll(name, "\\", "/")), fields)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if l.missing > 0 {
		r.reading(table.Reading{Source: files[0], Column: "file_name", N: l.missing, Of: l.missing + f.Len(),
			What: fmt.Sprintf("rows name files that are not in the folder, such as %.60q", l.first)})
	}
	if l.twice > 0 {
		r.reading(table.Reading{Source: files[0], Column: "file_name", N: l.twice, Of: l.twice + f.Len(),
			What: fmt.Sprintf("rows name a file that an earlier row names, such as %.60q, and are left out", l.again)})
	}
	for _, name := range slices.Sorted(maps.Keys(l.left)) {
		r.note("%s: the column %q is not read: it is that of the folder's images; rename it to read it", files[0], name)
	}
	r.reading(table.Reading{Source: files[0], Column: "file_name", What: "images were found under another spelling " +
		"of file_name (upper or lower case, Unicode form)"}.Count(f, func(row int) (bool, bool) {
		return l.respelled[row], true
	}))
	for _, name := range l.out.names { // the folder's name counts for images without a row
		if old := f.Column(name); old != nil {
			for row, is := range l.listed {
				if !is {
					l.out.set(row, name, old.Text(row))
				}
			}
		}
	}
	columns := l.out.columns()
	for _, c := range columns {
		if old := f.Column(c.Name); old != nil && c.Name != "id" {
			r.reading(table.Reading{Source: files[0], Column: c.Name, What: fmt.Sprintf("values of %q differ from "+
				"that of the folder's name (%s=…), which does not count", c.Name, c.Name)}.Count(f,
				func(row int) (bool, bool) {
					return l.listed[row] && old.Text(row) != c.Text(row), l.listed[row]
				}))
		}
	}
	f = f.With(columns...)
	r.reading(table.Reading{Source: files[0], Column: "file_name", What: "images have no row in the metadata"}.Count(f,
		func(row int) (bool, bool) { return !l.listed[row], true }))
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
