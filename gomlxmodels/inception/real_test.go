//go:build real

package inception

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// TestReal compares the networks at their own widths, files to vectors, with torch-fidelity, torchvision and timm; see
// tools/pyref/inception.py.
func TestReal(t *testing.T) {
	root := os.Getenv("ANTIPODE_INCEPTION_REAL")
	if root == "" {
		testbackend.Missing(t, "weights", "ANTIPODE_INCEPTION_REAL names no folder of tools/pyref/inception.py --real")
	}
	for _, name := range []string{"fid", "torchvision", "timm"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			m := must.Get(Open(dir))(t)
			golden := must.Get(weights.OpenFiles(filepath.Join(dir, "golden.safetensors")))(t)
			e := must.Get(NewEncoder(testbackend.XLA(t), m, Options{Batch: 3}))(t)
			defer e.Close()
			var list [][]float32
			for i := range 4 {
				img := must.Get(preprocess.DecodeFile(filepath.Join(dir, fmt.Sprintf("%d.png", i))))(t)
				list = append(list, must.Get(m.Prepare(img))(t))
			}
			var pooled, logits []float32
			for _, v := range must.Get(e.Encode(context.Background(), list))(t) {
				pooled, logits = append(pooled, v.Pooled...), append(logits, v.Logits...)
			}
			for what, got := range map[string][]float32{"pooled": pooled, "logits": logits} {
				want := must.Get(golden.Float32(what))(t)
				worst, _ := near.Worst(got, want)
				scale := near.Scale(want)
				t.Logf("%s: worst difference %.2g at scale %.3g: %.2g of it", what, worst, scale, worst/scale)
				if worst > 1e-3*scale {
					t.Errorf("%s: worst difference %.3g is more than 1e-3 of the scale %.3g", what, worst, scale)
				}
			}
		})
	}
}
