package plots_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/exif"
	"antipode/internal/must"
	"antipode/plots"
)

// store writes an image file and returns the image that refers to it.
func store(t *testing.T, name string, data []byte) table.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, data, 0o644))
	return table.Image{SHA256: "0", Path: path}
}

func encodePNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, img))
	return b.Bytes()
}

// noise is the worst image to compress.
func noise(seed uint64, side int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range img.Pix {
		img.Pix[i] = uint8(r.Uint32())
	}
	return img
}

func imageTable(images []table.Image, masks []table.Mask) datasets.Table {
	var id []string
	for i := range images {
		id = append(id, fmt.Sprintf("i%d", i))
	}
	f := &datasets.Frame{Columns: []table.Column{table.TextColumn("id", id), table.ImageColumn("image", images)}}
	if masks != nil {
		f = f.With(table.MaskColumn("mask", masks))
	}
	return datasets.FromFrame(f)
}

var uri = regexp.MustCompile(`data:image/jpeg;base64,([A-Za-z0-9+/=]+)`)

// TestInlineBytes draws many incompressible images: what is inline stays under the limit and what is left out is
// said.
func TestInlineBytes(t *testing.T) {
	var images []table.Image
	for i := range 150 {
		images = append(images, store(t, "noise.png", encodePNG(t, noise(uint64(i), 96))))
	}
	for _, n := range []int{3, 150} {
		page := must.Get(plots.Text(plots.Grid{Table: imageTable(images, nil), Limit: n}, "html"))(t)
		total, count := 0, 0
		for _, m := range uri.FindAllStringSubmatch(page, -1) {
			total, count = total+len(m[1]), count+1
		}
		must.True(t, total <= plots.InlineBytes(n) && total >= plots.InlineBytes(n)/20,
			"limit %d: %d bytes inline", n, total)
		must.Equal(t, count, n, "limit", "images")
		if more := 150 - n; more > 0 && !strings.Contains(page, fmt.Sprintf("%d more not shown", more)) {
			t.Errorf("limit %d: the caption does not count the %d that are not shown", n, more)
		}
	}
}

func thumbnails(t *testing.T, f plots.Figure) []image.Image {
	t.Helper()
	svg := must.Get(plots.Render(f, "svg"))(t)
	var out []image.Image
	for _, m := range uri.FindAllSubmatch(svg, -1) {
		data := must.Get(base64.StdEncoding.DecodeString(string(m[1])))(t)
		img := must.Get(jpeg.Decode(bytes.NewReader(data)))(t)
		out = append(out, img)
	}
	return out
}

func like(c color.Color, r, g, b int) bool {
	cr, cg, cb, _ := c.RGBA()
	near := func(v uint32, w int) bool { d := int(v>>8) - w; return d*d < 40*40 }
	return near(cr, r) && near(cg, g) && near(cb, b)
}

// half is green left and blue right; its mask is the left half.
func half() (image.Image, table.Mask) {
	img, bits := image.NewRGBA(image.Rect(0, 0, 80, 60)), mask.New(80, 60)
	for y := range 60 {
		for x := range 80 {
			img.SetRGBA(x, y, color.RGBA{0, 160, 0, 255})
			bits.Set(x, y, x < 40)
			if x >= 40 {
				img.SetRGBA(x, y, color.RGBA{0, 0, 200, 255})
			}
		}
	}
	return img, mask.Encode(bits)
}

// TestOverlayPixels checks the outline, the paled side and the three segments where they must be.
func TestOverlayPixels(t *testing.T) {
	img, m := half()
	tab := imageTable([]table.Image{store(t, "half.png", encodePNG(t, img))}, []table.Mask{m})
	at := func(img image.Image, x, y float64) color.Color {
		r := img.Bounds()
		return img.At(int(x*float64(r.Dx())), int(y*float64(r.Dy())))
	}
	got := thumbnails(t, plots.Grid{Table: tab, Outline: "mask", Fade: plots.Background})[0]
	if !like(at(got, .25, .5), 0, 160, 0) || !like(at(got, .5, .5), 224, 0, 0) ||
		!like(at(got, .75, .5), 140, 140, 230) {
		t.Errorf("outlined: %v %v %v", at(got, .25, .5), at(got, .5, .5), at(got, .75, .5))
	}
	for _, way := range []int{-1, 1} { // white next to the outline, on either side
		brightest := uint8(0)
		for d := 1; d <= 4; d++ {
			c := color.GrayModel.Convert(got.At(got.Bounds().Dx()/2+way*d, got.Bounds().Dy()/2)).(color.Gray)
			brightest = max(brightest, c.Y)
		}
		must.True(t, brightest >= 200, "brightness %d next to the outline", brightest)
	}
	segments := thumbnails(t, plots.Segments{Table: tab})
	if len(segments) != 3 {
		t.Fatalf("%d segments", len(segments))
	}
	for i, want := range [][2][3]int{{{0, 160, 0}, {0, 0, 200}}, {{0, 160, 0}, {255, 255, 255}},
		{{255, 255, 255}, {0, 0, 200}}} {
		l, r := at(segments[i], .25, .5), at(segments[i], .75, .5)
		must.True(t, like(l, want[0][0], want[0][1], want[0][2]) && like(r, want[1][0], want[1][1], want[1][2]),
			"segment %d: %v, %v", i, l, r)
	}
}

