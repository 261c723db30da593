package plots_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/plots"
)

// hostile are names that would break out of a page, a drawing or a layout.
var hostile = []string{
	`<script>alert(1)</script>`, `]]>"'><img src=x onerror=alert(1)>`, `</text></svg><svg onload=alert(1)>`, "&amp;&lt; \x00\x07 \xff\xfe bad bytes",
	strings.Repeat("very long ", 40), strings.Repeat("Donaudampfschifffahrt", 10), "שלום עולם \u202e evil", "मानक हिन्दी", "中文字符", "line\nbreak\ttab",
}

// hostileTable has a hostile name in every text column, a picture in every row and numbers for every figure.
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
	out := f.Pick(rows).With(client.TextColumn("id", name), client.TextColumn("region", name), client.TextColumn("source", other),
		client.TextColumn("role", role), client.TextColumn("group", name), client.TextColumn("interval", name),
		client.NumberColumn("v", v), client.NumberColumn("v_low", low), client.NumberColumn("v_high", high), client.NumberColumn("x", x))
	return datasets.FromFrame(out)
}

func hostileFigures() map[string]plots.Figure {
	t, bad := hostileTable(), hostile[0]
	all := []plots.Option{plots.Title(bad), plots.Note(hostile[1]), plots.XName(bad), plots.YName(hostile[2]), plots.Interval(hostile[2]), plots.Reference(0.3, hostile[1])}
	with := func(more ...plots.Option) []plots.Option { return append(more, all...) }
	return map[string]plots.Figure{
		"bars":       plots.Bars(t, "v", with(plots.X("region"), plots.Series("source"))...),
		"panels":     plots.Bars(t, "v", with(plots.X("region"), plots.Panels("source"), plots.Sorted())...),
		"bars plain": plots.Bars(t, "v", plots.X("region"), plots.Series("source")),
		"scatter":    plots.Scatter(t, "v", "x", with(plots.Label("region"), plots.Panels("source"))...),
		"heat":       plots.Heat(t, "v", with(plots.Rows("region"), plots.Columns("source"))...),
		"heat wide":  plots.Heat(t, "v", with(plots.Rows("source"), plots.Columns("region"))...),
		"forest":     plots.Forest(t, "v", with(plots.Label("region"), plots.Series("source"))...),
		"forests":    plots.Forest(t, "v", with(plots.Label("region"), plots.Panels("source"), plots.XLimits(-0.7512, 0.7512))...),
		"histogram":  plots.Histogram(t, "v", with(plots.Series("source"))...),
		"lines":      plots.Lines(t, "x", "v", with(plots.Series("source"))...),
		"grid":       plots.Grid(t, with(plots.Captions("region", "v"), plots.Rows("region"), plots.Columns("source"))...),
		"grid lines": plots.Grid(t, with(plots.Captions("id", "interval"))...),
		"segments":   plots.Segments(t, with(plots.Captions("region"))...),
		"gallery":    plots.Gallery(t, with(plots.Blocks("source"), plots.Captions("region"), plots.Heads(bad, bad))...),
	}
}

// TestHostileText draws every figure from hostile names: the SVG is well formed, its texts are text, no element and no attribute can run or fetch anything.
func TestHostileText(t *testing.T) {
	elements := map[string]bool{"svg": true, "title": true, "desc": true, "rect": true, "path": true, "circle": true, "text": true, "image": true}
	for name, f := range hostileFigures() {
		svg, err := f.SVG(context.Background())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		said := ""
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
				if !elements[v.Name.Local] {
					t.Errorf("%s: element <%s>", name, v.Name.Local)
				}
				for _, a := range v.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "data:image/jpeg;base64,") || a.Name.Local == "style" {
						t.Errorf("%s: attribute %s=%.40q", name, a.Name.Local, a.Value)
					}
				}
			case xml.CharData:
				said += string(v)
			}
		}
		if !strings.Contains(said, "<script>alert(1)</script>") && !strings.Contains(said, "<script>") {
			t.Errorf("%s: the hostile name is not in the picture as text", name)
		}
		page, err := f.HTML(context.Background())
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
		if !strings.Contains(allowed, " "+token.Data+" ") {
			t.Errorf("%s: element <%s>", name, token.Data)
		}
		for _, a := range token.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/") || a.Key == "href" || a.Key == "style" && strings.Contains(a.Val, "url(") {
				t.Errorf("%s: attribute %s=%.40q", name, a.Key, a.Val)
			}
		}
	}
}

