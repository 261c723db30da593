package groundingdino

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"antipode/gomlxmodels/internal/modeltest"
	"antipode/gomlxmodels/weights"
)

// refused opens a folder that must be refused in one line that names it.
func refused(t *testing.T, dir, want string) {
	t.Helper()
	_, err := Open(dir)
	modeltest.CheckLine(t, err, want)
	if err != nil && !strings.Contains(err.Error(), dir) && !strings.HasPrefix(err.Error(), "model folder") {
		t.Errorf("%v: without the folder", err)
	}
}

func TestOpenRefusesConfigurations(t *testing.T) {
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"model_type", "mm-grounding-dino", `model_type "mm-grounding-dino" is not a GroundingDinoForObjectDetection`},
		{"model_type", nil, `has no "model_type"`},
		{"d_model", 96, `"model.`},
		{"d_model", 80, "d_model 80 is not a multiple of 32"},
		{"d_model", "wide", "json"},
		{"encoder_layers", 3, "tensors missing: model.encoder.layers.2."},
		{"decoder_layers", 1, "tensors the model does not use: model.decoder.layers.1."},
		{"encoder_attention_heads", 5, "encoder_attention_heads 5 is odd"},
		{"encoder_attention_heads", 6, "d_model 64 not divisible by encoder_attention_heads 6"},
		{"decoder_attention_heads", 7, "d_model 64 not divisible by decoder_attention_heads 7"},
		{"encoder_ffn_dim", 98, "half of encoder_ffn_dim 98 not divisible by half of encoder_attention_heads 4"},
		{"encoder_n_points", 4, `sampling_offsets.weight" has shape [96 64], the configuration requires [128 64]`},
		{"num_feature_levels", 2, "num_feature_levels 2 is not between 3 and 8"},
		{"num_feature_levels", 5, `"model.level_embed" has shape [4 64], the configuration requires [5 64]`},
		{"query_dim", 2, "query_dim 2 is not between 4 and 4"},
		{"max_text_len", 1000, "max_text_len 1000 is not between 3 and 64"},
		{"two_stage", false, "two_stage false is not supported"},
		{"embedding_init_target", false, "embedding_init_target false is not supported"},
		{"two_stage_bbox_embed_share", true, "two_stage_bbox_embed_share true is not supported"},
		{"decoder_bbox_embed_share", false, "tensors missing: bbox_embed.1."},
		{"position_embedding_type", "learned", `position_embedding_type "learned" is not supported`},
		{"activation_function", "wow", `activation "wow" is not known`},
		{"layer_norm_eps", 0, "layer_norm_eps 0 is not a positive number"},
		{"positional_embedding_temperature", -1, "positional_embedding_temperature -1 is not"},
		{"use_timm_backbone", true, "use_timm_backbone true"},
		{"backbone_config/model_type", "resnet", `backbone_config: model_type "resnet" is not supported`},
		{"backbone_config/depths", []int{2, 2, 1}, "not of 4 stages"},
		{"backbone_config/depths", []int{2, 2, 1, 0}, "depths [2 2 1 0]: number 4"},
		{"backbone_config/num_heads", []int{1, 2, 2, 3}, "stage 4 of width 64 not divisible by 3"},
		{"backbone_config/window_size", 5, `relative_position_bias_table" has shape [49 1]`},
		{"backbone_config/num_channels", 1, "only models of 3-channel images"},
		{"backbone_config/use_absolute_embeddings", true, "use_absolute_embeddings true"},
		{"backbone_config/mlp_ratio", 0, "mlp_ratio 0 is not"},
		{"backbone_config/qkv_bias", false, "tensors the model does not use"},
		{"text_config/model_type", "roberta", `model_type "roberta" is not a BERT`},
		{"text_config/vocab_size", 1000, "vocab_size 1000 has no tokens 101 to 1029"},
		{"text_config/num_hidden_layers", 3, "tensors missing: model.text_backbone.encoder.layer.2."},
	} {
		dir := folder(t, "shared")
		changes := map[string]any{c.key: c.value}
		if part, inner, is := strings.Cut(c.key, "/"); is {
			changes = map[string]any{part: map[string]any{inner: c.value}}
		}
		modeltest.Edit(t, filepath.Join(dir, "config.json"), changes)
		t.Run(c.key, func(t *testing.T) { refused(t, dir, c.want) })
	}
}

