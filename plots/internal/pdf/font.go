package pdf

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"gonum.org/v1/plot/vg"
)

// subset is the part of a font that a page uses.
type subset struct {
	key    any
	name   string
	shapes []Shape
	known  map[string]int
}

// Shape is the outline of one or more characters that are drawn as one. Its unit is a thousandth of the font's size.
type Shape struct {
	Key     string         // identifies the outline and the text in the font
	Text    string         // what a reader copies
	Advance float64        // to the next shape
	Outline func() vg.Path // filled by the non-zero rule
	outline vg.Path
}

// Text is a piece of text in one font, from left to right.
type Text struct {
	Font     any    // identifies the font
	Name     string // of the font, in the file
	Size     float64
	Embolden float64 // width of a line along the outlines, for a font without a bold form
	Shapes   []Shape
}

// DrawText draws pieces of text one after the other, from the origin, on the baseline.
func (p *Page) DrawText(pieces []Text) {
	p.write("BT")
	p.write("Td", 0, 0) // some readers break the line at a first position of text that none set
	for _, t := range pieces {
		f, n := p.font(t)
		p.write(fmt.Sprintf("/F%d %s Tf", n, number(t.Size)))
		if t.Embolden > 0 {
			p.write("w", t.Embolden)
			p.write("2 Tr")
		} else {
			p.write("0 Tr")
		}
		p.content.WriteByte('[')
		ahead := 0.0 // of kerning and of rounded advances
		for _, s := range t.Shapes {
			n, stored := f.shape(s)
			fmt.Fprintf(&p.content, "<%04X>", n)
			if ahead += stored - s.Advance; math.Abs(ahead) >= 1 {
				p.content.WriteString(number(ahead))
				ahead = 0
			}
		}
		p.write("] TJ")
	}
	p.write("ET")
}

// font returns the subset of a text's font, and its number.
func (p *Page) font(t Text) (*subset, int) {
	n := slices.IndexFunc(p.fonts, func(f *subset) bool { return f.key == t.Font })
	if n < 0 {
		n = len(p.fonts)
		name := strings.Map(func(r rune) rune {
			if r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
				return r
			}
			return -1
		}, t.Name)
		p.fonts = append(p.fonts, &subset{key: t.Font, name: name, known: map[string]int{}})
	}
	return p.fonts[n], n
}

// shape returns the number of a shape, which is added at its first use, and its advance then. Numbers begin at 1.
func (f *subset) shape(s Shape) (n int, advance float64) {
	if f.known[s.Key] == 0 {
		s.Advance = math.Round(s.Advance)
		s.outline = s.Outline()
		f.shapes = append(f.shapes, s)
		f.known[s.Key] = len(f.shapes)
	}
	n = f.known[s.Key]
	return n, f.shapes[n-1].Advance
}

// object adds the font to a file and returns its number.
func (f *subset) object(out *file) int {
	program := f.program()
	sum := sha256.Sum256(program)
	tag := ""
	for _, b := range sum[:6] {
		tag += string('A' + rune(b%26))
	}
	name := tag + "+" + f.name
	var widths bytes.Buffer
	for _, s := range f.shapes {
		fmt.Fprintf(&widths, "%d ", int(s.Advance))
	}
	data := out.stream("/Subtype/CIDFontType0C", program)
	box := f.box()
	about := out.object(fmt.Sprintf("<</Type/FontDescriptor/FontName/%s/Flags 4/FontBBox[%d %d %d %d]/ItalicAngle 0"+
		"/Ascent %[5]d/Descent %[3]d/CapHeight %[5]d/StemV 80/FontFile3 %[6]d 0 R>>", name, box[0], box[1], box[2],
		box[3], data))
	glyphs := out.object(fmt.Sprintf("<</Type/Font/Subtype/CIDFontType0/BaseFont/%s/CIDSystemInfo<</Registry(Adobe)"+
		"/Ordering(Identity)/Supplement 0>>/FontDescriptor %d 0 R/DW 0/W[1[%s]]>>", name, about, widths.String()))
	return out.object(fmt.Sprintf("<</Type/Font/Subtype/Type0/BaseFont/%s/Encoding/Identity-H/DescendantFonts[%d 0 R]"+
		"/ToUnicode %d 0 R>>", name, glyphs, out.stream("", f.toUnicode())))
}

// toUnicode returns the CMap from shape numbers to their texts.
func (f *subset) toUnicode() []byte {
	var b bytes.Buffer
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CIDSystemInfo<</Registry(Adobe)" +
		"/Ordering(UCS)/Supplement 0>>def\n/CMapName/Adobe-Identity-UCS def\n/CMapType 2 def\n" +
		"1 begincodespacerange\n<0000><FFFF>\nendcodespacerange\n")
	number := 0
	for some := range slices.Chunk(f.shapes, 100) { // the largest number of lines of a block
		fmt.Fprintf(&b, "%d beginbfchar\n", len(some))
		for _, s := range some {
			number++
			fmt.Fprintf(&b, "<%04X><%s>\n", number, utf16Hex(s.Text))
		}
		b.WriteString("endbfchar\n")
	}
	b.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	return b.Bytes()
}