// TestBoxes draws a detector's boxes where they are and writes their labels; a text that is not boxes is an error.
func TestBoxes(t *testing.T) {
	img, _ := half()
	stored := store(t, "half.png", encodePNG(t, img))
	f := imageTable([]table.Image{stored, stored}, nil)
	frame := must.Get(f.Rows(t.Context()))(t)
	with := func(boxes string) plots.Grid {
		return plots.Grid{Table: datasets.FromFrame(frame.With(table.TextColumn("boxes", []string{boxes, ""}))),
			Boxes: "boxes"}
	}
	figure := with(`[{"object":"cat","label":"a <cat>","score":0.5213,"box":[10,15,30.2,45],"iou":0.9}]`)
	got := thumbnails(t, figure)
	at := func(i int, x, y float64) color.Color {
		r := got[i].Bounds()
		return got[i].At(int(x*float64(r.Dx())/80), int(y*float64(r.Dy())/60))
	}
	blue := plots.DefaultTheme().Series[0]
	for _, p := range [][2]float64{{10, 30}, {30, 30}, {20, 15}, {20, 45}} {
		if !like(at(0, p[0], p[1]), int(blue.R), int(blue.G), int(blue.B)) || !like(at(1, p[0], p[1]), 0, 160, 0) {
			t.Errorf("at %v: %v, and %v without a box", p, at(0, p[0], p[1]), at(1, p[0], p[1]))
		}
	}
	must.True(t, like(at(0, 20, 30), 0, 160, 0) && like(at(0, 35, 30), 0, 160, 0),
		"inside %v, outside %v", at(0, 20, 30), at(0, 35, 30))
	page := must.Get(plots.Text(figure, "html"))(t)
	must.Has(t, page, "a &lt;cat&gt; 0.52", "Blue: the detector")        // the figure has the label
	must.Fail(failure(with("none")))(t, `column "boxes": the boxes in `) // a text that is not boxes
}

// TestUnreadable shows a good image next to bad ones, each with its reason; bad ones alone are an error.
func TestUnreadable(t *testing.T) {
	img, m := half()
	good := encodePNG(t, img)
	images := []table.Image{store(t, "good.png", good), store(t, "cut.png", good[:60]), store(t, "empty.jpg", nil),
		{Path: "/nowhere/gone.png"}, {}, store(t, "other.png", encodePNG(t, noise(1, 20)))}
	masks := []table.Mask{m, m, {}, {}, {}, m}
	page := must.Get(plots.Text(plots.Grid{Table: imageTable(images, masks), Outline: "mask"}, "html"))(t)
	// the figure
	must.Has(t, page, "Not readable, 4: cut.png (not a readable PNG: ", "empty.jpg (the file is empty",
		"gone.png (no such file or directory)", "mask is 80×60, image 20×20", "no image")
	must.Fail(failure(plots.Grid{Table: imageTable(images[1:3], nil)}))(t, "cut.png") // two bad images
}

