package plots

import (
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"strings"

	"antipode/datasets"
)

// Figure is a picture of a table. Making one does no work; its table runs, and is checked, when the picture is asked for.
// Draw a figure as often as you like: the same rows give the same bytes.
type Figure struct {
	what  string // for errors: `bars of "coverage"`
	table datasets.Table
	set   settings
	build func(f *datasets.Frame, set *settings) (drawing, error)
}

// drawing is a figure with its rows: a scene, or a sheet of images.
type drawing interface {
	scene() (*scene, error)
	html() (string, error)
}

func figure(what string, table datasets.Table, options []Option, build func(*datasets.Frame, *settings) (drawing, error)) Figure {
	set := settings{theme: DefaultTheme()}
	for _, o := range options {
		o(&set)
	}
	return Figure{what: what, table: table, set: set, build: build}
}

func (f Figure) draw(ctx context.Context) (drawing, error) {
	if f.build == nil {
		return nil, errors.New("this figure was never made: a zero plots.Figure has nothing to draw")
	}
	frame, err := f.table.Rows(ctx)
	if err != nil {
		return nil, err
	}
	if frame.Len() == 0 {
		return nil, fmt.Errorf("%s: %w: the table has no rows", f.what, ErrNoData)
	}
	set := f.set
	if set.fits != nil {
		if set.fitted, err = set.fits.Rows(ctx); err != nil {
			return nil, fmt.Errorf("%s: the table of Fits: %w", f.what, err)
		}
	}
	d, err := f.build(frame, &set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.what, err)
	}
	return d, nil
}

func (f Figure) scene(ctx context.Context) (*scene, error) {
	d, err := f.draw(ctx)
	if err != nil {
		return nil, err
	}
	s, err := d.scene()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.what, err)
	}
	return s, nil
}

// SVG draws the figure as a document of its own: no script, no remote source, text as text.
func (f Figure) SVG(ctx context.Context) ([]byte, error) {
	s, err := f.scene(ctx)
	if err != nil {
		return nil, err
	}
	return s.svg(), nil
}

// PNG paints the figure at a resolution in dots per inch; 96 gives one dot per CSS pixel. Characters that no
// font here has are not painted: a line at the foot counts them by script and says what to do.
func (f Figure) PNG(ctx context.Context, dpi int) ([]byte, error) {
	if dpi < 24 || dpi > 1200 {
		return nil, fmt.Errorf("%s: %d dots per inch; give 24 to 1200", f.what, dpi)
	}
	s, err := f.scene(ctx)
	if err != nil {
		return nil, err
	}
	return s.png(dpi)
}

// HTML gives the figure as an HTML element without script: an <img> with the SVG, or a grid of images.
func (f Figure) HTML(ctx context.Context) (string, error) {
	d, err := f.draw(ctx)
	if err != nil {
		return "", err
	}
	text, err := d.html()
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.what, err)
	}
	return text, nil
}

// SaveE draws the figure into a file: .svg, .png (192 dots per inch) or .html (a page of its own).
func (f Figure) SaveE(ctx context.Context, path string) error {
	var data []byte
	var err error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg":
		data, err = f.SVG(ctx)
	case ".png":
		data, err = f.PNG(ctx, 192)
	case ".html", ".htm":
		var body string
		body, err = f.HTML(ctx)
		data = page(f.what, body)
	default:
		return fmt.Errorf("cannot save a figure to %s: give a name that ends in .svg, .png or .html", path)
	}
	if err != nil {
		return err
	}
	return write(path, data)
}

// page makes an HTML document whose policy allows no script and no remote source.
func page(title, body string) []byte {
	return []byte("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n" +
		"<title>" + html.EscapeString(title) + "</title></head>\n<body style=\"font-family:sans-serif\">\n" + body + "\n</body></html>\n")
}

func write(path string, data []byte) error {
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("cannot write the figure: %w", err)
	}
	return nil
}
