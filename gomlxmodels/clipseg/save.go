package clipseg

import (
	"fmt"

	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/clip"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/preprocess"
	"antipode/gomlxmodels/weights"
)

// Save writes a trained network, the variables below scope of [ForwardVision], [ForwardDecoder] and both towers of
// package clip, as a CLIPSegForImageSegmentation's folder in transformers' layout: config.json,
// preprocessor_config.json, model.safetensors. logScale is the logarithm of the logits' factor of its CLIP, which no
// mask depends on; pre is a ViTImageProcessor's. The tokenizer is the caller's to write.
func Save(dir string, cfg *Config, scope *model.Scope, logScale float32, pre preprocess.Config,
	format weights.Format) error {
	if err := cfg.Validate(); err != nil {
		return err
	}
	if cfg.Side != cfg.Vision.ImageSize {
		return fmt.Errorf("clipseg: images of %d pixels a side cannot be saved with an image_size of %d", cfg.Side,
			cfg.Vision.ImageSize)
	}
	if err := pre.Validate(cfg.Side, cfg.Side); err != nil {
		return err
	}
	processor, err := pre.HuggingFace()
	if err != nil {
		return err
	}
	rules := weights.Table(clip.ImageRules(&cfg.Config, prefix))
	rules = append(rules, clip.TextRules(&cfg.Config, prefix)...)
	reduceRules(&rules, cfg)
	rules = append(rules, decoderTable(cfg)...)
	list, err := weights.Export(scope, rules)
	if err != nil {
		return err
	}
	list = append(list, weights.Tensor{Name: prefix + "logit_scale", Shape: []int{}, Data: []float32{logScale}})
	config := cfg.HuggingFace("CLIPSegForImageSegmentation", "clipseg")
	config["extract_layers"], config["reduce_dim"], config["conditional_layer"] = cfg.ExtractLayers, cfg.ReduceDim,
		cfg.ConditionalLayer
	config["decoder_num_attention_heads"], config["decoder_intermediate_size"] = cfg.DecoderHeads,
		cfg.DecoderIntermediateSize
	config["use_complex_transposed_convolution"] = cfg.ComplexDeconvolution
	return hub.Save(dir, config, processor, list, format)
}
