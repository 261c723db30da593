package commands

import (
	"context"
	_ "embed" // the notebook's cells
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"antipode/kernel/jupyter"
	"antipode/kernel/jupyter/notebook"
)

// templateCells are the cells of a new notebook: each begins with a line "### TYPE [TAG]".
//
//go:embed template.txt
var templateCells string

// newNotebook writes a notebook to start from.
func newNotebook(_ context.Context, args []string) error {
	rest, err := parse(flags("new", ""), args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usage("new takes one name: antipode new NAME.ipynb")
	}
	path := rest[0]
	if filepath.Ext(path) == "" {
		path += ".ipynb"
	}
	if filepath.Ext(path) != ".ipynb" {
		return usage("%s: the name of a notebook ends in .ipynb", path)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; choose another name, or remove it", path)
	}
	if err != nil {
		return err
	}
	if _, err := f.Write(template().Encode()); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	fmt.Printf("wrote %s\n  run it:   antipode run %[1]s\n  open it:  antipode lab %[1]s\n", path)
	return nil
}

// template is the notebook that [newNotebook] writes.
func template() *notebook.Notebook {
	nb := &notebook.Notebook{Minor: 5, Metadata: map[string]any{
		"kernelspec": map[string]any{"name": jupyter.SpecName, "display_name": jupyter.DisplayName,
			"language": "go"},
		"language_info": map[string]any{"name": "go", "file_extension": ".go", "mimetype": "text/x-go"},
	}}
	for i, text := range strings.Split("\n"+templateCells, "\n### ")[1:] {
		head, source, _ := strings.Cut(text, "\n")
		kind, tag, _ := strings.Cut(head, " ")
		c := &notebook.Cell{Type: kind, ID: fmt.Sprintf("cell-%d", i+1), Source: strings.TrimSpace(source)}
		if tag != "" {
			c.Metadata = map[string]any{"tags": []any{tag}}
		}
		nb.Cells = append(nb.Cells, c)
	}
	return nb
}
