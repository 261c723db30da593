package blip

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

// Save writes a trained captioner as transformers lays a BlipForConditionalGeneration out: config.json, preprocessor_config.json,
// model.safetensors; the tokenizer is the caller's. Token 0 is the padding.
func Save(dir string, cfg *Config, scope *model.Scope, pre preprocess.Config, format weights.Format) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	list, err := weights.Export(scope, table(cfg))
	if err != nil {
		return err
	}
	type object = map[string]any
	text, vision, err := objects(cfg)
	if err != nil {
		return err
	}
	text["model_type"], text["encoder_hidden_size"], text["eos_token_id"], text["pad_token_id"] = "blip_text_model", cfg.Vision.HiddenSize, cfg.Text.EndToken, 0
	vision["model_type"] = "blip_vision_model"
	config, err := json.MarshalIndent(object{"architectures": []string{"BlipForConditionalGeneration"}, "model_type": "blip", "tie_word_embeddings": cfg.Tied,
		"text_config": text, "vision_config": vision}, "", "  ")
	if err != nil {
		return err
	}
	raw, err := pre.HuggingFaceJSON()
	if err != nil {
		return err
	}
	var processor object
	if err := json.Unmarshal(raw, &processor); err != nil {
		return err
	}
	processor["image_processor_type"], processor["do_convert_rgb"] = "BlipImageProcessor", true
	if raw, err = json.MarshalIndent(processor, "", "  "); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"config.json": config, "preprocessor_config.json": raw} {
		if err := os.WriteFile(filepath.Join(dir, name), append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	return weights.Save(filepath.Join(dir, weights.SingleFile), list, map[string]string{"format": "pt"}, format)
}

// objects are the two parts of a configuration as JSON has them.
func objects(cfg *Config) (text, vision map[string]any, err error) {
	for _, part := range []struct {
		from any
		to   *map[string]any
	}{{cfg.Text, &text}, {cfg.Vision, &vision}} {
		raw, err := json.Marshal(part.from)
		if err != nil {
			return nil, nil, err
		}
		if err := json.Unmarshal(raw, part.to); err != nil {
			return nil, nil, err
		}
	}
	return text, vision, nil
}
