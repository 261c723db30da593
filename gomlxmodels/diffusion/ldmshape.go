package diffusion

import (
	"encoding/json"
	"fmt"
	"strings"

	"antipode/gomlxmodels/weights"
)

// foreign are tensors of checkpoints that are not read, by the start of their names, and what they are.
var foreign = []struct{ start, what string }{
	{"conditioner.", "Stable Diffusion XL"},
	{"model.diffusion_model.label_emb.", "a model with class embeddings (Stable Diffusion XL or unCLIP)"},
	{"control_model.", "ControlNet"},
	{"double_blocks.", "FLUX"},
	{"model.diffusion_model.double_blocks.", "FLUX"},
	{"joint_blocks.", "Stable Diffusion 3"},
	{"model.diffusion_model.joint_blocks.", "Stable Diffusion 3"},
	{"lora_", "LoRA, which changes another model"},
}

// shapes reads a checkpoint's configuration from the shapes of its tensors. The first error stays.
type ldmShapes struct {
	set *weights.Set
	err error
}

func (s *ldmShapes) dims(name string, rank int) []int {
	t, ok := s.set.Info(name)
	if s.err == nil && !ok {
		s.err = fmt.Errorf("%s: no tensor %q, which a Stable Diffusion 1.x or 2.x has", s.set.Files()[0], name)
	}
	if s.err == nil && len(t.Shape) != rank {
		s.err = fmt.Errorf("%s: tensor %q has shape %v, not %d dimensions", s.set.Files()[0], name, t.Shape, rank)
	}
	if s.err != nil {
		return make([]int, rank)
	}
	return t.Shape
}

// count is how many numbers from the first on a name has.
func (s *ldmShapes) count(format string, first int) int {
	n := first
	for n < first+maxLayers && s.set.Has(fmt.Sprintf(format, n)) {
		n++
	}
	return n - first
}

// refuse names the kind of a checkpoint that is not read.
func refuse(set *weights.Set) error {
	const fix = "generate by a program that reads it (--model exec:PATH, docs/adapters.md)"
	file := set.Files()[0]
	names := set.Names()
	for _, f := range foreign {
		for _, name := range names {
			if strings.HasPrefix(name, f.start) {
				return fmt.Errorf("%s: a checkpoint of %s (tensor %q), not Stable Diffusion 1.x or 2.x; %s", file,
					f.what, name, fix)
			}
		}
	}
	in, ok := set.Info(ldmUNet + "input_blocks.0.0.weight")
	if !ok || len(in.Shape) != 4 {
		some := strings.Join(names[:min(3, len(names))], ", ")
		return fmt.Errorf("%s: no Stable Diffusion in the original names: no tensor %q of 4 dimensions (the first "+
			"are %s); a folder that diffusers saved is opened as a folder", file, ldmUNet+"input_blocks.0.0.weight",
			some)
	}
	kind := map[int]string{9: "an inpainting model", 8: "InstructPix2Pix", 7: "an upscaler",
		5: "a depth-to-image model"}
	switch channels := in.Shape[1]; {
	case channels == 4:
		return nil
	case kind[channels] != "":
		return fmt.Errorf("%s: %s (%d input channels), not a model of text to image; %s", file, kind[channels],
			channels, fix)
	default:
		return fmt.Errorf("%s: a UNet of %d input channels, not 4; %s", file, channels, fix)
	}
}

// openLDM reads a checkpoint's shapes. The configurations are those of its three networks' config.json.
func openLDM(set *weights.Set) (l *ldm, configs map[string]any, err error) {
	if err := refuse(set); err != nil {
		return nil, nil, err
	}
	s := &ldmShapes{set: set}
	l = &ldm{set: set, unet: ldmUNet, vae: ldmVAE, text: ldmCLIP}
	if !set.Has(ldmVAE+"decoder.conv_in.weight") && set.Has("vae.decoder.conv_in.weight") {
		l.vae = "vae."
	}
	if set.Has(ldmOpenCLIP + "token_embedding.weight") {
		l.openCLIP, l.text = true, ldmOpenCLIP
	}
	text := s.text(l)
	configs = map[string]any{"unet": s.unet(l), "vae": s.vae(l), "text_encoder": text}
	return l, configs, s.err
}

