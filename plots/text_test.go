package plots_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
	"antipode/plots/internal/letters"
)

// hostile are names that would break out of a page, a drawing or a layout.
var hostile = []string{
	`<script>alert(1)</script>`, `]]>"'><img src=x onerror=alert(1)>`, `</text></svg><svg onload=alert(1)>`,
	"&amp;&lt; \x00\x07 \xff\xfe bad bytes",
	strings.Repeat("very long ", 40), strings.Repeat("Donaudampfschifffahrt", 10), "שלום עולם \u202e evil",
	"मानक हिन्दी", "中文字符", "line\nbreak\ttab",
}

// hostileTable has a hostile name in every text column, an image in every row and numbers for every figure.
func hostileTable() datasets.Table {
	f, err := photos().Rows(context.Background())
	if err != nil {
		panic(err)
	}
	n := len(hostile)
	rows := make([]int, 2*n)
	var name, other, role []string
	var v, low, high, x []float64
	for i := range rows {
		rows[i] = i % f.Len()
		name, other = append(name, hostile[i%n]), append(other, hostile[(i/n)*3])
		role = append(role, []string{"reference", "match"}[i/n])
		v, x = append(v, 0.1+0.04*float64(i)), append(x, float64(i))
		low, high = append(low, v[i]-0.05), append(high, v[i]+0.05)
	}
	out := f.Pick(rows).With(table.TextColumn("id", name), table.TextColumn("region", name),
		table.TextColumn("source", other),
		table.TextColumn("role", role), table.TextColumn("group", name), table.TextColumn("interval", name),
		table.NumberColumn("v", v), table.NumberColumn("v_low", low), table.NumberColumn("v_high", high),
		table.NumberColumn("x", x))
	return datasets.FromFrame(out)
}

// with sets the text fields that a figure has to hostile texts.
func with[F plots.Figure](f F) F {
	v := reflect.ValueOf(&f).Elem()
	mark := plots.Mark{At: 0.3, Name: hostile[1]}
	for name, value := range map[string]any{"Title": hostile[0], "Note": hostile[1], "XLabel": hostile[0],
		"YLabel": hostile[2], "Interval": hostile[2], "References": []plots.Mark{mark}, "Reference": mark} {
		if field := v.FieldByName(name); field.IsValid() {
			field.Set(reflect.ValueOf(value))
		}
	}
	return f
}

func hostileFigures() map[string]plots.Figure {
	t, bad := hostileTable(), hostile[0]
	return map[string]plots.Figure{
		"bars":       with(plots.Bars{Table: t, Y: "v", X: "region", Series: "source"}),
		"panels":     with(plots.Bars{Table: t, Y: "v", X: "region", Panels: "source", Sorted: true}),
		"bars plain": plots.Bars{Table: t, Y: "v", X: "region", Series: "source"},
		"scatter":    with(plots.Scatter{Table: t, X: "v", Y: "x", Label: "region", Panels: "source"}),
		"heat":       with(plots.Heat{Table: t, Value: "v", Rows: "region", Columns: "source"}),
		"heat wide":  with(plots.Heat{Table: t, Value: "v", Rows: "source", Columns: "region"}),
		"forest":     with(plots.Forest{Table: t, X: "v", Y: "region", Series: "source"}),
		"forests": with(plots.Forest{Table: t, X: "v", Y: "region", Panels: "source",
			XLimits: plots.Range{Low: -0.7512, High: 0.7512}}),
		"histogram":  with(plots.Histogram{Table: t, X: "v", Series: "source"}),
		"lines":      with(plots.Lines{Table: t, X: "x", Y: "v", Series: "source"}),
		"grid":       with(plots.Grid{Table: t, Captions: []string{"region", "v"}, Rows: "region", Columns: "source"}),
		"grid lines": with(plots.Grid{Table: t, Captions: []string{"id", "interval"}}),
		"segments":   with(plots.Segments{Table: t, Captions: []string{"region"}}),
		"gallery": with(plots.Gallery{Table: t, Blocks: "source", Captions: []string{"region"}, ReferenceLabel: bad,
			MatchLabel: bad}),
	}
}

