package generate

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"antipode/gomlxmodels"
	"antipode/gomlxmodels/device"
	"antipode/gomlxmodels/stage"
	"antipode/internal/testbackend"
	"antipode/kernel/client"
)

// lent is an environment with the pure Go backend, and no store. It counts how often the device was asked for.
type lent struct {
	t    *testing.T
	uses *int
}

func (e lent) Device() (any, error) {
	return &device.Device{Backend: testbackend.Go(e.t), Kind: device.Go}, nil
}
func (lent) DeviceKind() (string, error)            { return device.Go, nil }
func (lent) FileDigest(path string) (string, error) { return path, nil }
func (lent) PutBlob([]byte, string) (client.Image, error) {
	return client.Image{Path: "picture.png"}, nil
}
func (e lent) OnDevice(_ context.Context, f func() error) error {
	*e.uses++
	return f()
}
func (e lent) ModelDir() string { return e.t.TempDir() }
func (e lent) Shared(_ string, open func() (any, int64, func(), error)) (any, func(), error) {
	value, _, release, err := open()
	return value, release, err
}

// TestSteps listens to the steps inside a batch, which is three pictures here, and counts how often others may have the device.
func TestSteps(t *testing.T) {
	Together(t, device.Go, 3)
	dir, err := filepath.Abs(filepath.Join("..", "diffusion", "testdata", "bare"))
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(gomlxmodels.GenerateArgs{Model: dir, Steps: 3, Width: 16, Height: 16})
	uses := 0
	w, err := open(t.Context(), lent{t, &uses}, raw)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Load(t.Context()); err != nil || w.Batch() != 3 {
		t.Fatalf("batch %d, %v", w.Batch(), err)
	}
	frame := &client.Frame{Columns: []client.Column{client.TextColumn("prompt", []string{"x", "y", "z"}), client.NumberColumn("seed", []float64{1, 2, 3})}}
	var prepared []any
	for i := range 3 {
		p, _, err := w.Prepare(t.Context(), stage.Row{Frame: frame, Index: i})
		if err != nil {
			t.Fatal(err)
		}
		prepared = append(prepared, p)
	}
	var told []string
	ctx := stage.WithSteps(t.Context(), func(done, total int) {
		if s := fmt.Sprintf("%d/%d", done, total); len(told) == 0 || told[len(told)-1] != s {
			told = append(told, s)
		}
	})
	uses = 0
	if _, err := w.Compute(ctx, prepared); err != nil {
		t.Fatal(err)
	}
	if want := 1 + 3 + 3 + 1; uses != want { // texts, steps, pictures, release
		t.Errorf("the device was asked for %d times, not %d", uses, want)
	}
	if got := strings.Join(told, " "); got != "1/3 2/3 3/3" {
		t.Errorf("steps %s", got)
	}
}
