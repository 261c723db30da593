//go:build training

package vae

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/archipelago/trainer/trainertest"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// A resumed run exports the same files as an uninterrupted one.
func TestResume(t *testing.T) {
	whole, all := shape, stages
	defer func() { shape, stages = whole, all }()
	shape.Widths, shape.MidAttention, stages = []int{4, 4, 4, 4}, false, stages[:1]
	job := must.Get(newJob(trainer.Settings{Steps: 4, Batch: 2, Seed: 3, Rate: 1e-3, World: archipelago.Version}))(t)
	_, once, twice := trainertest.Resume(t, testbackend.Go(t), job, configFile, weightsFile)
	for _, p := range append(once, twice...) {
		if p.Loss[0] <= 0 || p.Loss[0] > 1.5 {
			t.Errorf("losses %v", p.Loss)
		}
	}
}

// A resumed run of the decoder exports the same files as an uninterrupted one, and changes the decoder alone.
func TestResumeDecoder(t *testing.T) {
	shipped := "../weights/archipelago-diffusion/vae"
	job := must.Get(newDecoderJob(trainer.Settings{Steps: 4, Batch: 1, Seed: 3, Rate: 1e-3, World: archipelago.Version},
		shipped, "../weights/archipelago-vit"))(t)
	dir, _, _ := trainertest.Resume(t, testbackend.XLA(t), job, configFile, weightsFile)
	before := must.Get(weights.OpenFiles(filepath.Join(shipped, weightsFile)))(t)
	after := must.Get(weights.OpenFiles(filepath.Join(dir, weightsFile)))(t)
	for _, rule := range diffusion.VAERules(&shape) {
		a, errA := before.Float32(rule.Tensor)
		b, errB := after.Float32(rule.Tensor)
		must.Do(t, errors.Join(errA, errB))
		fixed := strings.HasPrefix(rule.Tensor, "encoder.") || strings.HasPrefix(rule.Tensor, "quant_conv.")
		if fixed && !slices.Equal(a, b) {
			t.Errorf("%s changed", rule.Tensor)
		}
		if rule.Tensor == "decoder.conv_out.weight" && slices.Equal(a, b) {
			t.Errorf("%s did not change", rule.Tensor)
		}
	}
}
