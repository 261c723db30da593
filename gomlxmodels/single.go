package gomlxmodels

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// FileOptions are the options of a model that is a single file: a Stable Diffusion 1.x or 2.x as its authors saved it.
type FileOptions struct {
	// ConfigFrom is a model of the same kind, whose tokenizer is used and, if it fits, its scheduler; the file has
	// neither. A known name, a name on the hub or a folder; default [ConfigModel].
	ConfigFrom string `json:"config_from,omitempty" help:"a model of the same kind (NAME or folder), whose tokenizer is used; default stable-diffusion-v1-5"`

	// Prediction is what the UNet predicts, "epsilon" or "v"; default what the file says.
	Prediction string `json:"prediction,omitempty" values:"epsilon,v" help:"what the UNet predicts; default what the file says"`

	// EMA selects the UNet's averaged weights, where the file has both.
	EMA bool `json:"ema,omitempty" help:"the UNet's averaged weights, where the file has both"`
}

// ConfigModel is the model whose tokenizer single files use by default. 1.x and 2.x have the same vocabulary.
const ConfigModel = "stable-diffusion-v1-5"

// singleFile returns the absolute path of a model that is a file.
func singleFile(model string) (path string, ok bool) {
	if !slices.Contains([]string{".safetensors", ".ckpt"}, strings.ToLower(filepath.Ext(model))) {
		return "", false
	}
	info, err := os.Stat(model)
	if err != nil || info.IsDir() {
		return "", false
	}
	path, err = filepath.Abs(model)
	return path, err == nil
}
