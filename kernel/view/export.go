package view

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"path/filepath"

	"antipode/datasets/table"
	"antipode/internal/atomicfile"
	"antipode/internal/fault"
)

// Limits of an exported page.
const (
	mostExported = 20_000      // rows
	mostBytes    = 200_000_000 // of its thumbnails
)

// Export writes the page as one HTML file with thumbnails of at most side pixels (0 = 256), which works without a
// server and loads nothing. Originals below the page's folder are linked. Tags, masks and nearest rows need a server.
func (g *Gallery) Export(path string, side int) error {
	if g.Len() > mostExported {
		return fmt.Errorf("%d rows; a page holds at most %d. Fix: select rows, or use antipode view without --export",
			g.Len(), mostExported)
	}
	if side == 0 {
		side = 256
	}
	p := g.page()
	p.Vectors, p.Masks = nil, false
	p.Thumbs = make([][]string, len(g.images))
	total := 0
	for k, name := range g.images {
		p.Thumbs[k] = make([]string, g.Len())
		fault.Each(g.Len(), func(row int) {
			if g.frame.Images(name)[row].Path == "" {
				return
			}
			data, kind, err := g.thumbnail(row, name, "", side)
			if err != nil {
				p.Missing[row] = err.Error()
				return
			}
			p.Thumbs[k][row] = "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data)
		})
		for _, uri := range p.Thumbs[k] {
			total += len(uri)
		}
	}
	if total > mostBytes {
		return fmt.Errorf("the thumbnails have %d MB; a page holds %d. Fix: --side with fewer than %d pixels, or "+
			"fewer rows", total/1e6, int(mostBytes)/1e6, side)
	}
	p.Links = g.links(path)
	data, err := p.encode()
	if err != nil {
		return err
	}
	sum := func(text string) string {
		h := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'"
	}
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, pageFields{Title: g.title, Style: template.CSS(style), Data: template.JS(data),
		Script: template.JS(script), Policy: "default-src 'none'; img-src data:; style-src " + sum(style) +
			"; script-src " + sum(script) + "; base-uri 'none'; form-action 'none'"})
	if err != nil {
		return err
	}
	return atomicfile.Write(path, b.Bytes())
}

// links are the paths of the originals relative to a page, "" for those that are not below its folder.
func (g *Gallery) links(page string) []string {
	out := make([]string, g.Len())
	dir, err := filepath.Abs(filepath.Dir(page))
	for i, img := range g.frame.Images(g.images[0]) {
		relative, bad := filepath.Rel(dir, img.Path)
		if err == nil && bad == nil && img.Path != "" && filepath.IsLocal(relative) {
			out[i] = (&url.URL{Path: filepath.ToSlash(relative)}).String()
		}
	}
	return out
}

// writeTable writes texts and numbers of rows as CSV, with the names of their images.
func (g *Gallery) writeTable(path string, rows []int, names map[int]string) error {
	return atomicfile.Replace(path, 0o644, func(w io.Writer) error {
		out := csv.NewWriter(w)
		head := []string{"image"}
		var columns []*table.Column
		for i := range g.frame.Columns {
			if c := &g.frame.Columns[i]; c.Kind == table.KindText || c.Kind == table.KindNumber {
				head, columns = append(head, c.Name), append(columns, c)
			}
		}
		out.Write(head)
		for _, row := range rows {
			cells := []string{names[row]}
			for _, c := range columns {
				cells = append(cells, c.CSV(row))
			}
			out.Write(cells)
		}
		out.Flush()
		return out.Error()
	})
}
