package commands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"antipode/datasets/cell"
	"antipode/datasets/client"
	"antipode/internal/plaintext"
	"antipode/kernel/jupyter/runner"
)

const (
	exportArgs  = "NOTEBOOK --to DIR [--width INCHES] [-p name=value]…"
	exportIndex = "index.md"
	exportMark  = "Written by `antipode export`"
)

// exportNotebook runs a notebook and writes what it shows or prints into a folder: see package plots.
func exportNotebook(ctx context.Context, args []string) error {
	var dir string
	var width float64
	var params list
	fs := flags("export", "")
	fs.StringVar(&dir, "to", "", "the folder `DIR`: a new or an empty one, or that of an earlier export, which is "+
		"replaced")
	fs.Float64Var(&width, "width", 0, "of figures, in `INCHES`, 1 to 20; default as in the notebook")
	fs.Var(&params, "p", "a parameter, `name=value`; may be given several times")
	fs.Func("allow-exec", "a `PATH` of a program that cells may run as a model (exec:PATH); may be given several times",
		client.AllowExec)
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	switch {
	case len(rest) != 1 || dir == "":
		return usage("antipode export %s", exportArgs)
	case width != 0 && !(width >= 1 && width <= 20):
		return usage("--width %g: use 1 to 20 inches", width)
	}
	if err := missingNotebook("export", rest[0]); err != nil {
		return err
	}
	earlier, err := exported(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if earlier == nil { // the folder is known from now on, also if the run fails
		begun := exportMark + ": not finished.\n"
		if err := os.WriteFile(filepath.Join(dir, exportIndex), []byte(begun), 0o644); err != nil {
			return fmt.Errorf("export: %w", err)
		}
	}
	files, err := os.MkdirTemp(dir, ".export-")
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer os.RemoveAll(files)
	if files, err = filepath.Abs(files); err != nil { // cells have another working directory
		return err
	}
	for name, value := range map[string]string{cell.ExportVariable: files,
		cell.ExportWidthVariable: strconv.FormatFloat(width, 'g', -1, 64)} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	name := strings.TrimSuffix(filepath.Base(rest[0]), ".ipynb")
	o := runner.Options{Notebook: rest[0], Params: params, Out: filepath.Join(dir, name+".out.ipynb")}
	if err := execute(ctx, o); err != nil {
		return err
	}
	return publish(files, dir, name, earlier)
}

// exported lists the files of an earlier export in a folder. A folder with other content alone is an error: nothing in
// it would be safe to replace.
func exported(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, usage("--to %s: not a folder that can be read", dir)
	}
	index, err := os.ReadFile(filepath.Join(dir, exportIndex))
	if err != nil || !strings.Contains(string(index), exportMark) {
		return nil, usage("--to %s: the folder has other files; give a new one", dir)
	}
	var files []string
	for _, m := range regexp.MustCompile(`\]\((\d{3}[a-z0-9-]*\.[a-z]{3,4})\)`).FindAllStringSubmatch(string(index), -1) {
		files = append(files, m[1])
	}
	return files, nil
}

// publish moves the files of an export into its folder, writes the lists of them and removes those of an earlier export
// that are not replaced.
func publish(from, dir, notebook string, earlier []string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return errors.New("export: the notebook shows no figure and no table")
	}
	figures, tables, pages, last := 0, 0, 0, ""
	var page, tex strings.Builder
	title := strings.ReplaceAll(plaintext.OneLine(notebook), "`", "'")
	fmt.Fprintf(&page, "# Figures and tables of `%s`\n\n%s. In LaTeX: `\\newcommand\\exportpath{DIR/}` with this "+
		"folder, then `\\input{DIR/all}`, or one of the files; packages graphicx and booktabs.\n", title, exportMark)
	tex.WriteString("\\providecommand\\exportpath{}\n")
	for _, e := range entries { // sorted: by number, then csv, pdf, png, svg, tex
		stem := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
		kind := strings.TrimPrefix(filepath.Ext(e.Name()), ".")
		if stem != last {
			fmt.Fprintf(&page, "\n## %s\n\n", stem)
			last = stem
		}
		fmt.Fprintf(&page, "[%s](%s)\n", kind, e.Name())
		switch kind {
		case "pdf":
			figures++
		case "csv":
			tables++
		case "html":
			pages++
		case "svg":
			fmt.Fprintf(&page, "![](%s)\n", e.Name())
		case "tex":
			fmt.Fprintf(&tex, "\\input{\\exportpath %s}\n", stem)
		}
		if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
		earlier = slices.DeleteFunc(earlier, func(name string) bool { return name == e.Name() })
	}
	for _, name := range earlier {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for name, text := range map[string]string{"all.tex": tex.String(), exportIndex: page.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("wrote %s: figures %d, tables %d, pages %d\n", filepath.Join(dir, exportIndex), figures, tables,
		pages)
	return nil
}
