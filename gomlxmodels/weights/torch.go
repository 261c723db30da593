package weights

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"antipode/gomlxmodels/weights/pickle"
)

// torchFile is a file of torch.save that is being opened.
type torchFile struct {
	set  *Set
	path string
	file io.ReaderAt
	size int64
}

// limits bounds what is read of n bytes of pickles: 48 MiB and twice the size of the file in all.
func (t *torchFile) limits(n int) pickle.Limits {
	return pickle.Limits{Memory: 48<<20 + 2*t.size - int64(n)}
}

// readZip reads the archive that torch writes since version 1.6: ROOT/data.pkl is the object, ROOT/data/KEY the bytes
// of a storage.
func (t *torchFile) readZip() ([]Info, error) {
	a, err := openZip(t.file, t.size)
	if err != nil {
		return nil, err
	}
	var root string
	var roots int
	for _, m := range a.members {
		if before, ok := strings.CutSuffix(m.name, "/data.pkl"); ok {
			root, roots = before+"/", roots+1
		}
	}
	if roots != 1 {
		return nil, fmt.Errorf("zip archive with %d data.pkl, not one: torch.save did not write it", roots)
	}
	for _, m := range a.members {
		if name := strings.TrimPrefix(m.name, root); name == "constants.pkl" || strings.HasPrefix(name, "code/") {
			return nil, fmt.Errorf("TorchScript archive (%.60s). Fix: save model.state_dict() instead", name)
		}
	}
	swapped := false
	if m, ok := a.find(root + "byteorder"); ok {
		order, err := a.read(m, 16)
		if err != nil {
			return nil, err
		}
		if swapped = string(order) == "big"; !swapped && string(order) != "little" {
			return nil, fmt.Errorf("byte order %q is neither little nor big", order)
		}
	}
	m, _ := a.find(root + "data.pkl")
	raw, err := a.read(m, min(64<<20, 16<<20+t.size))
	if err != nil {
		return nil, err
	}
	v, err := pickle.Parse(raw, t.limits(len(raw)))
	if err != nil {
		return nil, err
	}
	return t.tensors(v, swapped, func(s *pickle.Storage) (section, error) {
		if s.Key == "" || len(s.Key) > 20 || strings.Trim(s.Key, "0123456789") != "" {
			return section{}, fmt.Errorf("storage %.40q is not named by a number", s.Key)
		}
		m, ok := a.find(root + "data/" + s.Key)
		if !ok {
			return section{}, fmt.Errorf("storage %q is missing. Fix: download the file again", s.Key)
		}
		if need := s.Numel * s.Item; m.size != need {
			return section{}, fmt.Errorf("storage %q has %d bytes, needs %d. Fix: download the file again", s.Key,
				m.size, need)
		}
		return a.section(m)
	})
}

// tensors lists the tensors of the state dict in v, whose storages locate finds.
func (t *torchFile) tensors(v pickle.Value, swapped bool, locate func(*pickle.Storage) (section, error)) ([]Info,
	error) {
	d, err := t.stateDict(v)
	if err != nil {
		return nil, err
	}
	n, err := countTensors(d)
	if err != nil {
		return nil, err
	}
	list := make([]Info, 0, n)
	found := map[string]section{}
	for _, item := range d.Items {
		x, ok := item.Value.(*pickle.Tensor)
		key, named := item.Key.(pickle.String)
		if !ok || !named {
			continue
		}
		info := Info{Name: string(key), File: t.path, unreadable: x.Unreadable}
		if x.Unreadable == "" {
			at, known := found[x.Storage.Key]
			if !known || at.length != x.Storage.Numel*x.Storage.Item {
				if at, err = locate(x.Storage); err != nil {
					return nil, fmt.Errorf("tensor %.100q: %w", info.Name, err)
				}
				found[x.Storage.Key] = at
			}
			info.locate(x, at, swapped)
		}
		list = append(list, info)
	}
	return list, nil
}

// maxNamed bounds the tensors of a state dict.
const maxNamed = 100_000

// countTensors counts the tensors of a state dict. A name that occurs twice is an error; in Python, the last one wins.
func countTensors(d *pickle.Dict) (n int, err error) {
	names := make([]string, 0, len(d.Items))
	for _, item := range d.Items {
		key, ok := item.Key.(pickle.String)
		if !ok {
			continue
		}
		names = append(names, string(key))
		if _, ok := item.Value.(*pickle.Tensor); ok {
			n++
		}
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return 0, fmt.Errorf("%.100q occurs twice in the state dict", names[i])
		}
	}
	if n > maxNamed {
		return 0, fmt.Errorf("%d tensors, more than %d", n, maxNamed)
	}
	return n, nil
}

