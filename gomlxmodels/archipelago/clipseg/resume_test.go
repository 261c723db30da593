//go:build training

package clipseg

import (
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/tokens"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/clipseg"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// tiny is a CLIPSeg that is trained in a moment.
func tiny() clipseg.Config {
	c := shape()
	c.Vision.HiddenSize, c.Vision.IntermediateSize, c.Vision.Layers, c.Vision.Heads = 16, 32, 2, 2
	c.Text.HiddenSize, c.Text.IntermediateSize, c.Text.Layers, c.Text.Heads = 16, 32, 1, 2
	c.ProjectionDim, c.ExtractLayers, c.ReduceDim, c.DecoderHeads, c.DecoderIntermediateSize = 8, []int{0, 1}, 8, 2, 16
	return c
}

// randomCLIP writes the folder of a CLIP with random weights.
func randomCLIP(t *testing.T, backend compute.Backend, cfg *clip.Config) string {
	t.Helper()
	store := model.NewStore()
	defer store.Finalize()
	must.Do(t, store.SetRNGStateFromSeed(1))
	_ = must.Get(model.CallOnceN(backend, store, func(s *model.Scope, in []*Node) []*Node {
		ids := Zeros(in[0].Graph(), shapes.Make(dtypes.Int32, 1, length))
		return []*Node{clip.ForwardImage(s, cfg, in[0], clip.GraphOptions{}).Projected,
			clip.ForwardText(s, cfg, ids, clip.GraphOptions{}).Projected}
	}, tensors.FromShape(shapes.Make(dtypes.Float32, 1, 3, cfg.Vision.ImageSize, cfg.Vision.ImageSize))))(t)
	side := cfg.Vision.ImageSize
	pre := preprocess.Config{Resize: preprocess.ShortestEdge, Edge: side, CropHeight: side, CropWidth: side,
		Filter: preprocess.Bicubic, Scale: 1.0 / 255, Mean: preprocess.Half, Std: preprocess.Half}
	dir := t.TempDir()
	must.Do(t, clip.Save(dir, cfg, store.RootScope(), 2, pre, weights.F16))
	return dir
}

// A resumed run exports the same files as an uninterrupted one; the CLIP in them is the one that the run started from.
func TestResume(t *testing.T) {
	backend, cfg := testbackend.QuickXLA(t), tiny()
	from := randomCLIP(t, backend, &cfg.Config)
	job := must.Get(newJob(trainer.Settings{Steps: 4, Batch: 2, Seed: 3, Rate: 1e-3, World: archipelago.Version}, cfg,
		from))(t)
	dir, once, twice := trainertest.Resume(t, backend, job,
		append(tokens.Files(), "model.safetensors", "config.json", "preprocessor_config.json")...)
	for _, curve := range [][]trainer.Point{once, twice} {
		if l := curve[0].Loss[0]; !(l > 0.1 && l < 3) {
			t.Errorf("the first losses are %v", curve[0].Loss)
		}
	}
	old, errOld := weights.Open(from)
	now, errNow := weights.Open(dir)
	if errOld != nil || errNow != nil {
		t.Fatal(errOld, errNow)
	}
	for _, name := range old.Names() {
		a, errA := old.Float32(name)
		b, errB := now.Float32("clip." + name)
		if errA != nil || errB != nil || !slices.Equal(a, b) {
			t.Errorf("%s was changed (%v, %v)", name, errA, errB)
		}
	}
	a := must.Get(score(t.Context(), backend, dir, 1))(t)
	if s := a.(*scores); s.Images != 48 || s.Overlap["en"] > 0.5 {
		t.Errorf("score of an untrained network: %v", s)
	}
	must.Fail(newJob(trainer.Settings{}, cfg, t.TempDir()))(t, "train clip first") // without a CLIP
}
