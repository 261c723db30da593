package vqgan

import (
	"fmt"
	"strings"

	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/weights"
)

// table is a table under construction.
type table struct {
	weights.Table
	flax bool // names and layout of vqgan-jax, not of taming-transformers
}

// name is the name of a tensor, for example decoder.up.1.block.0.conv1 and weight.
func (t *table) name(layer, value string) string {
	if !t.flax {
		return layer + "." + value
	}
	for _, list := range []string{"up", "block", "attn"} { // elements of lists, not the attributes mid.block_1
		layer = strings.ReplaceAll(layer, "."+list+".", "."+list+"_")
	}
	return strings.ReplaceAll(layer, ".", "/") + "/" + value
}

func (t *table) norm(from, to string, width int) {
	gain := "weight"
	if t.flax {
		gain = "scale"
	}
	t.As(t.name(from, gain), to+"/gain", nil, width)
	t.As(t.name(from, "bias"), to+"/offset", nil, width)
}

// kernel is the rule of a convolution's kernel.
func (t *table) kernel(layer, variable string, out, in, side int) weights.Rule {
	if t.flax {
		return weights.Rule{Tensor: t.name(layer, "kernel"), Variable: variable, Shape: []int{side, side, in, out},
			Layout: weights.HWIO}
	}
	return weights.Rule{Tensor: t.name(layer, "weight"), Variable: variable, Shape: []int{out, in, side, side}}
}

func (t *table) conv3(from, to string, out, in int) {
	t.Table = append(t.Table, t.kernel(from, to+"/weights", out, in, 3))
	t.As(t.name(from, "bias"), to+"/bias", nil, out)
}

// conv1 is convolutions of 1×1, which are dense layers, as one variable.
func (t *table) conv1(to string, out, in int, from ...string) {
	for i, layer := range from {
		kernel := t.kernel(layer, to+"/weights", out, in, 1)
		kernel.As, kernel.Part, kernel.Parts = []int{out, in}, i, len(from)
		t.Table = append(t.Table, kernel, weights.Rule{Tensor: t.name(layer, "bias"), Variable: to + "/bias",
			Shape: []int{out}, Part: i, Parts: len(from)})
	}
}

func (t *table) residual(from, to string, out, in int) {
	t.norm(from+".norm1", to+"/norm1", in)
	t.conv3(from+".conv1", to+"/conv1", out, in)
	t.norm(from+".norm2", to+"/norm2", out)
	t.conv3(from+".conv2", to+"/conv2", out, out)
	if in != out {
		t.conv1(to+"/conv_shortcut", out, in, from+".nin_shortcut")
	}
}

func (t *table) attention(from, to string, width int) {
	t.norm(from+".norm", to+"/group_norm", width)
	t.conv1(to+"/qkv", width, width, from+".q", from+".k", from+".v")
	t.conv1(to+"/out", width, width, from+".proj_out")
}

// rules is the correspondence between a checkpoint's tensors and the variables of [Forward]. Tensors of the encoder and
// of the training's loss are known and not loaded.
func rules(c *Config, set *weights.Set) []weights.Rule {
	t := &table{flax: set.Has("decoder/conv_in/kernel")}
	if t.flax {
		t.As("quantize/embedding/embedding", "codebook", nil, c.Tokens, c.EmbedDim)
	} else {
		t.As("quantize.embedding.weight", "codebook", nil, c.Tokens, c.EmbedDim)
	}
	t.conv1("post_quant_conv", c.LatentChannels, c.EmbedDim, "post_quant_conv")
	n := len(c.Multipliers)
	at := c.Channels * c.Multipliers[n-1]
	t.conv3("decoder.conv_in", "decoder/conv_in", at, c.LatentChannels)
	t.residual("decoder.mid.block_1", "decoder/mid_block/resnets/0", at, at)
	t.attention("decoder.mid.attn_1", "decoder/mid_block/attentions/0", at)
	t.residual("decoder.mid.block_2", "decoder/mid_block/resnets/1", at, at)
	for i, up := range c.decoder().UpBlocks {
		level := n - 1 - i
		from, to := fmt.Sprintf("decoder.up.%d", level), fmt.Sprintf("decoder/up_blocks/%d", i)
		for k := range c.ResBlocks + 1 {
			out := c.Channels * c.Multipliers[level]
			t.residual(fmt.Sprintf("%s.block.%d", from, k), fmt.Sprintf("%s/resnets/%d", to, k), out, at)
			at = out
			if up == diffusion.UpAttentionBlock {
				t.attention(fmt.Sprintf("%s.attn.%d", from, k), fmt.Sprintf("%s/attentions/%d", to, k), at)
			}
		}
		if level > 0 {
			t.conv3(from+".upsample.conv", to+"/upsamplers/0/conv", at, at)
		}
	}
	t.norm("decoder.norm_out", "decoder/conv_norm_out", at)
	t.conv3("decoder.conv_out", "decoder/conv_out", c.OutChannels, at)
	for _, name := range set.Names() {
		top, _, _ := strings.Cut(strings.ReplaceAll(name, "/", "."), ".")
		if top == "encoder" || top == "quant_conv" || top == "loss" {
			t.Skip(name)
		}
	}
	return t.Table
}
