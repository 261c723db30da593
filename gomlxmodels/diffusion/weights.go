package diffusion

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
)

// rules is a table in which the path of a variable is the name of its tensor with slashes for dots.
type rules struct{ weights.Table }

// slashed is the path of a variable.
func slashed(name string) string { return strings.ReplaceAll(name, ".", "/") }

func (t *rules) norm(name string, width int) { t.Norm(name, slashed(name), width) }

func (t *rules) dense(from, to string, out, in int) { t.Dense(from, slashed(to), out, in) }

// conv is a convolution; one of 1×1 is a dense layer.
func (t *rules) conv(name string, out, in, side int) {
	var as []int
	if side == 1 {
		as = []int{out, in}
	}
	t.As(name+".weight", slashed(name)+"/weights", as, out, in, side, side)
	t.As(name+".bias", slashed(name)+"/bias", nil, out)
}

// fused is dense layers whose weights are concatenated in one variable.
func (t *rules) fused(scope string, names []string, to string, out, in int, bias bool) {
	from := make([]string, len(names))
	for i, name := range names {
		from[i] = scope + "." + name
	}
	t.Fused(from, slashed(scope+"."+to), out, in, bias)
}

// residual is a residual block; time is the width of its time embedding, 0 = none.
func (t *rules) residual(r resnet, time int) {
	t.norm(r.path+".norm1", r.in)
	t.conv(r.path+".conv1", r.out, r.in, 3)
	if time > 0 {
		t.dense(r.path+".time_emb_proj", r.path+".time_emb_proj", r.out, time)
	}
	t.norm(r.path+".norm2", r.out)
	t.conv(r.path+".conv2", r.out, r.out, 3)
	if r.in != r.out {
		t.conv(r.path+".conv_shortcut", r.out, r.in, 1)
	}
}

// unetTable is the whole correspondence between a UNet's checkpoint and the variables of [ForwardUNet].
func unetTable(c *UNetConfig) []weights.Rule {
	var t rules
	time := 4 * c.Widths[0]
	t.conv("conv_in", c.Widths[0], c.InChannels, 3)
	t.dense("time_embedding.linear_1", "time_embedding.linear_1", time, c.Widths[0])
	t.dense("time_embedding.linear_2", "time_embedding.linear_2", time, time)
	net := c.blocks()
	var attention, samplers rules // their order is that of the random numbers of [Begin]
	for _, b := range net.all() {
		for _, l := range b.layers {
			t.residual(l.resnet, time)
			if l.attention != nil {
				attention.transformer(*l.attention, c)
			}
		}
	}
	for i := range net.down {
		for _, b := range []block{net.down[i], net.up[i]} {
			if w := b.layers[0].out; b.sampler != "" {
				samplers.conv(b.sampler+".conv", w, w, 3)
			}
		}
	}
	t.Table = slices.Concat(t.Table, attention.Table, samplers.Table)
	t.norm("conv_norm_out", c.Widths[0])
	t.conv("conv_out", c.OutChannels, c.Widths[0], 3)
	return t.Table
}

func (t *rules) transformer(a transformer, c *UNetConfig) {
	t.norm(a.path+".norm", a.width)
	for _, name := range []string{".proj_in", ".proj_out"} {
		if c.UseLinearProjection {
			t.dense(a.path+name, a.path+name, a.width, a.width)
		} else {
			t.conv(a.path+name, a.width, a.width, 1)
		}
	}
	for i := range a.layers {
		layer := fmt.Sprintf("%s.transformer_blocks.%d", a.path, i)
		for _, name := range []string{".norm1", ".norm2", ".norm3"} {
			t.norm(layer+name, a.width)
		}
		t.fused(layer+".attn1", []string{"to_q", "to_k", "to_v"}, "qkv", a.width, a.width, false)
		t.fused(layer+".attn2", []string{"to_q"}, "q", a.width, a.width, false)
		t.fused(layer+".attn2", []string{"to_k", "to_v"}, "kv", a.width, c.ContextDim, false)
		t.dense(layer+".attn1.to_out.0", layer+".attn1.out", a.width, a.width)
		t.dense(layer+".attn2.to_out.0", layer+".attn2.out", a.width, a.width)
		t.dense(layer+".ff.net.0.proj", layer+".ff.in", 8*a.width, a.width)
		t.dense(layer+".ff.net.2", layer+".ff.out", a.width, 4*a.width)
	}
}

