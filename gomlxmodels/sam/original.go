package sam

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/internal/newdir"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
)

// IsOriginal reports whether a checkpoint has the names of segment-anything, SAM's own program.
func IsOriginal(set *weights.Set) bool { return set.Has("image_encoder.patch_embed.proj.weight") }

// originalStarts replace the start of a name, the first that it has.
var originalStarts = [][2]string{{"image_encoder.patch_embed.proj.", "vision_encoder.patch_embed.projection."},
	{"image_encoder.neck.0.", "vision_encoder.neck.conv1."},
	{"image_encoder.neck.1.", "vision_encoder.neck.layer_norm1."},
	{"image_encoder.neck.2.", "vision_encoder.neck.conv2."},
	{"image_encoder.neck.3.", "vision_encoder.neck.layer_norm2."},
	{"image_encoder.blocks.", "vision_encoder.layers."}, {"image_encoder.", "vision_encoder."},
	{"prompt_encoder.point_embeddings.", "prompt_encoder.point_embed."},
	{"prompt_encoder.pe_layer.positional_encoding_gaussian_matrix", frequencies[1]},
	{"prompt_encoder.mask_downscaling.0.", "prompt_encoder.mask_embed.conv1."},
	{"prompt_encoder.mask_downscaling.1.", "prompt_encoder.mask_embed.layer_norm1."},
	{"prompt_encoder.mask_downscaling.3.", "prompt_encoder.mask_embed.conv2."},
	{"prompt_encoder.mask_downscaling.4.", "prompt_encoder.mask_embed.layer_norm2."},
	{"prompt_encoder.mask_downscaling.6.", "prompt_encoder.mask_embed.conv3."},
	{"mask_decoder.output_upscaling.0.", "mask_decoder.upscale_conv1."},
	{"mask_decoder.output_upscaling.1.", "mask_decoder.upscale_layer_norm."},
	{"mask_decoder.output_upscaling.3.", "mask_decoder.upscale_conv2."},
	{"mask_decoder.transformer.norm_final_attn.", "mask_decoder.transformer.layer_norm_final_attn."}}

// fromOriginal is the name that transformers gives a tensor. depth is the number of layers of the perceptron of IoU.
func fromOriginal(name string, depth int) string {
	for _, start := range originalStarts {
		if rest, ok := strings.CutPrefix(name, start[0]); ok {
			name = start[1] + rest
			break
		}
	}
	part := strings.Split(name, ".")
	for i, p := range part {
		if k, ok := strings.CutPrefix(p, "norm"); ok && k != "" && len(k) == 1 { // of blocks and layers
			part[i] = "layer_norm" + k
		}
	}
	n, perceptron := 3, strings.HasPrefix(name, "mask_decoder.output_hypernetworks_mlps.")
	if strings.HasPrefix(name, "mask_decoder.iou_prediction_head.") {
		n, perceptron = depth, true
	}
	if at := len(part) - 3; perceptron && at > 0 && part[at] == "layers" {
		if k, err := strconv.Atoi(part[at+1]); err == nil && k >= 0 && k < n {
			part[at], part[at+1] = PerceptronLayers(n)[k], part[at+2]
			part = part[:at+2]
		}
	}
	return strings.Join(part, ".")
}

