//go:build chromium

package plots_test

import (
	"image"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
	"antipode/test/chromium"

	"image/png"
)

// TestChromium clicks the marks of a figure and of a table on their pages: the images of the group are shown, the
// address holds it, and a second click shows all. Nothing of hostile names runs.
func TestChromium(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	hostile := "<img src=x onerror=alert(1)>"
	file := must.Get(os.Create("a.png"))(t)
	must.Do(t, png.Encode(file, image.NewGray(image.Rect(0, 0, 40, 30))))
	must.Do(t, file.Close())
	one := table.Image{Path: filepath.Join(dir, "a.png"), SHA256: "a"}
	images := datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("id", []string{"1", "2", "3"}), table.ImageColumn("image", []table.Image{one, one, one}),
		table.TextColumn("region", []string{hostile, "south", "south"})}})
	scores := datasets.FromFrame(&table.Frame{Columns: []table.Column{
		table.TextColumn("region", []string{hostile, "south", "none"}), table.NumberColumn("x", []float64{1, 2, 3})}})
	b := chromium.New(t)
	for name, f := range map[string]plots.Figure{
		"Bars":  plots.Bars{Table: scores, Y: "x", Title: "Bars", Browse: images},
		"Table": plots.Table{Table: scores, Title: "Table", Browse: images},
	} {
		must.Do(t, plots.ShowE(t.Context(), f))
		page := filepath.Join(dir, must.Get(filepath.Glob(name + "-*.html"))(t)[0])
		b.Open((&url.URL{Scheme: "file", Path: page}).String())
		b.Wait("document.querySelectorAll('.tile').length === 3")
		count := "document.getElementById('count').textContent"
		b.Click("#figure button:nth-of-type(1)")
		b.Wait(count + " === '1 of 3 rows' && decodeURIComponent(location.hash).includes('onerror=alert')")
		b.Wait("document.querySelectorAll('#figure button[aria-pressed=true]').length === 1")
		b.Eval("[...document.querySelectorAll('#figure button')][1].focus() ?? 0", new(any))
		b.Press("Enter")
		b.Wait(count + " === '2 of 3 rows'")
		b.Press("Enter")
		b.Wait(count + " === '3 rows'")
		b.Wait("[...document.querySelectorAll('#figure button')][2].disabled")
		must.Equal(t, b.Serious(), "", name, "axe-core")
	}
	for _, r := range b.Requests {
		u := must.Get(url.Parse(r))(t)
		must.True(t, u.Scheme == "file" || u.Scheme == "data", "a page requested %s", r)
	}
}
