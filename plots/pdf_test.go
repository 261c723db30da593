package plots_test

import (
	"bytes"
	"compress/zlib"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-text/typesetting/font/cff"
	"github.com/go-text/typesetting/font/opentype/tables"
	"gonum.org/v1/plot/vg"

	"antipode/internal/must"
	"antipode/plots"
	"antipode/plots/internal/typeset"
)

// pdfFile is what a reader sees of a file: its objects by number, streams unpacked, and the texts of its page.
type pdfFile struct {
	objects map[int]string
	fonts   []*cff.CFF
	codes   []map[string]string // of each font: the text of each code
	texts   []string
}

// readPDF follows the table of objects.
func readPDF(t *testing.T, data []byte) *pdfFile {
	t.Helper()
	f := &pdfFile{objects: map[int]string{}}
	start := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(data)
	if start == nil || !bytes.HasPrefix(data[must.Get(strconv.Atoi(string(start[1])))(t):], []byte("xref\n")) {
		t.Fatal("no table of objects")
	}
	for i, m := range regexp.MustCompile(`(\d{10}) 00000 n \n`).FindAllSubmatch(data, -1) {
		body := data[must.Get(strconv.Atoi(string(m[1])))(t):]
		head := fmt.Sprintf("%d 0 obj\n", i+1)
		if !bytes.HasPrefix(body, []byte(head)) {
			t.Fatalf("object %d is not where the table says: %.20q", i+1, body)
		}
		about, rest, _ := bytes.Cut(body[len(head):], []byte("\n"))
		f.objects[i+1] = string(about)
		size := regexp.MustCompile(`/Length (\d+)>>$`).FindSubmatch(about)
		if size == nil {
			continue
		}
		stream := rest[len("stream\n"):][:must.Get(strconv.Atoi(string(size[1])))(t)]
		if bytes.Contains(about, []byte("/FlateDecode")) {
			stream = must.Get(io.ReadAll(must.Get(zlib.NewReader(bytes.NewReader(stream)))(t)))(t)
		}
		f.objects[i+1] += "\n" + string(stream)
	}
	page := f.objects[3]
	for n := range strings.Count(page, "/F") - 1 {
		font := f.at(t, page, fmt.Sprintf("/F%d", n))
		codes := map[string]string{}
		for _, m := range regexp.MustCompile(`<([0-9A-F]{4})><([0-9A-F]*)>`).FindAllStringSubmatch(
			f.at(t, font, "/ToUnicode"), -1) {
			var units []uint16
			for b := range slices.Chunk(must.Get(hex.DecodeString(m[2]))(t), 2) {
				units = append(units, uint16(b[0])<<8|uint16(b[1]))
			}
			codes[m[1]] = string(utf16.Decode(units))
		}
		f.codes = append(f.codes, codes)
		_, program, _ := strings.Cut(f.at(t, f.at(t, f.at(t, font, "/DescendantFonts["), "/FontDescriptor"),
			"/FontFile3"), "\n")
		f.fonts = append(f.fonts, must.Get(cff.Parse([]byte(program)))(t))
	}
	f.read(f.at(t, page, "/Contents"))
	return f
}

// at returns the object that an entry of another one refers to.
func (f *pdfFile) at(t *testing.T, object, entry string) string {
	t.Helper()
	m := regexp.MustCompile(regexp.QuoteMeta(entry) + ` ?(\d+) 0 R`).FindStringSubmatch(object)
	if m == nil {
		t.Fatalf("no %s in %.200q", entry, object)
	}
	return f.objects[must.Get(strconv.Atoi(m[1]))(t)]
}

// read collects the texts of the page's content.
func (f *pdfFile) read(content string) {
	var codes map[string]string
	text := ""
	for line := range strings.Lines(content) {
		switch {
		case line == "BT\n":
			text = ""
		case line == "ET\n":
			f.texts = append(f.texts, text)
		case strings.HasSuffix(line, " Tf\n"):
			n, _ := strconv.Atoi(strings.Fields(line)[0][2:])
			codes = f.codes[n]
		case strings.HasSuffix(line, " TJ\n"):
			for _, m := range regexp.MustCompile(`<([0-9A-F]{4})>`).FindAllStringSubmatch(line, -1) {
				text += codes[m[1]]
			}
		}
	}
}