// TestHostileText draws every figure from hostile names: the SVG is well formed, its texts are text, no element and
// no attribute can run or fetch anything.
func TestHostileText(t *testing.T) {
	elements := map[string]bool{"svg": true, "title": true, "desc": true, "rect": true, "path": true, "circle": true,
		"text": true, "image": true}
	for name, f := range hostileFigures() {
		svg, err := plots.Render(f, "svg")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		chars := ""
		d := xml.NewDecoder(bytes.NewReader(svg))
		for {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			switch v := token.(type) {
			case xml.StartElement:
				must.True(t, elements[v.Name.Local], "%s: element <%s>", name, v.Name.Local)
				for _, a := range v.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" &&
						!strings.HasPrefix(a.Value, "data:image/jpeg;base64,") || a.Name.Local == "style" {
						t.Errorf("%s: attribute %s=%.40q", name, a.Name.Local, a.Value)
					}
				}
			case xml.CharData:
				chars += string(v)
			}
		}
		must.True(t, strings.Contains(chars, "<script>alert(1)</script>") || strings.Contains(chars, "<script>"),
			"%s: the hostile name is not in the image as text", name)
		page, err := plots.Text(f, "html")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		inert(t, name, page)
	}
}

// inert checks that HTML holds no element or attribute that can run or fetch anything.
func inert(t *testing.T, name, page string) {
	t.Helper()
	tokens := html.NewTokenizer(strings.NewReader(page))
	allowed := " figure figcaption table thead tbody tr td th caption div img bdi "
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return
		}
		token := tokens.Token()
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		must.True(t, strings.Contains(allowed, " "+token.Data+" "), "%s: element <%s>", name, token.Data)
		for _, a := range token.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/") ||
				a.Key == "href" || a.Key == "style" && strings.Contains(a.Val, "url(") {
				t.Errorf("%s: attribute %s=%.40q", name, a.Key, a.Val)
			}
		}
	}
}

// TestTextStaysText checks that scripts the built-in font lacks are in the SVG as they are, with a generic family to
// fall back to.
func TestTextStaysText(t *testing.T) {
	svg := must.Get(plots.Render(plots.Heat{
		Table:   languages(12),
		Value:   "similarity",
		Rows:    "object",
		Columns: "language",
	}, "svg"))(t)
	for _, want := range []string{">हिन्दी</text>",
		` direction="rtl" font-family="&#39;Liberation Sans&#39;,Arial,Helvetica,&#39;Noto Sans&#39;,&#39;Noto Sans Arabic&#39;,sans-serif">العربية</text>`,
		`&#39;Noto Sans Devanagari&#39;,sans-serif">हिन्दी<`,
		`&#39;Noto Sans SC&#39;,&#39;Noto Sans CJK SC&#39;,sans-serif">中文<`, ",sans-serif\">\n<title>"} {
		must.Has(t, string(svg), want)
	}
}

// textElement is a <text> that is not turned.
var textElement = regexp.MustCompile(
	`<text x="([-0-9.]+)" y="([-0-9.]+)" font-size="([0-9.]+)" fill="[^"]*"( font-weight="bold")?(?: text-anchor="(\w+)")?( direction="rtl")?(?: font-family="[^"]*")?>([^<]*)</text>`)

