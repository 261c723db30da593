package imagefile

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/bits"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"antipode/internal/must"
)

const files = "../../gomlxmodels/preprocess/testdata/files/"

func read(t testing.TB, name string) []byte {
	return must.Get(os.ReadFile(files + name))(t)
}

func chunk(id string, data []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(id), uint32(len(data)))
	b = append(b, data...)
	return append(b, make([]byte, len(data)%2)...)
}

// webpFile returns a WebP file of these chunks.
func webpFile(chunks ...[]byte) []byte {
	return chunk("RIFF", append([]byte("WEBP"), bytes.Join(chunks, nil)...))
}

// extended returns the chunk VP8X of an image with transparency.
func extended(width, height int) []byte {
	return chunk("VP8X", []byte{0x10, 0, 0, 0, byte(width - 1), byte((width - 1) >> 8), 0, byte(height - 1),
		byte((height - 1) >> 8), 0})
}

// pixels is the use of the tests: it reads every pixel, as masks and figures do.
func pixels(img image.Image, _ string, _ image.Config) (int, error) {
	r, n := img.Bounds(), 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			img.At(x, y).RGBA()
			n++
		}
	}
	return n, nil
}

// TestDecodeMalformed: files that end readers of older versions of golang.org/x/image, or that take gigabytes, are
// errors of one line, at once and without the memory.
func TestDecodeMalformed(t *testing.T) {
	lossy := read(t, "lossy.webp")[12:] // its chunk VP8
	// 16384 × 16384
	lossless := chunk("VP8L", []byte{0x2f, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0})
	for name, data := range map[string][]byte{
		"an alpha plane smaller than the image": webpFile(extended(1, 1), chunk("ALPH", []byte{0, 255}), lossy),
		"an alpha plane without pixels":         webpFile(extended(24, 24), chunk("ALPH", nil), lossy),
		"an alpha plane of another size":        webpFile(extended(9999, 1), chunk("ALPH", make([]byte, 10000)), lossy),
		"an alpha plane that claims gigabytes":  webpFile(extended(16384, 16384), chunk("ALPH", []byte{0}), lossy),
		"a lossless image larger than its canvas": webpFile(
			chunk("VP8X", []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), lossless),
		"a lossless image of gigabytes": webpFile(lossless),
		"a GIF of 65535 × 65535":        []byte("GIF89a\xff\xff\xff\xff\x00\x00\x00"),
		"a BMP of gigabytes": append([]byte("BM\x00\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00"+
			"\xff\xff\x00\x00\xff\xff\x00\x00\x01\x00\x18\x00"), make([]byte, 24)...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := Decode(data, pixels)
		runtime.ReadMemStats(&after)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line", name, err)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 || time.Since(start) > time.Second {
			t.Errorf("%s: %d MiB, %v", name, n>>20, time.Since(start))
		}
	}
}