func TestOrientation(t *testing.T) {
	var plain bytes.Buffer
	must.Do(t, jpeg.Encode(&plain, image.NewGray(image.Rect(0, 0, 4, 2)), nil))
	turned := func(order string, o byte) []byte {
		tiff := []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(o) +
			"\x00\x00\x00\x00\x00\x00")
		if order == "II" {
			tiff = []byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" + string(o) +
				"\x00\x00\x00\x00\x00\x00\x00")
		}
		body := append([]byte("Exif\x00\x00"), tiff...)
		segment := append([]byte{0xFF, 0xE1, 0, byte(len(body) + 2)}, body...)
		return append(append([]byte{0xFF, 0xD8}, segment...), plain.Bytes()[2:]...)
	}
	for want, data := range map[int][]byte{1: plain.Bytes(), 6: turned("MM", 6), 8: turned("II", 8)} {
		must.Equal(t, exif.Orientation(data), want, "orientation")
	}
	whole := turned("MM", 6)
	for n := range len(whole) { // a truncated file has an orientation and causes no panic
		o := exif.Orientation(whole[:n])
		must.True(t, o >= 1 && o <= 8, "cut at %d: %d", n, o)
	}
	shown := thumbnails(t, plots.Grid{
		Table: imageTable([]table.Image{store(t, "turned.jpg", whole)}, nil),
	})[0].Bounds()
	must.Equal(t, shown.Dx(), 2)
	must.Equal(t, shown.Dy(), 4)
}

func TestSaveImages(t *testing.T) {
	img, _ := half()
	data := encodePNG(t, img)
	f := &datasets.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a/../b", "c", "none", "a_.._b"}),
		table.ImageColumn("image", []table.Image{store(t, "x.png", data), store(t, "y.png", data), {},
			store(t, "z.png", data)})}}
	folder := filepath.Join(t.TempDir(), "out")
	n, err := plots.SaveImagesE(context.Background(), plots.Grid{Table: datasets.FromFrame(f)}, folder)
	if err != nil || n != 3 {
		t.Fatalf("%d copied, %v", n, err)
	}
	for _, name := range []string{"a____b.png", "c.png", "a____b-2.png"} {
		got, err := os.ReadFile(filepath.Join(folder, name))
		must.True(t, err == nil && bytes.Equal(got, data), "%s: %v", name, err)
	}
}

// TestSaveReduced: images are not larger than requested, and small ones are not enlarged.
func TestSaveReduced(t *testing.T) {
	img, _ := half()
	f := &datasets.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"}),
		table.ImageColumn("image", []table.Image{store(t, "x.png", encodePNG(t, img))})}}
	longest := max(img.Bounds().Dx(), img.Bounds().Dy())
	for _, side := range []int{longest / 2, 2 * longest} {
		folder := t.TempDir()
		n, err := plots.SaveImagesE(context.Background(), plots.Grid{Table: datasets.FromFrame(f)}, folder,
			plots.ImageOptions{Side: side})
		if err != nil || n != 1 {
			t.Fatalf("%d written, %v", n, err)
		}
		file := must.Get(os.Open(filepath.Join(folder, "a.jpg")))(t)
		defer file.Close()
		c, format, err := image.DecodeConfig(file)
		must.True(t, err == nil && format == "jpeg" && max(c.Width, c.Height) == min(side, longest),
			"side %d: %d × %d %s, %v", side, c.Width, c.Height, format, err)
	}
	must.Fail(plots.SaveImagesE(context.Background(), plots.Grid{Table: datasets.FromFrame(f)}, t.TempDir(),
		plots.ImageOptions{Side: -1}))(t) // side -1
}

// TestPNG checks size and colors of a painted figure, and that scripts without a font are named.
func TestPNG(t *testing.T) {
	tab := datasets.FromFrame(&datasets.Frame{Columns: []table.Column{table.TextColumn("region",
		[]string{"a", "中文"}), table.NumberColumn("v", []float64{0.25, 1})}})
	f := plots.Bars{Table: tab, Y: "v"}
	data := must.Get(plots.Render(f, "png"))(t)
	img := must.Get(png.Decode(bytes.NewReader(data)))(t)
	must.Equal(t, img.Bounds().Dx(), 1400, "dots wide")
	blue := 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if like(img.At(x, y), 0, 0x72, 0xB2) {
				blue++
			}
		}
	}
	want := 43 * 250 * 1.25 * 4 // two bars, 43 pixels wide, 1.25 times 250 high, four dots a pixel
	if f := float64(blue) / want; f < 0.97 || f > 1.03 {
		t.Errorf("%d blue dots, want about %.0f", blue, want)
	}
	f.Theme.DPI = 5
	must.Fail(plots.Render(f, "png"))(t) // 5 dots per inch
}

