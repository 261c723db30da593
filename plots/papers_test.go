package plots_test

import (
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
)

func failure(f plots.Figure) error {
	_, err := plots.Render(f, "svg")
	return err
}

func drawSVG(t *testing.T, f plots.Figure) string {
	t.Helper()
	svg := must.Get(plots.Render(f, "svg"))(t)
	return string(svg)
}

// labels lists the texts of a drawing.
func labels(svg string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`<text[^>]*>([^<]*)</text>`).FindAllStringSubmatch(svg, -1) {
		out = append(out, m[1])
	}
	return out
}

func count(texts []string, want string) int {
	n := 0
	for _, s := range texts {
		if s == want {
			n++
		}
	}
	return n
}

func small(v ...float64) table.Column { return table.NumberColumn("v", v) }

func texts(name string, values ...string) table.Column { return table.TextColumn(name, values) }

// TestDenseHeat reads colors out of the image of a panel with 31 × 31 cells: one scale over all panels, cells
// at the position of their names, a missing one hatched.
func TestDenseHeat(t *testing.T) {
	codes, _ := indic()
	cells := frame("model:text", "a:text", "b:text", "v:number")
	for m := range 2 {
		for i := range codes {
			for j := range codes {
				x := 0.0
				switch {
				case m == 0 && i == 3 && j == 20:
					x = 0.5
				case m == 1 && i == 30 && j == 0:
					x = 1
				case m == 1 && i == 5 && j == 6:
					x = math.NaN()
				}
				cells.Add([]string{fmt.Sprint("model ", m), codes[i], codes[j]}, x)
			}
		}
	}
	svg := drawSVG(t, plots.Heat{
		Table:   datasets.FromFrame(cells),
		Value:   "v",
		Rows:    "a",
		Columns: "b",
		Panels:  "model",
	})
	found := regexp.MustCompile(`base64,([^"]+)"`).FindAllStringSubmatch(svg, -1)
	if len(found) != 2 {
		t.Fatalf("%d images of cells, want one for each panel", len(found))
	}
	for m, f := range found {
		data := must.Get(base64.StdEncoding.DecodeString(f[1]))(t)
		img := must.Get(png.Decode(strings.NewReader(string(data))))(t)
		high, paper := plots.DefaultTheme().High, plots.DefaultTheme().Paper
		mid := func(a, b uint8) uint8 { return uint8((int(a) + int(b) + 1) / 2) }
		half := color.NRGBA{mid(high.R, paper.R), mid(high.G, paper.G), mid(high.B, paper.B), 255}
		for _, cell := range []struct {
			model, row, column int
			want               color.NRGBA
		}{{0, 3, 20, half}, {1, 30, 0, high}, {1, 3, 20, paper}, {0, 30, 0, paper}, {0, 20, 3, paper}} {
			if cell.model == m {
				if got := center(img, cell.row, cell.column, len(codes)); !close3(got, cell.want) {
					t.Errorf("model %d, row %d, column %d: %v, want %v", m, cell.row, cell.column, got, cell.want)
				}
			}
		}
	}
	// rows once, columns below both panels
	if words := labels(svg); count(words, "sat_Olck") != 3 || count(words, "hin_Deva") != 3 {
		t.Errorf("names of languages are missing: %q", words)
	}
	must.Has(t, svg, "No data: kan_Knda × mal_Mlym.") // the missing pair is named
}

func center(img image.Image, row, column, of int) color.Color {
	s := img.Bounds().Size()
	return img.At((2*column+1)*s.X/(2*of), (2*row+1)*s.Y/(2*of))
}

func close3(a, b color.Color) bool {
	r, g, bl, _ := a.RGBA()
	r2, g2, b2, _ := b.RGBA()
	d := func(x, y uint32) bool { return math.Abs(float64(x>>8)-float64(y>>8)) <= 1 }
	return d(r, r2) && d(g, g2) && d(bl, b2)
}

