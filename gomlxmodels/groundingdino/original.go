package groundingdino

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/internal/newdir"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/weights"
)

// wrapped is what the authors' training program puts before all names.
const wrapped = "module."

// IsOriginal reports whether a checkpoint has the names of GroundingDINO's own program.
func IsOriginal(set *weights.Set) bool {
	const name = "transformer.tgt_embed.weight"
	return set.Has(name) || set.Has(wrapped+name)
}

// swin is the start of the image backbone's names.
const swin = "model.backbone.conv_encoder.model."

// originalNames are the patterns of the original names and what transformers makes of them, the first that matches.
// "" = not read: what follows from the window's size, BERT's pooler, what training alone uses.
var originalNames = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`^.*\.relative_position_index$|^bert\.pooler\..*$|^bert\..*position_ids$|^label_enc\.weight$`), ""},
	{regexp.MustCompile(`^bert\.`), "model.text_backbone."},
	{regexp.MustCompile(`^input_proj\.`), "model.input_proj_vision."},
	{regexp.MustCompile(`^feat_map\.`), "model.text_projection."},
	{regexp.MustCompile(`^transformer\.level_embed$`), "model.level_embed"},
	{regexp.MustCompile(`^transformer\.tgt_embed\.`), "model.query_position_embeddings."},
	{regexp.MustCompile(`^transformer\.enc_output`), "model.enc_output"},
	{regexp.MustCompile(`^transformer\.enc_out_bbox_embed\.`), "model.encoder_output_bbox_embed."},
	{regexp.MustCompile(`^transformer\.decoder\.norm\.`), "model.decoder.layer_norm."},
	{regexp.MustCompile(`^transformer\.decoder\.ref_point_head\.`), "model.decoder.reference_points_head."},
	{regexp.MustCompile(`^transformer\.decoder\.bbox_embed\.`), "model.decoder.bbox_embed."},
	{regexp.MustCompile(`^backbone\.0\.patch_embed\.proj\.`), swin + "embeddings.patch_embeddings.projection."},
	{regexp.MustCompile(`^backbone\.0\.patch_embed\.norm\.`), swin + "embeddings.norm."},
	{regexp.MustCompile(`^backbone\.0\.norm1\.`), swin + "hidden_states_norms.stage2."},
	{regexp.MustCompile(`^backbone\.0\.norm2\.`), swin + "hidden_states_norms.stage3."},
	{regexp.MustCompile(`^backbone\.0\.norm3\.`), swin + "hidden_states_norms.stage4."},
	{regexp.MustCompile(`^backbone\.0\.layers\.`), swin + "encoder.layers."},
	{regexp.MustCompile(`^transformer\.encoder\.layers\.(\d+)\.`), "model.encoder.layers.$1.deformable_layer."},
	{regexp.MustCompile(`^transformer\.encoder\.text_layers\.(\d+)\.`), "model.encoder.layers.$1.text_enhancer_layer."},
	{regexp.MustCompile(`^transformer\.encoder\.fusion_layers\.(\d+)\.`), "model.encoder.layers.$1.fusion_layer."},
	{regexp.MustCompile(`^transformer\.decoder\.layers\.`), "model.decoder.layers."},
}

// originalParts are the parts of layers, by a part of the name that they are in.
var originalParts = []struct {
	in    string
	parts *strings.Replacer
}{
	{".blocks.", strings.NewReplacer(".norm1.", ".layernorm_before.", ".norm2.", ".layernorm_after.",
		".attn.relative_position_bias_table", ".attention.self.relative_position_bias_table", ".attn.proj.",
		".attention.output.dense.", ".mlp.fc1.", ".intermediate.dense.", ".mlp.fc2.", ".output.dense.")},
	{".deformable_layer.", strings.NewReplacer(".norm1.", ".self_attn_layer_norm.", ".norm2.", ".final_layer_norm.",
		".linear1.", ".fc1.", ".linear2.", ".fc2.")},
	{".text_enhancer_layer.", strings.NewReplacer(".norm1.", ".layer_norm_before.", ".norm2.", ".layer_norm_after.",
		".linear1.", ".fc1.", ".linear2.", ".fc2.")},
	{".fusion_layer.", strings.NewReplacer(".gamma_v", ".vision_param", ".gamma_l", ".text_param", ".layer_norm_v.",
		".layer_norm_vision.", ".layer_norm_l.", ".layer_norm_text.", ".v_proj.", ".vision_proj.", ".l_proj.",
		".text_proj.", ".values_v_proj.", ".values_vision_proj.", ".values_l_proj.", ".values_text_proj.",
		".out_v_proj.", ".out_vision_proj.", ".out_l_proj.", ".out_text_proj.")},
	{"model.decoder.layers.", strings.NewReplacer(".cross_attn.", ".encoder_attn.", ".ca_text.", ".encoder_attn_text.",
		".catext_norm.", ".encoder_attn_text_layer_norm.", ".norm1.", ".encoder_attn_layer_norm.", ".norm2.",
		".self_attn_layer_norm.", ".norm3.", ".final_layer_norm.", ".linear1.", ".fc1.", ".linear2.", ".fc2.")},
}

