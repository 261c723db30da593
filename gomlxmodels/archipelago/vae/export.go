package vae

import (
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/weights"
)

// File names of diffusers.
const (
	configFile  = "config.json"
	weightsFile = "diffusion_pytorch_model.safetensors"
)

// export writes a diffusers folder. Its scaling factor, which gives the latents standard deviation 1, is measured in
// training.
func export(dir string, store *model.Store) (parameters int, err error) {
	square := store.GetVariable("/" + squarePath)
	if square == nil || !square.HasValue() {
		return 0, fmt.Errorf("export: the run has not measured its latents (%s)", squarePath)
	}
	value, err := square.Value()
	if err != nil {
		return 0, err
	}
	c := shape
	c.ScalingFactor = math.Round(1e4/math.Sqrt(float64(tensors.ToScalar[float32](value)))) / 1e4
	return write(dir, store, c)
}

// write writes the folder of an autoencoder.
func write(dir string, store *model.Store, c diffusion.VAEConfig) (parameters int, err error) {
	list, err := diffusion.Export(store.RootScope(), diffusion.VAERules(&c))
	if err != nil {
		return 0, err
	}
	for _, t := range list {
		parameters += len(t.Data)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	if err := trainer.WriteJSON(filepath.Join(dir, configFile), struct {
		Class   string `json:"_class_name"`
		Version string `json:"_diffusers_version"`
		diffusion.VAEConfig
		Sample     int    `json:"sample_size"`
		Activation string `json:"act_fn"`
	}{"AutoencoderKL", "0.42.1", c, examples.Size, "silu"}); err != nil {
		return 0, err
	}
	return parameters, weights.Save(filepath.Join(dir, weightsFile), list, map[string]string{"format": "pt"},
		weights.F16)
}

// Restore reads the autoencoder in a folder into variables below a scope.
func Restore(scope *model.Scope, dir string) (*diffusion.VAEConfig, error) {
	c, _, err := hub.ReadConfig(dir, diffusion.ParseVAEConfig)
	if err != nil {
		return nil, err
	}
	set, err := weights.OpenFiles(filepath.Join(dir, weightsFile))
	if err != nil {
		return nil, err
	}
	return c, diffusion.Restore(scope, set, diffusion.VAERules(c))
}