// TestPDF reads figures back: every text of the SVG is text of the PDF, the page has the SVG's size, and the same
// figure is the same bytes. Hebrew is stored from left to right, as readers expect.
func TestPDF(t *testing.T) {
	bars := plots.Bars{Table: named("office ﬁ", "café — 50 %", "Ὀδυσσεύς", "שלום", "a\u2068b\u2069"), Y: "v",
		Title: "A\n(b"}
	photo := plots.Grid{Table: photos(), Captions: []string{"id"}, Limit: 3}
	forest := plots.Forest{Table: pick(scores(), "vector", "full"), X: "precision", Y: "region", Panels: "template"}
	for name, f := range map[string]plots.Figure{"bars": bars, "grid": photo, "forest": forest} {
		data := must.Get(plots.Render(f, "pdf"))(t)
		must.True(t, bytes.Equal(data, must.Get(plots.Render(f, "pdf"))(t)), "%s: two files differ", name)
		svg := drawSVG(t, f)
		want := labels(svg)
		for i, s := range want {
			want[i] = strings.NewReplacer("שלום", "םולש", "\u2068", "", "\u2069", "", "&#39;", "'").Replace(s)
		}
		read := readPDF(t, data)
		must.True(t, slices.Equal(read.texts, want), "%s: texts\n%q\nwant\n%q", name, read.texts, want)
		var w, h float64
		fmt.Sscanf(svg[strings.Index(svg, `viewBox="`):], `viewBox="0 0 %g %g"`, &w, &h)
		must.True(t, strings.Contains(read.objects[3], fmt.Sprintf("/MediaBox[0 0 %g %g]", 0.75*w, 0.75*h)),
			"%s: the page is %.80s, the SVG %g × %g pixels", name, read.objects[3], w, h)
		images := 0
		for _, object := range read.objects {
			if strings.Contains(object, "/DCTDecode") && strings.Contains(object, "\n\xFF\xD8") {
				images++
			}
		}
		must.Equal(t, images, map[string]int{"grid": 3}[name], name, "images")
	}
}

// TestPDFOutlines compares the outlines in the file with those that shaping returned.
func TestPDFOutlines(t *testing.T) {
	read := readPDF(t, must.Get(plots.Render(plots.Bars{Table: named("Rhythm", "wave"), Y: "v"}, "pdf"))(t))
	seen := 0
	for n, codes := range read.codes {
		for code, text := range codes {
			if len(text) != 1 || text == " " {
				continue
			}
			var want vg.Path
			isBold := n == 0 // the first font is the title's
			typeset.In("").Set(text, 1000, isBold).Draw(func(p vg.Path, _ float64) { want = p })
			want = slices.DeleteFunc(want, func(part vg.PathComp) bool { return part.Type == vg.CloseComp })
			number := must.Get(strconv.ParseUint(code, 16, 16))(t)
			got, _, err := read.fonts[n].LoadGlyph(tables.GlyphID(number))
			if err != nil || len(got) != len(want) {
				t.Fatalf("%q: %d segments, want %d (%v)", text, len(got), len(want), err)
			}
			for i, part := range want {
				end := got[i].ArgsSlice()[len(got[i].ArgsSlice())-1]
				d := part.Pos.Sub(vg.Point{X: vg.Length(end.X), Y: vg.Length(end.Y)})
				must.True(t, math.Hypot(float64(d.X), float64(d.Y)) <= 0.71,
					"%q: segment %d ends at %v, want %v", text, i, end, part.Pos)
			}
			seen++
		}
	}
	must.True(t, seen >= 15, "%d glyphs", seen)
}

// TestHostilePDF writes every figure from hostile names.
func TestHostilePDF(t *testing.T) {
	for name, f := range hostileFigures() {
		read := readPDF(t, must.Get(plots.Render(f, "pdf"))(t))
		must.True(t, len(read.texts) >= 10, "%s: %d texts", name, len(read.texts))
	}
	empty := plots.Bars{
		Table: made(texts("a", "\u0378"), small(1)),
		Y:     "v",
		Theme: plots.Theme{Width: 312},
	}
	readPDF(t, must.Get(plots.Render(empty, "pdf"))(t))
}
