package notebook

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// The bytes Jupyter writes come back as they were, unknown fields included.
func TestEncodeAsJupyter(t *testing.T) {
	want := must.Get(os.ReadFile("testdata/jupyter.ipynb"))(t)
	nb := must.Get(parse(want))(t)
	if got := nb.Encode(); !bytes.Equal(got, want) {
		path := filepath.Join(t.TempDir(), "got.ipynb")
		_ = os.WriteFile(path, got, 0o644)
		line := 1
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("line %d differs: got %q, want %q", line, got[max(0, i-40):min(len(got), i+40)],
					want[max(0, i-40):min(len(want), i+40)])
			}
			if got[i] == '\n' {
				line++
			}
		}
		t.Fatalf("got %d bytes, want %d", len(got), len(want))
	}
	must.Equal(t, nb.Cells[1].Source, "var n = 5 // 你好\n%%\nfmt.Println(n)\n", "source")
	must.True(t, nb.Cells[1].Tagged("parameters") && !nb.Cells[0].Tagged("parameters"), "tags are not read")
	if got := nb.Cells[1].Outputs[0].Text; !strings.HasPrefix(got, "one\ntwo \u2028three") {
		t.Errorf("stream is %q", got)
	}
}

func TestParseErrors(t *testing.T) {
	cell := func(c string) string { return `{"nbformat":4,"nbformat_minor":5,"metadata":{},"cells":[` + c + `]}` }
	for _, test := range []struct{ name, data, want string }{
		{"empty", "", "EOF"},
		{"no object", "[]", "array"},
		{"trailing", cell("") + "{}", "closing brace"},
		{"old", `{"nbformat":3,"nbformat_minor":0,"metadata":{},"worksheets":[]}`, "format 3"},
		{"no cells", `{"nbformat":4,"nbformat_minor":5,"metadata":{}}`, "cells is missing"},
		{"no type", cell(`{"source":"","metadata":{}}`), "cell 1: cell_type"},
		{"strange type", cell(`{"cell_type":"x","source":"","metadata":{}}`), `cell_type "x"`},
		{"source", cell(`{"cell_type":"raw","source":[1],"metadata":{}}`), "cell 1: source"},
		{"outputs", cell(`{"cell_type":"code","source":"","metadata":{},"outputs":{}}`), "cell 1: outputs"},
		{"output type", cell(`{"cell_type":"code","source":"","metadata":{},"outputs":[{"output_type":"x"}]}`),
			`cell 1, output 1: output_type "x"`},
		{"twice", cell(`{"cell_type":"raw","id":"a","source":"","metadata":{}},{"cell_type":"raw","id":"a","source":"","metadata":{}}`), `cell 2 has the id "a"`},
	} {
		_, err := parse([]byte(test.data))
		must.Is(err)(t, ErrFormat, test.want)
	}
	must.Is(Read(filepath.Join(t.TempDir(), "none.ipynb")))(t, os.ErrNotExist) // missing file
}

// Saving replaces a file at once and keeps its permissions; a failed save leaves no temporary file.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.ipynb")
	nb := &Notebook{Minor: 5, Cells: []*Cell{{Type: Markdown, ID: "a", Source: "x"}}}
	must.Do(t, os.WriteFile(path, []byte("old"), 0o600))
	must.Do(t, nb.Save(path))
	back, err := Read(path)
	if err != nil || back.Cells[0].Source != "x" {
		t.Fatalf("read back %v, %v", back, err)
	}
	must.Equal(t, must.Get(os.Stat(path))(t).Mode().Perm(), 0o600, "permissions")
	link := filepath.Join(t.TempDir(), "link.ipynb")
	must.Do(t, os.Symlink(path, link))
	nb.Cells[0].Source = "y"
	must.Do(t, nb.Save(link))
	must.True(t, must.Get(os.Lstat(link))(t).Mode()&os.ModeSymlink != 0, "the link is replaced")
	must.Equal(t, must.Get(Read(path))(t).Cells[0].Source, "y")
	must.Fail(nb.Save(filepath.Join(dir, "none", "a.ipynb")))(t) // saved into a folder that does not exist
	files, _ := os.ReadDir(dir)
	must.True(t, len(files) == 1, "left %v behind", files)
}