// TestHeatGroups checks the order of names, the lines between groups and the struck cells of a small heat table.
func TestHeatGroups(t *testing.T) {
	tab := made(texts("a", "x", "x", "x", "y", "y", "y", "z", "z", "z"), texts("b", "x", "y", "z", "x", "y", "z", "x",
		"y", "z"),
		texts("ga", "one", "one", "one", "two", "two", "two", "one", "one", "one"),
		texts("gb", "one", "two", "one", "one", "two", "one", "one", "two", "one"),
		texts("kind", "self", "pair", "pair", "pair", "self", "pair", "pair", "pair", "self"),
		small(9, 2, 3, 2, 8, 4, 3, 4, 7))
	svg := drawSVG(t, plots.Heat{
		Table:        tab,
		Value:        "v",
		Rows:         "a",
		Columns:      "b",
		RowGroups:    "ga",
		ColumnGroups: "gb",
		Hatched:      plots.Match{Column: "kind", Value: "self"},
	})
	order := regexp.MustCompile(`text-anchor="end">([xyz])<`).FindAllStringSubmatch(svg, -1)
	var got string
	for _, m := range order {
		got += m[1]
	}
	if got != "yzx" { // drawn from the lowest up: x and z are of one group
		t.Errorf("rows from below: %q, want yzx", got)
	}
	if n := strings.Count(svg, `stroke-width="0.8"`); n != 3+2 { // and the key's frame and line
		t.Errorf("%d struck cells and keys, want 5", n)
	}
	must.Fail(failure(plots.Heat{
		Table:     made(texts("a", "x", "x"), texts("b", "p", "q"), texts("g", "one", "two"), small(1, 2)),
		Value:     "v",
		RowGroups: "g",
	}))(t, `"x" is in two groups`) // a name in two groups
}

// TestHeatTotals adds up counts that are known, one of them missing.
func TestHeatTotals(t *testing.T) {
	tab := made(texts("human", "m", "m", "w", "w"), texts("clip", "m", "w", "m", "w"), small(30, 5, math.NaN(), 25))
	svg := drawSVG(t, plots.Heat{Table: tab, Value: "v", Rows: "human", Columns: "clip", Totals: true})
	words := labels(svg)
	for _, want := range []string{"35", "60", "total"} {
		must.True(t, count(words, want) != 0, "no %q among %q", want, words)
	}
	if count(words, "30") != 4 || count(words, "25") != 2 { // end of the scale, cell and two sums; cell and sum
		t.Errorf("sums of rows and columns: %q", words)
	}
	must.Has(t, svg, "55 of 60 agree (91.7 %).") // the share on the diagonal
}

// TestScatterFits finds the line of a fit and its texts in the panel they belong to.
func TestScatterFits(t *testing.T) {
	points := made(texts("pair", "p", "p", "q", "q"), texts("name", "a", "b", "a", "b"),
		table.NumberColumn("x", []float64{0, 1, 0, 1}), table.NumberColumn("y", []float64{0, 0.5, 0.25, 0.75}))
	fits := made(texts("pair", "q", "p"), table.NumberColumn("pearson", []float64{0.25, -0.5}),
		table.NumberColumn("r_squared", []float64{0.0625, math.NaN()}),
		table.NumberColumn("slope", []float64{0, 2}), table.NumberColumn("intercept", []float64{0.5, 0}))
	svg := drawSVG(t, plots.Scatter{
		Table:   points,
		X:       "x",
		Y:       "y",
		Panels:  "pair",
		XLimits: plots.Range{High: 1},
		YLimits: plots.Range{High: 1},
		Fits:    fits,
	})
	words := labels(svg)
	must.True(t, count(words, "r = 0.25") == 1 && count(words, "r = -0.50") == 1 && count(words, "r² = 0.06") == 1,
		"texts of the fits: %q", words)
	var lines [][4]float64
	for _, m := range regexp.MustCompile(
		`<path d="M([0-9.]+) ([0-9.]+)L([0-9.]+) ([0-9.]+)" stroke="#222222" stroke-width="1.2"/>`).FindAllStringSubmatch(svg, -1) {
		var l [4]float64
		for i := range l {
			fmt.Sscan(m[i+1], &l[i])
		}
		lines = append(lines, l)
	}
	if len(lines) != 2 {
		t.Fatalf("%d lines, want 2:\n%v", len(lines), lines)
	}
	if l := lines[1]; l[1] != l[3] || l[2]-l[0] < 200 {
		t.Errorf("a slope of 0 is drawn from %v", l)
	}
	// y = 2x leaves the panel at x = 0.5
	if p, q := lines[0], lines[1]; math.Abs((p[2]-p[0])*2-(q[2]-q[0])) > 0.05 || p[3] >= p[1] {
		t.Errorf("y = 2x is drawn from %v, the other line from %v", p, q)
	}
	for want, bad := range map[string]datasets.Table{
		`is the second for its panel`: made(texts("pair", "p", "p"), table.NumberColumn("pearson", []float64{1, 1})),
		`"pair"`:                      made(texts("other", "p"), table.NumberColumn("pearson", []float64{1})),
		`none of the number columns`:  made(texts("pair", "p"), table.NumberColumn("r", []float64{1})),
	} {
		must.Fail(failure(plots.Scatter{Table: points, X: "x", Y: "y", Panels: "pair", Fits: bad}))(t, want, "Fits")
	}
}

