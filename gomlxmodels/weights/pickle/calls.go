package pickle

import (
	"errors"
	"fmt"
	"strings"
)

func global(r *Reader) error {
	module, err := r.line()
	if err != nil {
		return err
	}
	name, err := r.line()
	if err != nil {
		return err
	}
	return r.global(module, name)
}

func stackGlobal(r *Reader) error {
	name, err := r.pop()
	if err != nil {
		return err
	}
	module, err := r.pop()
	if err != nil {
		return err
	}
	n, ok1 := name.(String)
	m, ok2 := module.(String)
	if !ok1 || !ok2 {
		return fmt.Errorf("%s and %s are not the names of a module and its member", kind(module), kind(name))
	}
	return r.global(string(m), string(n))
}

func (r *Reader) global(module, name string) error {
	if len(module) > 4096 || len(name) > 4096 {
		return errors.New("a name has no end")
	}
	if err := r.admit(2*headSize + len(module) + len(name)); err != nil {
		return err
	}
	return r.push(&Opaque{Global: module + "." + name, callable: true})
}

// call pops arguments, and the class or function below them.
func (r *Reader) call() (fn *Opaque, args Tuple, err error) {
	v, err := r.pop()
	if err != nil {
		return nil, nil, err
	}
	f, err := r.pop()
	if err != nil {
		return nil, nil, err
	}
	args, ok := v.(Tuple)
	if !ok {
		return nil, nil, fmt.Errorf("%s is not a tuple of arguments", kind(v))
	}
	if fn, ok = f.(*Opaque); !ok {
		return nil, nil, fmt.Errorf("%s is not a class or a function", kind(f))
	}
	return fn, args, nil
}

func reduce(r *Reader) error {
	fn, args, err := r.call()
	if err != nil {
		return err
	}
	if !fn.callable {
		return fmt.Errorf("the result of %s is not a class or a function", kind(fn))
	}
	return r.returned(fn, args)
}

func newObject(r *Reader) error {
	class, args, err := r.call()
	if err != nil {
		return err
	}
	return r.returned(class, args)
}

func newObjectEx(r *Reader) error {
	if _, err := r.pop(); err != nil { // keyword arguments
		return err
	}
	class, _, err := r.call()
	if err != nil {
		return err
	}
	return r.opaque(class)
}

// build gives an object its state, which no value here has.
func build(r *Reader) error {
	if _, err := r.pop(); err != nil {
		return err
	}
	v, err := r.top()
	if err != nil {
		return err
	}
	switch v.(type) {
	case *List, *Dict, *Storage, *Tensor, *Opaque:
		return nil
	}
	return fmt.Errorf("%s has no state", kind(v))
}

// opaque pushes what a class or function would return.
func (r *Reader) opaque(fn *Opaque) error { return r.add(&Opaque{Global: fn.Global}, headSize) }

// returned pushes what a class or function returns.
func (r *Reader) returned(fn *Opaque, args Tuple) error {
	v, err := r.result(fn, args)
	switch {
	case err != nil:
		return fmt.Errorf("%.100s: %w", fn.Global, err)
	case v == nil:
		return r.opaque(fn)
	}
	return r.push(v)
}

// result is what a class or function with a meaning returns; nil = it has none.
func (r *Reader) result(fn *Opaque, args Tuple) (Value, error) {
	if !fn.callable {
		return nil, nil
	}
	switch fn.Global {
	case "collections.OrderedDict", "builtins.dict", "__builtin__.dict":
		return r.dict(args)
	case "collections.defaultdict":
		if len(args) > 1 {
			return nil, nil
		}
		return r.dict(nil)
	case "torch.Size":
		if len(args) == 1 {
			if size, ok := args[0].(Tuple); ok {
				return size, nil
			}
		}
		return nil, nil
	case "torch._tensor._rebuild_from_type_v2":
		return r.typed(args)
	}
	return r.rebuilt(fn, args)
}

// typed is a tensor of a class: (function, class, its arguments, state).
func (r *Reader) typed(args Tuple) (Value, error) {
	if len(args) != 4 {
		return nil, fmt.Errorf("%d arguments", len(args))
	}
	fn, ok1 := args[0].(*Opaque)
	class, ok2 := args[1].(*Opaque)
	inner, ok3 := args[2].(Tuple)
	if !ok1 || !ok2 || !ok3 || !fn.callable {
		return nil, nil
	}
	switch class.Global {
	case "torch.Tensor", "torch.nn.Parameter", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer":
		return r.rebuilt(fn, inner)
	}
	return nil, nil
}

// rebuilt is the tensor that a function of torch._utils returns; nil = it is none of them.
func (r *Reader) rebuilt(fn *Opaque, args Tuple) (Value, error) {
	name, ok := strings.CutPrefix(fn.Global, "torch._utils.")
	if !ok {
		return nil, nil
	}
	switch name {
	case "_rebuild_tensor", "_rebuild_tensor_v2":
		return r.tensor(args, false)
	case "_rebuild_tensor_v3":
		return r.tensor(args, true)
	case "_rebuild_parameter", "_rebuild_parameter_with_state":
		if len(args) > 0 {
			return args[0], nil
		}
	case "_rebuild_sparse_tensor":
		return r.unreadable("it is sparse")
	case "_rebuild_qtensor":
		return r.unreadable("it is quantized")
	case "_rebuild_meta_tensor_no_storage":
		return r.unreadable("it is a meta tensor, without data")
	case "_rebuild_wrapper_subclass":
		return r.unreadable("it is of a subclass of torch.Tensor")
	}
	return nil, nil
}
