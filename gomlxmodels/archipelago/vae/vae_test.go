package vae

import (
	"reflect"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
)

func TestBatchesAreReproducible(t *testing.T) {
	s := trainer.Settings{Steps: 8, Batch: 16, Seed: 1}
	if a, b := trainingBatch(s, 1), trainingBatch(s, 1); !reflect.DeepEqual(a, b) {
		t.Error("the same batch drawn twice differs")
	}
	if a, b := trainingBatch(s, 1), trainingBatch(s, 2); reflect.DeepEqual(a.pixels, b.pixels) ||
		reflect.DeepEqual(a.noise, b.noise) {
		t.Error("two batches of a run are equal")
	}
	for step, want := range map[int][2]int{0: {32, 16}, 3: {32, 16}, 4: {64, 8}, 6: {128, 2}, 7: {128, 2}} {
		b := trainingBatch(s, step)
		if n := len(b.pixels) / (b.size * b.size * 3); b.size != want[0] || n != want[1] ||
			len(b.noise) != n*b.size*b.size/64*shape.LatentChannels {
			t.Errorf("step %d: %d images of %d, %d numbers of noise", step, n, b.size, len(b.noise))
		}
	}
}

// Objects in seen and unseen forms, figures and scenery are sampled.
func TestDescribe(t *testing.T) {
	count := map[string]int{}
	for i := range 400 {
		p := describe(examples.Stream(2, 0, i))
		if im, _ := examples.World.Paint(p); im == nil {
			t.Fatalf("%+v cannot be painted", p)
		}
		_, unseen := archipelago.Variants(p.Object)
		switch {
		case p.Figure != nil:
			count["figure"]++
		case p.Object == "":
			count["background"]++
		case p.Variant == unseen[0] || p.Variant == unseen[1]:
			count["unseen"]++
		default:
			count["seen"]++
		}
	}
	for kind, most := range map[string]int{"figure": 200, "background": 120, "unseen": 90, "seen": 150} {
		if count[kind] < most/3 || count[kind] > most {
			t.Errorf("%d of 400 are %s", count[kind], kind)
		}
	}
}

// Initial weights: a shortcut copies channels, a layer that halves an image averages four pixels, the noise is small.
func TestRewrite(t *testing.T) {
	shortcut := []float32{9, 9, 9, 9, 9, 9, 9, 9}
	rewrite("encoder/down_blocks/1/resnets/0/conv_shortcut/weights", []int{4, 2}, shortcut)
	if want := []float32{1, 0, 0, 1, 1, 0, 0, 1}; !reflect.DeepEqual(shortcut, want) {
		t.Errorf("the shortcut is %v", shortcut)
	}
	down := make([]float32, 9*4)
	rewrite("encoder/down_blocks/0/downsamplers/0/conv/weights", []int{3, 3, 2, 2}, down)
	sum := float32(0)
	for i, v := range down {
		if sum += v; v != 0 && (v != 0.25 || i%4%3 != 0) {
			t.Errorf("number %d of the kernel is %v", i, v)
		}
	}
	bias := make([]float32, 8)
	rewrite("quant_conv/bias", []int{8}, bias)
	if sum != 2 || bias[3] != 0 || bias[4] != startLogVariance {
		t.Errorf("the kernel adds up to %v, the bias is %v", sum, bias)
	}
}