func utf16Hex(text string) string {
	out := ""
	for _, u := range utf16.Encode([]rune(text)) {
		out += fmt.Sprintf("%04X", u)
	}
	return out
}

// box returns the smallest box around all outlines and their control points.
func (f *subset) box() (box [4]int) {
	for _, s := range f.shapes {
		for _, part := range s.outline {
			if part.Type == vg.CloseComp {
				continue
			}
			for _, p := range append(part.Control, part.Pos) {
				x, y := round(float64(p.X)), round(float64(p.Y))
				box = [4]int{min(box[0], x), min(box[1], y), max(box[2], x), max(box[3], y)}
			}
		}
	}
	return box
}

// program returns the font in the Compact Font Format (Adobe Technical Note 5176), keyed by CID: the number of a shape
// is its CID. Shape 0 is empty.
func (f *subset) program() []byte {
	shapes := [][]byte{{14}} // endchar
	for _, s := range f.shapes {
		shapes = append(shapes, s.charString())
	}
	n := len(shapes)
	box := f.box()
	top := func(charset, choice, shapesAt, fontsAt int) []byte {
		var d []byte
		d = append(operand(operand(operand(d, 391), 392), 0), 12, 30) // the registry and its ordering
		for _, v := range box {
			d = operand(d, v)
		}
		d = append(d, 5)
		d = append(operand(d, n), 12, 34)
		d = append(offset(d, charset), 15)
		d = append(offset(d, choice), 12, 37)
		d = append(offset(d, shapesAt), 17)
		return append(offset(d, fontsAt), 12, 36)
	}
	private := append(append(operand(nil, 0), 20), append(operand(nil, 0), 21)...) // default and nominal width
	head := func(top []byte) []byte {
		b := []byte{1, 0, 4, 4}
		b = append(b, index([]byte(f.name))...)
		b = append(b, index(top)...)
		b = append(b, index([]byte("Adobe"), []byte("Identity"))...)
		return append(b, index()...) // no subroutines
	}
	charset := len(head(top(0, 0, 0, 0)))
	choice, shapesAt := charset+5, charset+5+8
	privateAt := shapesAt + len(index(shapes...))
	fontsAt := privateAt + len(private)
	b := head(top(charset, choice, shapesAt, fontsAt))
	b = append(b, 2, 0, 1)
	b = binary.BigEndian.AppendUint16(b, uint16(max(n-2, 0))) // CIDs 1 to n-1
	b = append(b, 3, 0, 1, 0, 0, 0)                           // all shapes are of font 0
	b = binary.BigEndian.AppendUint16(b, uint16(n))
	b = append(b, index(shapes...)...)
	b = append(b, private...)
	return append(b, index(append(offset(operand(nil, len(private)), privateAt), 18))...)
}

// charString returns the shape as a Type 2 charstring (Adobe Technical Note 5177).
func (s Shape) charString() []byte {
	b := operand(nil, int(s.Advance))
	x, y := 0, 0
	to := func(points ...vg.Point) {
		for _, p := range points {
			px, py := round(float64(p.X)), round(float64(p.Y))
			b = operand(operand(b, px-x), py-y)
			x, y = px, py
		}
	}
	var at vg.Point
	for _, part := range s.outline {
		switch part.Type {
		case vg.MoveComp:
			to(part.Pos)
			b = append(b, 21)
		case vg.LineComp:
			to(part.Pos)
			b = append(b, 5)
		case vg.CurveComp:
			to(cubic(at, part)...)
			b = append(b, 8)
		}
		at = part.Pos
	}
	return append(b, 14)
}

// operand appends a number to a DICT or charstring.
func operand(b []byte, v int) []byte {
	switch {
	case v >= -107 && v <= 107:
		return append(b, byte(v+139))
	case v >= 108 && v <= 1131:
		return append(b, byte((v-108)>>8+247), byte(v-108))
	case v <= -108 && v >= -1131:
		return append(b, byte((-v-108)>>8+251), byte(-v-108))
	}
	return binary.BigEndian.AppendUint16(append(b, 28), uint16(int16(max(min(v, 32767), -32768))))
}

// offset appends a number to a DICT, always in five bytes.
func offset(b []byte, v int) []byte { return binary.BigEndian.AppendUint32(append(b, 29), uint32(v)) }

// index returns an INDEX structure.
func index(items ...[]byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(items)))
	if len(items) == 0 {
		return b
	}
	b = append(b, 4)
	at := uint32(1)
	b = binary.BigEndian.AppendUint32(b, at)
	for _, it := range items {
		at += uint32(len(it))
		b = binary.BigEndian.AppendUint32(b, at)
	}
	return append(b, bytes.Join(items, nil)...)
}
