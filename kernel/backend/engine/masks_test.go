package engine

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/mask"
	"antipode/internal/must"
)

// box returns a gray image of 24×24 pixels with a value in a rectangle, and another around it.
func box(inside, outside uint8, r image.Rectangle) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, 24, 24))
	for i := range img.Pix {
		if img.Pix[i] = outside; image.Pt(i%24, i/24).In(r) {
			img.Pix[i] = inside
		}
	}
	return img
}

func pngOf(t *testing.T, img image.Image) string {
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, img))
	return b.String()
}

// TestMaskReadings: masks with soft edges, inverted ones, and run lengths in cells, with the lines about them.
func TestMaskReadings(t *testing.T) {
	dir := t.TempDir()
	r := image.Rect(5, 3, 17, 14)
	want := mask.Encode(mask.Bitmap{Width: 24, Height: 24, Pix: func() (pix []bool) {
		for _, v := range box(255, 0, r).Pix {
			pix = append(pix, v > 0)
		}
		return pix
	}()})
	var lossy bytes.Buffer
	must.Do(t, jpeg.Encode(&lossy, box(255, 0, r), &jpeg.Options{Quality: 60}))
	edge := box(255, 0, r)
	edge.SetGray(4, 3, color.Gray{Y: 90})
	must.Write(t, filepath.Join(dir, "lossy.jpg"), lossy.String())
	must.Write(t, filepath.Join(dir, "soft.png"), pngOf(t, edge))
	must.Write(t, filepath.Join(dir, "plain.png"), pngOf(t, box(1, 0, r)))
	must.Write(t, filepath.Join(dir, "inverted.png"), pngOf(t, box(0, 255, r)))
	numbers := box(1, 0, r)
	numbers.SetGray(9, 9, color.Gray{Y: 2})
	must.Write(t, filepath.Join(dir, "numbers.png"), pngOf(t, numbers))
	bits, err := mask.Decode(want)
	if err != nil {
		t.Fatal(err)
	}
	var runs []int
	for i, object := 0, false; i < 24*24; object = !object {
		n := 0
		for ; i < 24*24 && bits.Pix[i%24*24+i/24] == object; i++ {
			n++
		}
		runs = append(runs, n)
	}
	list := strings.Join(strings.Fields(fmt.Sprint(runs)), ",")
	tab := datasets.CSV(must.Write(t, filepath.Join(dir, "t.csv"),
		"id,region,mask\na,North,lossy.jpg\nb,North,soft.png\nc,South,plain.png\nd,South,\"{\"\"size\"\":[24,24],\"\"counts\"\":"+strings.ReplaceAll(list, `"`, `""`)+"}\"\n"))
	res := must.Get(run1(t, newEngine(t), tab, client.Request{}))(t)
	for row, got := range res.Frame.Masks("mask") {
		must.True(t, got == want, "row %s: another mask: %v", res.Frame.Texts("id")[row], got)
	}
	line := "t.csv: 2 of 4 masks have more values than black and another one, and object is what reaches 0.5 of " +
		"white (region: North 2 of 2); MaskThreshold (--mask-threshold) sets another share"
	must.EqualSlices(t, res.Notes, []string{line}, "notes")
	lower := datasets.CSV(filepath.Join(dir, "t.csv"), datasets.FileOptions{MaskThreshold: 0.3})
	if got := allRows(t, newEngine(t), lower).Masks("mask"); got[1] == want || got[2] != want {
		t.Errorf("another threshold: %v", got)
	}
	for cells, note := range map[string]string{
		"a,North,inverted.png\nb,North,plain.png\nc,South,inverted.png\n": "t.csv: 2 of 3 masks look inverted: more " +
			"than half is object, at all borders (region: North 1 of 2, South 1 of 1); object is what is not black; " +
			"invert the masks whose background is white",
		"a,North,inverted.png\nb,North,plain.png\n": "",
		"a,North,numbers.png\nb,North,plain.png\n": "t.csv: 1 of 2 masks have more values than black and another " +
			"one, all below 0.5 of white, and object is what is not black (region: North 1 of 2); MaskThreshold " +
			"(--mask-threshold) sets another share",
	} {
		tab := datasets.CSV(must.Write(t, filepath.Join(dir, "t.csv"), "id,region,mask\n"+cells))
		must.Equal(t, strings.Join(must.Get(run1(t, newEngine(t), tab, client.Request{}))(t).Notes, "\n"), note,
			"notes")
	}
	for cell, want := range map[string]string{
		`[[6,7,12,7,12,15]]`: "pycocotools.mask.merge(pycocotools.mask.frPyObjects(polygons",
		`{""segmentation"":{""size"":[2,2],""counts"":[4]}}`: "is neither a file nor run lengths",
	} {
		_, err = run1(t, newEngine(t), datasets.CSV(must.Write(t, filepath.Join(dir, "t.csv"), "id,mask\na,\""+cell+
			"\"\n")), client.Request{})
		must.Err(t, err, want)
	}
}