// TestPercent compares a figure in percent with the same numbers given times 100.
func TestPercent(t *testing.T) {
	shares := made(texts("name", "a", "b"), small(0.125, 0.5), table.NumberColumn("v_low", []float64{0.1, 0.4}),
		table.NumberColumn("v_high", []float64{0.2, 0.6}))
	percents := made(texts("name", "a", "b"), small(12.5, 50), table.NumberColumn("v_low", []float64{10, 40}),
		table.NumberColumn("v_high", []float64{20, 60}))
	if a, b := drawSVG(t, plots.Bars{
		Table:   shares,
		Y:       "v",
		Percent: true,
	}), drawSVG(t, plots.Bars{Table: percents, Y: "v"}); a != b {
		t.Error("Percent draws other bars than 100 times the values")
	}
}

// TestLinesOverNames puts names side by side in their order, breaks at a missing value and refuses two values in one
// place.
func TestLinesOverNames(t *testing.T) {
	tab := made(texts("language", "en", "hi", "ta"), small(0.9, math.NaN(), 0.4))
	svg := drawSVG(t, plots.Lines{
		Table: tab,
		X:     "language",
		Y:     "v",
		Order: plots.Order{"language": {"ta", "en", "hi"}},
	})
	must.Has(t, strings.Join(labels(svg), "|"), "ta|en|hi")
	must.True(t, strings.Contains(svg, "No data: hi.") || strings.Contains(svg, "No data: at hi."),
		"the missing value is not named")
	twice := made(texts("language", "en", "en"), small(1, 2))
	// two values in one place
	must.Fail(failure(plots.Lines{Table: twice, X: "language", Y: "v"}))(t, "two rows for en")
}

// TestBarsLeftOut counts what Limit leaves out, and finds names only in the panels that have them.
func TestBarsLeftOut(t *testing.T) {
	tab := made(texts("name", "a", "b", "c", "d"), small(1, 4, 3, 2))
	svg := drawSVG(t, plots.Bars{Table: tab, Y: "v", Horizontal: true, Sorted: true, Limit: 2})
	words := labels(svg)
	if count(words, "b") != 1 || count(words, "c") != 1 || count(words, "a")+count(words, "d") != 0 ||
		!strings.Contains(svg, "2 of 4") {
		t.Errorf("the two largest: %q", words)
	}
	words = labels(drawSVG(t, plots.Bars{
		Table:   made(texts("axis", "g", "g", "k"), texts("name", "suit", "scarf", "bride"), small(0.1, -0.2, 0.3)),
		X:       "name",
		Y:       "v",
		Panels:  "axis",
		YLimits: plots.Range{Low: -1, High: 1},
	}))
	must.Equal(t, count(words, "bride"), 1, words)
	must.Equal(t, count(words, "suit"), 1, words)
}