func TestOpenRefusesFiles(t *testing.T) {
	write := func(name, text string) string {
		dir := folder(t, "shared")
		modeltest.Write(t, filepath.Join(dir, name), text)
		return dir
	}
	remove := func(name string) string {
		dir := folder(t, "shared")
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	refused(t, write("config.json", "{"), "not readable as JSON")
	refused(t, remove("config.json"), "config.json")
	refused(t, write("processor_config.json", "{"), "processor_config.json: not readable")
	refused(t, write("preprocessor_config.json", `{"size": 224}`), "the model takes sizes by shortest_edge and longest_edge")
	refused(t, write("preprocessor_config.json", `{"size": {"shortest_edge": 900, "longest_edge": 800}}`),
		"shortest_edge 900 must be between 1 and longest_edge 800")
	refused(t, write("preprocessor_config.json",
		`{"size": {"shortest_edge": 38, "longest_edge": 66}, "image_std": [0, 1, 1]}`), "image_std")
	refused(t, write("model.safetensors", "short"), "model.safetensors")
	refused(t, remove("model.safetensors"), "safetensors")
	refused(t, remove("tokenizer.json"), "no tokenizer")
	dir := folder(t, "shared")
	text, err := os.ReadFile(filepath.Join(dir, "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	swapped := strings.NewReplacer(`"?": 1029`, `"a": 1029`, `"a": 1030`, `"?": 1030`).Replace(string(text))
	modeltest.Write(t, filepath.Join(dir, "tokenizer.json"), swapped)
	refused(t, dir, `the tokenizer has "?" as number 1030, the network requires 1029`)
	if m, err := Open(remove("processor_config.json")); err != nil || m.Preprocess().Edge != 800 ||
		m.Preprocess().Longest != 1333 {
		t.Errorf("without a processor: %v", err)
	}
}

// TestOpenTensors: names of other versions of the files are accepted, copies must be equal, others are refused.
func TestOpenTensors(t *testing.T) {
	const swin = "model.backbone.conv_encoder.model."
	const index = swin + "encoder.layers.0.blocks.1.attention.self.relative_position_index"
	for _, c := range []struct {
		name   string // of a golden
		change func([]weights.Tensor) []weights.Tensor
		want   string // "" = opens
	}{
		{"shared", func(l []weights.Tensor) []weights.Tensor {
			return append(l, weights.Tensor{Name: index, Shape: []int{1}, Data: []float32{0}})
		}, ""},
		{"shared", without(swin + "swin.layernorm."), ""},
		{"shared", without("model.level_embed"), "1 tensor missing: model.level_embed"},
		{"shared", without("model.encoder.layers.1.fusion_layer.text_param"), "text_param"},
		{"shared", renamed("bbox_embed.0.", "bbox_embed.1.", false), ""},
		{"shared", renamed("bbox_embed.0.", "model.decoder.bbox_embed.1.", false), ""},
		{"shared", renamed("bbox_embed.0.", "model.decoder.bbox_embed.1.", true), "whose copy it should be"},
		{"shared", renamed("bbox_embed.0.", "bbox_embed.2.", false), "tensors the model does not use: bbox_embed.2."},
		{"apart-window7", renamed("bbox_embed.1.", "model.decoder.bbox_embed.1.", false), ""},
		{"apart-window7", renamed("bbox_embed.0.", "model.decoder.bbox_embed.1.", false), "whose copy it should be"},
		{"apart-window7", without("bbox_embed.2."), "tensors missing: bbox_embed.2."},
		{"shared", renamed("model.enc_output.", "model.reference_points.", false), "the model does not use"},
	} {
		dir := folder(t, c.name)
		modeltest.Save(t, dir, c.change(modeltest.Tensors(t, dir)))
		if c.want != "" {
			refused(t, dir, c.want)
		} else if _, err := Open(dir); err != nil {
			t.Error(err)
		}
	}
}

// without removes the tensors that begin with a prefix.
func without(prefix string) func([]weights.Tensor) []weights.Tensor {
	return func(l []weights.Tensor) []weights.Tensor {
		return slices.DeleteFunc(l, func(x weights.Tensor) bool { return strings.HasPrefix(x.Name, prefix) })
	}
}

// renamed adds copies of tensors under another name, one value of each changed if other is true.
func renamed(from, to string, other bool) func([]weights.Tensor) []weights.Tensor {
	return func(l []weights.Tensor) []weights.Tensor {
		for _, x := range slices.Clone(l) {
			if rest, is := strings.CutPrefix(x.Name, from); is {
				x.Name, x.Data = to+rest, slices.Clone(x.Data)
				if other {
					x.Data[0]++
				}
				l = append(l, x)
			}
		}
		return l
	}
}
