//go:build checks

package jpeg

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// The pixels of 2,000 random files, from ANTIPODE_TEST_SEED, are equal to Pillow's. ANTIPODE_PYTHON names the Python.
func TestRandomFilesEqualPillow(t *testing.T) {
	dir := t.TempDir()
	testbackend.Python(t, []string{"PIL", "numpy"}, filepath.Join("..", "..", "tools", "pyref", "jpeg.py"), dir, "2000",
		strconv.FormatUint(near.Seed(t), 10))
	list := goldens(t, dir)
	if len(list) != 2000 {
		t.Fatalf("%d files, not 2000", len(list))
	}
	bothWays(t, func(t *testing.T) {
		pixels, wrong := 0, 0
		for _, g := range list {
			want := must.Get(os.ReadFile(filepath.Join(dir, g.name+".rgb")))(t)
			got, err := Decode(g.data)
			if err != nil {
				t.Errorf("%s (%s): %v", g.name, g.about, err)
				wrong++
				continue
			}
			pixels += got.Width * got.Height
			if !bytes.Equal(got.Pix, want) {
				differ, worst := 0, 0
				for i, v := range want {
					if d := int(v) - int(got.Pix[i]); d != 0 {
						differ, worst = differ+1, max(worst, d, -d)
					}
				}
				t.Errorf("%s (%s): %d of %d values differ, by up to %d", g.name, g.about, differ, len(want), worst)
				wrong++
			}
		}
		t.Logf("%d files of %d pixels, %d files differ", len(list), pixels, wrong)
	})
}