// TestNothingOverlaps checks in every image of the gallery, and in the hostile ones, that no two texts overlap and none
// leaves the paper.
func TestNothingOverlaps(t *testing.T) {
	check := func(name string, svg []byte) {
		size := regexp.MustCompile(`viewBox="0 0 ([0-9.]+) ([0-9.]+)"`).FindSubmatch(svg)
		width, _ := strconv.ParseFloat(string(size[1]), 64)
		height, _ := strconv.ParseFloat(string(size[2]), 64)
		type box struct {
			l, t, r, b float64
			text       string
		}
		var boxes []box
		for _, m := range textElement.FindAllSubmatch(svg, -1) {
			x, _ := strconv.ParseFloat(string(m[1]), 64)
			y, _ := strconv.ParseFloat(string(m[2]), 64)
			size, _ := strconv.ParseFloat(string(m[3]), 64)
			w := letters.Exact(html.UnescapeString(string(m[7])), size, len(m[4]) > 0)
			switch from, right := string(m[5]), len(m[6]) > 0; {
			case from == "middle":
				x -= w / 2
			case (from == "end") != right:
				x -= w
			}
			b := box{x, y - 0.7*size, x + w, y, string(m[7])}
			must.True(t, b.l >= -0.5 && b.r <= width+0.5 && b.t >= 0 && b.b <= height,
				"%s: %q leaves the paper: %.0f to %.0f of %.0f × %.0f", name, b.text, b.l, b.r, width, height)
			for _, o := range boxes {
				if b.l < o.r && o.l < b.r && b.t < o.b && o.t < b.b {
					t.Errorf("%s: %q overlaps %q", name, b.text, o.text)
				}
			}
			boxes = append(boxes, b)
		}
		must.True(t, len(boxes) >= 3, "%s: only %d texts found", name, len(boxes))
	}
	for name, f := range hostileFigures() {
		svg := must.Get(plots.Render(f, "svg"))(t)
		check("hostile "+name, svg)
	}
	for name, svg := range galleryImages(t) {
		check(name, svg)
	}
}

func TestWrapKeepsAllText(t *testing.T) {
	for _, text := range hostile {
		clean := strings.Join(strings.Fields(text), "")
		must.Equal(t, strings.ReplaceAll(strings.Join(letters.Wrap(text, 12, false, 80), ""), " ", ""), clean, "became")
		got := letters.Fit(text, 12, false, 60)
		must.True(t, letters.Exact(got, 12, false) <= 60, "%q does not fit", got)
	}
}

// TestAxis checks properties of number axes: ticks rise, are on the axis and distinct, and a fixed axis labels both
// ends.
func TestAxis(t *testing.T) {
	for _, c := range []struct{ low, high float64 }{{0, 1}, {0.352, 0.617}, {-0.17, 0.03}, {3, 3}, {0, 0}, {1e-7, 3e-7},
		{-5e8, 2e9}, {0.999, 1.001}, {0.3, 0.9}, {0.15, 0.85}, {0.3, 0.1 + 0.2}, {0.5, math.Nextafter(0.5, 1)}} {
		for _, n := range []int{2, 4, 5, 8} {
			ends, at, names := plots.Ticks(c.low, c.high, plots.Range{}, n)
			must.True(t, ends[0] <= c.low && ends[1] >= c.high && len(at) >= 2 && len(at) <= n+3,
				"%v, %d ticks: axis %v with %v", c, n, ends, names)
			for i := range at {
				if i > 0 && (at[i] <= at[i-1] || names[i] == names[i-1]) || at[i] < ends[0]-1e-9*math.Abs(ends[0]) ||
					at[i] > ends[1]+1e-9*math.Abs(ends[1]) {
					t.Errorf("%v: ticks %v", c, names)
				}
				written, err := strconv.ParseFloat(names[i], 64)
				must.True(t, err == nil && math.Abs(written-at[i]) <= 1e-6*max(math.Abs(at[i]), ends[1]-ends[0]),
					"%v: tick %g is written %s", c, at[i], names[i])
			}
		}
	}
	// limits that round numbers divide have ticks of one distance, with equal decimals
	for _, c := range []struct {
		limits plots.Range
		want   string
	}{{plots.Range{Low: -2, High: 10}, "[-2 0 2 4 6 8 10]"},
		{plots.Range{Low: -4, High: 12}, "[-4 -2 0 2 4 6 8 10 12]"},
		{plots.Range{Low: -0.2, High: 1}, "[-0.2 0.0 0.2 0.4 0.6 0.8 1.0]"},
		{plots.Range{High: 1}, "[0.0 0.2 0.4 0.6 0.8 1.0]"}} {
		_, _, names := plots.Ticks(0, 0, c.limits, 5)
		must.Equal(t, fmt.Sprint(names), c.want)
	}
	ends, at, _ := plots.Ticks(0, 0, plots.Range{Low: 0.13, High: 0.88}, 5)
	must.True(t, ends == [2]float64{0.13, 0.88} && at[0] == 0.13 && at[len(at)-1] == 0.88,
		"fixed ends: %v, ticks %v", ends, at)
	for high := 1; high < 40; high++ {
		for n := 2; n < 9; n++ {
			ends, at, names := plots.WholeTicks(0, float64(high), n)
			for i := range at {
				must.True(t, at[i] == math.Trunc(at[i]) && len(at) >= 2 && len(at) <= n+3 && ends[1] >= float64(high),
					"counts up to %d, %d ticks: %v to %v", high, n, names, ends)
			}
		}
	}
}