// TestJoinedIntervals checks that the caption reports intervals that are not drawn.
func TestJoinedIntervals(t *testing.T) {
	tab := made(texts("name", "a", "a"), texts("of", "x", "y"), small(1, 2),
		table.NumberColumn("v_low", []float64{0, 1}), table.NumberColumn("v_high", []float64{2, 3}))
	svg := drawSVG(t, plots.Forest{Table: tab, X: "v", Y: "name", Series: "of", Joined: true})
	if strings.Contains(svg, "No intervals in the table") ||
		!strings.Contains(svg, "The table has intervals; they are not drawn.") {
		t.Errorf("caption: %q", labels(svg))
	}
}

// TestStackedHistogram measures that stacked series end where their sum does.
func TestStackedHistogram(t *testing.T) {
	tab := made(texts("s", "a", "a", "b", "b", "b"), small(0.1, 0.9, 0.1, 0.1, 0.9))
	svg := drawSVG(t, plots.Histogram{
		Table:   tab,
		X:       "v",
		Series:  "s",
		Bins:    2,
		Stacked: true,
		XLimits: plots.Range{High: 1},
	})
	if words := labels(svg); count(words, "3") == 0 { // 1 + 2 in the left bin
		t.Errorf("the axis ends below the sum: %q", words)
	}
	plain := drawSVG(t, plots.Histogram{Table: tab, X: "v", Series: "s", Bins: 2, XLimits: plots.Range{High: 1}})
	must.Equal(t, count(labels(plain), "3"), 0, "the axis of unstacked series reaches their sum")
}

// TestRankedGrid orders rows by their number, and refuses a number that differs within a row.
func TestRankedGrid(t *testing.T) {
	words := labels(drawSVG(t, plots.Grid{Table: ranked(), Rows: "concept", RowValue: "Xc", Sorted: true}))
	last := math.Inf(1)
	n := 0
	for _, w := range words {
		var v float64
		if _, err := fmt.Sscanf(w, "Xc %f", &v); err == nil {
			if n++; v > last {
				t.Errorf("%g comes after %g", v, last)
			}
			last = v
		}
	}
	must.Equal(t, n, 5, "rows have a number, want 5", words)
	must.Fail(failure(plots.Grid{
		Table:    photos(),
		Rows:     "region",
		RowValue: "distance",
	}))(t, `"distance" differs within the row`) // a number that differs
	must.Fail(failure(plots.Grid{
		Table: boxed(),
		Box:   plots.Box{Left: "box_left", Top: "box_top", Right: "box_right", Bottom: "box_bottom"},
	}))(t, "size above 0") // boxes without a size
}

