package diffusion

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"antipode/gomlxmodels/weights"
)

// ldm is a whole Stable Diffusion 1.x or 2.x in one file, whose tensors have the names of the program it was trained
// with (latent diffusion models, Rombach et al. 2022). Its rules are those of a pipeline folder under these names:
// nothing is copied, and a missing or unknown tensor is an error.
type ldm struct {
	set      *weights.Set
	unet     string // prefixes of names
	vae      string
	text     string
	openCLIP bool // the text tower is OpenCLIP's, as of 2.x
	ema      bool // the averaged weights of the UNet are read
	levels   int  // of the UNet, and residual blocks at each
	layers   int
	vaeDepth int // levels of the autoencoder
	blocks   int // of the text tower, the last of OpenCLIP's included
}

// The prefixes of names. The averaged weights' names have no dots after theirs.
const (
	ldmUNet     = "model.diffusion_model."
	ldmVAE      = "first_stage_model."
	ldmCLIP     = "cond_stage_model.transformer."
	ldmOpenCLIP = "cond_stage_model.model."
	ldmEMA      = "model_ema."
)

// ldmIgnored are the tensors that are no weights: constants of the diffusion process, what marks a prediction type, and
// counters.
var ldmIgnored = strings.Fields(`betas alphas_cumprod alphas_cumprod_prev sqrt_alphas_cumprod
	sqrt_one_minus_alphas_cumprod log_one_minus_alphas_cumprod sqrt_recip_alphas_cumprod sqrt_recipm1_alphas_cumprod
	posterior_variance posterior_log_variance_clipped posterior_mean_coef1 posterior_mean_coef2 logvar lvlb_weights
	model_ema.decay model_ema.num_updates v_pred ztsnr`)

// residualNames are the parts of a residual block of the UNet, from diffusers' names.
var residualNames = map[string]string{"norm1": "in_layers.0", "conv1": "in_layers.2", "time_emb_proj": "emb_layers.1",
	"norm2": "out_layers.0", "conv2": "out_layers.3", "conv_shortcut": "skip_connection"}

// unetNames are the ends of the UNet.
var unetNames = map[string]string{"conv_in": "input_blocks.0.0", "time_embedding.linear_1": "time_embed.0",
	"time_embedding.linear_2": "time_embed.2", "conv_norm_out": "out.0", "conv_out": "out.2",
	"mid_block.resnets.0": "middle_block.0", "mid_block.attentions.0": "middle_block.1",
	"mid_block.resnets.1": "middle_block.2"}

// vaeNames are the parts of an autoencoder whose names differ, from diffusers' names. Those of its levels are in
// [ldm.vaeName].
var vaeNames = map[string]string{"mid_block.resnets.0": "mid.block_1", "mid_block.resnets.1": "mid.block_2",
	"mid_block.attentions.0.group_norm": "mid.attn_1.norm", "mid_block.attentions.0.to_q": "mid.attn_1.q",
	"mid_block.attentions.0.to_k": "mid.attn_1.k", "mid_block.attentions.0.to_v": "mid.attn_1.v",
	"mid_block.attentions.0.to_out.0": "mid.attn_1.proj_out", "conv_norm_out": "norm_out",
	"conv_shortcut": "nin_shortcut"}

// openCLIPNames are the parts of a block of OpenCLIP's text tower, by the variables of package clip's.
var openCLIPNames = map[string]string{"norm1": "ln_1", "norm2": "ln_2", "attention/out": "attn.out_proj",
	"mlp/fc1": "mlp.c_fc", "mlp/fc2": "mlp.c_proj"}

// renamed replaces the longest start, whole parts, of a name that a table has.
func renamed(name string, table map[string]string) string {
	for end := len(name); end > 0; end = strings.LastIndexByte(name[:end], '.') {
		if to, ok := table[name[:end]]; ok {
			return to + name[end:]
		}
	}
	return name
}

// unetName is the old name of a UNet's tensor without its prefix.
func (l *ldm) unetName(name string) string {
	part := strings.Split(name, ".")
	switch {
	case strings.HasPrefix(name, "mid_block.resnets."):
		return unetNames[strings.Join(part[:3], ".")] + "." + renamed(strings.Join(part[3:], "."), residualNames)
	case part[0] != "down_blocks" && part[0] != "up_blocks":
		return renamed(name, unetNames)
	}
	level, _ := strconv.Atoi(part[1])
	layer, _ := strconv.Atoi(part[3])
	rest := strings.Join(part[4:], ".")
	side, at := "output_blocks", level*(l.layers+1)+layer
	if part[0] == "down_blocks" {
		side, at = "input_blocks", 1+at
	}
	switch part[2] {
	case "resnets":
		return fmt.Sprintf("%s.%d.0.%s", side, at, renamed(rest, residualNames))
	case "attentions":
		return fmt.Sprintf("%s.%d.1.%s", side, at, rest)
	case "downsamplers":
		return fmt.Sprintf("%s.%d.0.op%s", side, (level+1)*(l.layers+1), strings.TrimPrefix(rest, "conv"))
	}
	at += l.layers // the upsampler follows the last layer, and its attention where it has one
	place := 1
	if l.set.Has(fmt.Sprintf("%s%s.%d.2.conv.weight", l.unet, side, at)) {
		place = 2
	}
	return fmt.Sprintf("%s.%d.%d.%s", side, at, place, rest)
}

