package weights

import (
	"context"
	"encoding/json"
	"flag"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

var update = flag.Bool("update", false, "redraw the images in testdata (then run testdata/reference.py)")

// images are the images in testdata by name, with their positions among the reference images of world 11.
var images = map[string]int{"a": 3, "b": 21, "c": 44}

// TestReference compares the shipped model with transformers: whole and masked embeddings, and the class.
func TestReference(t *testing.T) {
	world := archipelago.New(archipelago.Options{Seed: 11, PerCell: 1})
	if *update {
		for name, i := range images {
			img, mask := world.Draw(world.Reference()[i])
			writePNG(t, filepath.Join("testdata", name+".png"), img)
			writePNG(t, filepath.Join("testdata", name+".mask.png"), mask)
		}
		t.Skip("images drawn; run testdata/reference.py now")
	}
	var want map[string]struct {
		Full           []float32 `json:"full"`
		ObjectOnly     []float32 `json:"object_only"`
		BackgroundOnly []float32 `json:"background_only"`
		Label          string    `json:"label"`
	}
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile("testdata/reference.json"))(t), &want))
	m := must.Get(vit.Open(ViT))(t)
	backend := testbackend.Any(t)
	encoder := must.Get(vit.NewEncoder(backend, m, vit.Options{Batch: len(images)}))(t)
	defer encoder.Close()
	var prepared []*vit.Prepared
	var names []string
	for name, i := range images {
		img := readPNG(t, filepath.Join("testdata", name+".png"))
		gray := readPNG(t, filepath.Join("testdata", name+".mask.png")).(*image.Gray)
		p := must.Get(m.Prepare(img, &preprocess.Mask{Width: gray.Rect.Dx(), Height: gray.Rect.Dy(), Object: gray.Pix},
			vit.PrepareOptions{}))(t)
		prepared, names = append(prepared, p), append(names, name)
		must.Equal(t, want[name].Label, world.Reference()[i].Object, name, "transformers says", "it is a")
	}
	got := must.Get(encoder.Encode(context.Background(), prepared))(t)
	for i, name := range names {
		for what, pair := range map[string][2][]float32{
			"full":            {got[i].Full, want[name].Full},
			"object_only":     {got[i].ObjectOnly, want[name].ObjectOnly},
			"background_only": {got[i].BackgroundOnly, want[name].BackgroundOnly},
		} {
			if len(pair[0]) != len(pair[1]) || len(pair[0]) == 0 {
				t.Fatalf("%s %s: %d numbers, transformers gives %d", name, what, len(pair[0]), len(pair[1]))
			}
			if worst, at := near.Worst(pair[0], pair[1]); worst > 1e-4*near.Scale(pair[1]) {
				t.Errorf("%s %s: number %d differs by %g from transformers", name, what, at, worst)
			}
		}
	}
}

// TestFS checks that the embedded folders are complete and within the size limits.
func TestFS(t *testing.T) {
	if !slices.Contains(Names(), ViT) {
		t.Errorf("%v lacks %s", Names(), ViT)
	}
	total := int64(0)
	for _, name := range Names() {
		for _, file := range []string{"README.md", "training.json"} {
			must.Get(fs.Stat(FS(), name+"/"+file))(t)
		}
		size := int64(0)
		err := fs.WalkDir(FS(), name, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil {
				size += info.Size()
			}
			return err
		})
		if err != nil || size > 10<<20 {
			t.Errorf("%s takes %d bytes, %v", name, size, err)
		}
		total += size
	}
	if total > 40<<20 {
		t.Errorf("all models take %d bytes", total)
	}
}

// TestCard checks that the model card contains the report's numbers, and the required accuracy.
func TestCard(t *testing.T) {
	var report struct {
		HeldOut struct {
			Images   int                           `json:"pictures"`
			Accuracy map[string]map[string]float64 `json:"accuracy"`
		} `json:"held_out"`
	}
	must.Do(t, json.Unmarshal(must.Get(fs.ReadFile(FS(), ViT+"/training.json"))(t), &report))
	a := report.HeldOut.Accuracy
	if a["full"]["object"] < 0.95 || a["object_only"]["object"] < 0.95 || a["background_only"]["scene"] < 0.95 ||
		report.HeldOut.Images < 1000 {
		t.Errorf("held-out accuracy below the floor: %v on %d images", a, report.HeldOut.Images)
	}
	card := must.Get(fs.ReadFile(FS(), ViT+"/README.md"))(t)
	if strings.Contains(string(card), "{{") || !strings.Contains(string(card), "| object | 8 |") {
		t.Error("the card was not filled in")
	}
}

func writePNG(t *testing.T, path string, im image.Image) {
	t.Helper()
	f := must.Get(os.Create(path))(t)
	defer f.Close()
	must.Do(t, png.Encode(f, im))
}

func readPNG(t *testing.T, path string) image.Image {
	t.Helper()
	f := must.Get(os.Open(path))(t)
	defer f.Close()
	return must.Get(png.Decode(f))(t)
}