// TestMissingColumns sets fields to a column that does not exist, and to one without a value.
func TestMissingColumns(t *testing.T) {
	tab := made(texts("a", "x", "y"), texts("b", "p", "q"), small(1, 2),
		table.NumberColumn("none", []float64{math.NaN(), math.NaN()}))
	for name, f := range map[string]plots.Figure{
		"shade":     plots.Scatter{Table: tab, X: "v", Y: "v", Shade: "nosuch"},
		"groups":    plots.Heat{Table: tab, Value: "v", RowGroups: "nosuch"},
		"hatched":   plots.Heat{Table: tab, Value: "v", Hatched: plots.Match{Column: "nosuch", Value: "x"}},
		"crossed":   plots.Forest{Table: tab, X: "v", Crossed: plots.Match{Column: "nosuch", Value: "x"}},
		"values":    plots.Lines{Table: tab, X: "a", Y: "v", MoreY: []string{"nosuch"}},
		"joined":    plots.Forest{Table: tab, X: "v", MoreX: []string{"nosuch"}, Joined: true},
		"row value": plots.Grid{Table: photos(), Rows: "region", RowValue: "nosuch"},
		"boxes": plots.Grid{
			Table: photos(),
			Box:   plots.Box{Left: "nosuch", Top: "distance", Right: "distance", Bottom: "distance", Size: 100},
		},
		"blocks": plots.Grid{Table: photos(), Blocks: "nosuch"},
	} {
		if _, err := plots.Render(f, "svg"); err == nil || !strings.Contains(err.Error(), `"nosuch"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]plots.Figure{"heat": plots.Heat{Table: tab, Value: "none", Totals: true},
		"shade": plots.Scatter{Table: tab, X: "v", Y: "v", Shade: "none"}, "lines": plots.Lines{
			Table: tab,
			X:     "a",
			Y:     "none",
		},
		"joined":  plots.Forest{Table: tab, X: "none", Joined: true},
		"stacked": plots.Histogram{Table: tab, X: "none", Stacked: true}} {
		if _, err := plots.Render(f, "svg"); !errors.Is(err, plots.ErrNoData) {
			t.Errorf("%s without a value: %v", name, err)
		}
	}
}

// TestHostileMarks draws further figures from hostile names: well-formed, and as text.
func TestHostileMarks(t *testing.T) {
	tab, bad := hostileTable(), hostile[0]
	for name, f := range map[string]plots.Figure{
		"heat panels": plots.Heat{
			Table:     tab,
			Value:     "v",
			Rows:      "region",
			Columns:   "role",
			RowGroups: "id",
			Panels:    "source",
			Hatched:   plots.Match{Column: "interval", Value: bad},
			Title:     bad,
		},
		"totals": plots.Heat{Table: tab, Value: "v", Rows: "region", Columns: "source", Totals: true},
		"shade": plots.Scatter{
			Table: tab,
			X:     "v",
			Y:     "x",
			Label: "region",
			Shade: "v",
			Lines: []plots.Line{{Slope: 1, Name: bad}},
		},
		"names": plots.Lines{
			Table:  tab,
			X:      "region",
			Y:      "v",
			MoreY:  []string{"x"},
			Series: "role",
			Panels: "score",
			Names:  map[string]string{"x": bad},
		},
		"joined": plots.Forest{Table: tab, X: "v", Y: "region", Series: "role", Joined: true},
		"ranked": plots.Grid{Table: tab, Rows: "region", Blocks: "role", RowValue: "v", Sorted: true},
	} {
		svg := drawSVG(t, f)
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		must.True(t, !strings.Contains(svg, "<script") && strings.Contains(svg, "&lt;script&gt;"),
			"%s: the hostile name is not text", name)
		page, err := plots.Text(f, "html")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		inert(t, name, page)
	}
}

// TestPerceived finds no bare gender or skin color in what the examples of ENTIGEN show.
func TestPerceived(t *testing.T) {
	bare := regexp.MustCompile(
		`(?i)(perceived (?:as an? |as )?|irrespective of their |, as )?\b(gender|skin|m[ae]n|wom[ae]n|light-skinned|dark-skinned)\b`)
	if bare.FindStringSubmatch("bias by gender")[1] != "" {
		t.Fatal("the pattern takes a bare word for a perceived one")
	}
	checked := 0
	for name, svg := range galleryImages(t) {
		if !strings.HasPrefix(name, "entigen") {
			continue
		}
		checked++
		for _, m := range bare.FindAllStringSubmatch(strings.Join(labels(string(svg)), " "), -1) {
			must.True(t, m[1] != "", "%s: %q without perceived", name, m[0])
		}
	}
	must.True(t, checked >= 4, "only %d images of ENTIGEN", checked)
}

// TestGalleryTotal limits all images together to 1.5 MB.
func TestGalleryTotal(t *testing.T) {
	sum := 0
	for _, p := range galleryImages(t) {
		sum += len(p)
	}
	must.True(t, sum <= 1_500_000, "%d bytes of images", sum)
	if _, err := os.Stat(gallery + ".md"); err != nil {
		t.Error(err)
	}
}
