package vit

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/preprocess"
	"antipode/internal/testbackend"
)

// A run that stopped and went on gives the files of one that did not, bit for bit.
func TestResume(t *testing.T) {
	backend := testbackend.QuickXLA(t)
	whole := shape
	defer func() { shape = whole }()
	shape.Layers, shape.HiddenSize, shape.Heads, shape.IntermediateSize = 1, 16, 2, 32
	job, err := newJob(trainer.Settings{Steps: 4, Batch: 4, Seed: 3, Rate: 1e-3, World: archipelago.Version})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	run := func(d trainer.Folder, stops ...int) (string, []trainer.Point) {
		var curve []trainer.Point
		out := filepath.Join(t.TempDir(), "model")
		for _, until := range stops {
			if err := d.Open(job.Settings); err != nil {
				t.Fatal(err)
			}
			store, c, err := job.Run(ctx, backend, d, until)
			if err != nil {
				t.Fatal(err)
			}
			curve = c
			if err := trainer.UseAverage(store); err != nil {
				t.Fatal(err)
			}
			if _, err := export(out, store); err != nil {
				t.Fatal(err)
			}
			store.Finalize()
		}
		return out, curve
	}
	once, curve := run(trainer.Folder(t.TempDir()), 4)
	folder := trainer.Folder(t.TempDir())
	twice, parts := run(folder, 2, 4)
	for _, name := range []string{"model.safetensors", headsFile, "config.json"} {
		a, errA := os.ReadFile(filepath.Join(once, name))
		b, errB := os.ReadFile(filepath.Join(twice, name))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs after a stop (%v, %v)", name, errA, errB)
		}
	}
	for h := range heads {
		got := (parts[0].Loss[h] + parts[1].Loss[h]) / 2 // points of two steps each
		if math.Abs(got-curve[0].Loss[h]) > 1e-6 {
			t.Errorf("%s: loss %v in two parts, %v in one", headNames[h], got, curve[0].Loss[h])
		}
	}
	if chance := math.Log(float64(len(labels[headForm]))); math.Abs(curve[0].Loss[headForm]-chance) > 0.3 {
		t.Errorf("the first losses of the form head are %v, chance is %v", curve[0].Loss[headForm], chance)
	}

	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := job.Run(stopped, backend, trainer.Folder(t.TempDir()), 4); err == nil || !strings.Contains(err.Error(), "goes on from there") {
		t.Errorf("an interrupted run says %v", err)
	}
	a, err := score(ctx, backend, once, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s := a.(*scores); s.Pictures != 48 || s.Accuracy["full"]["object"] > 0.6 {
		t.Errorf("score of an untrained network: %v", s)
	}
}

// What training feeds the network is what the encoder's preprocessing makes of the same picture.
func TestBatchEqualsPreprocessing(t *testing.T) {
	items := archipelago.New(archipelago.Options{Seed: 4, PerCell: 1}).Photos()[:16]
	b := makeBatch(items)
	pre := preprocess.Default(imageSize, imageSize)
	for i, it := range items {
		picture, gray := world.Draw(it)
		rgb := preprocess.FromImage(picture)
		pixels, err := pre.Apply(rgb, imageSize, imageSize)
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range pixels {
			if got := b.pixels[i*len(pixels)+j]; math.Abs(float64(got-want)) > 1e-6 {
				t.Fatalf("%s: pixel value %d is %v, preprocessing gives %v", it.ID, j, got, want)
			}
		}
		patches, err := pre.Patches(rgb, &preprocess.Mask{Width: imageSize, Height: imageSize, Object: gray.Pix}, preprocess.Any, imageSize, imageSize, patchSize, patchSize)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(patches, b.object[i*grid*grid:(i+1)*grid*grid]) {
			t.Errorf("%s: object patches differ from preprocessing's", it.ID)
		}
		for h, want := range []string{it.Object, it.Scene, it.Region, it.Variant + " " + it.Object} {
			if got := labels[h][b.labels[i*heads+h]]; got != want {
				t.Errorf("%s: %s is labelled %q, want %q", it.ID, headNames[h], got, want)
			}
		}
	}
}

func TestBatchesAreReproducible(t *testing.T) {
	a, b, c := trainingBatch(1, 7, 3), trainingBatch(1, 7, 3), trainingBatch(1, 8, 3)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same batch drawn twice differs")
	}
	if reflect.DeepEqual(a.pixels, c.pixels) {
		t.Error("two batches of a run are equal")
	}
}

// The classes of an unseen form have no label: it must never be trained on.
func TestUnseenFormsHaveNoLabel(t *testing.T) {
	for _, o := range world.Objects() {
		_, unseen := archipelago.Variants(o)
		for _, f := range unseen {
			if truth(archipelago.Item{Object: o, Variant: f}, headForm) != -1 {
				t.Errorf("%s %s has a label", f, o)
			}
		}
	}
}
