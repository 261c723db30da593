//go:build checks

package preprocess

import (
	"bytes"
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"antipode/datasets/mask"
	"antipode/internal/imagefile"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// TestFormatsEqualPillow: about 90 kinds of image files and 40 of mask files have the pixels that Pillow reads, or are
// an error of one line with the reason. Reading takes at most 32 bytes for each pixel and 2 MiB, beyond the file.
// ANTIPODE_PYTHON names the Python.
func TestFormatsEqualPillow(t *testing.T) {
	dir := t.TempDir()
	testbackend.Python(t, []string{"PIL", "numpy", "tifffile"}, "../../tools/pyref/formats.py", dir)
	text := must.Get(os.ReadFile(filepath.Join(dir, "list.json")))(t)
	var list []struct {
		Name, Kind, Refused string
		Size                []int
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list) < 130 {
		t.Fatal(err, len(list))
	}
	for _, x := range list {
		data, err := os.ReadFile(filepath.Join(dir, x.Name))
		must.Do(t, err)
		var width, height int
		var got []byte
		guess := mask.Sure
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		if x.Kind == "mask" {
			var b mask.Bitmap
			b, err = imagefile.Decode(data, func(img image.Image, _ string, _ image.Config) (b mask.Bitmap, err error) {
				b, guess, err = mask.Read(img, 0)
				return b, err
			})
			width, height = b.Width, b.Height
			runtime.ReadMemStats(&after)
			for _, object := range b.Pix {
				if got = append(got, 0); object {
					got[len(got)-1] = 1
				}
			}
		} else {
			var p *RGB
			if p, err = Decode(data); err == nil {
				width, height, got = p.Width, p.Height, p.Pix
			}
			runtime.ReadMemStats(&after)
		}
		allocated := after.TotalAlloc - before.TotalAlloc
		verdict := "equal"
		switch {
		case err != nil:
			verdict = err.Error()
			if x.Refused == "" || !strings.Contains(verdict, x.Refused) || strings.Contains(verdict, "\n") {
				t.Errorf("%s: %v, want %q", x.Name, err, x.Refused)
			}
		case x.Refused != "":
			t.Errorf("%s: no error, want %q", x.Name, x.Refused)
		default:
			want := must.Get(os.ReadFile(filepath.Join(dir, x.Name+".raw")))(t)
			if width != x.Size[0] || height != x.Size[1] || !bytes.Equal(got, want) {
				differ := 0
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						differ++
					}
				}
				verdict = "differs"
				t.Errorf("%s: %d×%d pixels, want %v; %d of %d values differ", x.Name, width, height, x.Size, differ,
					len(want))
			}
		}
		if guess == mask.Soft {
			verdict += " (soft: cut at half of the range)"
		}
		if most := uint64(32*width*height + 2<<20 + len(data)); allocated > most && err == nil {
			t.Errorf("%s: %d bytes are allocated, more than %d", x.Name, allocated, most)
		}
		t.Logf("%-5s %-24s %6.1f MiB  %s", x.Kind, x.Name, float64(allocated)/(1<<20), verdict)
	}
}