// TestErrors checks that each mistake is one line that names the offending value, returned when the figure is drawn and
// not before.
func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	frame := func(names []string, v ...float64) datasets.Table {
		return made(texts("region", names...), small(v...), table.NumberColumn("v_low", v),
			table.NumberColumn("v_high", v))
	}
	two := []string{"Esk", "Dorn"}
	down := made(texts("region", two...), small(1, 2), table.NumberColumn("v_low", []float64{0, 3}),
		table.NumberColumn("v_high", []float64{2, 1}))
	many := make([]string, 9)
	for i := range many {
		many[i] = fmt.Sprint("s", i)
	}
	for name, c := range map[string]struct {
		figure plots.Figure
		want   string
		is     error
	}{
		"no rows": {plots.Bars{Table: frame(nil), Y: "v"}, "no rows", plots.ErrNoData},
		"no value": {plots.Bars{
			Table: frame(two, nan, nan),
			Y:     "v",
		}, `column "v" has no value`, plots.ErrNoData},
		"infinite": {plots.Forest{Table: frame(two, 1, inf), X: "v"}, `row 2 (region "Dorn")`, nil},
		"upside down": {plots.Scatter{
			Table: down,
			X:     "v",
			Y:     "v",
		}, `interval from 3 to 1 in row 2 (region "Dorn")`, nil},
		"no column": {plots.Bars{Table: frame(two, 1, 2), Y: "w"}, `"w" (there are: region, v, v_low, v_high)`,
			table.ErrNoColumn},
		"no panel":     {plots.Bars{Table: frame(two, 1, 2), Y: "v", Panels: "q"}, `"q"`, table.ErrNoColumn},
		"not a number": {plots.Bars{Table: frame(two, 1, 2), Y: "region"}, `holds text, not numbers`, nil},
		"twice":        {plots.Bars{Table: frame([]string{"Esk", "Esk"}, 1, 2), Y: "v"}, `row 2 (region "Esk")`, nil},
		"heat twice": {plots.Heat{
			Table:   frame([]string{"Esk", "Esk"}, 1, 2),
			Value:   "v",
			Rows:    "region",
			Columns: "region",
		}, `is the second`, nil},
		"one name": {plots.Heat{Table: frame(two, 1, 2), Value: "v"}, `two columns of names`, nil},
		"colors": {plots.Bars{
			Table:  frame(many, 1, 2, 3, 4, 5, 6, 7, 8, 9),
			X:      "region",
			Y:      "v",
			Series: "region",
		}, "at most 8 colors", nil},
		"no place":    {plots.Lines{Table: frame(two, 1, nan), X: "v", Y: "v_low"}, `row 2 (region "Dorn")`, nil},
		"no image":    {plots.Grid{Table: frame(two, 1, 2)}, `"image"`, table.ErrNoColumn},
		"bad table":   {plots.Bars{Table: datasets.FromFrame(nil), Y: "v"}, "no frame", nil},
		"zero figure": {plots.Bars{}, "zero datasets.Table", nil},
	} {
		_, err := plots.Render(c.figure, "svg")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || c.is != nil &&
			!errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want one line with %s", name, err, c.want)
		}
	}
}