func TestSave(t *testing.T) {
	folder := t.TempDir()
	for name, want := range map[string]string{"f.svg": "<svg ", "f.png": "\x89PNG", "f.html": "<!DOCTYPE html>"} {
		path := filepath.Join(folder, name)
		must.Do(t, plots.SaveE(context.Background(), (plots.Bars{Table: averages(), Y: "coverage"}), path))
		data, err := os.ReadFile(path)
		must.True(t, err == nil && strings.HasPrefix(string(data), want), "%s: %v, begins %.20q", name, err, data)
		must.True(t, !strings.HasSuffix(name, "html") || strings.Contains(string(data), `default-src 'none'`),
			"the page has no policy")
	}
	must.Fail(plots.SaveE(context.Background(), (plots.Bars{Table: averages(), Y: "coverage"}), "f.gif"))(t,
		".svg, .pdf, .png or .html") // a GIF
}

// TestBundle shows figures in three forms: the PNG has a palette and a limited size, whatever the images are.
func TestBundle(t *testing.T) {
	var images []table.Image
	for i := range 24 {
		images = append(images, store(t, "noise.png", encodePNG(t, noise(uint64(i), 96))))
	}
	tab := datasets.FromFrame(&datasets.Frame{Columns: []table.Column{table.TextColumn("region",
		[]string{"a", "b"}), table.NumberColumn("v", []float64{0.25, 1})}})
	for name, c := range map[string]struct {
		f          plots.Figure
		html, text string
		width      int // of the PNG; 0 = whatever fits
	}{
		"bars": {plots.Bars{
			Table: tab,
			Y:     "v",
			Title: "Bars <b>",
		}, `src="data:image/svg+xml;base64,`, "Bars <b>. ", 700},
		"grid": {plots.Grid{
			Table: imageTable(images, nil),
		}, `src="data:image/jpeg;base64,`, "Images. n = 24 images.", 0},
	} {
		b := must.Get(plots.Bundle(c.f))(t)
		if !strings.Contains(b.HTML, c.html) || !strings.HasPrefix(b.Text, c.text) || strings.Contains(b.Text, "\n") {
			t.Errorf("%s: text %q, HTML %.200s", name, b.Text, b.HTML)
		}
		img := must.Get(png.Decode(bytes.NewReader(b.PNG)))(t)
		_, palette := img.(*image.Paletted)
		if !palette || len(b.PNG) > plots.PreviewBytes || c.width > 0 && img.Bounds().Dx() != c.width {
			t.Errorf("%s: a PNG of %d bytes, %v, palette %t", name, len(b.PNG), img.Bounds(), palette)
		}
		must.Equal[color.Color](t, img.At(0, 0), color.RGBA{255, 255, 255, 255}, name, "the background")
		blue := 0
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				if like(img.At(x, y), 0, 0x72, 0xB2) {
					blue++
				}
			}
		}
		if want := 43 * 250 * 1.25; name == "bars" && math.Abs(float64(blue)/want-1) > 0.03 {
			t.Errorf("%d blue dots, want about %.0f", blue, want)
		}
	}
}

// A seed below an image has all its digits.
func TestNumbersBelowImages(t *testing.T) {
	img, _ := half()
	f := &datasets.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a"}),
		table.NumberColumn("seed", []float64{4294967295}),
		table.NumberColumn("distance", []float64{0.123456}),
		table.ImageColumn("image", []table.Image{store(t, "x.png", encodePNG(t, img))})}}
	page, err := plots.Text(plots.Grid{
		Table:    datasets.FromFrame(f),
		Captions: []string{"seed", "distance"},
	}, "html")
	if err != nil || !strings.Contains(page, "seed 4294967295<") || !strings.Contains(page, "distance 0.1235<") {
		t.Errorf("%v\n%s", err, uri.ReplaceAllString(page, ""))
	}
}

// TestGridSize: a single image is as wide as the figure, several as wide as asked, beyond the figure's width too.
func TestGridSize(t *testing.T) {
	img := store(t, "a.png", encodePNG(t, image.NewRGBA(image.Rect(0, 0, 900, 600))))
	of := func(n int, size float64) (string, error) {
		images := slices.Repeat([]table.Image{img}, n)
		rows := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c"}[:n]),
			table.ImageColumn("image", images)}}
		html, err := plots.Render(plots.Grid{Table: datasets.FromFrame(rows), Size: size}, "html")
		return string(html), err
	}
	for _, c := range []struct {
		n    int
		size float64
		want string
	}{{1, 0, `width="674"`}, {3, 0, `width="200"`}, {3, 512, `width="512"`}, {1, 100, `width="100"`}} {
		if html := must.Get(of(c.n, c.size))(t); strings.Count(html, c.want) != c.n {
			t.Errorf("%d images of size %g: want %s in %.900s", c.n, c.size, c.want, html)
		}
	}
	must.Fail(of(1, 5))(t, "Size is 5 pixels") // a size of 5
}