// fromOriginal lists the names that transformers gives an original tensor, or equal parts of its first axis, in order;
// none where it is not read.
func fromOriginal(name string) []string {
	for _, pattern := range originalNames {
		if pattern.from.MatchString(name) {
			if pattern.to == "" {
				return nil
			}
			name = pattern.from.ReplaceAllString(name, pattern.to)
			break
		}
	}
	for _, layer := range originalParts {
		if strings.Contains(name, layer.in) {
			name = layer.parts.Replace(name)
			break
		}
	}
	for _, fused := range [][2]string{{".attn.qkv.", ".attention.self."}, {".in_proj_", "."}} {
		if before, kind, ok := strings.Cut(name, fused[0]); ok {
			names := []string{"query.", "key.", "value."}
			for i, part := range names {
				names[i] = before + fused[1] + part + kind
			}
			return names
		}
	}
	return []string{name}
}

// Convert writes a checkpoint of the authors' program (groundingdino_swint_ogc.pth and the like) as a folder of
// transformers: the same tensors under other names, the configuration that follows from their shapes, and the
// tokenizer of another folder, a BERT's. dir must not exist, or be empty. A missing or unknown tensor is an error. All
// weights are in memory at once, in float32.
func Convert(set *weights.Set, tokenizer, dir string) (err error) {
	defer runner.Recovered("groundingdino", &err)
	t, err := tokenizers.Open(tokenizer)
	if err != nil {
		return err
	}
	config, err := originalConfig(set)
	if err != nil {
		return err
	}
	var list []weights.Tensor
	for _, name := range set.Names() {
		names := fromOriginal(strings.TrimPrefix(name, wrapped))
		if len(names) == 0 {
			continue
		}
		values, err := set.Float32(name)
		if err != nil {
			return err
		}
		old, _ := set.Info(name)
		for i, to := range names {
			shape, n := slices.Clone(old.Shape), len(values)/len(names)
			if len(names) > 1 && (len(shape) == 0 || shape[0]%len(names) != 0) {
				return fmt.Errorf("%s: tensor %q of shape %v is not of %d equal parts", set.Files()[0], name, shape,
					len(names))
			}
			if len(names) > 1 {
				shape[0] /= len(names)
			}
			list = append(list, weights.Tensor{Name: to, Shape: shape, Data: values[i*n : (i+1)*n]})
		}
	}
	return newdir.Write(dir, func(to string) error {
		if err := hub.Save(to, config, map[string]any{"image_processor_type": "GroundingDinoImageProcessor",
			"format": "coco_detection", "size": map[string]int{"shortest_edge": 800, "longest_edge": 1333},
			"do_resize": true, "do_rescale": true, "do_normalize": true, "do_pad": true, "resample": 2,
			"rescale_factor": 1. / 255, "image_mean": []float64{0.485, 0.456, 0.406},
			"image_std": []float64{0.229, 0.224, 0.225}}, list, weights.F32); err != nil {
			return err
		}
		for _, path := range t.Files() {
			text, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(filepath.Join(to, filepath.Base(path)), text, 0o644)
			}
			if err != nil {
				return err
			}
		}
		if _, err := Open(to); err != nil {
			return fmt.Errorf("%s: not a GroundingDINO of its authors: as a folder: %s", set.Files()[0],
				strings.ReplaceAll(err.Error(), to+string(filepath.Separator), ""))
		}
		return nil
	})
}

// originalShapes reads the sizes of an original checkpoint. The first error stays.
type originalShapes struct {
	set    *weights.Set
	prefix string
	err    error
}

func (s *originalShapes) dims(name string, rank int) []int {
	t, ok := s.set.Info(s.prefix + name)
	if s.err == nil && (!ok || len(t.Shape) != rank) {
		s.err = fmt.Errorf("%s: no tensor %q of %d dimensions, which a GroundingDINO has", s.set.Files()[0],
			s.prefix+name, rank)
	}
	if s.err != nil {
		return make([]int, rank)
	}
	return t.Shape
}

