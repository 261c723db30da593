package vae

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/weights"
)

// Names of the folder's files, as diffusers has them.
const (
	configFile  = "config.json"
	weightsFile = "diffusion_pytorch_model.safetensors"
)

// export writes a diffusers folder, float16. The factor that scales latents to deviation 1 comes from the run.
func export(dir string, store *model.Store) (parameters int, err error) {
	square := store.GetVariable("/" + squarePath)
	if square == nil || !square.HasValue() {
		return 0, fmt.Errorf("the run has not measured its latents (%s)", squarePath)
	}
	value, err := square.Value()
	if err != nil {
		return 0, err
	}
	c := shape
	c.ScalingFactor = math.Round(1e4/math.Sqrt(float64(tensors.ToScalar[float32](value)))) / 1e4
	list, err := diffusion.Export(store.RootScope(), diffusion.VAERules(&c))
	if err != nil {
		return 0, err
	}
	for _, t := range list {
		parameters += len(t.Data)
	}
	text, err := json.MarshalIndent(struct {
		Class   string `json:"_class_name"`
		Version string `json:"_diffusers_version"`
		diffusion.VAEConfig
		Sample     int    `json:"sample_size"`
		Activation string `json:"act_fn"`
	}{"AutoencoderKL", "0.42.1", c, examples.Size, "silu"}, "", "  ")
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	if err := os.WriteFile(filepath.Join(dir, configFile), append(text, '\n'), 0o644); err != nil {
		return 0, err
	}
	return parameters, weights.Save(filepath.Join(dir, weightsFile), list, map[string]string{"format": "pt"}, weights.F16)
}

// Restore reads an autoencoder's folder into variables below a scope.
func Restore(scope *model.Scope, dir string) (*diffusion.VAEConfig, error) {
	text, err := os.ReadFile(filepath.Join(dir, configFile))
	if err != nil {
		return nil, err
	}
	c, err := diffusion.ParseVAEConfig(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, configFile), err)
	}
	set, err := weights.OpenFiles(filepath.Join(dir, weightsFile))
	if err != nil {
		return nil, err
	}
	return c, diffusion.Restore(scope, set, diffusion.VAERules(c))
}
