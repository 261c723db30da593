package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/imagefile"
	"antipode/internal/objecturl"
	"antipode/kernel/parquet"
)

func init() {
	registerSource("csv", (*run).csvSource)
	registerSource("parquet", (*run).parquetSource)
	registerSource("folder", (*run).folderSource)
}

func (r *run) csvSource(a datasets.ReadFileArgs) (*table.Frame, error) {
	name := objecturl.Base(a.Path)
	path, err := r.file(a.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table: %w", err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table %s: %w", a.Path, plain(err))
	}
	defer file.Close()
	kinds := a.Kinds
	if kinds == nil || objecturl.IsRemote(a.Path) {
		if kinds, err = datasets.SniffCSV(file, name); err != nil {
			return nil, err
		}
		for _, k := range a.Kinds {
			if at := table.Position(kinds, k.Name); at >= 0 {
				kinds[at].Kind = k.Kind
			}
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	cr, err := datasets.OpenCSV(file, name)
	if err != nil {
		return nil, err
	}
	if !slices.EqualFunc(cr.Header, kinds, func(h string, s table.ColumnSpec) bool { return h == s.Name }) {
		return nil, fmt.Errorf("%s changed while the notebook ran: its columns are now %s; run the cell again", name,
			strings.Join(cr.Header, ", "))
	}
	f := table.NewFrame(kinds)
	for {
		row, line, err := cr.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		for i, v := range row {
			if err := appendCell(&f.Columns[i], v); err != nil {
				return nil, fmt.Errorf("%s, line %d, column %q: %w", name, line, kinds[i].Name, err)
			}
		}
	}
	return r.resolve(f, source{origin: origin{name: name, dir: folder(a.Path), root: a.Root,
		repeated: a.RepeatedIDs, threshold: a.MaskThreshold, color: a.Color, alpha: a.Alpha}})
}

func appendCell(c *table.Column, v string) error {
	switch c.Kind {
	case table.KindText:
		c.Texts = append(c.Texts, v)
	case table.KindNumber:
		n := math.NaN()
		if v != "" {
			var err error
			if n, err = strconv.ParseFloat(v, 64); err != nil {
				return fmt.Errorf("%q is not a number, as the column's first values are", v)
			}
		}
		c.Numbers = append(c.Numbers, n)
	case table.KindImage:
		c.Images = append(c.Images, table.Image{Path: v})
	case table.KindMask:
		c.Masks = append(c.Masks, table.Mask{Counts: v}) // a path, which resolve replaces
	default:
		var vec []float32
		if v != "" {
			if err := json.Unmarshal([]byte(v), &vec); err != nil {
				return fmt.Errorf("%.40q is not a list of numbers such as [0.1, 0.2]", v)
			}
		}
		c.Vectors = append(c.Vectors, vec)
	}
	return nil
}

func (r *run) parquetSource(a datasets.ReadFileArgs) (*table.Frame, error) {
	name := objecturl.Base(a.Path)
	path, err := r.file(a.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the table: %w", err)
	}
	options := parquet.Options{PutImage: r.putImage, Kind: func(column string) table.Kind {
		for _, k := range a.Kinds {
			if k.Name == column {
				return k.Kind
			}
		}
		return datasets.KindByName(column)
	}}
	src := source{origin: origin{name: name, dir: folder(a.Path), root: a.Root, repeated: a.RepeatedIDs,
		threshold: a.MaskThreshold, color: a.Color, alpha: a.Alpha}}
	if r.later != nil {
		src.reread = func(want func(row int) bool) (*parquet.Table, error) {
			again := options
			again.Bytes = want
			return parquet.Read(path, again)
		}
		options.Bytes = func(int) bool { return false }
	}
	t, err := parquet.Read(path, options)
	if err != nil {
		return nil, err
	}
	if len(t.Unread) > 0 {
		r.note("%s: columns that are not read: %s", name, strings.Join(t.Unread, ", "))
	}
	if r.later != nil && !t.Skipped {
		src.reread = nil // the table holds no bytes of images
	}
	src.bad = t.Bad
	return r.resolve(t.Frame, src)
}

// putImage stores the bytes of an image that a table holds.
func (r *run) putImage(data []byte) (table.Image, error) {
	extension, err := imagefile.Extension(data)
	if err != nil {
		return table.Image{}, table.BadRow{Reason: err.Error()}
	}
	return r.store.PutBlob(data, extension)
}

func (r *run) folderSource(a datasets.ReadFileArgs) (*table.Frame, error) {
	files, err := r.imageFiles(a.Path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the folder %s: %w", a.Path, plain(err))
	}
	if err := files.None(a.Path); err != nil {
		return nil, err
	}
	name := objecturl.Base(a.Path)
	if line := files.Note(name); line != "" {
		r.note("%s", line)
	}
	images, folders := make([]table.Image, len(files.Paths)), make([]string, len(files.Paths))
	for i, file := range files.Paths {
		if images[i].Path = file; !objecturl.IsRemote(a.Path) {
			images[i].Path = filepath.Join(a.Path, filepath.FromSlash(file))
		}
		if folder, _, nested := strings.Cut(file, "/"); nested {
			folders[i] = folder
		}
	}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", files.Paths),
		table.ImageColumn("image", images), table.TextColumn("folder", folders)}}
	return r.resolve(f, source{origin: origin{name: name, dir: a.Path, folder: true, color: a.Color,
		alpha: a.Alpha}})
}

// imageFiles lists the images of a folder, or below the URL of a prefix.
func (r *run) imageFiles(dir string) (datasets.ImageFiles, error) {
	if !objecturl.IsRemote(dir) {
		return datasets.ListImageFiles(os.DirFS(dir))
	}
	u, err := objecturl.Parse(dir)
	if err != nil {
		return datasets.ImageFiles{}, err
	}
	sizes, err := r.e.objects.List(r.ctx, u)
	return datasets.ImageFilesOf(slices.Collect(maps.Keys(sizes))), err
}
