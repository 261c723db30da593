package inception

import (
	"math"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
)

// width is D, the width of the embedding.
func width() int { return 2048 / narrow }

// convolution is one of the network's convolutions.
type convolution struct {
	name                   string
	in, out, height, width int
}

// convolutions lists the network's convolutions.
func convolutions() (list []convolution) {
	walk(layers[int]{
		conv: func(in int, name string, out, height, width, _ int, _ bool) int {
			list = append(list, convolution{name, in, out / narrow, height, width})
			return out / narrow
		},
		average: func(x int) int { return x },
		largest: func(x, _ int) int { return x },
		join: func(list ...int) (sum int) {
			for _, n := range list {
				sum += n
			}
			return sum
		},
	}, 3, true)
	return list
}

// statistics are the tensors of a batch normalization: factor, offset, mean and variance.
var statistics = []string{".bn.weight", ".bn.bias", ".bn.running_mean", ".bn.running_var"}

// table is the whole correspondence between a checkpoint and what [load] makes of it. The auxiliary classifier is for
// training, and the bias of the scores' classifier is not in the logits.
func table(cfg *Config, set *weights.Set) []weights.Rule {
	var t weights.Table
	for _, c := range convolutions() {
		t.As(c.name+".conv.weight", c.name+"/weights", nil, c.out, c.in, c.height, c.width)
		for _, s := range statistics {
			t.As(c.name+s, c.name+"/bias"+s, nil, c.out)
		}
		t.Skip(c.name + ".bn.num_batches_tracked")
	}
	t.As("fc.weight", "fc/weights", nil, cfg.Classes, width())
	if cfg.FID {
		t = append(t, weights.Rule{Tensor: "fc.bias", Shape: []int{cfg.Classes}})
	} else {
		t.As("fc.bias", "fc/bias", nil, cfg.Classes)
	}
	for _, name := range set.Names() {
		if strings.HasPrefix(name, "AuxLogits.") {
			t.Skip(name)
		}
	}
	return t
}

// epsilon of the batch normalizations.
const epsilon = 1e-3

// load puts the weights into the variables of [Forward], each batch normalization folded into its convolution.
func load(scope *model.Scope, set *weights.Set, cfg *Config, dtype dtypes.DType) error {
	rules := table(cfg, set)
	if err := weights.Match(set, rules); err != nil {
		return err
	}
	create := func(at, name string, values []float32, shape ...int) error {
		value, err := weights.Value(values, shape, dtype)
		if err == nil {
			_, err = scope.At("%s", at).CreateVariable(name, value)
		}
		return err
	}
	for _, c := range convolutions() {
		var bn [4][]float32
		kernel, err := set.Float32(c.name + ".conv.weight")
		for i, s := range statistics {
			if err == nil {
				bn[i], err = set.Float32(c.name + s)
			}
		}
		if err != nil {
			return err
		}
		folded, bias := make([]float32, len(kernel)), make([]float32, c.out)
		n := c.height * c.width
		for o := range c.out {
			factor := float64(bn[0][o]) / math.Sqrt(float64(bn[3][o])+epsilon)
			bias[o] = float32(float64(bn[1][o]) - factor*float64(bn[2][o]))
			for i := range c.in {
				for k := range n { // [out,in,height,width] → [height,width,in,out]
					folded[(k*c.in+i)*c.out+o] = float32(factor * float64(kernel[(o*c.in+i)*n+k]))
				}
			}
		}
		if err := create(c.name, "weights", folded, c.height, c.width, c.in, c.out); err != nil {
			return err
		}
		if err := create(c.name, "bias", bias, c.out); err != nil {
			return err
		}
	}
	fc := []weights.Rule{}
	for _, r := range rules {
		if r.Variable == "fc/weights" || r.Variable == "fc/bias" {
			fc = append(fc, r)
		}
	}
	for _, name := range set.Names() {
		if !strings.HasPrefix(name, "fc.") || cfg.FID && name == "fc.bias" {
			fc = append(fc, weights.Rule{Tensor: name})
		}
	}
	return weights.Load(scope, set, fc, dtype)
}