// TestLargeWait: an image that needs the whole budget is decoded alone, and small ones are decoded side by side.
func TestLargeWait(t *testing.T) {
	most := func(side, n int) int32 {
		var file bytes.Buffer
		must.Do(t, png.Encode(&file, image.NewPaletted(image.Rect(0, 0, side, side),
			color.Palette{color.Black, color.White})))
		var running, peak atomic.Int32
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				_, err := Decode(file.Bytes(), func(image.Image, string, image.Config) (int, error) {
					now := running.Add(1)
					defer running.Add(-1)
					for old := peak.Load(); now > old && !peak.CompareAndSwap(old, now); old = peak.Load() {
					}
					time.Sleep(20 * time.Millisecond)
					return 0, nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return peak.Load()
	}
	must.Equal(t, most(8192, 4), 1, "images of 67 million pixels are decoded at the same time")
	got := most(64, 8)
	must.True(t, got >= 2, "small images are decoded one after another")
}

// TestPanicIsAnError: what panics on a decoded image is an error of the file, and the next image is decoded.
func TestPanicIsAnError(t *testing.T) {
	data := read(t, "rgb.png")
	for range 3 {
		_, err := Decode(data, func(image.Image, string, image.Config) (int, error) { panic("index out of range") })
		if err == nil || err.Error() != "not a readable PNG: index out of range" {
			t.Errorf("error %v", err)
		}
	}
	n, err := Decode(data, pixels)
	must.True(t, n != 0 && err == nil, "%d pixels, %v", n, err)
}

// faxTIFF returns a TIFF file of one strip of 16×4 pixels in fax compression.
func faxTIFF(group, photometric, order int, strip []byte) []byte {
	b := append([]byte("II*\x00"), binary.LittleEndian.AppendUint32(nil, uint32(8+len(strip)))...)
	b = append(b, strip...)
	tags := [][2]int{{256, 16}, {257, 4}, {258, 1}, {259, group}, {262, photometric}, {266, order}, {273, 8}, {278, 4},
		{279, len(strip)}}
	b = append(b, byte(len(tags)), 0)
	for _, t := range tags {
		b = binary.LittleEndian.AppendUint16(b, uint16(t[0]))
		b = append(b, 3, 0, 1, 0, 0, 0, byte(t[1]), byte(t[1]>>8), 0, 0)
	}
	return append(b, 0, 0, 0, 0)
}

// TestFaxEqualsPillow: strips that Pillow wrote of one bitmap, white in columns 3 to 8 of rows 1 and 2.
func TestFaxEqualsPillow(t *testing.T) {
	for _, c := range []struct {
		group, photometric int
		strip              string
	}{
		{3, 0, "0013505c004d6e18009adc30013505c0"}, {3, 1, "001a80060bc0060bc006a0"}, // WhiteIsZero, BlackIsZero
		{4, 0, "26a0bcddf8c0040040"}, {4, 1, "982f18008008"},
	} {
		for order := 1; order <= 2; order++ {
			strip := must.Get(hex.DecodeString(c.strip))(t)
			if order == 2 {
				for i, v := range strip {
					strip[i] = bits.Reverse8(v)
				}
			}
			_, err := Decode(faxTIFF(c.group, c.photometric, order, strip), func(img image.Image, _ string,
				_ image.Config) (int, error) {
				for i := range 16 * 4 {
					x, y := i%16, i/16
					white := color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y == 255
					if want := x >= 3 && x < 9 && y >= 1 && y < 3; white != want {
						t.Fatalf("group %d, photometric %d, fill order %d: pixel %d,%d is white: %v", c.group,
							c.photometric, order, x, y, white)
					}
				}
				return 0, nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTraits of files that Pillow made, and of bytes that are no image.
func TestTraits(t *testing.T) {
	p3 := must.Get(os.ReadFile("../icc/testdata/p3.icc"))(t)
	printer := bytes.Replace(p3, []byte("rTRC"), []byte("A2B0"), 1)
	withProfile := func(profile, file []byte) []byte { // with the profile in two segments, the second one first
		b := []byte("\xff\xd8")
		for i, part := range [][]byte{profile[99:], profile[:99]} {
			b = append(b, 0xff, 0xe2, 0, byte(len(part)+16))
			b[len(b)-2] = byte((len(part) + 16) >> 8)
			b = append(append(b, "ICC_PROFILE\x00"...), byte(2-i), 2)
			b = append(b, part...)
		}
		return append(b, file[2:]...)
	}
	profile := func(name string) []byte {
		return must.Get(os.ReadFile("../icc/testdata/" + name + ".icc"))(t)
	}
	var gray bytes.Buffer
	must.Do(t, jpeg.Encode(&gray, image.NewGray(image.Rect(0, 0, 8, 8)), nil))
	damaged := bytes.Replace(read(t, "rgb.png"), []byte("\x00\x00\x00\x00IEND"),
		[]byte("\x00\x00\x00\x07iCCPp\x00\x00none\x00\x00\x00\x00\x00\x00\x00\x00IEND"), 1)
	apng := bytes.Replace(read(t, "rgb.png"), []byte("\x00\x00\x00\x00IEND"),
		[]byte("\x00\x00\x00\x08acTL\x00\x00\x00\x02\x00\x00\x00\x00\xf3\x8d\x93\x70\x00\x00\x00\x00IEND"), 1)
	for name, want := range map[string]Traits{"rgb.png": 0, "alpha.png": Transparent, "alpha.webp": Transparent,
		"lossy.webp": 0, "palette-clear.png": Transparent, "one-bit.png": Gray,
		"rgb16.png": Deep, "cmyk.jpg": CMYK, "single.jpg": 0, "moving.gif": Frames,
		"palette.gif": 0, "pages.tiff": Frames, "turned-1.jpg": 0, "turned-6.jpg": Turned, "turned.tif": Turned,
		"turned.webp": Turned, "alpha.tif": Transparent, "palette.bmp": 0} {
		must.Equal(t, TraitsOf(read(t, name)), want|Read, name)
	}
	for name, c := range map[string]struct {
		data []byte
		want Traits
	}{
		"a profile":                {withProfile(p3, read(t, "jpeg-444.jpg")), Profile},
		"another kind":             {withProfile(printer, read(t, "jpeg-444.jpg")), Profile | Foreign},
		"gray, sRGB":               {withProfile(profile("srgb"), gray.Bytes()), Gray},
		"gray, its grays are sRGB": {withProfile(p3, gray.Bytes()), Gray},
		"gray, Adobe RGB":          {withProfile(profile("adobe"), gray.Bytes()), Gray | Profile | Foreign},
		"gray, gray":               {withProfile(profile("gray"), gray.Bytes()), Gray | Profile},
		"a damaged profile":        {damaged, Profile | Foreign},
		"no image":                 {p3, 0},
		"an animation":             {apng, Frames}, "nothing": {nil, 0},
	} {
		must.Equal(t, TraitsOf(c.data), c.want|Read, name)
	}
}

// FuzzDecode: what is read has the size that is read without decoding, unless it is the frame of a GIF.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"alpha.bmp", "alpha.png", "alpha.tif", "alpha.webp", "jpeg-420.jpg", "palette.gif",
		"lossless.webp", "jpeg-progressive.jpg", "lzw.tif", "cmyk.jpg"} {
		f.Add(read(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, _, err := Config(data); err == nil && c.Width*c.Height > 1<<22 {
			return // slow, and no other code
		}
		TraitsOf(data)
		size, err := Decode(data, func(img image.Image, name string, c image.Config) (image.Point, error) {
			must.True(t, img.Bounds().Size() == image.Pt(c.Width, c.Height) || name == "GIF",
				"%s: %v of %d×%d pixels", name, img.Bounds(), c.Width, c.Height)
			return image.Pt(c.Width, c.Height), nil
		})
		c, _, again := Config(data)
		if err == nil && (again != nil || size != image.Pt(c.Width, c.Height)) ||
			again == nil && errors.Is(err, ErrTooLarge) {
			t.Errorf("%v, %v; %v, %v", size, err, c, again)
		}
	})
}