// Convert writes a checkpoint of segment-anything (sam_vit_h_4b8939.pth and the like) as a folder of transformers: the
// same tensors under other names, and the configuration that follows from their shapes. dir must not exist, or be
// empty. A missing or unknown tensor is an error. All weights are in memory at once, in float32.
func Convert(set *weights.Set, dir string) (err error) {
	defer runner.Recovered("sam", &err)
	config, side, err := originalConfig(set)
	if err != nil {
		return err
	}
	depth := count(set, "mask_decoder.iou_prediction_head.layers.%d.weight")
	var list []weights.Tensor
	for _, name := range set.Names() {
		if name == "pixel_mean" || name == "pixel_std" { // of the preprocessing
			continue
		}
		values, err := set.Float32(name)
		if err != nil {
			return err
		}
		old, _ := set.Info(name)
		t := weights.Tensor{Name: fromOriginal(name, depth), Shape: old.Shape, Data: values}
		list = append(list, t)
		if t.Name == frequencies[1] { // transformers has it twice
			t.Name = frequencies[0]
			list = append(list, t)
		}
	}
	return newdir.Write(dir, func(to string) error {
		edge := map[string]int{"longest_edge": side}
		if err := hub.Save(to, config, map[string]any{"image_processor_type": "SamImageProcessor", "size": edge,
			"pad_size": map[string]int{"height": side, "width": side}, "do_resize": true, "do_rescale": true,
			"do_normalize": true, "do_pad": true, "do_convert_rgb": true, "resample": 2,
			"rescale_factor": 1. / 255, "image_mean": []float64{0.485, 0.456, 0.406},
			"image_std": []float64{0.229, 0.224, 0.225}}, list, weights.F32); err != nil {
			return err
		}
		if _, err := Open(to); err != nil {
			return fmt.Errorf("%s: not a SAM of segment-anything: as a folder: %s", set.Files()[0],
				strings.ReplaceAll(err.Error(), to+string(filepath.Separator), ""))
		}
		return nil
	})
}

// count is how many numbers from 0 on a name has.
func count(set *weights.Set, format string) (n int) {
	for n < hub.MaxLayers && set.Has(fmt.Sprintf(format, n)) {
		n++
	}
	return n
}

// originalConfig is the configuration of a checkpoint as config.json has it, and the side of its images in pixels. What
// no shape tells is as in the published models: the decoder has 8 heads.
func originalConfig(set *weights.Set) (config map[string]any, side int, err error) {
	dims := func(name string, rank int) []int {
		t, ok := set.Info(name)
		if err == nil && (!ok || len(t.Shape) != rank) {
			err = fmt.Errorf("%s: no tensor %q of %d dimensions, which a SAM has", set.Files()[0], name, rank)
		}
		if err != nil {
			return make([]int, rank)
		}
		return t.Shape
	}
	const image, decoder = "image_encoder.", "mask_decoder."
	positions, patches := dims(image+"pos_embed", 4), dims(image+"patch_embed.proj.weight", 4)
	layers, grid, patch := count(set, image+"blocks.%d.norm1.weight"), positions[1], patches[2]
	window, global, heads := 14, []int{}, 1
	for i := range layers {
		rows := dims(fmt.Sprintf("%sblocks.%d.attn.rel_pos_h", image, i), 2)
		heads = positions[3] / max(1, rows[1])
		if rows[0] == 2*grid-1 {
			global = append(global, i)
		} else {
			window = (rows[0] + 1) / 2
		}
	}
	width := dims(decoder+"iou_token.weight", 2)[1]
	side = grid * patch
	config = map[string]any{"architectures": []string{"SamModel"}, "model_type": "sam",
		"vision_config": map[string]any{"hidden_size": positions[3], "num_hidden_layers": layers,
			"num_attention_heads": heads, "global_attn_indexes": global, "window_size": window, "image_size": side,
			"patch_size": patch, "output_channels": dims(image+"neck.0.weight", 4)[0],
			"num_pos_feats": dims("prompt_encoder.pe_layer.positional_encoding_gaussian_matrix", 2)[1],
			"mlp_dim":       dims(image+"blocks.0.mlp.lin1.weight", 2)[0]},
		"prompt_encoder_config": map[string]any{"hidden_size": width, "image_size": side, "patch_size": patch,
			"image_embedding_size": grid,
			"mask_input_channels":  dims("prompt_encoder.mask_downscaling.3.weight", 4)[0]},
		"mask_decoder_config": map[string]any{"hidden_size": width, "num_attention_heads": 8,
			"mlp_dim":               dims(decoder+"transformer.layers.0.mlp.lin1.weight", 2)[0],
			"num_hidden_layers":     count(set, decoder+"transformer.layers.%d.norm1.weight"),
			"num_multimask_outputs": dims(decoder+"mask_tokens.weight", 2)[0] - 1,
			"iou_head_depth":        count(set, decoder+"iou_prediction_head.layers.%d.weight"),
			"iou_head_hidden_dim":   dims(decoder+"iou_prediction_head.layers.0.weight", 2)[0]}}
	return config, side, err
}
