package commands

import (
	"context"
	_ "embed" // the notebook's cells
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"antipode/kernel/jupyter"
	"antipode/kernel/jupyter/notebook"
	"antipode/kernel/jupyter/runner"
)

// templateCells are the cells of a new notebook: each begins with a line "### TYPE [TAG]".
//
//go:embed template.txt
var templateCells string

// auditNotebooks are the notebooks of the audits by the audit's name, in the order of the help.
var auditNotebooks = [][2]string{{"dig", "decomposed_dig"}, {"indictti", "indictti"}, {"visage", "visage"},
	{"cococrola", "cococrola"}, {"entigen", "entigen"}}

// newNotebook writes a notebook to start from, or an audit's with parameters.
func newNotebook(_ context.Context, args []string) error {
	var o struct {
		Audit  string   `json:"audit" kind:"NAME" help:"write the notebook of the audit NAME: dig, indictti, visage, cococrola or entigen"`
		Images string   `json:"images" kind:"PATH" help:"with --audit: a folder or table of generated images, PATH, its parameter generator"`
		Params []string `json:"p" repeated:"true" kind:"name=value" help:"with --audit: a parameter of the notebook, name=value; may be given several times"`
	}
	fs := flags("new", "")
	addOwn(fs, &o)
	rest, err := parseN(fs, args, 1, "new takes one name: antipode new [--audit NAME] NAME.ipynb")
	if err != nil {
		return err
	}
	path := rest[0]
	if filepath.Ext(path) == "" {
		path += ".ipynb"
	}
	if filepath.Ext(path) != ".ipynb" {
		return usage("%s: the name of a notebook ends in .ipynb", path)
	}
	nb := template()
	switch {
	case o.Audit != "":
		if nb, err = auditNotebook(o.Audit, o.Images, o.Params); err != nil {
			return err
		}
	case o.Images != "" || o.Params != nil:
		return usage("--images and -p need --audit NAME")
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists; choose another name, or remove it", path)
	}
	if err != nil {
		return err
	}
	if _, err := f.Write(nb.Encode()); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	fmt.Printf("wrote %s\n  run it:   antipode run %[1]s\n  open it:  antipode lab %[1]s\n", path)
	return nil
}

// auditIndex is the place of an audit in auditNotebooks.
func auditIndex(audit string) (int, error) {
	var names []string
	for i, n := range auditNotebooks {
		if n[0] == audit || n[1] == audit {
			return i, nil
		}
		names = append(names, n[0])
	}
	return 0, usage("--audit %s: there is no such audit; use %s", audit, strings.Join(names, ", "))
}

// auditNotebook returns the notebook of an audit, which is part of the module, without outputs and with parameters.
func auditNotebook(audit, images string, params []string) (*notebook.Notebook, error) {
	at, err := auditIndex(audit)
	if err != nil {
		return nil, err
	}
	dir, err := moduleDir()
	if err != nil {
		return nil, err
	}
	nb, err := notebook.Read(filepath.Join(dir, "notebooks", auditNotebooks[at][1]+".ipynb"))
	if err != nil {
		return nil, err
	}
	for _, c := range nb.Cells {
		c.Outputs, c.ExecutionCount = nil, 0
	}
	if images != "" {
		if _, err := os.Stat(images); err != nil {
			return nil, usage("--images %s: there is no such file or folder", images)
		}
		full, err := filepath.Abs(images)
		if err != nil {
			return nil, err
		}
		params = append([]string{"generator=" + full}, params...)
	}
	err = runner.Inject(nb, params)
	var wrong *runner.UsageError
	if errors.As(err, &wrong) {
		return nil, usageError{err}
	}
	return nb, err
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
