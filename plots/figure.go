package plots

import (
	"context"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"antipode/datasets"
	"antipode/kernel/cell"
)

// Figure is implemented by [Bars], [Forest], [Gallery], [Grid], [Heat], [Histogram], [Lines], [Map], [Scatter] and
// [Segments]. A figure is a description: its table runs, and its fields are checked, in these methods. The same rows
// produce the same bytes.
type Figure interface {
	// SVG returns a complete document: no script, no remote source, text as text.
	SVG() ([]byte, error)
	// PNG returns an image of [Theme].DPI dots per inch. Characters that no font has are left out; a line below the
	// figure counts them by script and suggests a fix.
	PNG() ([]byte, error)
	// HTML returns an element without script: an <img> with the SVG, or a table of images.
	HTML() (string, error)
	// Show displays the figure under the cell. On failure it prints one line and ends the cell. Outside a notebook it
	// prints the figure's description, and panics with a typed error on failure.
	Show()
	// ShowE is Show for programs: it returns the error.
	ShowE(ctx context.Context) error
	// Save writes a file: .svg, .png or .html (a complete page). It fails as Show does.
	Save(path string)
	// SaveE is Save for programs: it returns the error.
	SaveE(ctx context.Context, path string) error

	figure() figure
}

// figure is a figure with its fields in the form that the drawing code reads.
type figure struct {
	what  string // for errors: `bars of "coverage"`
	table datasets.Table
	need  [][2]string // fields that must be set, with their values: columns
	set   options
	build func(f *datasets.Frame, set *options) (drawing, error)
}

// drawing is a figure with its rows: a chart, or a sheet of images.
type drawing interface {
	scene() (*scene, error)
	html() (string, error)
}

// draw runs the table and builds the drawing.
func (f figure) draw(ctx context.Context) (drawing, error) {
	frame, err := f.table.Rows(ctx)
	if err != nil {
		return nil, err
	}
	frame = frame.Shown()
	set := f.set
	set.theme = set.theme.complete()
	if op := f.table.Operation(); op != nil && op.Metric {
		set.metric = op
	}
	d, err := f.drawFrame(ctx, frame, &set)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.what, err)
	}
	return d, nil
}

func (f figure) drawFrame(ctx context.Context, frame *datasets.Frame, set *options) (drawing, error) {
	if frame.Len() == 0 {
		return nil, fmt.Errorf("%w: the table has no rows", ErrNoData)
	}
	var columns []string
	for _, n := range f.need {
		if n[1] == "" {
			return nil, fmt.Errorf("%s is empty; name a column of the table (there are: %s)", n[0],
				list(columnNames(frame), 20))
		}
		columns = append(columns, n[1])
	}
	err := set.check(columns...)
	if err != nil {
		return nil, err
	}
	if !reflect.ValueOf(set.fits).IsZero() {
		if set.fitted, err = set.fits.Rows(ctx); err != nil {
			return nil, fmt.Errorf("the table of Fits: %w", err)
		}
	}
	return f.build(frame, set)
}

// render draws the figure in a format: svg, png or html.
func (f figure) render(ctx context.Context, format string) ([]byte, error) {
	d, err := f.draw(ctx)
	if err != nil {
		return nil, err
	}
	var data []byte
	if format == "html" {
		var text string
		text, err = d.html()
		data = []byte(text)
	} else {
		var s *scene
		if s, err = d.scene(); err == nil {
			if format == "svg" {
				data = s.svg()
			} else {
				data, err = s.png(s.theme.DPI)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.what, err)
	}
	return data, nil
}

// bytes is render with a context that an interrupt cancels.
func (f figure) bytes(format string) ([]byte, error) {
	return inContext(func(ctx context.Context) ([]byte, error) { return f.render(ctx, format) })
}

func (f figure) text(format string) (string, error) {
	data, err := f.bytes(format)
	return string(data), err
}

// bundle draws the figure in the forms that a notebook stores: HTML, a PNG of limited size for what shows no HTML,
// and a line of text that describes it.
func (f figure) bundle(ctx context.Context) (cell.Bundle, error) {
	d, err := f.draw(ctx)
	if err != nil {
		return cell.Bundle{}, err
	}
	var b cell.Bundle
	var s *scene
	if b.HTML, err = d.html(); err == nil {
		if s, err = d.scene(); err == nil {
			b.PNG, err = s.preview(previewBytes)
		}
	}
	if err != nil {
		return cell.Bundle{}, fmt.Errorf("%s: %w", f.what, err)
	}
	b.Text = s.description()
	return b, nil
}

func (f figure) showE(ctx context.Context) error {
	b, err := f.bundle(ctx)
	if err != nil {
		return err
	}
	if !cell.InNotebook() {
		b.Text += ". A terminal shows no images: Save(\"figure.svg\") writes the figure to a file"
	}
	b.Text += "\n"
	cell.Show(b)
	return nil
}

func (f figure) saveE(ctx context.Context, path string) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if format == "htm" {
		format = "html"
	}
	if format != "svg" && format != "png" && format != "html" {
		return fmt.Errorf("cannot save a figure to %s: use the extension .svg, .png or .html", path)
	}
	data, err := f.render(ctx, format)
	if err != nil {
		return err
	}
	if format == "html" {
		data = page(f.what, string(data))
	}
	return write(path, data)
}

func (f figure) save(path string) {
	inCell(func(ctx context.Context) error { return f.saveE(ctx, path) })
}

// inContext runs work with a context that an interrupt cancels.
func inContext[R any](work func(context.Context) (R, error)) (R, error) {
	ctx, stop := cell.Context()
	defer stop()
	return work(ctx)
}

// inCell runs work under the cell's context and reports its failure to the cell.
func inCell(work func(context.Context) error) {
	if _, err := inContext(func(ctx context.Context) (any, error) { return nil, work(ctx) }); err != nil {
		cell.Fail(err)
	}
}

// page returns an HTML document whose policy allows no script and no remote source.
func page(title, body string) []byte {
	return []byte("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n" +
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src " +
		"'unsafe-inline'\">\n" +
		"<title>" + html.EscapeString(title) + "</title></head>\n<body style=\"font-family:sans-serif\">\n" + body +
		"\n</body></html>\n")
}

func write(path string, data []byte) error {
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("cannot write the figure: %w", err)
	}
	return nil
}
