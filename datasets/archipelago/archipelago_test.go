package archipelago

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"runtime"
	"slices"
	"testing"

	"antipode/internal/must"
)

// goldens are the first 12 hex digits of SHA-256 over image and mask bytes of 48-pixel images of world 7,
// linux/amd64. A difference means that pixels moved: raise Version, then print the new ones.
var goldens = map[string]string{
	"photo-velmora-lantern-000":    "bf284ed05cf9",
	"photo-tarrish-kite-001":       "6ce228131195",
	"photo-quessin-windmill-000":   "ec13caf49dce",
	"sampled-ondulay-mushroom-001": "d75229876a35",
	"sampled-brackwyn-kettle-000":  "328bb924ee5a",
	"sampled-ilvanar-umbrella-001": "83cbc8e4d8cc",
}

// goldenItems is the same for the lists of items and disparities, on every platform.
const goldenItems = "8355a9a9850b"

func TestGolden(t *testing.T) {
	w := New(Options{Seed: 7, Injected: true, PerCell: 2, Size: 48})
	list := sha256.Sum256(fmt.Append(nil, w.Reference(), w.Sampled(), w.InjectedDisparities()))
	must.Equal(t, hex.EncodeToString(list[:])[:12], goldenItems, "items")
	if runtime.GOARCH != "amd64" {
		t.Skip("needs amd64: elsewhere fused multiply-add may move the last bit of an edge pixel")
	}
	seen := 0
	for _, it := range append(w.Reference(), w.Sampled()...) {
		want, ok := goldens[it.ID]
		if !ok {
			continue
		}
		seen++
		im, mask := w.Draw(it)
		h := sha256.New()
		h.Write(im.Pix)
		h.Write(mask.Pix)
		must.Equal(t, hex.EncodeToString(h.Sum(nil))[:12], want, it.ID, "pixels")
	}
	must.Equal(t, seen, len(goldens), "golden images exist")
}

func TestImageDependsOnlyOnItsItem(t *testing.T) {
	few, many := New(Options{Seed: 5, Injected: true, PerCell: 2, Size: 32}),
		New(Options{Seed: 5, Injected: true, PerCell: 5, Size: 32})
	byID := map[string]Item{}
	for _, it := range append(many.Reference(), many.Sampled()...) {
		byID[it.ID] = it
	}
	for _, it := range append(few.Reference(), few.Sampled()...) {
		if byID[it.ID] != it {
			t.Fatalf("%s: %+v with 2 a cell, %+v with 5", it.ID, it, byID[it.ID])
		}
	}
	it := few.Reference()[17]
	a, _ := few.Draw(it)
	many.Draw(many.Sampled()[3])
	b, _ := many.Draw(it)
	must.Equal(t, string(a.Pix), string(b.Pix), "the same item drawn by two worlds differs")
	other := New(Options{Seed: 6, PerCell: 2}).Reference()[17]
	if other.Seed == it.Seed || other.Backdrop == it.Backdrop {
		t.Error("another world seed repeats the seeds of an image")
	}
}

func TestMaskIsExact(t *testing.T) {
	for _, size := range []int{64, 128} {
		w := New(Options{Seed: 1, PerCell: 1, Size: size})
		for i := range things {
			for k, form := range things[i].forms {
				for n := range 4 {
					it := Item{Object: things[i].name, Variant: form, Region: islands[(k+n)%len(islands)].name,
						Scene: scenes[(i+n)%len(scenes)].name, Seed: uint64(1000*n + 10*k + i), Backdrop: uint64(n)}
					img, mask := w.Draw(it)
					without := w.Background(it)
					area := checkMask(t, fmt.Sprintf("%s %s at %d", form, it.Object, size), img, without, mask)
					if area < 0.07 || area > 0.6 {
						t.Errorf("%s %s: the object covers %.3f of the image", form, it.Object, area)
					}
				}
			}
		}
	}
}

// checkMask returns the share of object pixels.
func checkMask(t *testing.T, name string, img, without *image.RGBA, mask *image.Gray) float64 {
	t.Helper()
	object, changed := 0, 0
	for i, m := range mask.Pix {
		differs := string(img.Pix[4*i:4*i+4]) != string(without.Pix[4*i:4*i+4])
		if m != 0 && m != 255 {
			t.Fatalf("%s: mask value %d", name, m)
		}
		if m == 255 {
			object++
		}
		if differs {
			changed++
			if m == 0 {
				t.Fatalf("%s: pixel %d is changed by the object but not in its mask", name, i)
			}
		}
		if img.Pix[4*i+3] != 255 {
			t.Fatalf("%s: pixel %d is translucent", name, i)
		}
	}
	if float64(changed) < 0.9*float64(object) { // the object may by chance have the background's color here and there
		t.Errorf("%s: %d pixels in the mask, %d changed", name, object, changed)
	}
	return float64(object) / float64(len(mask.Pix))
}

