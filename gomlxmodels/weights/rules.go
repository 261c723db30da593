package weights

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/bfloat16"
	"github.com/gomlx/compute/dtypes/float16"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// Rule maps one tensor of a checkpoint to a variable. Data keeps its order: a variable may have another shape than the
// tensor (As), and several tensors may be the blocks of one variable's first axis (Part of Parts).
type Rule struct {
	Tensor   string // name in the checkpoint
	Variable string // path of the variable below the model's scope; "" = the tensor is known and left alone
	Shape    []int  // the shape the configuration requires; nil (only where Variable is "") = any
	Layout   Layout // the order of the tensor's axes, where it is another
	As       []int  // the variable's shape where it is not that of the tensor in torch's order; as many values
	// with Parts > 1: the variable's first axis has Parts equal blocks and the tensor is block Part, from 0
	Part  int
	Parts int
	// with Layers > 0: the tensor has one more axis in front, of that many layers, of which the variable is Layer
	Layer  int
	Layers int
}

// Layout is the order of a tensor's axes.
type Layout int

// The layouts of tensors.
const (
	Torch      Layout = iota // as torch has them: dense [out, in], convolution [out, in, height, width]
	Transposed               // dense [in, out], as Flax has it
	HWIO                     // convolution [height, width, in, out], as Flax has it
)

// axes are the axes of a tensor of the layout in torch's order; nil = they are in that order.
func (l Layout) axes() []int {
	switch l {
	case Transposed:
		return []int{1, 0}
	case HWIO:
		return []int{3, 2, 0, 1}
	}
	return nil
}

// variableShape is the shape of the whole variable.
func (r Rule) variableShape() []int {
	shape := slices.Clone(r.Shape)
	if axes := r.Layout.axes(); len(axes) == len(shape) {
		for i, axis := range axes {
			shape[i] = r.Shape[axis]
		}
	}
	if r.As != nil {
		shape = slices.Clone(r.As)
	}
	if r.Parts > 1 {
		shape[0] *= r.Parts
	}
	return shape
}

// Match checks the set against the table, both ways, without reading data: a missing tensor, one of another shape, and
// a tensor no rule names are errors. An error lists up to five names. Files of torch.save name tied weights several
// times: a further name of a tensor that a rule names is no error ([Set.Same]).
func Match(set *Set, rules []Rule) error {
	known := map[string]bool{}
	places := map[place]bool{}
	var missing, unknown []string
	for _, r := range rules {
		known[r.Tensor] = true
		t, ok := set.tensors[r.Tensor]
		if !ok {
			if r.Variable != "" {
				missing = append(missing, r.Tensor)
			}
			continue
		}
		if t.unreadable != "" {
			if r.Variable != "" {
				return fmt.Errorf("%s: tensor %q cannot be read: %s. Fix: save it as a dense tensor", t.File, r.Tensor,
					t.unreadable)
			}
			continue
		}
		if t.strides != nil {
			places[t.place()] = true
		}
		if want := r.TensorShape(); want != nil && !slices.Equal(t.Shape, want) {
			return fmt.Errorf("%s: tensor %q has shape %v, the configuration requires %v", t.File, r.Tensor, t.Shape,
				want)
		}
	}
	for _, name := range set.Names() {
		if t := set.tensors[name]; !known[name] && !(t.strides != nil && places[t.place()]) {
			unknown = append(unknown, name)
		}
	}
	where := set.dir
	if len(set.files) == 1 {
		where = set.files[0]
	}
	switch {
	case len(missing) > 0:
		return fmt.Errorf("%s: %s missing: %s", where, count(len(missing), "tensor"), some(missing))
	case len(unknown) > 0:
		return fmt.Errorf("%s: %s the model does not use: %s", where, count(len(unknown), "tensor"), some(unknown))
	}
	return nil
}

// place is all that the values of a tensor of torch.save depend on.
type place struct {
	file, dtype, view string
	data              section
	offset            int64
}

func (t *Info) place() place {
	return place{t.File, t.DType, fmt.Sprint(t.Shape, t.strides), t.data, t.offset}
}

