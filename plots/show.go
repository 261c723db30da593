package plots

import (
	"context"
	"fmt"

	"antipode/kernel/cell"
)

// Show puts the figure under the cell. In a notebook a failure prints one line and ends the cell; outside a notebook,
// where there is nowhere to put a picture, it says so in a line, and a failure panics with a typed error.
func (f Figure) Show() { inCell(f.ShowE) }

// ShowE is Show for programs: it returns the error.
func (f Figure) ShowE(ctx context.Context) error {
	b, err := f.Bundle(ctx)
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

// Bundle draws the figure in the forms that a notebook stores: HTML, a PNG of limited size for what shows no HTML, and a
// line of text that describes it.
func (f Figure) Bundle(ctx context.Context) (cell.Bundle, error) {
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

// Save draws the figure into a file: .svg, .png or .html. Failures are those of [Figure.Show].
func (f Figure) Save(path string) {
	inCell(func(ctx context.Context) error { return f.SaveE(ctx, path) })
}

// SaveImages copies the originals of the images that a figure shows into a folder. Failures are those of [Figure.Show].
func (f Figure) SaveImages(folder string) {
	inCell(func(ctx context.Context) error {
		n, err := f.SaveImagesE(ctx, folder)
		if err == nil {
			cell.Print(fmt.Sprintf("%d images copied to %s\n", n, folder))
		}
		return err
	})
}

// inCell runs work under the cell's context and hands its failure to the cell.
func inCell(work func(context.Context) error) {
	ctx, stop := cell.Context()
	defer stop()
	if err := work(ctx); err != nil {
		cell.Fail(err)
	}
}
