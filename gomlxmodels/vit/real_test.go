//go:build real

package vit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// TestReal compares ViT-B/16, DINOv2-S/14 and SigLIP-B/16 at real size, files to vectors, with the reference libraries;
// see tools/pyref/vit_real.py.
func TestReal(t *testing.T) {
	root := os.Getenv("ANTIPODE_VIT_REAL")
	if root == "" {
		testbackend.Missing(t, "weights", "ANTIPODE_VIT_REAL names no folder made by tools/pyref/vit_real.py")
	}
	for _, name := range []string{"timm", "transformers", "dinov2", "dinov2-registers", "siglip"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			m := must.Get(Open(dir))(t)
			golden := must.Get(weights.OpenFiles(filepath.Join(dir, "golden.safetensors")))(t)
			start := time.Now()
			e := must.Get(NewEncoder(testbackend.XLA(t), m, Options{Batch: 3}))(t)
			defer e.Close()
			t.Logf("weights loaded in %v", time.Since(start).Round(time.Millisecond))
			info, _ := golden.Info("object")
			patches, _ := golden.Float32("object")
			var list []*Prepared
			for i := range info.Shape[0] {
				img := must.Get(preprocess.DecodeFile(filepath.Join(dir, fmt.Sprintf("%d.png", i))))(t)
				mask := must.Get(preprocess.DecodeFile(filepath.Join(dir, fmt.Sprintf("%d.mask.png", i))))(t)
				object := &preprocess.Mask{Width: mask.Width, Height: mask.Height}
				for k := range mask.Width * mask.Height {
					object.Object = append(object.Object, mask.Pix[3*k])
				}
				p := must.Get(m.Prepare(img, object, PrepareOptions{}))(t)
				for k, v := range p.Object {
					must.Equal(t, v, patches[i*len(p.Object)+k] != 0, "image", i, "patch", k, "object")
				}
				list = append(list, p)
			}
			got := must.Get(e.Encode(context.Background(), list))(t)
			t.Logf("compiled in %v", e.CompileTime().Round(time.Millisecond))
			backwards := slices.Clone(list)
			slices.Reverse(backwards)
			again := must.Get(e.Encode(context.Background(), backwards[1:]))(t)
			for i, em := range again {
				if want := got[len(got)-2-i]; !slices.Equal(em.Full, want.Full) ||
					!slices.Equal(em.ObjectOnly, want.ObjectOnly) ||
					!slices.Equal(em.BackgroundOnly, want.BackgroundOnly) {
					t.Errorf("image %d: its embedding depends on its place in the batch", len(got)-2-i)
				}
			}
			for _, c := range []struct {
				name string
				of   func(Embedding) []float32
			}{{"full", func(e Embedding) []float32 { return e.Full }},
				{"object_only", func(e Embedding) []float32 { return e.ObjectOnly }},
				{"background_only", func(e Embedding) []float32 { return e.BackgroundOnly }}} {
				want := must.Get(golden.Float32(c.name))(t)
				var all []float32
				for _, em := range got {
					all = append(all, c.of(em)...)
				}
				worst, _ := near.Worst(all, want)
				scale := near.Scale(want)
				t.Logf("%s: worst difference %.2g at scale %.3g: %.2g of it", c.name, worst, scale, worst/scale)
				if worst > 1e-3*scale {
					t.Errorf("%s: worst difference %.3g is more than 1e-3 of the scale %.3g", c.name, worst, scale)
				}
			}
		})
	}
}
