package plots

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/cell"
	"antipode/datasets/table"
	"antipode/plots/browse"
	"antipode/plots/internal/shape"
)

// Figure is a description of a figure or a printed table: [Bars], [Browse], [Forest], [Gallery], [Grid], [Heat],
// [Histogram], [Lines], [Map], [Scatter], [Segments] or [Table]. Its table runs, and its fields are checked, in [Show],
// [Save], [Render] and [SaveImages]. The same rows produce the same bytes.
type Figure interface{ figure() drawer }

// drawer is what a figure does.
type drawer interface {
	// render returns the figure in a format; one that it does not have is an error.
	render(ctx context.Context, format string) ([]byte, error)
	// bundle returns the forms that a notebook stores.
	bundle(ctx context.Context) (cell.Bundle, error)
}

// ShowOptions are the options of [Show].
type ShowOptions struct {
	// Empty is the text that is printed in place of a figure whose table has no rows or no values; default "": that is
	// an error, [ErrNoData].
	Empty string
}

// Show displays a figure under the cell. On failure it prints one line and ends the cell. Outside a notebook it prints
// the figure's description, or the table as text, and panics with a typed error on failure.
func Show(f Figure, options ...ShowOptions) {
	inCell(func(ctx context.Context) error { return ShowE(ctx, f, options...) })
}

// ShowE is [Show] for programs: it returns the error. While `antipode export` runs a notebook, both write the figure's
// files as well.
func ShowE(ctx context.Context, f Figure, options ...ShowOptions) error {
	o, err := table.One(options)
	if err != nil {
		return fmt.Errorf("Show: %w", err)
	}
	b, err := f.figure().bundle(ctx)
	switch {
	case errors.Is(err, ErrNoData) && o.Empty != "":
		cell.Print(o.Empty + "\n")
		return nil
	case err != nil:
		return err
	}
	if _, drawn := f.figure().(figure); drawn {
		if !cell.InNotebook() {
			b.Text = strings.TrimSuffix(b.Text, ".") +
				". A terminal shows no images: plots.Save(figure, \"figure.svg\") writes a file"
		}
		b.Text += "\n"
	}
	cell.Show(b)
	return export(ctx, f)
}

// Save writes a figure to a file in the format that the extension names, one of those of [Render]; an .html file is a
// complete page. It fails as [Show] does.
func Save(f Figure, path string) {
	inCell(func(ctx context.Context) error { return SaveE(ctx, f, path) })
}

// SaveE is [Save] for programs: it returns the error.
func SaveE(ctx context.Context, f Figure, path string) error {
	format := strings.TrimPrefix(strings.ToLower(filepath.Ext(path)), ".")
	if format == "htm" {
		format = "html"
	}
	data, err := f.figure().render(ctx, format)
	var unknown formatError
	if errors.As(err, &unknown) {
		return fmt.Errorf("cannot save a %s to %s: use the extension %s", unknown.what, path, unknown.formats)
	}
	if err != nil {
		return err
	}
	switch f := f.figure().(type) {
	case figure:
		if format == "html" {
			data = page(f.what, string(data))
		}
	case Table:
		if format == "html" {
			data = page(f.Title, string(data))
		}
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("cannot write the figure: %w", err)
	}
	return nil
}

// Render returns a figure in a format:
//
//   - of a figure: "svg", a complete document without script and remote source, with text as text; "pdf", a page of
//     vector graphics with subsets of the fonts, whose text can be selected and searched; "png", of [Theme].DPI dots
//     per inch; "html", an element without script, an <img> with the SVG or a table of images. PDF and PNG leave out
//     characters that no font has, and count them by script below the figure;
//   - of a [Table]: "html", an element for each block; "txt", aligned columns; "md", GitHub's Markdown; "tex", a
//     tabular for the booktabs package for each block, with the notes as comments (scripts other than Latin need
//     XeLaTeX or LuaLaTeX); "csv" and "json", all digits, interval columns separately, a missing value empty.
//
// Text from data is escaped.
func Render(f Figure, format string) ([]byte, error) {
	return inContext(func(ctx context.Context) ([]byte, error) { return f.figure().render(ctx, format) })
}

// formatError reports a format that a figure does not have.
type formatError struct{ what, formats string }

func (e formatError) Error() string {
	return fmt.Sprintf("the formats of a %s are %s", e.what, e.formats)
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
	if op := datasets.Extend(f.table).Operation(); op != nil && op.Metric {
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
	for _, column := range slices.Sorted(maps.Keys(set.order)) {
		if !frame.Has(column) && column != "score" { // which several value columns become
			err = cmp.Or(err, fmt.Errorf("Order: no such column: %q (there are: %s)%s", column,
				list(columnNames(frame), 20), table.Hint(column, columnNames(frame))))
		}
	}
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

func (f figure) render(ctx context.Context, format string) ([]byte, error) {
	if !slices.Contains([]string{"svg", "png", "pdf", "html"}, format) {
		return nil, formatError{"figure", ".svg, .pdf, .png or .html"}
	}
	f.set.print = format == "pdf" || format == "png"
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
			switch format {
			case "svg":
				data = s.svg()
			case "pdf":
				data, err = s.pdf(ctx)
			default:
				data, err = s.png(ctx)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.what, err)
	}
	return data, nil
}

// previewBytes limits the PNG of a figure in a notebook.
const previewBytes = 24_000

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
		if s, err = d.scene(); err == nil && (cell.InNotebook() || shape.Painter != nil) { // a terminal shows none
			b.PNG, err = s.paint(ctx, shape.Request{Format: shape.Preview, Limit: previewBytes})
		}
	}
	if err != nil {
		return cell.Bundle{}, fmt.Errorf("%s: %w", f.what, err)
	}
	b.Text = s.description()
	if !reflect.ValueOf(f.set.images).IsZero() {
		frame, err := f.table.Rows(ctx)
		if err != nil {
			return b, err
		}
		of := &browse.Figure{Image: dataURI("image/svg+xml", s.svg()), Text: b.Text}
		rows := make([]int, len(s.areas))
		for i, a := range s.areas {
			of.Marks = append(of.Marks, browse.Mark{X: a.x / s.width, Y: a.y / s.height, W: a.w / s.width,
				H: a.h / s.height})
			rows[i] = a.row % frame.Len() // figures of several columns have each row several times
		}
		page, err := linked(ctx, f.set.images, f.table, s.title, of, frame, rows)
		if err != nil {
			return b, fmt.Errorf("%s: %w", f.what, err)
		}
		b.HTML += page
	}
	return b, nil
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
