package engine

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/client"
	"antipode/datasets/operation"
	"antipode/datasets/table"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/stage"
	"antipode/internal/icc"
	"antipode/internal/must"
)

// withProfile adds a color profile to a PNG.
func withProfile(t *testing.T, file, profile string) string {
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	z.Write([]byte(profile))
	z.Close()
	body := append([]byte("iCCPp\x00\x00"), packed.Bytes()...)
	chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(body)-4)), body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	return file[:33] + string(chunk) + file[33:]
}

// TestImageReadings: what is lost when files are read is one line with the numbers by group, also when every item is
// in the store, and options change it and the images' digests.
func TestImageReadings(t *testing.T) {
	profile := must.Get(os.ReadFile("../../../internal/icc/testdata/p3.icc"))(t)
	srgb := must.Get(os.ReadFile("../../../internal/icc/testdata/srgb.icc"))(t)
	plain := image.NewNRGBA(image.Rect(0, 0, 16, 16))
	for i := range plain.Pix {
		plain.Pix[i] = uint8(i * 7)
		if i%4 == 3 {
			plain.Pix[i] = 255
		}
	}
	clear := image.NewNRGBA(plain.Rect)
	copy(clear.Pix, plain.Pix)
	clear.SetNRGBA(0, 0, color.NRGBA{200, 100, 50, 0})
	clear.SetNRGBA(9, 0, color.NRGBA{200, 100, 50, 128})
	deep := image.NewGray16(plain.Rect)
	dir := t.TempDir()
	csv := "id,region,image\n"
	for i, c := range []string{withProfile(t, pngOf(t, plain), string(profile)), withProfile(t, pngOf(t, plain),
		string(srgb)), pngOf(t, clear), pngOf(t, deep), withProfile(t, pngOf(t, plain), "none")} {
		must.Write(t, filepath.Join(dir, fmt.Sprintf("%d.png", i)), c)
		csv += fmt.Sprintf("%d,%s,%d.png\n", i, []string{"North", "South"}[i%2], i)
	}
	path := must.Write(t, filepath.Join(dir, "t.csv"), csv)
	profiles := "t.csv: 1 of 5 images have another color profile than sRGB (region: North 1 of 3); Color: \"srgb\" " +
		"(--color srgb) converts them"
	clears := "t.csv: 1 of 5 images have transparent pixels, and the colors stored under them are read (region: " +
		"North 1 of 3); Alpha: \"white\" (--alpha white; black, checker) gives them a background"
	foreign := "t.csv: 1 of 5 images have a color profile that is damaged, has tables, or is of another kind of " +
		"color, and is ignored (region: North 1 of 3); convert them to sRGB in the program that wrote them"
	deeps := "t.csv: 1 of 5 images have 16 bits a channel, and the high 8 are read (region: South 1 of 2)"
	e := newEngine(t)
	stored := allRows(t, newEngine(t), datasets.CSV(path))
	for name, c := range map[string]struct {
		options datasets.FileOptions
		notes   []string
		changed []int // images
	}{
		"default": {datasets.FileOptions{Color: "as-stored", Alpha: "drop"}, []string{profiles, foreign, clears,
			deeps}, nil},
		"converted": {datasets.FileOptions{Color: "srgb"}, []string{foreign, clears, deeps}, []int{0}},
		"filled":    {datasets.FileOptions{Color: "srgb", Alpha: "white"}, []string{foreign, deeps}, []int{0, 2}},
		"black":     {datasets.FileOptions{Alpha: "black"}, []string{profiles, foreign, deeps}, []int{2}},
	} {
		for range 2 {
			res, err := run1(t, e, counts(datasets.CSV(path, c.options)), client.Request{})
			if err != nil || !slices.Equal(res.Notes, c.notes) {
				t.Fatalf("%s: %v, notes %q", name, err, res.Notes)
			}
			for row, img := range res.Frame.Images("image") {
				if got := img.SHA256 != stored.Images("image")[row].SHA256; got != slices.Contains(c.changed, row) {
					t.Errorf("%s: image %d has another digest: %v", name, row, got)
				}
			}
		}
	}
	read := func(o datasets.FileOptions, row int) *preprocess.RGB {
		return must.Get(stage.ReadImage(allRows(t, e, datasets.CSV(path, o)).Images("image")[row]))(t)
	}
	p := must.Get(icc.Parse(profile))(t)
	want := read(datasets.FileOptions{}, 0)
	p.Convert(want.Pix)
	if got := read(datasets.FileOptions{Color: "srgb"}, 0); !bytes.Equal(got.Pix, want.Pix) {
		t.Error("the colors are not those of the profile")
	}
	for alpha, want := range map[string][2][3]uint8{"drop": {{200, 100, 50}, {200, 100, 50}}, // as Pillow pastes them
		"white": {{255, 255, 255}, {227, 177, 152}}, "black": {{0, 0, 0}, {100, 50, 25}},
		"checker": {{255, 255, 255}, {202, 152, 127}}} {
		got := read(datasets.FileOptions{Alpha: alpha}, 2).Pix
		if [3]uint8(got) != want[0] || [3]uint8(got[27:]) != want[1] {
			t.Errorf("%s: %v %v, want %v", alpha, got[:3], got[27:30], want)
		}
	}
	for _, o := range []datasets.FileOptions{{Color: "sRGB"}, {Alpha: "red"}, {MaskThreshold: 2}} {
		must.Err(t, datasets.CSV(path, o).Err(), "it must be")
	}
	must.Write(t, filepath.Join(dir, "masks", "0.png"), pngOf(t, box(255, 0, image.Rect(0, 0, 3, 3))))
	masked := datasets.CSV(path, datasets.FileOptions{Color: "srgb"}).With("id", "x").Head(1).
		MasksFrom(filepath.Join(dir, "masks"))
	must.Equal(t, allRows(t, e, masked).Texts("outcome")[0], "ok", "the mask of a converted image is not found")
}

// pickedRow is a row of the operation of TestMovedImages.
type pickedRow struct {
	Image table.Image `column:"image"`
}

// TestMovedImages: a stored result that refers to images of its inputs follows their files to another folder.
func TestMovedImages(t *testing.T) {
	computed := 0
	first := datasets.Define(datasets.Operation[struct{}, pickedRow]{
		Name: "first-image", Version: 1, Title: "the first image",
		Inputs: []operation.Input{{Role: "images", Columns: datasets.Columns("image:image"), About: "images"}},
		Compute: func(_ context.Context, call *operation.Call, _ struct{}) ([]pickedRow, error) {
			computed++
			return []pickedRow{{call.Inputs["images"].Images("image")[0]}}, nil
		},
	})
	e := newEngine(t)
	dir, tab := images(t, 2)
	read := func(tab string) string {
		inputs := map[string]datasets.Table{"images": datasets.CSV(tab)}
		return allRows(t, e, first.Table(inputs)).Images("image")[0].Path
	}
	before := read(tab)
	moved := filepath.Join(t.TempDir(), "moved")
	must.Do(t, os.Rename(dir, moved))
	after := read(filepath.Join(moved, filepath.Base(tab)))
	must.True(t, strings.HasPrefix(before, dir) && strings.HasPrefix(after, moved) && computed == 1,
		"before %s, after %s, computed %d times", before, after, computed)
}
