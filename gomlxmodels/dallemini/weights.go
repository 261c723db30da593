package dallemini

import (
	"fmt"
	"strings"

	"antipode/gomlxmodels/weights"
)

// table is a table under construction, for one tower.
type table struct {
	weights.Table
	tower   string // encoder, decoder
	depth   int
	scanned bool
}

// layer adds a tensor of each layer. With scanned layers they are one tensor.
func (t *table) layer(name, variable string, layout weights.Layout, shape ...int) {
	family := "model/" + t.tower + "/layers/FlaxBart" + strings.ToUpper(t.tower[:1]) + t.tower[1:] + "Layer"
	for i := range t.depth {
		r := weights.Rule{Tensor: fmt.Sprintf("%s_%d/%s", family, i, name), Layout: layout, Shape: shape,
			Variable: fmt.Sprintf("%s/layer_%d/%s", t.tower, i, variable)}
		if t.scanned {
			r.Tensor, r.Layer, r.Layers = family+"s/"+name, i, t.depth
		}
		t.Table = append(t.Table, r)
	}
}

func (t *table) attention(name, variable string, width int) {
	for _, p := range [][2]string{{"q_proj", "query"}, {"k_proj", "key"}, {"v_proj", "value"}, {"out_proj", "out"}} {
		t.layer(name+"/"+p[0]+"/kernel", variable+"/"+p[1]+"/weights", weights.Transposed, width, width)
	}
}

// norm is a layer's norm, with a gain or without.
func (t *table) norm(name, variable string, width int, gain bool) {
	if gain {
		t.layer(name+"/scale", variable+"/gain", weights.Torch, width)
	}
	t.layer(name+"/bias", variable+"/offset", weights.Torch, width)
}

// rest is what every layer and the ends of a tower have.
func (t *table) rest(vocab, length, width, hidden int) {
	from, to := "model/"+t.tower+"/", t.tower+"/"
	t.As(from+"embed_tokens/embedding", to+"tokens", nil, vocab, width)
	t.As(from+"embed_positions/embedding", to+"positions", nil, length, width)
	t.As(from+"layernorm_embedding/scale", to+"norm_in/gain", nil, width)
	t.As(from+"layernorm_embedding/bias", to+"norm_in/offset", nil, width)
	t.As(from+"final_ln/bias", to+"norm_out/offset", nil, width)
	t.norm("LayerNorm_0", "norm0", width, false)
	t.attention("FlaxBartAttention_0", "self", width)
	t.norm("LayerNorm_1", "norm1", width, true)
	t.norm("GLU_0/LayerNorm_0", "glu/norm0", width, false)
	t.layer("GLU_0/Dense_0/kernel", "glu/gate/weights", weights.Transposed, width, hidden)
	t.layer("GLU_0/Dense_1/kernel", "glu/in/weights", weights.Transposed, width, hidden)
	t.norm("GLU_0/LayerNorm_1", "glu/norm1", hidden, false)
	t.layer("GLU_0/Dense_2/kernel", "glu/out/weights", weights.Transposed, hidden, width)
}

// rules is the whole correspondence between a checkpoint and the variables.
func rules(c *Config, set *weights.Set) []weights.Rule {
	scanned := func(tower string) bool {
		return set.Has("model/" + tower + "Layers/FlaxBartAttention_0/q_proj/kernel")
	}
	e := table{tower: "encoder", depth: c.EncoderDepth, scanned: scanned("encoder/layers/FlaxBartEncoder")}
	e.rest(c.TextVocab, c.TextLength, c.Width, c.EncoderGLU)
	d := table{tower: "decoder", depth: c.DecoderDepth, scanned: scanned("decoder/layers/FlaxBartDecoder")}
	d.rest(c.ImageVocab+1, c.ImageLength, c.Width, c.DecoderGLU)
	d.norm("LayerNorm_2", "norm2", c.Width, false)
	d.attention("FlaxBartAttention_1", "cross", c.Width)
	d.norm("LayerNorm_3", "norm3", c.Width, true)
	head := weights.Rule{Tensor: "lm_head/kernel", Variable: "decoder/head/weights", Layout: weights.Transposed,
		Shape: []int{c.Width, c.ImageVocab + 1}}
	return append(append(e.Table, d.Table...), head)
}
