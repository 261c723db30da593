package plots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/datasets/cell"
)

// export writes what [ShowE] shows into the folder of `antipode export`, if that runs the notebook: a figure as PDF,
// SVG and PNG without title and caption, a table as CSV, and for both a float of LaTeX with the caption.
func export(ctx context.Context, f Figure) error {
	dir := os.Getenv(cell.ExportVariable)
	if dir == "" {
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
		files["pdf"], files["svg"] = string(s.pdf()), string(s.svg())
		if data, err := s.png(s.theme.DPI); err == nil { // a very long figure is too large for one
			files["png"] = string(data)
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
	default:
		return nil
	}
	name, err := exportName(dir, title)
	if err != nil {
		return fmt.Errorf("cannot export: %w", err)
	}
	files["tex"] = "\\providecommand\\exportpath{}\n\\begin{" + strings.ReplaceAll(float, "NAME", name)
	for extension, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name+"."+extension), []byte(data), 0o644); err != nil {
			return fmt.Errorf("cannot export: %w", err)
		}
	}
	return nil
}

// exportName returns the name of the next figure of a folder: its number and its title in plain letters.
func exportName(dir, title string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	n := 1
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tex") {
			n++
		}
	}
	words := regexp.MustCompile(`[a-z0-9]+`).FindAllString(strings.ToLower(title), -1)
	name := fmt.Sprintf("%03d", n)
	for _, word := range words {
		if len(name)+len(word) > 48 {
			break
		}
		name += "-" + word
	}
	return name, nil
}
