package preprocess

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"antipode/internal/imagefile"
	"antipode/internal/must"
)

func TestDecodeRefuses(t *testing.T) {
	read := func(name string) []byte {
		return must.Get(os.ReadFile(filepath.Join("testdata/files", name)))(t)
	}
	half := func(name string) []byte { b := read(name); return b[:len(b)/2] }
	header := bytes.Clone(read("rgb.png")[:33]) // signature and IHDR
	copy(header[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0})
	sum := crc32.ChecksumIEEE(header[12:29])
	copy(header[29:], []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	for want, data := range map[string][]byte{
		"the file is empty (0 bytes)":              nil,
		"not an image of a known format":           []byte("hello"),
		"not a readable JPEG: the file is cut off": half("jpeg-420.jpg"),
		"not a readable PNG: png: invalid":         half("rgb.png"),
		"not a readable GIF":                       half("palette.gif"),
		"not a readable WebP":                      half("lossy.webp"),
		"not a readable TIFF":                      half("plain.tif"),
		"not a readable BMP":                       half("rgb.bmp"),
		"not a readable PNG":                       read("rgb.png")[:20],
		"not a readable JPEG":                      []byte("\xff\xd8\xff"),
		"65536×65536 pixels, more than 100":        header,
	} {
		must.Fail(Decode(data))(t, want)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Decode(header)
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, imagefile.ErrTooLarge) || allocated > 1<<20 {
		t.Errorf("too large: %v, after %d bytes were allocated", err, allocated)
	}
	path := filepath.Join(t.TempDir(), "bad.png")
	os.WriteFile(path, nil, 0o600)
	if _, err := DecodeFile(path); err == nil || err.Error() != path+": the file is empty (0 bytes)" {
		t.Errorf("DecodeFile: %v", err)
	}
}

// TestDecodeNamesFormats: what is not supported is named, with the fix; testdata/foreign holds Pillow's files.
func TestDecodeNamesFormats(t *testing.T) {
	for name, want := range map[string]string{
		"image.avif":    "an AVIF image, which is not supported: convert it to PNG or JPEG",
		"image.heic":    "a HEIC image, which is not supported: convert it",
		"image.jp2":     "a JPEG 2000 image, which is not supported: convert it",
		"moving.webp":   "(an animation; save its first frame as PNG)",
		"jpeg.tif":      "unsupported feature: compression value 7; convert it to PNG",
		"page.html":     "an HTML page, which is not supported: it is what a server sent in place of an image",
		"drawing.svg":   "an SVG drawing",
		"document.pdf":  "a PDF document",
		"image.jxl":     "a JPEG XL image",
		"image.lfs.png": "a Git LFS pointer, which is not supported: fetch the file itself: git lfs pull",
	} {
		data := must.Get(os.ReadFile(filepath.Join("testdata/foreign", name)))(t)
		must.Fail(Decode(data))(t, want)
	}
}

// FuzzDecode: no damaged file may end the program, and what is read has its pixels.
func FuzzDecode(f *testing.F) {
	paths, _ := filepath.Glob("testdata/files/*.*")
	for _, p := range paths {
		if b, err := os.ReadFile(p); err == nil && len(b) < 3000 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := Decode(b); err == nil && len(p.Pix) != 3*p.Width*p.Height {
			t.Errorf("%d×%d pixels of %d bytes", p.Width, p.Height, len(p.Pix))
		}
	})
}

func TestUpright(t *testing.T) {
	// a b c      What a camera stored under each orientation, all of which show the image at the left.
	// d e f
	stored := map[int][2]string{
		1: {"abc", "def"}, 2: {"cba", "fed"}, 3: {"fed", "cba"}, 4: {"def", "abc"},
	}
	turned := map[int][3]string{5: {"ad", "be", "cf"}, 6: {"cf", "be", "ad"}, 7: {"fc", "eb", "da"},
		8: {"da", "eb", "fc"}}
	check := func(o int, rows []string) {
		p := NewRGB(len(rows[0]), len(rows))
		for i := range p.Width * p.Height {
			p.Pix[3*i] = rows[i/p.Width][i%p.Width]
		}
		up, got := p.upright(o), ""
		for i := range 6 {
			got += string(rune(up.Pix[3*i]))
		}
		must.Equal(t, got, "abcdef", o)
		must.Equal(t, up.Width, 3, o)
	}
	for o, rows := range stored {
		check(o, rows[:])
	}
	for o, rows := range turned {
		check(o, rows[:])
	}
}

// TestFromImage: kinds of images no file test reaches, and a corner that is not at 0.
func TestFromImage(t *testing.T) {
	r := image.Rect(5, 7, 6, 8)
	rgba := image.NewRGBA(r)
	rgba.SetRGBA(5, 7, color.RGBA{40, 20, 10, 100}) // premultiplied
	ycc := image.NewYCbCr(r, image.YCbCrSubsampleRatio444)
	ycc.Y[0], ycc.Cb[0], ycc.Cr[0] = 100, 128, 128
	cmyk := image.NewCMYK(r)
	cmyk.SetCMYK(5, 7, color.CMYK{0, 255, 128, 51})
	deep := image.NewNRGBA64(r)
	deep.SetNRGBA64(5, 7, color.NRGBA64{0x1234, 0x5678, 0x9abc, 1})
	for name, c := range map[string]struct {
		img  image.Image
		want [3]uint8
	}{
		"premultiplied": {rgba, [3]uint8{102, 51, 25}}, "YCbCr": {ycc, [3]uint8{100, 100, 100}},
		"CMYK": {cmyk, [3]uint8{204, 0, 102}}, "16 bits": {deep, [3]uint8{0x12, 0x56, 0x9a}},
	} {
		if p := FromImage(c.img); p.Width != 1 || p.Height != 1 || [3]uint8(p.Pix) != c.want {
			t.Errorf("%s: %v, want %v", name, p.Pix, c.want)
		}
	}
	p := NewRGB(2, 1)
	p.Pix[3] = 9
	if FromImage(p) != p || p.At(1, 0) != (color.RGBA{9, 0, 0, 255}) || p.At(2, 0) != (color.RGBA{}) ||
		p.Bounds().Dx() != 2 {
		t.Error("RGB is not its own image")
	}
}