func (s *originalShapes) count(format string) (n int) {
	for n < hub.MaxLayers && s.set.Has(s.prefix+fmt.Sprintf(format, n)) {
		n++
	}
	return n
}

// originalHeads is the number of heads of the encoder and the decoder, which no shape tells. BERT's have 64 channels.
const originalHeads = 8

// originalConfig is the configuration of a checkpoint as config.json has it.
func originalConfig(set *weights.Set) (map[string]any, error) {
	s := &originalShapes{set: set}
	if set.Has(wrapped + "transformer.tgt_embed.weight") {
		s.prefix = wrapped
	}
	patches := s.dims("backbone.0.patch_embed.proj.weight", 4)
	var depths, heads []int
	window := 0
	for stage := range stages {
		depths = append(depths, s.count(fmt.Sprintf("backbone.0.layers.%d.blocks.%%d.norm1.weight", stage)))
		table := s.dims(fmt.Sprintf("backbone.0.layers.%d.blocks.0.attn.relative_position_bias_table", stage), 2)
		heads = append(heads, table[1])
		window = (int(math.Sqrt(float64(table[0]))) + 1) / 2
	}
	words, levels := s.dims("bert.embeddings.word_embeddings.weight", 2), s.dims("transformer.level_embed", 2)
	points := func(name string) int {
		return s.dims(name, 2)[0] / max(1, originalHeads*levels[0])
	}
	const encoder, decoder = "transformer.encoder.layers.", "transformer.decoder.layers."
	config := map[string]any{"architectures": []string{"GroundingDinoForObjectDetection"},
		"model_type": "grounding-dino", "d_model": levels[1], "num_feature_levels": levels[0],
		"num_queries":             s.dims("transformer.tgt_embed.weight", 2)[0],
		"encoder_layers":          s.count(encoder + "%d.norm1.weight"),
		"encoder_attention_heads": originalHeads, "encoder_ffn_dim": s.dims(encoder+"0.linear1.weight", 2)[0],
		"encoder_n_points":        points(encoder + "0.self_attn.attention_weights.weight"),
		"decoder_layers":          s.count(decoder + "%d.norm1.weight"),
		"decoder_attention_heads": originalHeads, "decoder_ffn_dim": s.dims(decoder+"0.linear1.weight", 2)[0],
		"decoder_n_points": points(decoder + "0.cross_attn.attention_weights.weight"),
		"backbone_config": map[string]any{"model_type": "swin", "patch_size": patches[2], "embed_dim": patches[0],
			"depths": depths, "num_heads": heads, "window_size": window, "out_indices": []int{2, 3, 4},
			"mlp_ratio": float64(s.dims("backbone.0.layers.0.blocks.0.mlp.fc1.weight", 2)[0]) /
				float64(max(1, patches[0])),
			"qkv_bias": set.Has(s.prefix + "backbone.0.layers.0.blocks.0.attn.qkv.bias")},
		"text_config": map[string]any{"model_type": "bert", "vocab_size": words[0], "hidden_size": words[1],
			"num_hidden_layers":       s.count("bert.encoder.layer.%d.output.dense.weight"),
			"num_attention_heads":     max(1, words[1]/64),
			"intermediate_size":       s.dims("bert.encoder.layer.0.intermediate.dense.weight", 2)[0],
			"max_position_embeddings": s.dims("bert.embeddings.position_embeddings.weight", 2)[0],
			"type_vocab_size":         s.dims("bert.embeddings.token_type_embeddings.weight", 2)[0]}}
	if text := config["text_config"].(map[string]any); text["max_position_embeddings"].(int) < 256 {
		config["max_text_len"] = text["max_position_embeddings"]
	}
	if s.err != nil {
		return nil, s.err
	}
	shared, err := s.shared()
	config["decoder_bbox_embed_share"] = shared
	return config, err
}

// shared reports whether all layers of the decoder have one box head: the file has a copy for each.
func (s *originalShapes) shared() (bool, error) {
	first, err := s.set.Float32(s.prefix + "bbox_embed.0.layers.0.weight")
	for layer := 1; err == nil && s.set.Has(s.prefix+fmt.Sprintf("bbox_embed.%d.layers.0.weight", layer)); layer++ {
		var other []float32
		other, err = s.set.Float32(s.prefix + fmt.Sprintf("bbox_embed.%d.layers.0.weight", layer))
		if err == nil && !slices.Equal(first, other) {
			return false, nil
		}
	}
	return true, err
}