// TestTextStaysText checks that scripts the built-in font lacks are in the SVG as they are, with a generic family to fall back to.
func TestTextStaysText(t *testing.T) {
	svg, err := plots.Heat(languages(12), "similarity", plots.Rows("object"), plots.Columns("language")).SVG(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">हिन्दी</text>", ` direction="rtl" font-family="&#39;Liberation Sans&#39;,Arial,Helvetica,&#39;Noto Sans&#39;,&#39;Noto Sans Arabic&#39;,sans-serif">العربية</text>`,
		`&#39;Noto Sans Devanagari&#39;,sans-serif">हिन्दी<`, `&#39;Noto Sans SC&#39;,&#39;Noto Sans CJK SC&#39;,sans-serif">中文<`, ",sans-serif\">\n<title>"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("no %s in the SVG", want)
		}
	}
}

// textElement is a <text> that is not turned.
var textElement = regexp.MustCompile(`<text x="([-0-9.]+)" y="([-0-9.]+)" font-size="([0-9.]+)" fill="[^"]*"( font-weight="bold")?(?: text-anchor="(\w+)")?( direction="rtl")?(?: font-family="[^"]*")?>([^<]*)</text>`)

// TestNothingOverlaps checks in every picture of the gallery, and in the hostile ones, that no two texts lie on each other and none leaves the paper.
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
			w := plots.Exact(html.UnescapeString(string(m[7])), size, len(m[4]) > 0)
			switch from, right := string(m[5]), len(m[6]) > 0; {
			case from == "middle":
				x -= w / 2
			case (from == "end") != right:
				x -= w
			}
			b := box{x, y - 0.7*size, x + w, y, string(m[7])}
			if b.l < -0.5 || b.r > width+0.5 || b.t < 0 || b.b > height {
				t.Errorf("%s: %q leaves the paper: %.0f to %.0f of %.0f × %.0f", name, b.text, b.l, b.r, width, height)
			}
			for _, o := range boxes {
				if b.l < o.r && o.l < b.r && b.t < o.b && o.t < b.b {
					t.Errorf("%s: %q lies on %q", name, b.text, o.text)
				}
			}
			boxes = append(boxes, b)
		}
		if len(boxes) < 3 {
			t.Errorf("%s: only %d texts found", name, len(boxes))
		}
	}
	for name, f := range hostileFigures() {
		svg, err := f.SVG(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		check("hostile "+name, svg)
	}
	for name, svg := range galleryPictures(t) {
		check(name, svg)
	}
}

func TestWrapKeepsAllText(t *testing.T) {
	for _, text := range hostile {
		clean := strings.Join(strings.Fields(text), "")
		if got := strings.ReplaceAll(strings.Join(plots.Wrap(text, 12, false, 80), ""), " ", ""); got != clean {
			t.Errorf("%q became %q", clean, got)
		}
		if got := plots.Fit(text, 12, false, 60); plots.Exact(got, 12, false) > 60 {
			t.Errorf("%q does not fit", got)
		}
	}
}