// vaeTable is the whole correspondence between an autoencoder's checkpoint and the variables of its two halves; the
// tensors of the half that is not requested are known and left alone.
func vaeTable(c *VAEConfig, encoder, decoder bool) []weights.Rule {
	var e, d rules
	n := len(c.Widths)
	e.conv("encoder.conv_in", c.Widths[0], c.InChannels, 3)
	in := c.Widths[0]
	for i, out := range c.Widths {
		for k := range c.Layers {
			e.residual(resnet{fmt.Sprintf("encoder.down_blocks.%d.resnets.%d", i, k), in, out}, 0)
			in = out
		}
		if i < n-1 {
			e.conv(fmt.Sprintf("encoder.down_blocks.%d.downsamplers.0.conv", i), out, out, 3)
		}
	}
	e.middle("encoder", c)
	e.norm("encoder.conv_norm_out", in)
	e.conv("encoder.conv_out", 2*c.LatentChannels, in, 3)
	if c.UseQuantConv {
		e.conv("quant_conv", 2*c.LatentChannels, 2*c.LatentChannels, 1)
	}
	if c.UsePostQuantConv {
		d.conv("post_quant_conv", c.LatentChannels, c.LatentChannels, 1)
	}
	d.conv("decoder.conv_in", in, c.LatentChannels, 3)
	d.middle("decoder", c)
	for i := range n {
		out := c.Widths[n-1-i]
		for k := range c.Layers + 1 {
			d.residual(resnet{fmt.Sprintf("decoder.up_blocks.%d.resnets.%d", i, k), in, out}, 0)
			if c.UpBlocks[i] == UpAttentionBlock {
				d.attention(fmt.Sprintf("decoder.up_blocks.%d.attentions.%d", i, k), out, c)
			}
			in = out
		}
		if i < n-1 {
			d.conv(fmt.Sprintf("decoder.up_blocks.%d.upsamplers.0.conv", i), out, out, 3)
		}
	}
	d.norm("decoder.conv_norm_out", in)
	d.conv("decoder.conv_out", c.OutChannels, in, 3)
	if !encoder {
		weights.Unload(e.Table)
	}
	if !decoder {
		weights.Unload(d.Table)
	}
	return append(e.Table, d.Table...)
}

// middle is the middle of either half of an autoencoder.
func (t *rules) middle(half string, c *VAEConfig) {
	width := c.Widths[len(c.Widths)-1]
	for k := range 2 {
		t.residual(resnet{fmt.Sprintf("%s.mid_block.resnets.%d", half, k), width, width}, 0)
	}
	if c.MidAttention {
		t.attention(half+".mid_block.attentions.0", width, c)
	}
}

// attention is an autoencoder's attention.
func (t *rules) attention(path string, width int, c *VAEConfig) {
	names, out := []string{"to_q", "to_k", "to_v"}, "to_out.0"
	if c.oldNames {
		names, out = []string{"query", "key", "value"}, "proj_attn"
	}
	t.norm(path+".group_norm", width)
	t.fused(path, names, "qkv", width, width, true)
	t.dense(path+"."+out, path+".out", width, width)
}

// load fills a store with the variables of a table on the device: [weights.Stream], kernels turned.
func load(backend compute.Backend, store *model.Store, set *weights.Set, table []weights.Rule,
	dtype dtypes.DType) error {
	return weights.Stream(store.RootScope(), set, table, dtype,
		weights.Hooks{Turn: TurnKernel, Place: func(path string, value *tensors.Tensor) error {
			if err := value.ToDevice(backend, 0); err != nil {
				return fmt.Errorf("variable %s: %w", path, err)
			}
			return nil
		}})
}

// isKernel says that a rule is a convolution's kernel, held as [height,width,in,out] and saved as
// [out,in,height,width].
func isKernel(r weights.Rule) bool { return len(r.Shape) == 4 && r.As == nil && r.Parts == 0 }

// TurnKernel is the [weights.Hooks] of the networks here: it returns a kernel [O,I,h,w] as [h,w,I,O], and anything else
// as it is.
func TurnKernel(r weights.Rule, values []float32, shape []int) ([]float32, []int) {
	if !isKernel(r) {
		return values, shape
	}
	out, in, area := shape[0], shape[1], shape[2]*shape[3]
	to := make([]float32, len(values))
	for o := range out {
		for i := range in {
			for p := range area {
				to[(p*in+i)*out+o] = values[(o*in+i)*area+p]
			}
		}
	}
	return to, []int{shape[2], shape[3], in, out}
}