func TestConfig(t *testing.T) {
	c := Default(24, 24)
	keys, err := c.HuggingFace()
	text, jsonErr := json.Marshal(keys)
	must.Do(t, errors.Join(err, jsonErr))
	back, err := ParseHuggingFace(text)
	if back.Source = c.Source; err != nil || *back != c {
		t.Errorf("back: %+v, %v", back, err)
	}
	for want, c := range map[string]Config{
		"size 0×0 is not":           {Resize: Stretch},
		`resizing "x" is not known`: {Resize: "x"},
		"without a center crop":     {Resize: ShortestEdge, Edge: 9, Scale: 1, Std: Half},
		"shortest_edge 0":           {Resize: ShortestEdge},
		"rescale_factor 0":          {Resize: NoResize},
		"deviations must be":        {Resize: NoResize, Scale: 1},
		"resample 7 is not":         {Resize: NoResize, Filter: 7},
		"longest_edge 30 must be":   {Resize: LongestEdge, Edge: 30, Height: 24, Width: 40},
		"gives 40×24 pixels":        {Resize: LongestEdge, Edge: 24, Height: 24, Width: 40, Scale: 1, Std: Half},
		"shortest_edge 6 must be":   {Resize: Within, Edge: 6, Longest: 5},
		"gives images of many":      {Resize: Within, Edge: 5, Longest: 6, Scale: 1, Std: Half},
		"size 0×9 is not":           {Resize: PadSquare, Height: 9},
		"gives 9×9 pixels":          {Resize: Stretch, Height: 9, Width: 9, Scale: 1, Std: Half},
	} {
		must.Fail(c.Validate(24, 24))(t, want)
	}
	for want, text := range map[string]string{
		"do_center_crop without a crop_size": `{"do_center_crop": true}`,
		"is not a size this program knows":   `{"size": {"height": 3}}`,
		`"big" is not a size`:                `{"size": "big"}`,
		"longest_edge without do_pad":        `{"size": {"longest_edge": 5}, "pad_size": {"height": 5, "width": 5}}`,
		"image_std has 1 values":             `{"image_std": [1]}`,
		"which resizes with SciPy":           `{"image_processor_type": "Owlv2ImageProcessorPil", "do_pad": true}`,
		"without do_pad":                     `{"image_processor_type": "Owlv2ImageProcessor"}`,
		"takes do_resize and a size":         `{"image_processor_type": "Owlv2ImageProcessor", "size": {"shortest_edge": 5}}`,
	} {
		must.Fail(ParseHuggingFace([]byte(text)))(t, want)
	}
	square := Config{Resize: PadSquare, Height: 4, Width: 4, Scale: 1, Std: [3]float64{1, 1, 1}}
	for want, got := range map[string]func() error{
		"none of them of 8 bits": func() error { _, err := square.Pixels(NewRGB(3, 4), 4, 4); return err },
		"gives 4×4 pixels":       func() error { _, err := square.Apply(NewRGB(3, 4), 5, 4); return err },
		"has no pixels":          func() error { _, err := square.Apply(NewRGB(0, 4), 4, 4); return err },
	} {
		must.Fail(got())(t, want)
	}
	plain := Config{Resize: NoResize, Scale: 1, Std: [3]float64{1, 1, 1}}
	must.Fail(plain.Apply(NewRGB(3, 4), 4, 4))(t, "the image is 3×4 pixels, the model takes 4×4 and its preprocessing "+
		"does not resize") // no resize
	c = Config{Resize: ShortestEdge, Edge: 24, CropHeight: 24, CropWidth: 24, Scale: 1, Std: Half}
	must.Fail(c.Apply(NewRGB(1, 90_000_000), 24, 24))(t, "too narrow") // a thread
}

// TestPublicCode: the middle square, then the size; the margins are lost.
func TestPublicCode(t *testing.T) {
	p := NewRGB(30, 10)
	for i := range p.Width * p.Height {
		if x := i % 30; x >= 10 && x < 20 {
			p.Pix[3*i], p.Pix[3*i+1], p.Pix[3*i+2] = 255, 255, 255
		}
	}
	c := PublicCode(10)
	out := must.Get(c.Apply(p, 10, 10))(t)
	for i, v := range out {
		ch := i / 100
		if want := float32((1 - ImageNetMean[ch]) / ImageNetStd[ch]); v-want > 1e-6 || want-v > 1e-6 {
			t.Fatalf("value %d is %v, want %v", i, v, want)
		}
	}
	seen, err := c.Pixels(p, 10, 10)
	if err != nil || !bytes.Equal(seen.Pix, bytes.Repeat([]byte{255}, 300)) {
		t.Errorf("pixels: %v", err)
	}
}