// unet is the configuration of the UNet.
func (s *ldmShapes) unet(l *ldm) map[string]any {
	blocks := s.count(ldmUNet+"input_blocks.%d.0.in_layers.0.weight", 1) // before the first downsampler
	l.layers = max(1, blocks)
	l.levels = 1
	for s.set.Has(fmt.Sprintf("%sinput_blocks.%d.0.op.weight", ldmUNet, l.levels*(l.layers+1))) && l.levels < 8 {
		l.levels++
	}
	var widths, heads []int
	var down, up []string
	context := 0
	for level := range l.levels {
		at := fmt.Sprintf("%sinput_blocks.%d.", ldmUNet, 1+level*(l.layers+1))
		width := s.dims(at+"0.out_layers.3.weight", 4)[0]
		widths, heads = append(widths, width), append(heads, 8)
		if l.openCLIP {
			heads[level] = width / 64
		}
		kinds := [2]string{downPlain, upPlain}
		if s.set.Has(at + "1.norm.weight") {
			kinds = [2]string{downCross, upCross}
			context = s.dims(at+"1.transformer_blocks.0.attn2.to_k.weight", 2)[1]
		}
		down, up = append(down, kinds[0]), append([]string{kinds[1]}, up...)
	}
	config := map[string]any{"_class_name": "UNet2DConditionModel", "act_fn": "silu", "attention_head_dim": heads,
		"block_out_channels": widths, "center_input_sample": false, "cross_attention_dim": context,
		"down_block_types": down, "downsample_padding": 1, "flip_sin_to_cos": true, "freq_shift": 0,
		"in_channels": s.dims(ldmUNet+"input_blocks.0.0.weight", 4)[1], "layers_per_block": l.layers,
		"mid_block_scale_factor": 1, "norm_eps": 1e-5, "norm_num_groups": 32,
		"out_channels": s.dims(ldmUNet+"out.2.weight", 4)[0], "sample_size": defaultSide, "up_block_types": up,
		"upcast_attention": l.openCLIP, "use_linear_projection": l.openCLIP}
	if !l.openCLIP {
		config["attention_head_dim"] = 8
	}
	return config
}

// vae is the configuration of the autoencoder.
func (s *ldmShapes) vae(l *ldm) map[string]any {
	l.vaeDepth = max(1, s.count(l.vae+"encoder.down.%d.block.0.norm1.weight", 0))
	var widths []int
	var down, up []string
	for level := range l.vaeDepth {
		widths = append(widths, s.dims(fmt.Sprintf("%sencoder.down.%d.block.0.conv2.weight", l.vae, level), 4)[0])
		down, up = append(down, vaeDown), append(up, UpBlock)
	}
	latent := s.dims(l.vae+"decoder.conv_in.weight", 4)[1]
	return map[string]any{"_class_name": "AutoencoderKL", "act_fn": "silu", "block_out_channels": widths,
		"down_block_types": down, "in_channels": s.dims(l.vae+"encoder.conv_in.weight", 4)[1],
		"latent_channels":  latent,
		"layers_per_block": max(1, s.count(l.vae+"encoder.down.0.block.%d.norm1.weight", 0)), "norm_num_groups": 32,
		"out_channels": s.dims(l.vae+"decoder.conv_out.weight", 4)[0], "sample_size": 512, "scaling_factor": 0.18215,
		"up_block_types": up}
}

// text is the configuration of the text tower. 2.x takes the states before OpenCLIP's last block: it has one block less
// than the file.
func (s *ldmShapes) text(l *ldm) map[string]any {
	words, positions := l.text+"text_model.embeddings.token_embedding.weight",
		l.text+"text_model.embeddings.position_embedding.weight"
	blocks, hidden, act := l.text+"text_model.encoder.layers.%d.layer_norm1.weight",
		l.text+"text_model.encoder.layers.0.mlp.fc1.weight", "quick_gelu"
	if l.openCLIP {
		words, positions = l.text+"token_embedding.weight", l.text+"positional_embedding"
		blocks, hidden, act = l.text+"transformer.resblocks.%d.ln_1.weight",
			l.text+"transformer.resblocks.0.mlp.c_fc.weight", "gelu"
	}
	table := s.dims(words, 2)
	vocabulary, width := table[0], table[1]
	l.blocks = s.count(blocks, 0)
	layers := l.blocks
	if l.openCLIP {
		layers--
	}
	return map[string]any{"architectures": []string{"CLIPTextModel"}, "model_type": "clip_text_model",
		"hidden_size": width, "intermediate_size": s.dims(hidden, 2)[0], "num_hidden_layers": layers,
		"num_attention_heads": max(1, width/64), "max_position_embeddings": s.dims(positions, 2)[0],
		"vocab_size": vocabulary, "hidden_act": act, "layer_norm_eps": 1e-5, "projection_dim": width,
		"bos_token_id": vocabulary - 2, "eos_token_id": vocabulary - 1, "pad_token_id": 1}
}

// encode is a configuration as JSON.
func encode(config any) ([]byte, error) {
	text, err := json.MarshalIndent(config, "", "  ")
	return append(text, '\n'), err
}
