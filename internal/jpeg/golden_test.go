package jpeg

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"antipode/internal/must"
)

// golden is a file with what Pillow decodes it to.
type golden struct {
	name          string
	width, height int
	sum, about    string
	data          []byte
}

// goldens reads the files that tools/pyref/jpeg.py wrote to a folder.
func goldens(t testing.TB, folder string) (list []golden) {
	t.Helper()
	lines := must.Get(os.ReadFile(filepath.Join(folder, "pixels.txt")))(t)
	for line := range strings.Lines(string(lines)) {
		var g golden
		if _, err := fmt.Sscan(line, &g.name, &g.width, &g.height, &g.sum); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		_, g.about, _ = strings.Cut(strings.TrimSpace(line), g.sum)
		g.data = must.Get(os.ReadFile(filepath.Join(folder, g.name+".jpg")))(t)
		list = append(list, g)
	}
	return list
}

// bothWays runs f with the vector code and without.
func bothWays(t *testing.T, f func(t *testing.T)) {
	had := vectors
	defer func() { vectors = had }()
	for _, vectors = range []bool{false, true} {
		if !vectors || had {
			t.Run(fmt.Sprintf("vectors=%v", vectors), f)
		}
	}
}

// The pixels of every kind of file are equal to Pillow's.
func TestDecodeEqualsPillow(t *testing.T) {
	bothWays(t, func(t *testing.T) {
		list := goldens(t, "testdata")
		must.True(t, len(list) >= 28, "only %d goldens", len(list))
		for _, g := range list {
			got, err := Decode(g.data)
			if err != nil {
				t.Errorf("%s: %v", g.name, err)
				continue
			}
			must.True(t, got.Width == g.width && got.Height == g.height,
				"%s: %d×%d pixels, Pillow has %d×%d", g.name, got.Width, got.Height, g.width, g.height)
			must.Equal(t, fmt.Sprintf("%x", sha256.Sum256(got.Pix)), g.sum, g.name, "pixels differ from Pillow's")
			if c, err := DecodeConfig(g.data); err != nil || c.Width != g.width || c.Height != g.height {
				t.Errorf("%s: DecodeConfig %d×%d, %v", g.name, c.Width, c.Height, err)
			}
		}
	})
}
