package plots

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/cell"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/plots/browse"
)

// Browse is a page on which the images of a table are searched, filtered, sorted and enlarged, in one file that works
// offline. [Show] writes the file and shows a link to it; [Save] writes it to another path. It holds at most 20,000
// rows and 200 MB of thumbnails. `antipode view` shows a stored table of any size, with tags and nearest images.
type Browse struct {
	Table datasets.Table
	Title string // default: "Images"
	Path  string // of the file that Show writes; default: TITLE-DIGEST.html, next to the notebook
	Side  int    // longer side of a thumbnail in pixels; default 256
}

// linked writes the page of the images behind a figure's marks, next to the notebook, and returns the HTML that shows
// it. rows are the marks' rows of the figure's table: a mark selects the images that have its texts in all columns that
// both tables have. JupyterLab opens links in a viewer without scripts, and frames as the server sends them.
func linked(ctx context.Context, images, scores datasets.Table, title string, of *browse.Figure,
	frame *datasets.Frame, rows []int) (string, error) {
	f := Browse{Table: images, Title: cmp.Or(title, "Images")}
	g, err := f.gallery(ctx)
	if err != nil {
		return "", err
	}
	shared := 0
	for _, c := range frame.Shown().Columns {
		values := g.Rows.Texts(c.Name)
		if c.Kind != table.KindText || values == nil {
			continue
		}
		spelled := map[string][]string{}
		for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
			spelled[operation.Label(v)] = append(spelled[operation.Label(v)], v)
		}
		for i, row := range rows {
			if same := spelled[operation.Label(c.Texts[row])]; same != nil {
				of.Marks[i].Select(c.Name, same)
				shared++
			}
		}
	}
	if shared == 0 {
		return "", fmt.Errorf("Browse: no text of the figure's table is in a column of that name of the images (%s)",
			list(columnNames(g.Rows), 20))
	}
	plan, err := scores.Plan()
	shown, imagesErr := images.Plan()
	marks, markErr := json.Marshal(of)
	if err := errors.Join(err, imagesErr, markErr); err != nil {
		return "", err
	}
	g.Figure = of
	path := pageName(f.Title, plan.Digest(), shown.Digest(), string(marks))
	size, err := g.Export(path, 0)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(`<details><summary>Images behind the figure: %d rows</summary>`+
		`<iframe src="%s" title="%s" loading="lazy" style="width:100%%;height:760px;border:%s"></iframe>%s</details>`,
		g.Len(), html.EscapeString((&url.URL{Path: path}).String()), html.EscapeString(f.Title), rule,
		pageLink(path, g, size)), nil
}

// notName is what names of files do without.
var notName = regexp.MustCompile(`[^\pL\pN]+`)

// pageName is the name of a page's file: its title, and a digest of what it shows.
func pageName(title string, shown ...string) string {
	name := []rune(strings.Trim(notName.ReplaceAllString(cmp.Or(title, "images"), "-"), "-"))
	digest := sha256.Sum256([]byte(strings.Join(shown, " ")))
	return fmt.Sprintf("%s-%.3x.html", string(name[:min(len(name), 60)]), digest)
}

// pageLink is a link to a page.
func pageLink(path string, g *browse.Gallery, size int) string {
	return fmt.Sprintf(`<p><a href="%s" target="_blank">%s</a> (%d rows, %.1f MB): open it in a browser</p>`,
		html.EscapeString((&url.URL{Path: filepath.ToSlash(path)}).String()), html.EscapeString(path), g.Len(),
		float64(size)/1e6)
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
	return f.page(ctx, ".")
}

// page is the page's file in a folder.
func (f Browse) page(ctx context.Context, dir string) ([]byte, error) {
	g, err := f.gallery(ctx)
	if err != nil {
		return nil, err
	}
	return g.HTML(dir, f.Side)
}

func (f Browse) bundle(ctx context.Context) (b cell.Bundle, err error) {
	g, err := f.gallery(ctx)
	if err != nil {
		return b, err
	}
	plan, err := f.Table.Plan()
	if err != nil {
		return b, err
	}
	path := cmp.Or(f.Path, pageName(f.Title, plan.Digest()))
	size, err := g.Export(path, f.Side)
	if err != nil {
		return b, fmt.Errorf("page of images: %w", err)
	}
	b.HTML = pageLink(path, g, size)
	b.Text = fmt.Sprintf("%s: %d rows, %.1f MB\n", path, g.Len(), float64(size)/1e6)
	return b, nil
}
