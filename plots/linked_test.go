package plots_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
	"antipode/plots/browse"
)

// TestMarksSelectImages: each kind of figure has a mark for each row of its table, which selects the rows of the images
// that have its texts, in every spelling, and no others.
func TestMarksSelectImages(t *testing.T) {
	t.Chdir(t.TempDir())
	hostile := "<script>alert(1)</script>\"'&"
	image := table.ImageColumn("image", make([]table.Image, 4))
	images := datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("id", []string{"1", "2", "3", "4"}), image,
		table.TextColumn("region", []string{hostile, hostile, "e\u0301", "\u00e9"}),
		table.TextColumn("object", []string{"boat", "house", "boat", "house"})}})
	scores := datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("region", []string{hostile, "é", hostile, "é", "elsewhere"}),
		table.TextColumn("object", []string{"boat", "boat", "house", "house", "boat"}),
		table.NumberColumn("x", []float64{1, 2, 3, 4, 5}), table.NumberColumn("y", []float64{5, 4, 3, 2, 1})}})
	want := []map[string][]string{{"region": {hostile}, "object": {"boat"}},
		{"region": {"e\u0301", "\u00e9"}, "object": {"boat"}}, {"region": {hostile}, "object": {"house"}},
		{"region": {"e\u0301", "\u00e9"}, "object": {"house"}}, {"object": {"boat"}}}
	for name, f := range map[string]plots.Figure{
		"Bars": plots.Bars{Table: scores, Y: "x", MoreY: []string{"y"}, Panels: "object", Title: "Bars",
			Browse: images},
		"Forest":  plots.Forest{Table: scores, X: "x", Title: "Forest", Browse: images},
		"Heat":    plots.Heat{Table: scores, Value: "x", Title: "Heat", Browse: images},
		"Scatter": plots.Scatter{Table: scores, X: "x", Y: "y", Title: "Scatter", Browse: images},
		"Table":   plots.Table{Table: scores, Title: "Table", Browse: images},
	} {
		must.Do(t, plots.ShowE(t.Context(), f))
		files := must.Get(filepath.Glob(name + "-*.html"))(t)
		if len(files) != 1 {
			t.Fatalf("%s: files %q", name, files)
		}
		text := string(must.Get(os.ReadFile(files[0]))(t))
		_, data, _ := strings.Cut(text, `id="data">`)
		data, _, _ = strings.Cut(data, "</script>")
		var page browse.Page
		must.Do(t, json.Unmarshal([]byte(data), &page))
		each := 1
		if name == "Bars" {
			each = 2
		}
		must.True(t, len(page.Figure.Marks) == each*len(want) && !strings.Contains(text, "alert(1)</script>"),
			"%s: %d marks", name, len(page.Figure.Marks))
		for _, w := range want {
			n := 0
			for _, m := range page.Figure.Marks {
				if slices.Equal(m.Lists["region"], w["region"]) && slices.Equal(m.Lists["object"], w["object"]) {
					n++
				}
				if name != "Table" && !(m.X >= 0 && m.Y >= 0 && m.W > 0 && m.H > 0 && m.X+m.W <= 1 && m.Y+m.H <= 1) {
					t.Errorf("%s: mark %+v", name, m)
				}
			}
			must.True(t, n == each, "%s: %d marks of %v in %+v", name, n, w, page.Figure.Marks)
		}
	}
	// no column in common
	must.Fail(plots.ShowE(t.Context(), plots.Bars{Table: scores, Y: "x", X: "region", Series: "object",
		Browse: images.Select("id", "image")}))(t, "no text of the figure's table is in a column of that name")
}
