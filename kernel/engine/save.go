package engine

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"antipode/datasets/table"
	"antipode/internal/atomicfile"
	"antipode/internal/objecturl"
	"antipode/kernel/parquet"
)

// save writes the table to the file or object that the request names and returns its number of rows. Without Columns
// and AllColumns it keeps every column except the vectors of earlier stages.
func (r *run) save(f *table.Frame) (int, error) {
	out := &table.Frame{}
	for i := range f.Columns {
		c := f.Columns[i]
		keep := r.req.AllColumns || c.Kind != table.KindVector || r.added[c.Name]
		if len(r.req.Columns) > 0 {
			keep = c.Name == "id" || slices.Contains(r.req.Columns, c.Name)
		}
		if !keep {
			continue
		}
		if c.Kind == table.KindImage {
			images, err := r.savedImages(f, c.Images)
			if err != nil {
				return 0, err
			}
			c.Images = images
		}
		out.Columns = append(out.Columns, c)
	}
	for _, name := range r.req.Columns {
		if out.Column(name) == nil {
			return 0, fmt.Errorf("--columns: %w", table.NoColumn(name, f.Specs()))
		}
	}
	if objecturl.IsRemote(r.req.Save) {
		return out.Len(), r.saveObject(out)
	}
	if objecturl.Ext(r.req.Save) == ".csv" {
		return out.Len(), WriteCSV(r.req.Save, out)
	}
	return out.Len(), parquet.Write(r.req.Save, out)
}

// savedImages returns the paths of images in a saved table, relative to the file if they are below its folder.
// Images of the store are copied into the folder NAME.images next to the file, so that the table can be moved and
// read without the store. An object stays where it is: its path is its URL. A table under a URL has images below its
// own prefix; see uploaded.
func (r *run) savedImages(f *table.Frame, images []table.Image) ([]table.Image, error) {
	if objecturl.IsRemote(r.req.Save) {
		return r.uploaded(f, images)
	}
	dir := filepath.Dir(r.req.Save)
	folder := strings.TrimSuffix(r.req.Save, filepath.Ext(r.req.Save)) + ".images"
	ids := f.Texts("id")
	out := make([]table.Image, len(images))
	for i, img := range images {
		out[i] = img
		if img.Path == "" {
			continue
		}
		if u, known := r.e.objects.URL(img.Path); known {
			out[i].Path = u.Plain()
			continue
		}
		if rel, err := filepath.Rel(r.store.Dir(), img.Path); err == nil && strings.HasPrefix(rel, "blobs") ||
			r.e.objects.Holds(img.Path) {
			out[i].Path = filepath.Join(folder, imageName(ids, i, img))
			if err := r.copyBlob(img, out[i].Path); err != nil {
				return nil, fmt.Errorf("cannot copy the image of row %d next to %s: %w", i+1,
					filepath.Base(r.req.Save), plain(err))
			}
		}
		if rel, err := filepath.Rel(dir, out[i].Path); err == nil && !strings.HasPrefix(rel, "..") {
			out[i].Path = filepath.ToSlash(rel)
		}
	}
	return out, nil
}

// imageName returns the name of an image's file next to a table.
func imageName(ids []string, row int, img table.Image) string {
	name := fmt.Sprint(row + 1)
	if ids != nil {
		name = fileName(ids[row])
	}
	return fmt.Sprintf("%s-%.8s%s", name, img.SHA256, filepath.Ext(img.Path))
}

// fileName returns an id as part of a file name: ASCII characters other than letters, digits, dot, dash and underscore
// become underscores.
func fileName(id string) string {
	id = strings.Map(func(c rune) rune {
		if c < utf8.RuneSelf && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			strings.ContainsRune("._-", c)) {
			return '_'
		}
		return c
	}, strings.ToValidUTF8(id, "_"))
	if len(id) > 100 {
		id = strings.ToValidUTF8(id[:100], "")
	}
	return id
}

// copyBlob copies an image of the store unless the file has the same content already.
func (r *run) copyBlob(img table.Image, to string) error {
	if digest, err := r.e.Store.FileDigest(to); err == nil && digest == img.SHA256 {
		return nil
	}
	data, err := r.store.Blob(img)
	if err != nil {
		return err
	}
	return atomicfile.Write(to, data)
}

// WriteCSV writes a frame to a CSV file atomically: numbers in the shortest form that parses to the same value, missing
// values as empty cells, vectors as JSON lists, masks as JSON objects, images as paths.
func WriteCSV(path string, f *table.Frame) error {
	data, err := encodeCSV(f)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(path, data); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, plain(err))
	}
	return nil
}

func encodeCSV(f *table.Frame) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	record := make([]string, len(f.Columns))
	for i := range f.Columns {
		record[i] = f.Columns[i].Name
	}
	w.Write(record)
	for row := range f.Len() {
		for i := range f.Columns {
			record[i] = csvCell(&f.Columns[i], row)
		}
		if len(record) == 1 && record[0] == "" { // an empty line is no row to most readers
			w.Flush()
			b.WriteString("\"\"\n")
			continue
		}
		w.Write(record)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func csvCell(c *table.Column, row int) string {
	switch c.Kind {
	case table.KindText:
		return c.Texts[row]
	case table.KindNumber:
		if math.IsNaN(c.Numbers[row]) {
			return ""
		}
		return strconv.FormatFloat(c.Numbers[row], 'g', -1, 64)
	case table.KindImage:
		return c.Images[row].Path
	case table.KindMask:
		if c.Masks[row].Counts == "" {
			return ""
		}
		data, _ := json.Marshal(c.Masks[row])
		return string(data)
	default:
		if c.Vectors[row] == nil {
			return ""
		}
		data, _ := json.Marshal(c.Vectors[row])
		return string(data)
	}
}
