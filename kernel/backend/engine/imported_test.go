package engine

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/table"
	"antipode/internal/must"
)

// gridFile is a PNG of a grid of images of side × side pixels; image k (from 0) is gray of level first + k, the
// rest is white.
func gridFile(t *testing.T, grid, side, margin, gap int, first byte) string {
	t.Helper()
	size := 2*margin + grid*side + (grid-1)*gap
	img := image.NewGray(image.Rect(0, 0, size, size))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for k := range grid * grid {
		x0, y0 := margin+k%grid*(side+gap), margin+k/grid*(side+gap)
		for y := range side {
			for x := range side {
				img.SetGray(x0+x, y0+y, color.Gray{Y: first + byte(k)})
			}
		}
	}
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, img))
	return b.String()
}

// TestImportedGrid: grids of DALL·E mini's kind with a sidecar. Each image is cut where it lies, once, and comes
// back where the store lost it.
func TestImportedGrid(t *testing.T) {
	e, dir := newEngine(t), t.TempDir()
	must.Write(t, filepath.Join(dir, "a.png"), gridFile(t, 3, 4, 5, 2, 10))
	must.Write(t, filepath.Join(dir, "sub", "b.png"), gridFile(t, 3, 4, 5, 2, 100))
	must.Write(t, filepath.Join(dir, "s.csv"),
		"file,prompt,language,seed\na.png,\"a house, at dusk\",en,3\nsub/b.png,घर,hi,\n")
	tab := datasets.Imported(dir, datasets.ImportOptions{Model: "dalle-mini", Sidecar: "s.csv", Grid: 3, Margin: 5,
		Gap: 2})
	res := must.Get(run1(t, e, tab, client.Request{}))(t)
	f := res.Frame
	if !slices.Equal(f.Specs(), tab.Columns()) || f.Len() != 18 || res.Computed != 18 ||
		f.Texts("id")[9] != "sub/b.png#1" || f.Texts("prompt")[9] != "घर" || f.Texts("language")[0] != "en" ||
		f.Numbers("seed")[8] != 3 {
		t.Errorf("%d rows, %d computed, columns %s", f.Len(), res.Computed, table.NameList(f.Specs()))
	}
	for i, stored := range f.Images("image") {
		want := uint8([]int{10, 100}[i/9] + i%9)
		data := must.Get(os.ReadFile(stored.Path))(t)
		img := must.Get(png.Decode(bytes.NewReader(data)))(t)
		for _, at := range []image.Point{{}, {X: 3}, {Y: 3}, {X: 3, Y: 3}} {
			if r, _, _, _ := img.At(at.X, at.Y).RGBA(); uint8(r) != want || img.Bounds().Max != image.Pt(4, 4) {
				t.Errorf("image %d has %d at %v in %v, want %d", i, uint8(r), at, img.Bounds(), want)
			}
		}
		if filepath.Base(stored.Path) != stored.SHA256+".png" ||
			!strings.HasPrefix(stored.Path, filepath.Join(e.Store.Dir(), "blobs")) {
			t.Errorf("image %d is at %s", i, stored.Path)
		}
	}

	// Again nothing is cut, and no grid is opened; where an image is gone, it alone comes back.
	must.Do(t, os.Remove(f.Images("image")[0].Path))
	again := must.Get(run1(t, e, tab, client.Request{}))(t)
	if !slices.Equal(again.Frame.Images("image"), f.Images("image")) || again.Computed != 1 || again.Found != 17 {
		t.Errorf("%d computed, %d found", again.Computed, again.Found)
	}
	must.Get(os.Stat(f.Images("image")[0].Path))(t)
	must.Write(t, filepath.Join(dir, "c.png"), gridFile(t, 3, 4, 5, 2, 30))
	must.Write(t, filepath.Join(dir, "s.csv"),
		"file,prompt,language,seed\nc.png,x,en,1\na.png,y,en,3\nsub/b.png,घर,hi,\n")
	more, err := run1(t, e, tab, client.Request{})
	must.True(t, err == nil && more.Computed == 9 && more.Found == 18, "a grid more: %+v, %v", more, err)
}

// TestImportedWhole: images that are not cut stay where they are; they are hashed through the index of files.
func TestImportedWhole(t *testing.T) {
	e, dir := newEngine(t), t.TempDir()
	for i := range 3 {
		name := fmt.Sprintf("ada_a_house_no_%d_3f1b2c3d-0123-4567-89ab-cdef01234567_%d.png", i, i)
		must.Write(t, filepath.Join(dir, name), fmt.Sprint(i))
	}
	tab := datasets.Imported(dir, datasets.ImportOptions{Model: "midjourney-v6", Language: "en",
		Names: datasets.MidjourneyNames})
	f := allRows(t, e, tab)
	must.EqualSlices(t, f.Specs(), tab.Columns())
	must.Equal(t, f.Texts("prompt")[2], "a house no 2")
	must.Equal(t, f.Numbers("variant")[2], 2)
	for i, stored := range f.Images("image") {
		want := must.Get(e.Store.FileDigest(stored.Path))(t)
		must.Equal(t, stored.SHA256, want)
		must.Equal(t, filepath.Base(stored.Path), f.Texts("id")[i])
	}
	must.Equal(t, must.Get(run1(t, e, tab.Good(), client.Request{}))(t).Frame.Len(), 3)
}

// TestImportedBadGrids: what cannot be cut is bad rows, whose reason names the file; the others are kept.
func TestImportedBadGrids(t *testing.T) {
	whole := gridFile(t, 3, 4, 0, 0, 10)
	for name, c := range map[string]struct{ data, want string }{
		"does not divide": {gridFile(t, 1, 13, 0, 0, 1),
			"bad.png: 13×13 pixels are no grid of 3 × 3 images of one size with margin 0 and gap 0"},
		"too small": {gridFile(t, 1, 2, 0, 0, 1), "2×2 pixels are no grid"},
		"truncated": {whole[:len(whole)-30], "bad.png: not a readable PNG"},
		"no image":  {"text", "bad.png: not an image of a known format"},
		"empty":     {"", "bad.png: the file is empty"},
	} {
		e, dir := newEngine(t), t.TempDir()
		must.Write(t, filepath.Join(dir, "a.png"), whole)
		must.Write(t, filepath.Join(dir, "bad.png"), c.data)
		tab := datasets.Imported(dir, datasets.ImportOptions{Model: "m", Grid: 3})
		if _, err := run1(t, e, tab, client.Request{}); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), `row 10 (id "bad.png#1"), column image`) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		res, err := run1(t, e, tab, client.Request{SkipBad: true})
		must.True(t, err == nil && res.Frame.Len() == 9 && len(res.Bad) == 9,
			"%s: with SkipBad: %v %+v", name, err, res)
	}
	// The stage by itself: it says what it reads, and which cells there are.
	e := newEngine(t)
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "a.png"), whole)
	cut := func(tab datasets.Table, grid int) error {
		_, err := run1(t, e, derive(tab, datasets.CutOp, datasets.CutArgs{Grid: grid}, "image:image"), client.Request{})
		return err
	}
	for _, c := range []struct {
		err  error
		want string
	}{{cut(datasets.Folder(dir), 3), `needs the column "cell"`}, {cut(datasets.Folder(dir).With("cell", 10), 3),
		"has no image 10"}, {cut(datasets.Folder(dir).With("cell", 0.5), 3), "has no image 0.5"},
		{cut(datasets.Folder(dir).With("cell", 1), 0), "a grid of 0"}} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}
