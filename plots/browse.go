package plots

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"net/url"
	"path/filepath"

	"antipode/datasets"
	"antipode/datasets/cell"
	"antipode/plots/browse"
)

// Browse is a page on which the images of a table are searched, filtered, sorted and enlarged, in one file that works
// offline. [Show] writes the file and shows a link to it; [Save] writes it to another path. It holds at most 20,000
// rows and 200 MB of thumbnails. `antipode view` shows a stored table of any size, with tags and nearest images.
type Browse struct {
	Table datasets.Table
	Title string // default: "Images"
	Path  string // of the file that Show writes; default: images.html, next to the notebook
	Side  int    // longer side of a thumbnail in pixels; default 256
}

func (f Browse) figure() drawer { return f }

func (f Browse) gallery(ctx context.Context) (*browse.Gallery, error) {
	rows, err := f.Table.Rows(ctx)
	if err != nil {
		return nil, err
	}
	if rows.Len() == 0 {
		return nil, fmt.Errorf("page of images: %w", ErrNoData)
	}
	return browse.New(cmp.Or(f.Title, "Images"), rows)
}

func (f Browse) render(ctx context.Context, format string) ([]byte, error) {
	if format != "html" {
		return nil, formatError{"page of images", ".html"}
	}
	g, err := f.gallery(ctx)
	if err != nil {
		return nil, err
	}
	return g.HTML(".", f.Side)
}

func (f Browse) bundle(ctx context.Context) (b cell.Bundle, err error) {
	g, err := f.gallery(ctx)
	if err != nil {
		return b, err
	}
	path := cmp.Or(f.Path, "images.html")
	size, err := g.Export(path, f.Side)
	if err != nil {
		return b, fmt.Errorf("page of images: %w", err)
	}
	about := fmt.Sprintf("%d rows, %.1f MB", g.Len(), float64(size)/1e6)
	link := (&url.URL{Path: filepath.ToSlash(path)}).String()
	b.HTML = fmt.Sprintf(`<p><a href="%s" target="_blank">%s</a> (%s): open it in a browser</p>`,
		html.EscapeString(link), html.EscapeString(path), about)
	b.Text = fmt.Sprintf("%s: %s\n", path, about)
	return b, nil
}
