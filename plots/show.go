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
	text, err := f.HTML(ctx)
	if err != nil {
		return err
	}
	return display(text, f.what+": drawn; a terminal shows no pictures, Save(\"figure.svg\") writes it to a file\n")
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

// display is the one place where figures meet the notebook: HTML there, text elsewhere.
func display(html, text string) error {
	if cell.InNotebook() {
		cell.HTML(html)
	} else {
		cell.Print(text)
	}
	return nil
}