// TestMasksByName: masks of a folder are found by the image's path, by its id, and by its name if it is the only one.
func TestMasksByName(t *testing.T) {
	for name, c := range map[string]struct {
		images, ids, masks []string
		want               []int // the masks of the rows, -1 = none
		err                string
	}{
		"paths": {[]string{"p/n/1.jpg", "p/s/1.jpg"}, []string{"a", "b"}, []string{"n/1.png", "s/1.png"},
			[]int{0, 1}, ""},
		"paths below another folder": {[]string{"p/n/1.jpg", "p/s/1.jpg"}, []string{"a", "b"},
			[]string{"p/s/1.png", "p/n/1.png"}, []int{1, 0}, ""},
		"a part of the paths": {[]string{"p/n/1.jpg"}, []string{"a"}, []string{"n/1.png", "s/1.png"}, []int{0}, ""},
		"ids": {[]string{"p/1.jpg", "q/1.jpg"}, []string{"p_1", "q_1.jpg"},
			[]string{"q_1.png", "p_1.png", "1.png"}, []int{1, 0}, ""},
		"both endings": {[]string{"p/1.jpg", "p/1.png"}, []string{"a", "b"}, []string{"p/1.png.png", "p/1.jpg.png"},
			[]int{1, 0}, ""},
		"names": {[]string{"p/1.jpg", "q/2.jpg"}, []string{"a", "b"}, []string{"x/y/2.png", "1.tif.png"},
			[]int{-1, 0}, ""},
		"two images": {[]string{"n/1.jpg", "s/1.jpg"}, []string{"a", "b"}, []string{"1.png"}, nil, "fits the images"},
		"two masks": {[]string{"p/1.jpg"}, []string{"a"}, []string{"n/1.png", "s/1.png"}, nil,
			"the masks n/1.png and s/1.png fit"},
		"PNG before others": {[]string{"p/1.jpg"}, []string{"a"}, []string{"1.bmp", "1.png"}, []int{1}, ""},
		"another ending":    {[]string{"p/1.jpg"}, []string{"a"}, []string{"a_mask.png"}, []int{-1}, ""},
		"nothing":           {[]string{"p/1.jpg"}, []string{"a"}, []string{"2.png"}, []int{-1}, ""},
	} {
		dir := t.TempDir()
		csv := "id,region,image\n"
		for i, img := range c.images {
			must.Write(t, filepath.Join(dir, "images", img), "x")
			csv += fmt.Sprintf("%s,North,images/%s\n", c.ids[i], img)
		}
		for i, m := range c.masks {
			must.Write(t, filepath.Join(dir, "masks", m), pngOf(t, box(255, 0, image.Rect(0, 0, i+1, 1))))
		}
		tab := datasets.CSV(must.Write(t, filepath.Join(dir, "t.csv"), csv)).MasksFrom(filepath.Join(dir, "masks"))
		res, err := run1(t, newEngine(t), tab, client.Request{})
		if c.err != "" {
			must.Err(t, err, c.err)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []int
		none := 0
		for _, m := range res.Frame.Masks("mask") {
			area, _ := mask.Area(m)
			if got = append(got, area-1); area == 0 {
				none++
			}
		}
		must.EqualSlices(t, got, c.want, name, "masks")
		sorted := slices.Sorted(slices.Values(c.masks))
		if n := len(c.images); none > 0 && !strings.HasPrefix(strings.Join(res.Notes, ""), fmt.Sprintf("masks: %d of "+
			"%d unmasked (region: North %d of %d); no mask file a.png or 1.png; the folder has %s", none, n, none, n,
			strings.Join(sorted, ", "))) {
			t.Errorf("%s: notes %q", name, res.Notes)
		}
	}
}

// TestDamagedMask: mask files that claim more than they hold are bad rows, at once, and the engine goes on.
func TestDamagedMask(t *testing.T) {
	header := []byte("IHDR\x00\x00\x40\x00\x00\x00\x40\x00\x10\x06\x00\x00\x00") // 16384 × 16384, 16 bits, transparency
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	png = binary.BigEndian.AppendUint32(png, crc32.ChecksumIEEE(header))
	png = append(png, "\x00\x00\x00\x02IDAT\x78\x9c\x00\x00\x00\x00"...)
	webp := must.Get(os.ReadFile("../../../gomlxmodels/preprocess/testdata/files/lossy.webp"))(t)
	webp = append([]byte("RIFF\x00\x00\x01\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00"+
		"ALPH\x02\x00\x00\x00\x00\xff"), webp[12:]...) // the canvas and its transparency have one pixel
	for name, want := range map[string]string{string(png): "more than 100 million", string(webp): "cannot be read"} {
		e := newEngine(t)
		dir, tab := images(t, 2)
		must.Write(t, filepath.Join(dir, "masks", "i0.png"), name)
		must.Write(t, filepath.Join(dir, "masks", "i1.png"), "")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := run1(t, e, datasets.CSV(tab).MasksFrom(filepath.Join(dir, "masks")), client.Request{})
		runtime.ReadMemStats(&after)
		must.Err(t, err, want, `id "i0"`)
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("%s: %d MiB", want, n>>20)
		}
	}
}
