package generate

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/gomlxmodels"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/stage"
	"antipode/internal/must"
	"antipode/test/stagetest"
	"antipode/test/testbackend"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// lent is an environment with the pure Go backend and without a store. It counts the uses of the device.
type lent struct {
	t    *testing.T
	uses *int
}

func (e lent) Backend() (compute.Backend, error)    { return testbackend.Go(e.t), nil }
func (lent) NoteModel(model, digest, source string) {}
func (lent) Note(string, ...any)                    {}
func (lent) Secret(string) string                   { return "" }
func (lent) DeviceKind() (string, error)            { return device.Go, nil }
func (lent) FileDigest(path string) (string, error) { return path, nil }
func (lent) PutBlob([]byte, string) (table.Image, error) {
	return table.Image{Path: "image.png"}, nil
}
func (e lent) OnDevice(_ context.Context, f func() error) error {
	*e.uses++
	return f()
}
func (lent) First(string) bool  { return true }
func (e lent) ModelDir() string { return e.t.TempDir() }
func (e lent) Shared(_ string, open func() (any, int64, func(), error)) (any, func(), error) {
	value, _, release, err := open()
	return value, release, err
}

// TestSteps listens to the steps inside a batch, which is three images here, and counts how often others may have
// the device.
func TestSteps(t *testing.T) {
	Together(t, device.Go, 3)
	dir := must.Get(filepath.Abs(filepath.Join("..", "..", "diffusion", "testdata", "bare")))(t)
	raw, _ := json.Marshal(gomlxmodels.GenerateArgs{Model: dir,
		GenerateOptions: gomlxmodels.GenerateOptions{Steps: 3, Width: 16, Height: 16}})
	uses := 0
	w := must.Get(open(t.Context(), lent{t, &uses}, raw))(t)
	defer w.Close()
	if err := w.Load(t.Context()); err != nil || w.Batch() != 3 {
		t.Fatalf("batch %d, %v", w.Batch(), err)
	}
	frame := &table.Frame{Columns: []table.Column{table.TextColumn("prompt", []string{"x", "y", "z"}),
		table.NumberColumn("seed", []float64{1, 2, 3})}}
	var told []string
	ctx := stage.WithSteps(t.Context(), func(done, total int) {
		if s := fmt.Sprintf("%d/%d", done, total); len(told) == 0 || told[len(told)-1] != s {
			told = append(told, s)
		}
	})
	uses = 0
	stagetest.Compute(ctx, t, w, stage.Row{Frame: frame}, stage.Row{Frame: frame, Index: 1},
		stage.Row{Frame: frame, Index: 2})
	must.Equal(t, uses, 1+3+3+1, "the device was used") // texts, steps, images, release
	must.Equal(t, strings.Join(told, " "), "1/3 2/3 3/3", "steps")
}

// TestImagesAtOnce: small images are sampled four at once on a processor, large ones one at a time.
func TestImagesAtOnce(t *testing.T) {
	m := must.Get(diffusion.Open(filepath.Join("..", "..", "diffusion", "testdata", "bare"),
		diffusion.OpenOptions{}))(t)
	for _, c := range []struct {
		kind       string
		side, want int
	}{{device.XLACPU, 0, 4}, {device.XLACPU, 256, 4}, {device.XLACPU, 512, 1}, {device.Go, 0, 1},
		{device.XLACUDA, 512, 4}} {
		args := gomlxmodels.GenerateArgs{GenerateOptions: gomlxmodels.GenerateOptions{Width: c.side, Height: c.side}}
		must.Equal(t, imagesAtOnce(c.kind, m, args), c.want, c.kind, "side", c.side, "at once")
	}
}

// onXLA says that its device is XLA's.
type onXLA struct{ lent }

func (onXLA) DeviceKind() (string, error) { return device.XLACPU, nil }

// TestPrecision: the options' number type reaches the worker and is part of the digest of an image.
func TestPrecision(t *testing.T) {
	dir := filepath.Join("..", "..", "diffusion", "testdata", "bare")
	prompts := datasets.FromRows([]map[string]any{{"id": "a", "prompt": "x"}})
	for precision, want := range map[string]dtypes.DType{"": dtypes.Float32, "auto": dtypes.Float32,
		"float32": dtypes.Float32, "bfloat16": dtypes.BFloat16} {
		plan := must.Get(gomlxmodels.Generate(dir, prompts,
			gomlxmodels.GenerateOptions{Precision: precision}).Plan())(t)
		opened := must.Get(open(t.Context(), onXLA{lent{t, new(int)}}, plan.Args))(t)
		w := opened.Common.(*worker)
		if w.dtype != want || !strings.Contains(w.Digest(), strings.ToLower(want.String())) {
			t.Errorf("precision %q: %s, digest %s", precision, w.dtype, w.Digest())
		}
		opened.Close()
	}
}