// maxExpanded is the size in bytes above which a tensor may not be larger than its storage.
const maxExpanded = 64 << 20

// locate makes t the tensor x in a section.
func (t *Info) locate(x *pickle.Tensor, at section, swapped bool) {
	t.DType, t.Shape, t.strides, t.swapped = x.DType, x.Shape, x.Stride, swapped
	t.data, t.offset, t.bytes = at, x.Offset*x.Item, x.Item
	if slices.Contains(x.Shape, 0) {
		t.bytes = 0
		return
	}
	bound := max(maxExpanded, at.length)
	for _, d := range x.Shape {
		if int64(d) > bound/t.bytes {
			t.unreadable = fmt.Sprintf("it repeats the elements of its storage to shape %v", x.Shape)
			return
		}
		t.bytes *= int64(d)
	}
}

// wrappers are the keys under which programs save a state dict together with other things.
var wrappers = []string{"state_dict", "model", "params", "model_state_dict", "module"}

// maxWrapped bounds the dictionaries around a state dict.
const maxWrapped = 8

// stateDict finds the state dict in what a file holds: the dictionary itself, or the one below a key of wrappers.
func (t *torchFile) stateDict(v pickle.Value) (*pickle.Dict, error) {
	d, ok := v.(*pickle.Dict)
	if o, is := v.(*pickle.Opaque); is {
		return nil, fmt.Errorf("whole-model pickle of class %.100q has no state dict. Fix: save model.state_dict()",
			o.Global)
	}
	if !ok {
		return nil, errors.New("no state dict: the file holds no dictionary. Fix: save model.state_dict()")
	}
	if step, ok := entry(d, "global_step").(pickle.Int); ok {
		t.set.step = int64(step)
	}
	known := map[*pickle.Dict]bool{}
	for range maxWrapped {
		var inner *pickle.Dict
		var keys []string
		for _, key := range wrappers {
			if in, ok := entry(d, key).(*pickle.Dict); ok && holdsTensors(in, known) {
				inner, keys = in, append(keys, fmt.Sprintf("%q", key))
			}
		}
		switch {
		case len(keys) > 1:
			return nil, fmt.Errorf("%d state dicts, with the keys %s. Fix: save one of them alone", len(keys),
				strings.Join(keys, ", "))
		case len(keys) == 1:
			d = inner
			continue
		case hasTensor(d):
			return d, nil
		}
		return nil, fmt.Errorf("no state dict: %s. Fix: save model.state_dict()", describe(d))
	}
	return nil, errors.New("no state dict: dictionaries contain each other. Fix: save model.state_dict()")
}

// holdsTensors says whether a dictionary, or one below a key of wrappers, has tensors. known is the answers so far; one
// that is still open is false, so that a dictionary within itself is none.
func holdsTensors(d *pickle.Dict, known map[*pickle.Dict]bool) bool {
	if holds, ok := known[d]; ok {
		return holds
	}
	known[d] = false
	if hasTensor(d) {
		known[d] = true
		return true
	}
	if len(known) > 64 {
		return false
	}
	for _, key := range wrappers {
		if in, ok := entry(d, key).(*pickle.Dict); ok && holdsTensors(in, known) {
			known[d] = true
		}
	}
	return known[d]
}

func hasTensor(d *pickle.Dict) bool {
	return slices.ContainsFunc(d.Items, func(i pickle.Item) bool {
		_, named := i.Key.(pickle.String)
		_, tensor := i.Value.(*pickle.Tensor)
		return named && tensor
	})
}

// entry is the value of a key; nil = there is none.
func entry(d *pickle.Dict, key string) pickle.Value {
	for _, i := range d.Items {
		if s, ok := i.Key.(pickle.String); ok && string(s) == key {
			return i.Value
		}
	}
	return nil
}

// describe lists the keys of a dictionary for an error.
func describe(d *pickle.Dict) string {
	var keys []string
	for _, i := range d.Items {
		if s, ok := i.Key.(pickle.String); ok && len(keys) < 6 {
			keys = append(keys, fmt.Sprintf("%.40q", string(s)))
		}
	}
	if len(keys) == 0 {
		return "the top level has no names"
	}
	return "top level has keys " + some(keys)
}
