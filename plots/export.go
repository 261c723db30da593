package plots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"antipode/datasets"
	"antipode/datasets/cell"
)

// export writes what [ShowE] shows into the folder of `antipode export`, if that runs the notebook: a figure as PDF,
// SVG and PNG without title and caption, a table as CSV, and for both a float of LaTeX with the caption; a page of
// images as HTML.
func export(ctx context.Context, f Figure) error {
	if !cell.Exports() {
		return nil
	}
	files := map[string]string{}
	var title, float string
	switch f := f.figure().(type) {
	case figure:
		f.set.print, f.set.theme.Bare = true, true
		if inches, err := strconv.ParseFloat(os.Getenv(cell.ExportWidthVariable), 64); err == nil && inches > 0 {
			f.set.theme.Width = 96 * inches
		}
		d, err := f.draw(ctx)
		if err != nil {
			return err
		}
		s, err := d.scene()
		if err != nil {
			return fmt.Errorf("%s: %w", f.what, err)
		}
		data, err := s.pdf(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", f.what, err)
		}
		files["pdf"], files["svg"] = string(data), string(s.svg())
		data, err = s.png(ctx)
		var none unpaintable // a very long figure is too large for one
		if err == nil {
			files["png"] = string(data)
		} else if !errors.As(err, &none) {
			return fmt.Errorf("%s: %w", f.what, err)
		}
		fitted := ""
		if s.width > 648 {
			fitted = `[width=\linewidth]`
		}
		title = s.title
		float = "figure}\n\\centering\n\\includegraphics" + fitted + "{\\exportpath NAME.pdf}\n\\caption{" +
			latexText(s.description()) + "}\n\\label{fig:NAME}\n\\end{figure}\n"
	case Table:
		rows, err := f.Table.Rows(ctx)
		if err != nil {
			return err
		}
		f.Table = datasets.FromFrame(rows) // so that it runs once
		data, csvErr := f.csv(ctx)
		tabular, latexErr := f.latex(ctx)
		caption, captionErr := f.caption(ctx)
		if err := errors.Join(csvErr, latexErr, captionErr); err != nil {
			return err
		}
		files["csv"], title = data, f.Title
		float = "table}\n\\centering\n\\caption{" + caption + "}\n\\label{tab:NAME}\n" + tabular + "\\end{table}\n"
	case Browse:
		data, err := f.page(ctx, filepath.Dir(os.Getenv(cell.ExportVariable)))
		if err != nil {
			return err
		}
		files["html"], title = string(data), f.Title
	}
	if float != "" {
		files["tex"] = "\\providecommand\\exportpath{}\n\\begin{" + float
	}
	return cell.Export(title, files)
}
