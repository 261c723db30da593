package plots_test

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/archipelago"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/plots"
)

var update = flag.Bool("update", false, "rewrite the images in docs/gallery and docs/gallery.md")

var images = flag.String("images", "", "folder for the figures of the gallery, as PNG and "+
	"PDF, and for contact sheets that show them as color-blind readers see them")

const gallery = "../docs/gallery"

// inlineImage is an embedded thumbnail: images are compared without them, since the last bit of a scaled pixel may
// differ between processors.
var inlineImage = regexp.MustCompile(`base64,[A-Za-z0-9+/=]+`)

func normal(svg []byte) string { return inlineImage.ReplaceAllString(string(svg), "base64,…") }

// image compares a figure with its image in the gallery and prints what it finds.
func golden(name string, f plots.Figure) {
	svg, err := plots.Render(f, "svg")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, format := range []string{"png", "pdf"} {
		if *images != "" {
			plots.Save(f, filepath.Join(*images, name+"."+format))
		}
	}
	path := filepath.Join(gallery, name+".svg")
	if *update {
		if err := os.WriteFile(path, svg, 0o644); err != nil {
			fmt.Println(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	got, want := strings.Split(normal(svg), "\n"), strings.Split(normal(golden), "\n")
	for i := range got {
		if i >= len(want) || got[i] != want[i] {
			fmt.Printf("%s.svg differs from its golden in line %d: %s\n", name, i+1, got[i])
			return
		}
	}
	if len(want) != len(got) {
		fmt.Printf("%s.svg lost its last %d lines\n", name, len(want)-len(got))
		return
	}
	fmt.Println("as in", name+".svg")
}

// TestGallerySmall limits the size of each image in the repository.
func TestGallerySmall(t *testing.T) {
	images, err := filepath.Glob(gallery + "/*.svg")
	if err != nil || len(images) == 0 {
		t.Fatal("no images", err)
	}
	for _, p := range images {
		info, err := os.Stat(p)
		must.True(t, err == nil && info.Size() <= 150_000, "%s: %d bytes (%v)", p, info.Size(), err)
	}
}

var (
	regions = []string{"Averra", "Borun", "Celine Isles", "Dorn", "Esk", "Farrow"}
	vectors = []string{"full", "object_only", "background_only"}
)

// scores is a synthetic result: precision and coverage by template, vector and region.
func scores() datasets.Table {
	f := frame("template:text", "vector:text", "region:text", "interval:text", "precision:number",
		"precision_low:number", "precision_high:number", "coverage:number", "coverage_low:number",
		"coverage_high:number", "n_real:number", "n_generated:number")
	for t, tmpl := range []string{"thing in island", "island adjective thing"} {
		for s, name := range vectors {
			for r, reg := range regions {
				spread := []float64{0.05, 0.04, 0.13}[s]
				wave := math.Sin(float64(3*r + s + 2*t))
				p := 0.62 - 0.07*float64(s) + spread*wave
				c := 0.38 + 0.05*float64(t*s) + spread*math.Cos(float64(2*r+s))
				half := 0.02 + 0.015*math.Abs(math.Sin(float64(r*7+s)))
				f.Add([]string{tmpl, name, reg, "95 % half-sampling interval, 200 draws"}, p, p-half, p+1.2*half,
					c, c-half, c+1.2*half, 240, 240-float64(r+s))
			}
		}
	}
	return datasets.FromFrame(f)
}

// pick returns the rows of a table in memory where a text column has a value.
func pick(t datasets.Table, column, value string) datasets.Table {
	f := rows(t)
	var picked []int
	for i, v := range f.Texts(column) {
		if v == value {
			picked = append(picked, i)
		}
	}
	return datasets.FromFrame(f.Pick(picked))
}

// world is where the images come from.
var world = archipelago.New(archipelago.Options{Seed: 7, Injected: true, PerCell: 2, Size: 112})

// drawn puts an image of the world into a file: a photo, or where sampled one of the sampler's.
func drawn(it archipelago.Item) (table.Image, table.Mask) {
	img, object := world.Draw(it)
	var data bytes.Buffer
	if err := png.Encode(&data, img); err != nil {
		panic(err)
	}
	path := filepath.Join(drawings, strings.ReplaceAll(it.ID, "/", "-")+".png")
	if err := os.WriteFile(path, data.Bytes(), 0o644); err != nil {
		panic(err)
	}
	bits, err := mask.FromImage(object)
	if err != nil {
		panic(err)
	}
	return table.Image{SHA256: fmt.Sprintf("%x", sha256.Sum256(data.Bytes())), Path: path}, mask.Encode(bits)
}

// items chooses images of an island.
func items(of []archipelago.Item, island int, objects ...int) []archipelago.Item {
	var out []archipelago.Item
	for _, o := range objects {
		for _, it := range of {
			if it.Region == world.Islands()[island] && it.Object == world.Objects()[o] {
				out = append(out, it)
			}
		}
	}
	return out
}

var drawings string // a folder of the test run

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if drawings, err = os.MkdirTemp("", "plots"); err != nil {
		panic(err)
	}
	status := m.Run()
	if *images != "" {
		if err := contactSheets(*images); err != nil {
			panic(err)
		}
	}
	os.RemoveAll(drawings)
	os.Exit(status)
}

// photos is a table of small images with masks: two islands, photos and sampled images.
func photos() datasets.Table {
	var id, object, region, source []string
	var images []table.Image
	var masks []table.Mask
	var distance []float64
	for island := range 2 {
		for s, set := range [][]archipelago.Item{world.Reference(), world.Sampled()} {
			for _, it := range items(set, island, 0, 1, 2) {
				img, m := drawn(it)
				images, masks = append(images, img), append(masks, m)
				id, object, region = append(id, it.ID), append(object, it.Object), append(region, it.Region)
				source = append(source, []string{"photo", "sampled"}[s])
				distance = append(distance, 18+float64(len(id))/3)
			}
		}
	}
	return datasets.FromFrame(&datasets.Frame{Columns: []table.Column{table.TextColumn("id", id),
		table.ImageColumn("image", images),
		table.MaskColumn("mask", masks), table.TextColumn("object", object), table.TextColumn("region", region),
		table.TextColumn("source", source), table.NumberColumn("distance", distance)}})
}

func galleryImages(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(gallery + "/*.svg")
	if err != nil || len(paths) < 15 {
		t.Fatalf("%d images in %s (%v)", len(paths), gallery, err)
	}
	out := map[string][]byte{}
	for _, p := range paths {
		out[filepath.Base(p)] = must.Get(os.ReadFile(p))(t)
	}
	return out
}