// TestAxis checks properties of number axes: ticks rise, lie on the axis, are told apart, and a fixed axis names both ends.
func TestAxis(t *testing.T) {
	for _, c := range []struct{ low, high float64 }{{0, 1}, {0.352, 0.617}, {-0.17, 0.03}, {3, 3}, {0, 0}, {1e-7, 3e-7}, {-5e8, 2e9}, {0.999, 1.001}} {
		for _, n := range []int{2, 4, 5, 8} {
			ends, at, names := plots.Ticks(c.low, c.high, nil, n)
			if ends[0] > c.low || ends[1] < c.high || len(at) < 2 || len(at) > n+3 {
				t.Errorf("%v, %d ticks: axis %v with %v", c, n, ends, names)
			}
			for i := range at {
				if i > 0 && (at[i] <= at[i-1] || names[i] == names[i-1]) || at[i] < ends[0]-1e-9*math.Abs(ends[0]) || at[i] > ends[1]+1e-9*math.Abs(ends[1]) {
					t.Errorf("%v: ticks %v", c, names)
				}
				if written, err := strconv.ParseFloat(names[i], 64); err != nil || math.Abs(written-at[i]) > 1e-6*max(math.Abs(at[i]), ends[1]-ends[0]) {
					t.Errorf("%v: tick %g is written %s", c, at[i], names[i])
				}
			}
		}
	}
	ends, at, _ := plots.Ticks(0, 0, &[2]float64{0.13, 0.88}, 5)
	if ends != [2]float64{0.13, 0.88} || at[0] != 0.13 || at[len(at)-1] != 0.88 {
		t.Errorf("fixed ends: %v, ticks %v", ends, at)
	}
}

// TestErrors checks that each mistake is one line that names the culprit, said when the figure is drawn and not before.
func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	frame := func(names []string, v ...float64) datasets.Table {
		return datasets.FromFrame(&datasets.Frame{Columns: []client.Column{client.TextColumn("region", names), client.NumberColumn("v", v),
			client.NumberColumn("v_low", v), client.NumberColumn("v_high", v)}})
	}
	two := []string{"Esk", "Dorn"}
	down := datasets.FromFrame(&datasets.Frame{Columns: []client.Column{client.TextColumn("region", two), client.NumberColumn("v", []float64{1, 2}),
		client.NumberColumn("v_low", []float64{0, 3}), client.NumberColumn("v_high", []float64{2, 1})}})
	many := make([]string, 9)
	for i := range many {
		many[i] = fmt.Sprint("s", i)
	}
	for name, c := range map[string]struct {
		figure plots.Figure
		want   string
		is     error
	}{
		"no rows":      {plots.Bars(frame(nil), "v"), "no rows", plots.ErrNoData},
		"no value":     {plots.Bars(frame(two, nan, nan), "v"), `column "v" holds no value`, plots.ErrNoData},
		"infinite":     {plots.Forest(frame(two, 1, inf), "v"), `row 2 (region "Dorn")`, nil},
		"upside down":  {plots.Scatter(down, "v", "v"), `interval from 3 to 1 in row 2 (region "Dorn")`, nil},
		"no column":    {plots.Bars(frame(two, 1, 2), "w"), `"w" (there are: region, v, v_low, v_high)`, client.ErrNoColumn},
		"no panel":     {plots.Bars(frame(two, 1, 2), "v", plots.Panels("q")), `"q"`, client.ErrNoColumn},
		"not a number": {plots.Bars(frame(two, 1, 2), "region"), `holds text values, not number`, nil},
		"twice":        {plots.Bars(frame([]string{"Esk", "Esk"}, 1, 2), "v"), `row 2 (region "Esk")`, nil},
		"heat twice":   {plots.Heat(frame([]string{"Esk", "Esk"}, 1, 2), "v", plots.Rows("region"), plots.Columns("region")), `is the second`, nil},
		"one name":     {plots.Heat(frame(two, 1, 2), "v"), `two columns of names`, nil},
		"colours":      {plots.Bars(frame(many, 1, 2, 3, 4, 5, 6, 7, 8, 9), "v", plots.X("region"), plots.Series("region")), "at most 8 colours", nil},
		"no place":     {plots.Lines(frame(two, 1, nan), "v", "v_low"), `row 2 (region "Dorn")`, nil},
		"no image":     {plots.Grid(frame(two, 1, 2)), `"image"`, client.ErrNoColumn},
		"bad table":    {plots.Bars(datasets.FromFrame(nil), "v"), "no frame", nil},
		"zero figure":  {plots.Figure{}, "never made", nil},
	} {
		_, err := c.figure.SVG(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: error %v, want one line with %s", name, err, c.want)
		}
	}
}

