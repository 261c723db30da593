package diffusion

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
)

// UNetRules is the whole correspondence between a UNet's checkpoint and the variables of [ForwardUNet], for [Begin],
// [Restore] and [Export].
func UNetRules(c *UNetConfig) []weights.Rule { return unetTable(c) }

// VAERules is the same for [ForwardEncoder] and [ForwardDecoder] together.
func VAERules(c *VAEConfig) []weights.Rule { return vaeTable(c, true, true) }

// Begin creates the variables of a table below a scope as PyTorch's layers begin: weights even between ±1/√fan-in,
// norms 1 and 0, biases 0. Words and positions of a text tower are normal with deviation 0.02.
func Begin(scope *model.Scope, table []weights.Rule, r *rand.Rand) error {
	done := map[string]bool{"": true}
	for _, rule := range table {
		if done[rule.Variable] {
			continue
		}
		done[rule.Variable] = true
		shape, fan, size := slices.Clone(rule.Shape), 1, 1
		if rule.As != nil {
			shape = slices.Clone(rule.As)
		}
		shape[0] *= max(1, rule.Parts)
		for i, d := range rule.Shape {
			if i > 0 {
				fan *= d
			}
		}
		for _, d := range shape {
			size *= d
		}
		if isKernel(rule) {
			shape = []int{shape[2], shape[3], shape[1], shape[0]}
		}
		values, bound := make([]float32, size), 1/math.Sqrt(float64(fan))
		at, name := model.SplitPath("/" + rule.Variable)
		for i := range values {
			switch {
			case name == "gain":
				values[i] = 1
			case name == "bias" || name == "offset":
			case strings.HasSuffix(at, "/tokens"):
				values[i] = float32(0.02 * r.NormFloat64())
			default:
				values[i] = float32(bound * (2*r.Float64() - 1))
			}
		}
		if err := create(scope, rule.Variable, tensors.FromFlatDataAndDimensions(values, shape...)); err != nil {
			return err
		}
	}
	return nil
}

// Restore creates the variables of a table below a scope from a checkpoint, in float32.
func Restore(scope *model.Scope, set *weights.Set, table []weights.Rule) error {
	return weights.Stream(scope, set, table, dtypes.Float32, weights.Hooks{Turn: TurnKernel})
}

// create makes a variable at a path below a scope.
func create(scope *model.Scope, path string, value *tensors.Tensor) error {
	at, name := model.SplitPath("/" + path)
	_, err := scope.Store().Scope(model.JoinPath(scope.Scope(), at)).CreateVariable(name, value)
	return err
}

// Export reads the variables of a table below a scope back as the checkpoint's tensors: the reverse of [Restore].
func Export(scope *model.Scope, table []weights.Rule) ([]weights.Tensor, error) {
	table = slices.Clone(table)
	kernels := map[string]bool{}
	for i, r := range table {
		if isKernel(r) {
			kernels[r.Tensor] = true
			table[i].As = []int{r.Shape[2], r.Shape[3], r.Shape[1], r.Shape[0]}
		}
	}
	list, err := weights.Export(scope, table)
	if err != nil {
		return nil, err
	}
	for i, t := range list {
		if !kernels[t.Name] {
			continue
		}
		out, in, area := t.Shape[0], t.Shape[1], t.Shape[2]*t.Shape[3]
		data := make([]float32, len(t.Data))
		for o := range out {
			for c := range in {
				for p := range area {
					data[(o*in+c)*area+p] = t.Data[(p*in+c)*out+o]
				}
			}
		}
		list[i].Data = data
	}
	return list, nil
}
