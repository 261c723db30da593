package blip

import (
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

// Save writes a trained captioner as transformers lays a BlipForConditionalGeneration out: config.json,
// preprocessor_config.json, model.safetensors; the tokenizer is the caller's. Token 0 is the padding.
func Save(dir string, cfg *Config, scope *model.Scope, pre preprocess.Config, format weights.Format) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	list, err := weights.Export(scope, table(cfg))
	if err != nil {
		return err
	}
	processor, err := pre.HuggingFace()
	if err != nil {
		return err
	}
	processor["image_processor_type"], processor["do_convert_rgb"] = "BlipImageProcessor", true
	config := map[string]any{"architectures": []string{CaptionClass}, "model_type": "blip",
		"tie_word_embeddings": cfg.Tied,
		"text_config": struct {
			ModelType string `json:"model_type"`
			TextConfig
			Encoder int `json:"encoder_hidden_size"`
			End     int `json:"eos_token_id"`
			Padding int `json:"pad_token_id"`
		}{"blip_text_model", cfg.Text, cfg.Vision.HiddenSize, cfg.Text.EndToken, 0},
		"vision_config": struct {
			ModelType string `json:"model_type"`
			vit.SquareConfig
		}{"blip_vision_model", cfg.Vision}}
	return hub.Save(dir, config, processor, list, format)
}
