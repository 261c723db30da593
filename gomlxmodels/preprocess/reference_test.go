package preprocess

import (
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
)

// readPNG reads a reference image without the code under test.
func readPNG(t *testing.T, path string) *RGB {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	img := must.Get(png.Decode(f))(t)
	out := NewRGB(img.Bounds().Dx(), img.Bounds().Dy())
	for i := range out.Width * out.Height {
		r, g, b, _ := img.At(i%out.Width, i/out.Width).RGBA()
		out.Pix[3*i], out.Pix[3*i+1], out.Pix[3*i+2] = uint8(r>>8), uint8(g>>8), uint8(b>>8)
	}
	return out
}

// worst is the largest difference of two images in levels of 0 to 255.
func worst(t *testing.T, got, want *RGB) int {
	t.Helper()
	if got.Width != want.Width || got.Height != want.Height {
		t.Fatalf("%d×%d pixels, want %d×%d", got.Width, got.Height, want.Width, want.Height)
	}
	d := 0
	for i := range want.Pix {
		d = max(d, int(got.Pix[i])-int(want.Pix[i]), int(want.Pix[i])-int(got.Pix[i]))
	}
	return d
}

// TestDecodeEqualsPillow: the pixels of every kind of file are equal to Pillow's.
func TestDecodeEqualsPillow(t *testing.T) {
	paths, _ := filepath.Glob("testdata/files/*.*")
	seen := 0
	for _, p := range paths {
		if strings.Count(filepath.Base(p), ".") != 1 {
			continue
		}
		seen++
		t.Run(filepath.Base(p), func(t *testing.T) {
			got := must.Get(DecodeFile(p))(t)
			must.Equal(t, worst(t, got, readPNG(t, p+".png")), 0, "worst difference", "of 255")
		})
	}
	if seen < 28 {
		t.Errorf("only %d files in testdata/files", seen)
	}
}

func TestResizeEqualsPillow(t *testing.T) {
	src := readPNG(t, "testdata/resize/source.png")
	paths, _ := filepath.Glob("testdata/resize/*-*.png")
	must.Equal(t, len(paths), 42, "images")
	for _, p := range paths {
		name, size, _ := strings.Cut(strings.TrimSuffix(filepath.Base(p), ".png"), "-")
		ws, hs, _ := strings.Cut(size, "x")
		w, _ := strconv.Atoi(ws)
		h, _ := strconv.Atoi(hs)
		f, ok := filterNamed(name)
		if !ok {
			t.Fatalf("filter %q", name)
		}
		must.Equal(t, worst(t, Resize(src, w, h, f), readPNG(t, p)), 0, filepath.Base(p), "worst difference")
	}
}

// TestPipelinesEqualReference compares whole preprocessings, as numbers, with transformers (its Pillow processor, and
// its torchvision one, which rounds in another way) and timm.
func TestPipelinesEqualReference(t *testing.T) {
	paths, _ := filepath.Glob("testdata/pipelines/*.json")
	must.Equal(t, len(paths), 22, "configurations")
	for _, p := range paths {
		name := strings.TrimSuffix(filepath.Base(p), ".json")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(p)
			must.Do(t, err)
			set := must.Get(weights.OpenFiles(strings.TrimSuffix(p, ".json") + ".safetensors"))(t)
			worstLevels := 0.0
			for _, file := range set.Names() {
				info, _ := set.Info(file)
				h, w := info.Shape[1], info.Shape[2]
				var c *Config
				if strings.HasPrefix(name, "timm") {
					c, err = ParseTimm(text, h, w)
				} else {
					c, err = ParseHuggingFace(text)
				}
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(name, "hf") && !strings.HasSuffix(name, "-torchvision") {
					c.Torchvision = false // transformers' Pillow processor
				}
				must.Do(t, c.Validate(h, w))
				src := readPNG(t, "testdata/pictures/"+file+".png")
				got := must.Get(c.Apply(src, h, w))(t)
				want := must.Get(set.Float32(file))(t)
				for i := range want {
					ch := i / (h * w)
					levels := math.Abs(float64(got[i])-float64(want[i])) * c.Std[ch] / c.Scale
					if worstLevels < levels {
						worstLevels = levels
					}
				}
			}
			t.Logf("worst difference %.2g of 255", worstLevels)
			if worstLevels > 1e-3 { // rounding of the normalization
				t.Errorf("worst difference %.4g of 255", worstLevels)
			}
		})
	}
}
