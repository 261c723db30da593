package hub

import (
	"encoding/json"
	"os"
	"path/filepath"

	"antipode/gomlxmodels/weights"
)

// Save writes a model folder in the layout of transformers: config.json, preprocessor_config.json, model.safetensors.
func Save(dir string, config, processor any, list []weights.Tensor, format weights.Format) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, content := range map[string]any{"config.json": config, "preprocessor_config.json": processor} {
		text, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	return weights.Save(filepath.Join(dir, weights.SingleFile), list, map[string]string{"format": "pt"}, format)
}
