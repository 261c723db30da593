package plots_test

import (
	"bytes"
	"context"
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
	"antipode/kernel/client"
	"antipode/plots"
)

var update = flag.Bool("update", false, "rewrite the pictures in docs/gallery and docs/gallery.md")

const gallery = "../docs/gallery"

// inlineImage is an embedded thumbnail: pictures are compared without them, since the last bit of a scaled pixel may differ between processors.
var inlineImage = regexp.MustCompile(`base64,[A-Za-z0-9+/=]+`)

func normal(svg []byte) string { return inlineImage.ReplaceAllString(string(svg), "base64,…") }

// picture compares a figure with its picture in the gallery and prints what it finds.
func picture(name string, f plots.Figure) {
	svg, err := f.SVG(context.Background())
	if err != nil {
		fmt.Println(err)
		return
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

// TestGallerySmall keeps the pictures small enough to live in the repository.
func TestGallerySmall(t *testing.T) {
	pictures, err := filepath.Glob(gallery + "/*.svg")
	if err != nil || len(pictures) == 0 {
		t.Fatal("no pictures", err)
	}
	for _, p := range pictures {
		if info, err := os.Stat(p); err != nil || info.Size() > 150_000 {
			t.Errorf("%s: %d bytes (%v)", p, info.Size(), err)
		}
	}
}

var (
	regions = []string{"Averra", "Borun", "Celine Isles", "Dorn", "Esk", "Farrow"}
	setups  = []string{"full", "object_only", "background_only"}
)

// scores is a made-up result: precision and coverage by template, set-up and region.
func scores() datasets.Table {
	var template, setup, region, interval []string
	columns := map[string][]float64{}
	for t, tmpl := range []string{"thing in island", "island adjective thing"} {
		for s, name := range setups {
			for r, reg := range regions {
				template, setup, region = append(template, tmpl), append(setup, name), append(region, reg)
				interval = append(interval, "95 % half-sampling interval, 200 draws")
				spread := []float64{0.05, 0.04, 0.13}[s]
				wave := math.Sin(float64(3*r + s + 2*t))
				p := 0.62 - 0.07*float64(s) + spread*wave
				c := 0.38 + 0.05*float64(t*s) + spread*math.Cos(float64(2*r+s))
				for name, v := range map[string]float64{"precision": p, "coverage": c} {
					half := 0.02 + 0.015*math.Abs(math.Sin(float64(r*7+s)))
					columns[name] = append(columns[name], v)
					columns[name+"_low"] = append(columns[name+"_low"], v-half)
					columns[name+"_high"] = append(columns[name+"_high"], v+1.2*half)
				}
				columns["n_real"] = append(columns["n_real"], 240)
				columns["n_generated"] = append(columns["n_generated"], 240-float64(r+s))
			}
		}
	}
	f := &datasets.Frame{Columns: []client.Column{client.TextColumn("template", template), client.TextColumn("setup", setup),
		client.TextColumn("region", region), client.TextColumn("interval", interval)}}
	for _, name := range []string{"precision", "precision_low", "precision_high", "coverage", "coverage_low", "coverage_high", "n_real", "n_generated"} {
		f = f.With(client.NumberColumn(name, columns[name]))
	}
	return datasets.FromFrame(f)
}

// pick keeps the rows of a frame's table where a text column has a value: Where, without a backend.
func pick(t datasets.Table, column, value string) datasets.Table {
	f, err := t.Rows(context.Background())
	if err != nil {
		panic(err)
	}
	var rows []int
	for i, v := range f.Texts(column) {
		if v == value {
			rows = append(rows, i)
		}
	}
	return datasets.FromFrame(f.Pick(rows))
}

// world is where the pictures come from.
var world = archipelago.New(archipelago.Options{Seed: 7, Planted: true, PerCell: 2, Size: 112})

// drawn puts a picture of the world into a file: a photo, or where sampled one of the sampler's.
func drawn(it archipelago.Item) (client.Image, client.Mask) {
	img, object := world.Draw(it)
	var data bytes.Buffer
	if err := png.Encode(&data, img); err != nil {
		panic(err)
	}
	path := filepath.Join(drawings, strings.ReplaceAll(it.ID, "/", "-")+".png")
	if err := os.WriteFile(path, data.Bytes(), 0o644); err != nil {
		panic(err)
	}
	return client.Image{SHA256: fmt.Sprintf("%x", sha256.Sum256(data.Bytes())), Path: path}, mask.Encode(mask.FromImage(object))
}

// items chooses pictures of an island.
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
	os.RemoveAll(drawings)
	os.Exit(status)
}

// photos is a table of small pictures with masks: two islands, photos and sampled pictures.
func photos() datasets.Table {
	var id, object, region, source []string
	var images []client.Image
	var masks []client.Mask
	var distance []float64
	for island := range 2 {
		for s, set := range [][]archipelago.Item{world.Photos(), world.Sampled()} {
			for _, it := range items(set, island, 0, 1, 2) {
				img, m := drawn(it)
				images, masks = append(images, img), append(masks, m)
				id, object, region = append(id, it.ID), append(object, it.Object), append(region, it.Region)
				source = append(source, []string{"photo", "sampled"}[s])
				distance = append(distance, 18+float64(len(id))/3)
			}
		}
	}
	return datasets.FromFrame(&datasets.Frame{Columns: []client.Column{client.TextColumn("id", id), client.ImageColumn("image", images),
		client.MaskColumn("mask", masks), client.TextColumn("object", object), client.TextColumn("region", region), client.TextColumn("source", source), client.NumberColumn("distance", distance)}})
}

// galleryPictures reads the pictures of the gallery.
func galleryPictures(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(gallery + "/*.svg")
	if err != nil || len(paths) < 15 {
		t.Fatalf("%d pictures in %s (%v)", len(paths), gallery, err)
	}
	out := map[string][]byte{}
	for _, p := range paths {
		if out[filepath.Base(p)], err = os.ReadFile(p); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
