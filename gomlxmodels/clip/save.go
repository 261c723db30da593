package clip

import (
	"errors"
	"fmt"

	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/vit"
	"antipode/gomlxmodels/weights"
)

// Save writes a trained network, the variables of [ForwardImage] and [ForwardText] below scope, as a CLIPModel's
// folder in transformers' layout: config.json, preprocessor_config.json, model.safetensors. logScale is the logarithm
// of the logits' factor; pre must resize the shortest edge and cut out the middle, as CLIPImageProcessor does. The
// tokenizer is the caller's to write.
func Save(dir string, cfg *Config, scope *model.Scope, logScale float32, pre preprocess.Config,
	format weights.Format) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if cfg.ImagesOnly || cfg.SigLIP {
		return errors.New("clip: a SigLIP, or a model without its text tower, has no place in a CLIPModel's folder")
	}
	if err := pre.Validate(cfg.Vision.ImageSize, cfg.Vision.ImageSize); err != nil {
		return err
	}
	if pre.Resize != preprocess.ShortestEdge || pre.CropHeight == 0 {
		return fmt.Errorf("clip: preprocessing %q cannot be written as a CLIPImageProcessor", pre.Resize)
	}
	list, err := weights.Export(scope, append(ImageRules(cfg, ""), TextRules(cfg, "")...))
	if err != nil {
		return err
	}
	list = append(list, weights.Tensor{Name: logitScale, Shape: []int{}, Data: []float32{logScale}})
	processor := map[string]any{"image_processor_type": "CLIPImageProcessor", "do_resize": true,
		"size": map[string]int{"shortest_edge": pre.Edge}, "resample": pre.Filter, "do_center_crop": true,
		"crop_size":      map[string]int{"height": pre.CropHeight, "width": pre.CropWidth},
		"do_convert_rgb": true, "do_rescale": true, "rescale_factor": pre.Scale, "do_normalize": true,
		"image_mean": pre.Mean, "image_std": pre.Std}
	return hub.Save(dir, cfg.HuggingFace("CLIPModel", "clip"), processor, list, format)
}

// HuggingFace is the configuration as the config.json of a model of that class and type, by key.
func (c *Config) HuggingFace(class, kind string) map[string]any {
	type text struct {
		ModelType string `json:"model_type"`
		TextConfig
		Projection int `json:"projection_dim"`
		Start      int `json:"bos_token_id"`
		Padding    int `json:"pad_token_id"`
	}
	type vision struct {
		ModelType string `json:"model_type"`
		vit.SquareConfig
		Projection int `json:"projection_dim"`
	}
	// CLIP's tokenizers end with start and end
	t := text{kind + "_text_model", c.Text, c.ProjectionDim, c.Text.EndToken - 1, c.Text.EndToken}
	return map[string]any{"architectures": []string{class}, "model_type": kind, "projection_dim": c.ProjectionDim,
		"text_config": t, "vision_config": vision{kind + "_vision_model", c.Vision, c.ProjectionDim}}
}
