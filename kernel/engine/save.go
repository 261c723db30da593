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

	"antipode/kernel/client"
	"antipode/kernel/parquet"
	"antipode/kernel/store"
)

// save writes the table to the file the request names and gives its number of rows. Pictures are written as paths
// relative to the file where they lie below it. Blobs it points at are kept by gc.
func (r *run) save(f *client.Frame) (int, error) {
	out := &client.Frame{}
	for i := range f.Columns {
		c := f.Columns[i]
		keep := r.req.AllColumns || c.Kind == client.Text || c.Kind == client.Number || r.added[c.Name]
		if len(r.req.Columns) > 0 {
			keep = c.Name == "id" || slices.Contains(r.req.Columns, c.Name)
		}
		if !keep {
			continue
		}
		if c.Kind == client.Picture {
			c.Images = r.savedImages(c.Images)
		}
		out.Columns = append(out.Columns, c)
	}
	for _, name := range r.req.Columns {
		if out.Column(name) == nil {
			return 0, fmt.Errorf("--columns: %w: %q (there are: %s)", client.ErrNoColumn, name, client.NameList(f.Specs()))
		}
	}
	if strings.EqualFold(filepath.Ext(r.req.Save), ".csv") {
		return out.Len(), WriteCSV(r.req.Save, out)
	}
	return out.Len(), parquet.Write(r.req.Save, out)
}

func (r *run) savedImages(images []client.Image) []client.Image {
	dir := filepath.Dir(r.req.Save)
	out := make([]client.Image, len(images))
	for i, img := range images {
		out[i] = img
		if img.Path == "" {
			continue
		}
		if rel, err := filepath.Rel(r.store.Dir(), img.Path); err == nil && strings.HasPrefix(rel, "blobs") {
			r.uses[rel] = true
			continue
		}
		if rel, err := filepath.Rel(dir, img.Path); err == nil && !strings.HasPrefix(rel, "..") {
			out[i].Path = filepath.ToSlash(rel)
		}
	}
	return out
}

// WriteCSV writes a frame as a CSV file, whole or not at all: numbers in the shortest form that reads back the same,
// no value as an empty cell, vectors as JSON lists, masks as JSON objects, images as paths.
func WriteCSV(path string, f *client.Frame) error {
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
		w.Write(record)
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	if err := store.WriteFile(path, b.Bytes()); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, plain(err))
	}
	return nil
}

func csvCell(c *client.Column, row int) string {
	switch c.Kind {
	case client.Text:
		return c.Texts[row]
	case client.Number:
		if math.IsNaN(c.Numbers[row]) {
			return ""
		}
		return strconv.FormatFloat(c.Numbers[row], 'g', -1, 64)
	case client.Picture:
		return c.Images[row].Path
	case client.Masked:
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
