package mask

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"antipode/datasets/table"
	"antipode/internal/jpeg"
	"antipode/internal/must"
)

func parse(rows []string) Bitmap {
	b := New(len(rows[0]), len(rows))
	for y, row := range rows {
		for x, c := range row {
			b.Set(x, y, c == '#')
		}
	}
	return b
}

// TestPycocotools compares with pycocotools, both ways; testdata/golden.py made the file.
func TestPycocotools(t *testing.T) {
	data := must.Get(os.ReadFile("testdata/rle.json"))(t)
	var cases []struct {
		Name, Counts string
		Size         [2]int
		Area         int
		Rows         []string
	}
	must.Do(t, json.Unmarshal(data, &cases))
	if len(cases) < 30 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		want := table.Mask{Size: c.Size, Counts: c.Counts}
		b := parse(c.Rows)
		must.Equal(t, Encode(b), want, c.Name, "Encode returns", "pycocotools")
		back, err := Decode(want)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		must.Equal(t, cmp.Diff(b, back), "", c.Name, "Decode differs")
		must.Equal(t, must.Get(Area(want))(t), c.Area, c.Name, "area")
		must.Equal(t, b.Area(), c.Area, c.Name)
	}
}

func TestBadCounts(t *testing.T) {
	for _, c := range []struct {
		mask table.Mask
		want string
	}{
		{table.Mask{}, "size 0×0"},
		{table.Mask{Size: [2]int{-3, 4}, Counts: "0"}, "size -3×4"},
		{table.Mask{Size: [2]int{1 << 40, 1 << 40}, Counts: "0"}, "not the size"},
		{table.Mask{Size: [2]int{5, 7}}, "cover 0 pixels"},
		{table.Mask{Size: [2]int{5, 7}, Counts: "35"}, "cover 8 pixels"},
		{table.Mask{Size: [2]int{2, 2}, Counts: "9"}, "run 1 has length 9"},
		{table.Mask{Size: [2]int{2, 2}, Counts: "O"}, "run 1 has length -1"},
		{table.Mask{Size: [2]int{2, 2}, Counts: "4Q"}, "end inside run 2"},
		{table.Mask{Size: [2]int{2, 2}, Counts: "4 "}, "position 1"},
		{table.Mask{Size: [2]int{2, 2}, Counts: strings.Repeat("o", 20)}, "longer than any image"},
	} {
		must.Fail(Decode(c.mask))(t, c.want)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(5, 7, "35")
	f.Add(64, 64, "PPYo1")
	f.Fuzz(func(t *testing.T, h, w int, counts string) {
		if h > 500 || w > 500 {
			t.Skip("too large to unpack in a fuzz run")
		}
		m := table.Mask{Size: [2]int{h, w}, Counts: counts}
		b, err := Decode(m)
		if err != nil {
			return
		}
		again, err := Decode(Encode(b))
		if err != nil || !cmp.Equal(b, again) {
			t.Errorf("%v does not survive: %v", m, err)
		}
	})
}

func TestFromImage(t *testing.T) {
	r := image.Rect(2, 1, 5, 2) // three pixels, not at the origin
	gray := image.NewGray(r)
	gray.SetGray(3, 1, color.Gray{Y: 1})
	gray16 := image.NewGray16(r)
	gray16.SetGray16(3, 1, color.Gray16{Y: 1})
	palette := image.NewPaletted(r, color.Palette{color.White, color.Black})
	palette.SetColorIndex(2, 1, 1)
	palette.SetColorIndex(4, 1, 1)
	seen := image.NewNRGBA(r)
	seen.SetNRGBA(2, 1, color.NRGBA{R: 255}) // transparent red
	seen.SetNRGBA(3, 1, color.NRGBA{G: 9, A: 128})
	cutout := image.NewNRGBA(r)
	cutout.SetNRGBA(3, 1, color.NRGBA{A: 255}) // opaque black in a transparent image
	for name, img := range map[string]image.Image{
		"gray 1 of 255": gray, "gray 1 of 65535": gray16, "white at index 0": palette, "alpha": seen,
		"black cut-out": cutout,
	} {
		got, err := FromImage(img)
		if d := cmp.Diff(parse([]string{".#."}), got); d != "" || err != nil {
			t.Errorf("%s: %v, %s", name, err, d)
		}
	}
	black := image.NewRGBA(r)
	for i := 3; i < len(black.Pix); i += 4 {
		black.Pix[i] = 255
	}
	if got, err := FromImage(black); got.Area() != 0 || err != nil {
		t.Errorf("an opaque black image has %d object pixels, %v", got.Area(), err)
	}
}

// TestReadSoft: masks of more than two values are cut at half of the range, and numbered objects are not.
func TestReadSoft(t *testing.T) {
	r := image.Rect(0, 0, 4, 1)
	gray := func(values ...uint8) image.Image { return &image.Gray{Pix: values, Stride: 4, Rect: r} }
	fill := func(img draw.Image, colors ...color.Color) image.Image {
		for x, c := range colors {
			img.Set(x, 0, c)
		}
		return img
	}
	clear := func(v, a uint8) color.Color { return color.NRGBA{v, v, v, a} }
	for name, c := range map[string]struct {
		img       image.Image
		threshold float64
		guess     Guess
		want      string
	}{
		"two values":         {gray(0, 3, 3, 0), 0, Sure, ".##."},
		"soft":               {gray(0, 127, 128, 255), 0, Soft, "..##"},
		"another threshold":  {gray(0, 127, 128, 255), 0.1, Soft, ".###"},
		"all":                {gray(0, 127, 128, 255), 1, Soft, "...#"},
		"no black":           {gray(1, 254, 254, 1), 0, Soft, ".##."},
		"dark and light":     {gray(50, 200, 200, 50), 0.9, Numbered, "####"},
		"full":               {gray(9, 9, 9, 9), 0, Sure, "####"},
		"numbers of objects": {gray(0, 1, 2, 3), 0, Numbered, ".###"},
		"16 bits": {fill(image.NewGray16(r), color.Black, color.Gray16{Y: 32000}, color.White), 0, Soft,
			"..#."},
		"16 bits, two values": {fill(image.NewGray16(r), color.Black, color.Gray16{Y: 255}), 0, Sure, ".#.."},
		"gray with alpha": {fill(image.NewNRGBA(r), clear(0, 255), clear(99, 255), clear(255, 255)), 0, Soft,
			"..#."},
		"soft alpha of white": {fill(image.NewNRGBA(r), clear(255, 0), clear(255, 99), clear(255, 200),
			clear(255, 255)), 0, Soft, "..##"},
		"soft alpha of black": {fill(image.NewNRGBA(r), clear(0, 0), clear(0, 99), clear(0, 200)), 0, Soft, "..#."},
		"soft cut-out": {fill(image.NewNRGBA(r), color.NRGBA{R: 200}, color.NRGBA{R: 200, A: 99},
			color.NRGBA{R: 200, A: 200}, color.NRGBA{G: 90, A: 255}), 0, Soft, "..##"},
		"colors of classes": {fill(image.NewRGBA(r), color.Black, color.RGBA{R: 64, A: 255}, color.RGBA{G: 128, A: 255},
			color.RGBA{B: 192, A: 255}), 0, Sure, ".###"},
		"palette": {&image.Paletted{Pix: []uint8{0, 1, 2, 3}, Stride: 4, Rect: r, Palette: color.Palette{color.Black,
			color.Gray{Y: 50}, color.Gray{Y: 100}, color.White}}, 0, Sure, ".###"},
		"lossy": {&jpeg.Image{Width: 4, Height: 1, Pix: []uint8{3, 0, 1, 9, 2, 0, 200, 190, 180, 255, 250, 255}}, 0,
			Soft, "..##"},
	} {
		got, guess, err := Read(c.img, c.threshold)
		if d := cmp.Diff(parse([]string{c.want}), got); d != "" || guess != c.guess || err != nil {
			t.Errorf("%s: guess %v, %v, %s", name, guess, err, d)
		}
	}
}

// TestInverted: more than half is object, at all four borders.
func TestInverted(t *testing.T) {
	for want, rows := range map[bool][][]string{
		true:  {{"####", "#..#", "####"}, {"##", "##"}},
		false: {{"....", ".##.", "...."}, {"....", "####", "####", "####"}, {"#..#", "....", "#..#"}},
	} {
		for _, r := range rows {
			must.Equal(t, Inverted(Encode(parse(r))), want, r)
		}
	}
}

// TestFromRuns: run lengths as segment-anything writes them.
func TestFromRuns(t *testing.T) {
	want := parse([]string{"..#", "##.", ".#."})
	m, err := FromRuns(3, 3, []int{1, 1, 2, 2, 0, 1, 2})
	if d := cmp.Diff(Encode(want), m); err != nil || d != "" {
		t.Errorf("%v, %s", err, d)
	}
	for _, counts := range [][]int{{8}, {10}, {-1, 10}, nil, {1 << 40}} {
		if m, err := FromRuns(3, 3, counts); err == nil {
			t.Errorf("%v: %v", counts, m)
		}
	}
}

// TestFromImageRefuses: an image whose planes are smaller than its bounds, as a decoder returned it for a damaged WebP,
// and one that no memory holds are errors.
func TestFromImageRefuses(t *testing.T) {
	r := image.Rect(0, 0, 4, 4)
	gray, alpha := image.NewGray(r), image.NewNYCbCrA(r, image.YCbCrSubsampleRatio420)
	gray.Pix = gray.Pix[:7:7]
	alpha.A = alpha.A[:1]
	chroma := image.NewYCbCr(r, image.YCbCrSubsampleRatio420)
	chroma.Cb = nil
	palette := image.NewPaletted(r, color.Palette{color.White})
	palette.Pix = palette.Pix[:1]
	beyond := image.NewPaletted(r, color.Palette{color.White}) // an index without a color is background
	beyond.Pix[0] = 7
	for name, img := range map[string]image.Image{
		"gray": gray, "alpha": alpha, "chroma": chroma, "palette": palette,
		"huge":  &image.Gray{Rect: image.Rect(0, 0, 1<<20, 1<<20), Stride: 1 << 20},
		"empty": image.NewGray(image.Rectangle{}),
	} {
		if b, err := FromImage(img); err == nil || strings.Contains(err.Error(), "\n") || b.Pix != nil {
			t.Errorf("%s: %d pixels, error %v; want one line", name, len(b.Pix), err)
		}
	}
	must.Equal(t, must.Get(FromImage(beyond))(t).Area(), 15, "an index beyond the palette", "object pixels")
}

func TestGrayRoundTrip(t *testing.T) {
	b := parse([]string{"..#", "##.", ".#."})
	var file bytes.Buffer
	must.Do(t, png.Encode(&file, b.Gray()))
	img := must.Get(png.Decode(&file))(t)
	got, err := FromImage(img)
	if d := cmp.Diff(b, got); d != "" || err != nil {
		t.Error(err, d)
	}
}

func TestCells(t *testing.T) {
	b := parse([]string{
		"......",
		"..#...",
		"......",
		".....#"})
	must.Equal(t, cmp.Diff(parse([]string{".#.", "..#"}), b.Cells(3, 2)), "")
}

func TestOutline(t *testing.T) {
	p := func(xy ...int) (out []image.Point) {
		for i := 0; i < len(xy); i += 2 {
			out = append(out, image.Pt(xy[i], xy[i+1]))
		}
		return out
	}
	for name, c := range map[string]struct {
		rows []string
		want [][]image.Point
	}{
		"nothing": {[]string{"..", ".."}, nil},
		"pixel":   {[]string{"...", ".#.", "..."}, [][]image.Point{p(1, 1, 2, 1, 2, 2, 1, 2)}},
		"all":     {[]string{"##", "##"}, [][]image.Point{p(0, 0, 2, 0, 2, 2, 0, 2)}},
		"angle":   {[]string{"#.", "##"}, [][]image.Point{p(0, 0, 1, 0, 1, 1, 2, 1, 2, 2, 0, 2)}},
		"hole": {[]string{"###", "#.#", "###"},
			[][]image.Point{p(0, 0, 3, 0, 3, 3, 0, 3), p(1, 1, 1, 2, 2, 2, 2, 1)}},
		"diagonal": {[]string{"#.", ".#"}, [][]image.Point{p(0, 0, 1, 0, 1, 1, 0, 1), p(1, 1, 2, 1, 2, 2, 1, 2)}},
	} {
		must.Equal(t, cmp.Diff(c.want, parse(c.rows).Outline()), "", name)
	}
}

// TestOutlineArea checks the polygons of busy masks against the pixel count, by the shoelace formula.
func TestOutlineArea(t *testing.T) {
	b := New(40, 30)
	x := uint32(1)
	for i := range b.Pix {
		x = x*1664525 + 1013904223
		b.Pix[i] = x>>24 < 150
	}
	area := 0
	for _, polygon := range b.Outline() {
		for i, p := range polygon {
			q := polygon[(i+1)%len(polygon)]
			if (p.X == q.X) == (p.Y == q.Y) {
				t.Fatalf("side from %v to %v is not along a pixel edge", p, q)
			}
			area += p.X*q.Y - q.X*p.Y
		}
	}
	must.Equal(t, area, 2*b.Area(), "polygons enclose")
}