// TestMissingIsMarked checks that a missing bar is said to be missing and not drawn.
func TestMissingIsMarked(t *testing.T) {
	table := datasets.FromFrame(&datasets.Frame{Columns: []client.Column{client.TextColumn("region", []string{"Esk", "Dorn"}), client.NumberColumn("v", []float64{0.5, math.NaN()})}})
	for name, f := range map[string]plots.Figure{"upright": plots.Bars(table, "v"), "lying": plots.Bars(table, "v", plots.Horizontal())} {
		svg, err := f.SVG(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(svg, []byte(">no data</text>")) || !bytes.Contains(svg, []byte("No data: Dorn.")) {
			t.Errorf("%s: the missing value is not marked", name)
		}
		if n := bytes.Count(svg, []byte(`fill="#0072b2"`)); n != 1 {
			t.Errorf("%s: %d bars, want 1", name, n)
		}
	}
}

// TestBarLength checks a bar's height in pixels against its value.
func TestBarLength(t *testing.T) {
	table := datasets.FromFrame(&datasets.Frame{Columns: []client.Column{client.TextColumn("region", []string{"a", "b"}), client.NumberColumn("v", []float64{0.25, 0.75})}})
	svg, err := plots.Bars(table, "v").SVG(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	bars := regexp.MustCompile(`<path d="M[0-9.]+ ([0-9.]+)L[0-9.]+ [0-9.]+L[0-9.]+ ([0-9.]+)L[^"]*" fill="#0072b2"`).FindAllSubmatch(svg, -1)
	if len(bars) != 2 {
		t.Fatalf("%d bars", len(bars))
	}
	for i, want := range []float64{0.25 * 250, 0.75 * 250} {
		top, _ := strconv.ParseFloat(string(bars[i][1]), 64)
		bottom, _ := strconv.ParseFloat(string(bars[i][2]), 64)
		if math.Abs(bottom-top-want) > 0.02 {
			t.Errorf("bar %d is %.2f pixels high, want %.2f", i, bottom-top, want)
		}
	}
}

func TestSameBytesAgain(t *testing.T) {
	for name, f := range hostileFigures() {
		a, errA := f.SVG(context.Background())
		b, errB := f.SVG(context.Background())
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: drawn twice, it differs (%v, %v)", name, errA, errB)
		}
	}
}

// TestDefaultColumns draws score tables as they come, with nothing named: constant and describing columns are passed over.
func TestDefaultColumns(t *testing.T) {
	table := func(vectors ...string) datasets.Table {
		var vector, region, interval []string
		var v []float64
		for _, name := range vectors {
			for i, r := range regions {
				vector, region, interval, v = append(vector, name), append(region, r), append(interval, "95 %"), append(v, 0.1*float64(i))
			}
		}
		return datasets.FromFrame(&datasets.Frame{Columns: []client.Column{client.TextColumn("vector", vector), client.TextColumn("interval", interval),
			client.TextColumn("region", region), client.NumberColumn("coverage", v)}})
	}
	one, err := plots.Bars(table("full"), "coverage").SVG(context.Background())
	if err != nil || !bytes.Contains(one, []byte(">Celine Isles</text>")) || bytes.Contains(one, []byte(">full</text>")) {
		t.Errorf("one vector: %v", err)
	}
	two, err := plots.Bars(table("full", "object_only"), "coverage", plots.X("region")).SVG(context.Background())
	if err != nil || !bytes.Contains(two, []byte(">Celine Isles</text>")) || !bytes.Contains(two, []byte(">object_only</text>")) {
		t.Errorf("two vectors: %v", err)
	}
}

// TestLyingBarsKeepAxisNames checks that bars which lie down for want of room take the names of their axes with them.
func TestLyingBarsKeepAxisNames(t *testing.T) {
	for name, options := range map[string][]plots.Option{
		"laid down": {plots.XName("the objects"), plots.YName("the values")},
		"asked for": {plots.YName("the objects"), plots.XName("the values"), plots.Horizontal()},
	} {
		svg, err := plots.Bars(objects(), "coverage", append(options, plots.X("object"), plots.Series("setup"))...).SVG(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`text-anchor="middle">the values<`).Match(svg) || !regexp.MustCompile(`rotate\(-90[^>]*>the objects<`).Match(svg) {
			t.Errorf("%s: the axes have the wrong names", name)
		}
	}
}