// vaeName is the old name of an autoencoder's tensor without its prefix.
func (l *ldm) vaeName(name string) string {
	half, rest, _ := strings.Cut(name, ".")
	part := strings.Split(rest, ".")
	switch part[0] {
	case "down_blocks", "up_blocks":
		level, _ := strconv.Atoi(part[1])
		rest = "down." + part[1]
		if part[0] == "up_blocks" {
			rest = fmt.Sprintf("up.%d", l.vaeDepth-1-level)
		}
		switch part[2] {
		case "resnets":
			return half + "." + rest + ".block." + part[3] + "." + renamed(strings.Join(part[4:], "."), vaeNames)
		case "downsamplers":
			return half + "." + rest + ".downsample." + strings.Join(part[4:], ".")
		}
		return half + "." + rest + ".upsample." + strings.Join(part[4:], ".")
	}
	return half + "." + renamed(rest, vaeNames)
}

// textRules are the rules of the text tower under the old names.
func (l *ldm) textRules(rules []weights.Rule) []weights.Rule {
	if !l.openCLIP {
		for i := range rules {
			rules[i].Tensor = l.text + rules[i].Tensor
		}
		return rules
	}
	ends := map[string]string{"text/tokens/words": "token_embedding.weight",
		"text/tokens/positions": "positional_embedding", "text/norm/gain": "ln_final.weight",
		"text/norm/offset": "ln_final.bias"}
	var out []weights.Rule
	for _, r := range rules {
		if r.Variable == "" || r.Part > 0 {
			continue
		}
		of := strings.Split(r.Variable, "/") // text/block_3/mlp/fc1/weights
		kind := "bias"
		if last := of[len(of)-1]; last == "weights" || last == "gain" {
			kind = "weight"
		}
		name, end := ends[r.Variable]
		if !end {
			block := "transformer.resblocks." + strings.TrimPrefix(of[1], "block_")
			layer := strings.Join(of[2:len(of)-1], "/")
			name = block + "." + openCLIPNames[layer] + "." + kind
			if r.Parts > 1 { // queries, keys and values are one tensor
				name = block + ".attn.in_proj_" + kind
				r.Shape, r.Parts = slices.Clone(r.Shape), 0
				r.Shape[0] *= 3
			}
		}
		r.Tensor = l.text + name
		out = append(out, r)
	}
	return out
}

// rules are those of a part of a pipeline under the old names.
func (l *ldm) rules(p part, rules []weights.Rule) []weights.Rule {
	switch p {
	case textPart:
		return l.textRules(rules)
	case unetPart:
		for i, r := range rules {
			rules[i].Tensor = l.unet + l.unetName(r.Tensor)
			if l.ema {
				rules[i].Tensor = emaName(rules[i].Tensor)
			}
		}
	default:
		for i, r := range rules {
			rules[i].Tensor = l.vae + l.vaeName(r.Tensor)
			if old, _ := l.set.Info(rules[i].Tensor); len(old.Shape) == 4 && len(r.Shape) == 2 {
				rules[i].Shape, rules[i].As = append(slices.Clone(r.Shape), 1, 1), r.Shape // attention as convolutions
			}
		}
	}
	return rules
}

// emaName is the name of the average of a tensor.
func emaName(name string) string {
	return ldmEMA + strings.ReplaceAll(strings.TrimPrefix(name, "model."), ".", "")
}

// ignored are the tensors that may exist and are not read, besides the weights of the UNet that are not selected.
func (l *ldm) ignored() (t weights.Table) {
	t.Skip(ldmIgnored...)
	for _, name := range l.set.Names() { // of the losses that trained the autoencoder
		if strings.HasPrefix(name, l.vae+"loss.") {
			t.Skip(name)
		}
	}
	if l.openCLIP {
		t.Skip(l.text+"text_projection", l.text+"logit_scale", l.text+"attn_mask")
		last := fmt.Sprintf("%stransformer.resblocks.%d.", l.text, l.blocks-1)
		for _, layer := range slices.Sorted(maps.Values(openCLIPNames)) {
			t.Skip(last+layer+".weight", last+layer+".bias")
		}
		t.Skip(last+"attn.in_proj_weight", last+"attn.in_proj_bias")
	}
	return t
}

// match holds the whole file to the tables of its parts.
func (l *ldm) match(m *Model) error {
	all := l.ignored()
	for _, p := range []part{textPart, unetPart, decoderPart} {
		all = append(all, l.rules(p, m.rules(p))...)
	}
	plain, ema := *l, *l
	plain.ema, ema.ema = false, true
	other := &ema
	if l.ema {
		other = &plain
	}
	for _, r := range other.rules(unetPart, m.rules(unetPart)) {
		all.Skip(r.Tensor)
	}
	return weights.Match(l.set, all)
}
