package vit

import (
	"errors"
	"fmt"

	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

// Save writes a trained network as a model folder in transformers' layout: config.json, preprocessor_config.json,
// model.safetensors. classes is the size of the classification head below scope, 0 = none is saved. Without a head the
// folder is a ViTModel without pooler, with one a ViTForImageClassification; labels names its classes (nil = numbered).
// What only timm models have cannot be saved so.
func Save(dir string, cfg *Config, scope *model.Scope, pre preprocess.Config, classes int, labels []string,
	format weights.Format) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if cfg.own() {
		return errors.New("vit: registers, a norm before block 1, layer scales and positions of patches only have no " +
			"place in a ViTModel")
	}
	if labels != nil && len(labels) != classes {
		return fmt.Errorf("vit: %d labels for %d classes", len(labels), classes)
	}
	processor, err := pre.HuggingFace()
	if err != nil {
		return err
	}
	config := struct {
		Architectures []string `json:"architectures"`
		ModelType     string   `json:"model_type"`
		Config
		Labels map[string]string `json:"id2label,omitempty"`
		IDs    map[string]int    `json:"label2id,omitempty"`
	}{Architectures: []string{"ViTModel"}, ModelType: "vit", Config: *cfg}
	prefix := ""
	if classes > 0 {
		prefix, config.Architectures = "vit.", []string{"ViTForImageClassification"}
		config.Labels, config.IDs = map[string]string{}, map[string]int{}
		for i := range classes {
			name := fmt.Sprintf("LABEL_%d", i)
			if labels != nil {
				name = labels[i]
			}
			config.Labels[fmt.Sprint(i)], config.IDs[name] = name, i
		}
	}
	list, err := weights.Export(scope, table(cfg, HuggingFace, prefix, heads{classes: classes}))
	if err != nil {
		return err
	}
	return hub.Save(dir, config, processor, list, format)
}
