package plots_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
)

// TestBrowse writes a page from a table in memory; kernel/view tests what is in it.
func TestBrowse(t *testing.T) {
	t.Chdir(t.TempDir())
	empty := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"<b>"}),
		table.ImageColumn("image", make([]table.Image, 1)), table.TextColumn("outcome", []string{"refused"})}}
	f := plots.Browse{Table: datasets.FromFrame(empty), Title: "<i>", Path: "a b.html"}
	must.Do(t, plots.ShowE(t.Context(), f))
	shown := string(must.Get(os.ReadFile("a b.html"))(t))
	saved := filepath.Join(t.TempDir(), "page.html")
	must.Do(t, plots.SaveE(t.Context(), f, saved))
	if text := string(must.Get(os.ReadFile(saved))(t)); text != shown || strings.Contains(text, "<b>") ||
		strings.Contains(text, "<i>") || !strings.Contains(text, "refused") {
		t.Errorf("the page %.300s", text)
	}
	err := plots.SaveE(t.Context(), f, "page.svg")
	must.Fail(err)(t, "use the extension") // as SVG
	f.Table = f.Table.Head(0)
	if err = plots.ShowE(t.Context(), f); !errors.Is(err, plots.ErrNoData) {
		t.Errorf("no rows: %v", err)
	}
	f.Table = datasets.FromRows([]map[string]any{{"id": "a"}})
	must.Fail(plots.ShowE(t.Context(), f))(t, "no column of images") // no images
}