// Same says whether two names are one tensor: torch.save gives tied weights the same bytes of the file.
func (s *Set) Same(a, b string) bool {
	x, y := s.tensors[a], s.tensors[b]
	return x != nil && y != nil && x.strides != nil && y.strides != nil && x.place() == y.place()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func some(names []string) string {
	if len(names) > 5 {
		return strings.Join(names[:5], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

// Hooks are further steps of [Stream]; nil = none.
type Hooks struct {
	// Turn returns a variable's values in another order, and their shape; first is the variable's first rule.
	Turn func(first Rule, values []float32, shape []int) ([]float32, []int)
	// Place is called with each variable's value, for example to move it to a device.
	Place func(path string, value *tensors.Tensor) error
}

// Load matches the set against the table and creates each variable below the scope with the tensors' values, in the
// given floating-point dtype (Float32, BFloat16 or Float16).
func Load(scope *model.Scope, set *Set, rules []Rule, dtype dtypes.DType) error {
	return Stream(scope, set, rules, dtype, Hooks{})
}

// Stream is Load with hooks. A variable is read once the one before it has its place, so that the host never holds a
// whole network besides what Place keeps there.
func Stream(scope *model.Scope, set *Set, rules []Rule, dtype dtypes.DType, h Hooks) error {
	if err := Match(set, rules); err != nil {
		return err
	}
	parts := map[string][]Rule{}
	var order []string
	for _, r := range rules {
		if r.Variable == "" {
			continue
		}
		if parts[r.Variable] == nil {
			order = append(order, r.Variable)
		}
		parts[r.Variable] = append(parts[r.Variable], r)
	}
	for _, path := range order {
		rs := parts[path]
		block := size(rs[0].variableShape()) / len(rs)
		var values []float32
		if len(rs) > 1 {
			values = make([]float32, block*len(rs))
		}
		for _, r := range rs {
			data, err := set.values(r)
			if err != nil {
				return err
			}
			if len(data) != block || max(1, r.Parts) != len(rs) {
				return fmt.Errorf("weights: the table gives variable %s %d of %d parts, of %d values each", path,
					len(rs), max(1, r.Parts), len(data))
			}
			if len(rs) == 1 {
				values = data
				break
			}
			copy(values[r.Part*block:], data)
		}
		shape := rs[0].variableShape()
		if h.Turn != nil {
			values, shape = h.Turn(rs[0], values, shape)
		}
		value, err := Value(values, shape, dtype)
		if err != nil {
			return err
		}
		if err := create(scope, path, value); err != nil {
			return err
		}
		if h.Place == nil {
			continue
		}
		if err := h.Place(path, value); err != nil {
			return err
		}
	}
	return nil
}

// TensorShape is the shape of the tensor in the file; nil = any.
func (r Rule) TensorShape() []int {
	if r.Shape == nil || r.Layers == 0 {
		return r.Shape
	}
	return append([]int{r.Layers}, r.Shape...)
}

// values reads what a rule says of a tensor, in torch's order.
func (s *Set) values(r Rule) ([]float32, error) {
	t := *s.tensors[r.Tensor]
	if t.strides == nil {
		t.strides = make([]int, len(t.Shape))
		for i, step := len(t.Shape)-1, 1; i >= 0; i-- {
			t.strides[i] = step
			step *= t.Shape[i]
		}
	}
	if r.Layers > 0 {
		if r.Layer < 0 || r.Layer >= r.Layers || len(t.Shape) == 0 || t.Shape[0] != r.Layers {
			return nil, fmt.Errorf("weights: tensor %q: layer %d of %d", r.Tensor, r.Layer, r.Layers)
		}
		t.offset += int64(r.Layer) * int64(t.strides[0]) * sizes[t.DType]
		t.Shape, t.strides, t.bytes = t.Shape[1:], t.strides[1:], t.bytes/int64(r.Layers)
	}
	if axes := r.Layout.axes(); axes != nil {
		if len(axes) != len(t.Shape) {
			return nil, fmt.Errorf("weights: tensor %q of shape %v has no layout of %d axes", r.Tensor, t.Shape,
				len(axes))
		}
		shape, strides := make([]int, len(axes)), make([]int, len(axes))
		for i, axis := range axes {
			shape[i], strides[i] = t.Shape[axis], t.strides[axis]
		}
		t.Shape, t.strides = shape, strides
	}
	return s.float32s(&t)
}

// create makes a variable at a path below a scope.
func create(scope *model.Scope, path string, value *tensors.Tensor) error {
	at, name := model.SplitPath("/" + path)
	if _, err := scope.Store().Scope(model.JoinPath(scope.Scope(), at)).CreateVariable(name, value); err != nil {
		return fmt.Errorf("weights: variable %s: %w", path, err)
	}
	return nil
}

// Value is a variable's value of the shape, in one of the dtypes of [Load].
func Value(values []float32, shape []int, dtype dtypes.DType) (*tensors.Tensor, error) {
	switch dtype {
	case dtypes.Float32:
		return tensors.FromFlatDataAndDimensions(values, shape...), nil
	case dtypes.BFloat16:
		return tensors.FromFlatDataAndDimensions(bfloat16.FromFloat32s(values...), shape...), nil
	case dtypes.Float16:
		return tensors.FromFlatDataAndDimensions(float16.FromFloat32s(values...), shape...), nil
	}
	return nil, fmt.Errorf("weights: dtype %s is not one a model runs in (Float32, BFloat16, Float16)", dtype)
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Export reads the variables of a table back as the checkpoint's tensors: the reverse of Load, for saving a trained
// model. Variables must be float32; rules without a variable are left out.
func Export(scope *model.Scope, rules []Rule) ([]Tensor, error) {
	var out []Tensor
	for _, r := range rules {
		if r.Variable == "" {
			continue
		}
		if r.Layout != Torch || r.Layers > 0 {
			return nil, fmt.Errorf("weights: tensor %q is not in torch's layout, the one that is saved", r.Tensor)
		}
		path := model.JoinPath(scope.Scope(), r.Variable)
		v := scope.Store().GetVariable(path)
		if v == nil || !v.HasValue() {
			return nil, fmt.Errorf("weights: variable %s has no value to save as %q", path, r.Tensor)
		}
		if !slices.Equal(v.Shape().Dimensions, r.variableShape()) || v.DType() != dtypes.Float32 {
			return nil, fmt.Errorf("weights: variable %s is %s, cannot be saved as %q of shape %v in Float32", path,
				v.Shape(), r.Tensor, r.Shape)
		}
		value, err := v.Value()
		if err != nil {
			return nil, fmt.Errorf("weights: variable %s: %w", path, err)
		}
		flat, err := tensors.CopyFlatData[float32](value)
		if err != nil {
			return nil, fmt.Errorf("weights: variable %s: %w", path, err)
		}
		block := size(r.Shape)
		out = append(out, Tensor{Name: r.Tensor, Shape: r.Shape, Data: flat[r.Part*block : (r.Part+1)*block]})
	}
	return out, nil
}

// Check reports variables of the store that the compiled graphs would invent (no value) and variables none of them
// reads. Call it after Exec.Compile and before the first call; pass every graph that shares the store.
func Check(store *model.Store, graphs ...*model.Graph) error {
	var missing, unused []string
	for v := range store.IterVariables() {
		switch {
		case !v.HasValue():
			missing = append(missing, v.Path())
		case !slices.ContainsFunc(graphs, v.InUseByGraph):
			unused = append(unused, v.Path())
		}
	}
	slices.Sort(missing)
	slices.Sort(unused)
	switch {
	case len(missing) > 0:
		return fmt.Errorf("%s of the graph without weights: %s", count(len(missing), "variable"), some(missing))
	case len(unused) > 0:
		return fmt.Errorf("%s the graph does not use: %s", count(len(unused), "loaded weight"), some(unused))
	}
	return nil
}