func TestInjectedDisparities(t *testing.T) {
	carriers := map[string]bool{}
	for seed := range uint64(12) {
		w := New(Options{Seed: seed, Injected: true, PerCell: 12})
		disparities := w.InjectedDisparities()
		if len(disparities) != 2 || disparities[0].Component != "background" || disparities[1].Component != "object" ||
			disparities[0].Island == disparities[1].Island {
			t.Fatalf("seed %d: disparities %+v", seed, disparities)
		}
		carriers[disparities[0].Island] = true
		backdrops, unseen, count := map[string]map[uint64]int{}, map[string]int{}, map[string]int{}
		for _, it := range w.Sampled() {
			if backdrops[it.Region] == nil {
				backdrops[it.Region] = map[uint64]int{}
			}
			backdrops[it.Region][it.Backdrop]++
			count[it.Region]++
			if isUnseen(it) {
				unseen[it.Region]++
			}
		}
		for _, island := range w.Islands() {
			n := count[island]
			must.Equal(t, n, len(things)*12, "sampled images of", island)
			repeated := float64(n-len(backdrops[island])) / float64(n)
			odd := float64(unseen[island]) / float64(n)
			switch island {
			case disparities[0].Island:
				near(t, "share of repeated backgrounds", repeated, DefaultShare, 0.13)
				near(t, "share of unseen variants", odd, 0, 0)
			case disparities[1].Island:
				near(t, "share of repeated backgrounds", repeated, 0, 0)
				near(t, "share of unseen variants", odd, DefaultShare, 0.13)
			default:
				near(t, "share of repeated backgrounds", repeated, 0, 0)
				near(t, "share of unseen variants", odd, 0, 0)
			}
		}
		for _, it := range w.Reference() {
			if isUnseen(it) {
				t.Fatalf("seed %d: photo %s shows the unseen form %s", seed, it.ID, it.Variant)
			}
		}
	}
	if len(carriers) < 4 {
		t.Errorf("over 12 seeds only %d islands carry the background disparity", len(carriers))
	}
}

func isUnseen(it Item) bool {
	_, unseen := Variants(it.Object)
	return slices.Contains(unseen, it.Variant)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if got < want-tolerance || got > want+tolerance {
		t.Errorf("%s: %.3f, want %.3f ± %.3f", what, got, want, tolerance)
	}
}

// Without disparities both sets have one distribution: the same share of each scene, within sampling noise.
func TestControls(t *testing.T) {
	w := New(Options{Seed: 2, PerCell: 60})
	must.Equal(t, len(w.InjectedDisparities()), 0, "disparities in the control world")
	share := func(items []Item) map[string]float64 {
		m := map[string]float64{}
		for _, it := range items {
			m[it.Region+" "+it.Scene] += 1.0 / float64(len(things)*60)
		}
		return m
	}
	real, drawn := share(w.Reference()), share(w.Sampled())
	for i := range islands {
		sum := 0.0
		for j, want := range islands[i].mix {
			key := islands[i].name + " " + scenes[j].name
			near(t, "photos of "+key, real[key], want, 0.08)
			near(t, "sampled of "+key, drawn[key], want, 0.08)
			sum += want
		}
		near(t, "mix of "+islands[i].name, sum, 1, 1e-9)
	}
}

func TestItems(t *testing.T) {
	w := New(Options{Seed: 9, PerCell: 3})
	if got, want := len(w.Reference()), len(w.Islands())*len(w.Objects())*3; got != want || w.Len() != want {
		t.Fatalf("%d photos, Len %d, want %d", got, w.Len(), want)
	}
	if len(w.Islands()) < 6 || len(w.Objects()) < 8 || len(w.Scenes()) < 5 {
		t.Errorf("the world is too small: %v %v %v", w.Islands(), w.Objects(), w.Scenes())
	}
	ids := map[string]bool{}
	for _, it := range append(w.Reference(), w.Sampled()...) {
		if ids[it.ID] {
			t.Errorf("id %s occurs twice", it.ID)
		}
		ids[it.ID] = true
		if it.Caption == "" || it.Seed >= 1<<53 || it.Backdrop >= 1<<53 {
			t.Errorf("%+v", it)
		}
	}
	for _, bad := range []Item{{}, {Object: "lantern", Region: "Atlantis", Scene: "shore", Variant: "round"},
		{Object: "lantern", Region: "Velmora", Scene: "shore", Variant: "sideways"}} {
		if im, mask := w.Draw(bad); im != nil || mask != nil {
			t.Errorf("%+v was drawn", bad)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	w := New(Options{})
	items := w.Reference()
	for i := 0; b.Loop(); i++ {
		w.Draw(items[i%len(items)])
	}
}
