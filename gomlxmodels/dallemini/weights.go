package dallemini

import (
	"fmt"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
)

// tensor is a tensor of a checkpoint and the variable it becomes, or the variables of all layers: then its first axis
// is that of the layers, and the variable's path has %d for the layer.
type tensor struct {
	name, variable string
	shape          []int // of one layer
	layers         int   // 0 = of no layer, or of one
	kernel         bool  // [in,out]; variables are [out,in]
}

// table is a table under construction, for one tower.
type table struct {
	list    []tensor
	tower   string // encoder, decoder
	depth   int
	scanned bool
}

func (t *table) add(name, variable string, kernel bool, shape ...int) {
	t.list = append(t.list, tensor{name, variable, shape, 0, kernel})
}

// layer adds a tensor of each layer.
func (t *table) layer(name, variable string, kernel bool, shape ...int) {
	family := "model/" + t.tower + "/layers/FlaxBart" + strings.ToUpper(t.tower[:1]) + t.tower[1:] + "Layer"
	variable = t.tower + "/layer_%d/" + variable
	if t.scanned {
		t.list = append(t.list, tensor{family + "s/" + name, variable, shape, t.depth, kernel})
		return
	}
	for i := range t.depth {
		t.add(fmt.Sprintf("%s_%d/%s", family, i, name), fmt.Sprintf(variable, i), kernel, shape...)
	}
}

func (t *table) attention(name, variable string, width int) {
	for _, p := range [][2]string{{"q_proj", "query"}, {"k_proj", "key"}, {"v_proj", "value"}, {"out_proj", "out"}} {
		t.layer(name+"/"+p[0]+"/kernel", variable+"/"+p[1]+"/weights", true, width, width)
	}
}

// norm is a layer's norm, with a gain or without.
func (t *table) norm(name, variable string, width int, gain bool) {
	if gain {
		t.layer(name+"/scale", variable+"/gain", false, width)
	}
	t.layer(name+"/bias", variable+"/offset", false, width)
}

// rest is what every layer and the ends of a tower have.
func (t *table) rest(vocab, length, width, hidden int) {
	from, to := "model/"+t.tower+"/", t.tower+"/"
	t.add(from+"embed_tokens/embedding", to+"tokens", false, vocab, width)
	t.add(from+"embed_positions/embedding", to+"positions", false, length, width)
	t.add(from+"layernorm_embedding/scale", to+"norm_in/gain", false, width)
	t.add(from+"layernorm_embedding/bias", to+"norm_in/offset", false, width)
	t.add(from+"final_ln/bias", to+"norm_out/offset", false, width)
	t.norm("LayerNorm_0", "norm0", width, false)
	t.attention("FlaxBartAttention_0", "self", width)
	t.norm("LayerNorm_1", "norm1", width, true)
	t.norm("GLU_0/LayerNorm_0", "glu/norm0", width, false)
	t.layer("GLU_0/Dense_0/kernel", "glu/gate/weights", true, width, hidden)
	t.layer("GLU_0/Dense_1/kernel", "glu/in/weights", true, width, hidden)
	t.norm("GLU_0/LayerNorm_1", "glu/norm1", hidden, false)
	t.layer("GLU_0/Dense_2/kernel", "glu/out/weights", true, hidden, width)
}

// tensors is the whole correspondence between a checkpoint and the variables.
func tensors(c *Config, set *weights.Set) []tensor {
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
	d.add("lm_head/kernel", "decoder/head/weights", true, c.Width, c.ImageVocab+1)
	return append(e.list, d.list...)
}

// match checks that a checkpoint has the tensors of the configuration and no others.
func match(c *Config, set *weights.Set) error {
	var rules []weights.Rule
	for _, t := range tensors(c, set) {
		shape := t.shape
		if t.layers > 0 {
			shape = append([]int{t.layers}, shape...)
		}
		rules = append(rules, weights.Rule{Tensor: t.name, Variable: t.variable, Shape: shape})
	}
	return weights.Match(set, rules)
}

// load fills a store with the variables. weights.Stream makes one variable of a tensor, or of several; here a tensor
// may become the variables of all layers.
func load(s *model.Store, c *Config, set *weights.Set, dtype dtypes.DType) error {
	for _, t := range tensors(c, set) {
		values, err := set.Float32(t.name)
		if err != nil {
			return err
		}
		layers := max(1, t.layers)
		size := len(values) / layers
		for i := range layers {
			path := t.variable
			if t.layers > 0 {
				path = fmt.Sprintf(path, i)
			}
			part, shape := values[i*size:(i+1)*size], t.shape
			if t.kernel {
				part, shape = transposed(part, shape[0], shape[1]), []int{shape[1], shape[0]}
			}
			value, err := weights.Value(part, shape, dtype)
			if err != nil {
				return err
			}
			at, name := model.SplitPath("/" + path)
			if _, err := s.Scope(at).CreateVariable(name, value); err != nil {
				return fmt.Errorf("dallemini: variable %s: %w", path, err)
			}
		}
	}
	return nil
}

// transposed returns [rows,columns] as [columns,rows].
func transposed(values []float32, rows, columns int) []float32 {
	out := make([]float32, len(values))
	for r := range rows {
		for c := range columns {
			out[c*rows+r] = values[r*columns+c]
		}
	}
	return out
}