// TestMissingIsMarked checks that a missing bar is marked as missing and not drawn.
func TestMissingIsMarked(t *testing.T) {
	tab := datasets.FromFrame(&datasets.Frame{Columns: []table.Column{table.TextColumn("region",
		[]string{"Esk", "Dorn"}), table.NumberColumn("v", []float64{0.5, math.NaN()})}})
	for name, f := range map[string]plots.Figure{"upright": plots.Bars{Table: tab, Y: "v"},
		"lying": plots.Bars{Table: tab, Y: "v", Horizontal: true}} {
		svg := must.Get(plots.Render(f, "svg"))(t)
		must.Has(t, string(svg), ">no data</text>", "No data: Dorn.") // the missing value is marked
		must.Equal(t, bytes.Count(svg, []byte(`fill="#0d64a1"`)), 1, name, "bars")
	}
}

// TestBarLength checks a bar's height in pixels against its value.
func TestBarLength(t *testing.T) {
	tab := datasets.FromFrame(&datasets.Frame{Columns: []table.Column{table.TextColumn("region",
		[]string{"a", "b"}), table.NumberColumn("v", []float64{0.25, 0.75})}})
	svg := must.Get(plots.Render(plots.Bars{Table: tab, Y: "v"}, "svg"))(t)
	bars := regexp.MustCompile(
		`<path d="M[0-9.]+ ([0-9.]+)L[0-9.]+ [0-9.]+L[0-9.]+ ([0-9.]+)L[^"]*" fill="#0d64a1"`).FindAllSubmatch(svg, -1)
	if len(bars) != 2 {
		t.Fatalf("%d bars", len(bars))
	}
	for i, want := range []float64{0.25 * 250, 0.75 * 250} {
		top, _ := strconv.ParseFloat(string(bars[i][1]), 64)
		bottom, _ := strconv.ParseFloat(string(bars[i][2]), 64)
		must.Near(t, bottom-top, want, 0.02, "bar", i, "pixels high")
	}
}

func TestSameBytesAgain(t *testing.T) {
	for name, f := range hostileFigures() {
		a, errA := plots.Render(f, "svg")
		b, errB := plots.Render(f, "svg")
		must.True(t, errA == nil && errB == nil && bytes.Equal(a, b),
			"%s: drawn twice, it differs (%v, %v)", name, errA, errB)
	}
}

// TestDefaultColumns draws score tables as they come, with nothing named: constant and describing columns are passed
// over.
func TestDefaultColumns(t *testing.T) {
	tab := func(vectors ...string) datasets.Table {
		f := frame("vector:text", "interval:text", "region:text", "coverage:number")
		for _, name := range vectors {
			for i, r := range regions {
				f.Add([]string{name, "95 %", r}, 0.1*float64(i))
			}
		}
		return datasets.FromFrame(f)
	}
	one, err := plots.Render(plots.Bars{Table: tab("full"), Y: "coverage"}, "svg")
	if err != nil || !bytes.Contains(one, []byte(">Celine Isles</text>")) ||
		bytes.Contains(one, []byte(">full</text>")) {
		t.Errorf("one vector: %v", err)
	}
	two := must.Get(plots.Render(plots.Bars{Table: tab("full", "object_only"), X: "region", Y: "coverage"}, "svg"))(t)
	must.Has(t, string(two), ">Celine Isles</text>", ">object_only</text>") // two vectors
}

// TestHorizontalAxisLabels checks that labels follow their axes when bars are horizontal, set or for lack of space.
func TestHorizontalAxisLabels(t *testing.T) {
	for name, horizontal := range map[string]bool{"by default": false, "set": true} {
		svg := must.Get(plots.Render(plots.Bars{Table: objects(), Y: "coverage", X: "object", Series: "vector",
			XLabel: "the objects",
			YLabel: "the values", Horizontal: horizontal}, "svg"))(t)
		if !regexp.MustCompile(`text-anchor="middle">the values<`).Match(svg) ||
			!regexp.MustCompile(`rotate\(-90[^>]*>the objects<`).Match(svg) {
			t.Errorf("%s: the axes have the wrong names", name)
		}
	}
}
