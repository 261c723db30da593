// Package inspect reports what a model folder is and whether it can be loaded, before hours are spent on it: its class,
// the files that would be read, parameters, number types, memory, missing and unknown tensors, and what its tokenizer
// makes of texts in several scripts. It reads the headers of the weights, not their values, and needs no device.
//
// Each network's own Open does the checks; this package selects it by the folder's configuration.
package inspect

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"antipode/gomlxmodels/diffusion"
	"antipode/gomlxmodels/hub"
	"antipode/gomlxmodels/tokenizers"
	"antipode/gomlxmodels/weights"
)

// Report is what is known about a model folder.
//
//	r, err := inspect.Folder("mine", "/models/mine")
//	err = r.Print(os.Stdout)
type Report struct {
	Name      string     `json:"name"`  // as the caller calls it
	Class     string     `json:"class"` // of transformers, diffusers, timm or sentence-transformers; "" = not stated
	Files     []File     `json:"files"` // that are read
	Networks  []Network  `json:"networks"`
	Memory    Memory     `json:"memory"`
	Tokenizer *Tokenizer `json:"tokenizer,omitempty"` // nil = none is read
	Notes     []string   `json:"notes,omitempty"`

	Problem string   `json:"problem,omitempty"` // why the folder cannot be loaded, or read no text; "" = nothing
	Missing []string `json:"missing,omitempty"` // tensors that the network requires
	Unknown []string `json:"unknown,omitempty"` // tensors that the network does not use
	Shapes  []string `json:"shapes,omitempty"`  // tensors of another shape than the configuration requires
}

// File is a file that is read.
type File struct {
	Name  string `json:"name"` // relative to the folder, with slashes
	Bytes int64  `json:"bytes"`
}

// Network is one network of the folder.
type Network struct {
	Name       string         `json:"name,omitempty"` // a component of a pipeline; "" = the only network
	Tensors    int            `json:"tensors"`        // that are read
	Parameters int64          `json:"parameters"`     // values of these
	DTypes     map[string]int `json:"dtypes"`         // tensors by their number type in the file
	Unread     []string       `json:"unread,omitempty"`
}

// Memory is how many bytes the weights take on the device, by the number type of the computation. Activations come on
// top.
type Memory struct {
	Float32  int64 `json:"float32"`
	BFloat16 int64 `json:"bfloat16"`
}

// Folder inspects a folder. name is what the report calls it. A folder that cannot be loaded is a report with a
// Problem; an error means that there is nothing to report on.
func Folder(name, dir string) (*Report, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, &os.PathError{Op: "open", Path: dir, Err: errors.New("not a folder")}
	}
	r := &Report{Name: name}
	var kind string
	kind, r.Class = classOf(dir)
	open, err := opener(kind, dir)
	var list []opened
	if err == nil {
		list, err = open(dir)
	}
	if err != nil {
		r.fail(err)
		return r, nil
	}
	if err := r.files(dir, list); err != nil {
		return nil, err
	}
	r.networks(list)
	for _, m := range list {
		if p, ok := m.(*diffusion.Model); ok {
			r.pipeline(p)
		}
		t, err := m.Tokenizer()
		if err == nil && t != nil {
			r.Tokenizer, err = inspectTokenizer(t)
		}
		if err != nil {
			r.Problem = err.Error()
		}
	}
	return r, nil
}

// fail records why the folder cannot be loaded.
func (r *Report) fail(err error) {
	r.Problem = err.Error()
	var m *hub.Mismatch
	if errors.As(err, &m) {
		r.Missing, r.Unknown, r.Shapes = m.Missing, m.Unknown, m.Shapes
	}
}

// files lists the files that the opened models read.
func (r *Report) files(dir string, list []opened) error {
	var paths []string
	for _, m := range list {
		paths = append(paths, m.Files()...)
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		r.Files = append(r.Files, File{filepath.ToSlash(name), info.Size()})
	}
	return nil
}

// networks counts the tensors that are read. Two towers of one checkpoint are one network.
func (r *Report) networks(list []opened) {
	type tensor struct{ file, name string }
	read := map[tensor]bool{}
	var order []string
	tensors := map[string]map[tensor]weights.Info{} // by network
	for _, m := range list {
		for _, n := range m.Networks() {
			if tensors[n.Name] == nil {
				tensors[n.Name] = map[tensor]weights.Info{}
				order = append(order, n.Name)
			}
			for _, rule := range n.Rules {
				if t, ok := n.Weights.Info(rule.Tensor); ok && rule.Variable != "" {
					read[tensor{t.File, t.Name}] = true
				}
			}
			for _, name := range n.Weights.Names() {
				t, _ := n.Weights.Info(name)
				tensors[n.Name][tensor{t.File, name}] = t
			}
		}
	}
	for _, name := range order {
		n := Network{Name: name, DTypes: map[string]int{}}
		for at, t := range tensors[name] {
			if !read[at] {
				n.Unread = append(n.Unread, t.Name)
				continue
			}
			n.Tensors++
			n.DTypes[t.DType]++
			values := int64(1)
			for _, d := range t.Shape {
				values *= int64(d)
			}
			n.Parameters += values
		}
		slices.Sort(n.Unread)
		r.Networks = append(r.Networks, n)
		r.Memory.Float32 += 4 * n.Parameters
		r.Memory.BFloat16 += 2 * n.Parameters
	}
}

// pipeline notes what images of a pipeline depend on besides its weights.
func (r *Report) pipeline(m *diffusion.Model) {
	width, height := m.Size()
	r.Notes = append(r.Notes, imageSize(width, height))
	r.Notes = append(r.Notes, m.Corrections()...)
	if m.Safety() == diffusion.SafetyAbsent {
		r.Notes = append(r.Notes, "no safety checker")
	}
}

// opened is an opened model.
type opened interface {
	Files() []string
	Networks() []hub.Network
	Tokenizer() (*tokenizers.Tokenizer, error) // nil = none is read
}
