package hub

import (
	"fmt"
	"slices"

	"antipode/gomlxmodels/weights"
)

// Network is a network's weights, with the table by which they are read.
type Network struct {
	Name    string // the folder of a pipeline's component; "" = the only network
	Weights *weights.Set
	Rules   []weights.Rule
}

// Mismatch is the error of weights that are not those of a network.
type Mismatch struct {
	Missing []string // tensors that the network requires
	Unknown []string // tensors that the network does not use
	Shapes  []string // tensors of another shape, with both shapes
	err     error    // that of [weights.Match], which names some of the first kind
}

func (m *Mismatch) Error() string { return m.err.Error() }

// Unwrap returns the error of [weights.Match].
func (m *Mismatch) Unwrap() error { return m.err }

// Match checks the weights against the table as [weights.Match] does. Its error is a [*Mismatch], which lists all
// tensors that differ.
func (n Network) Match() error {
	err := weights.Match(n.Weights, n.Rules)
	if err == nil {
		return nil
	}
	m := &Mismatch{err: err}
	known := map[string]bool{}
	for _, r := range n.Rules {
		known[r.Tensor] = true
		switch t, ok := n.Weights.Info(r.Tensor); {
		case !ok && r.Variable != "":
			m.Missing = append(m.Missing, r.Tensor)
		case ok && r.Shape != nil && !slices.Equal(t.Shape, r.TensorShape()):
			m.Shapes = append(m.Shapes, fmt.Sprintf("%s %v, required %v", r.Tensor, t.Shape, r.TensorShape()))
		}
	}
	for _, name := range n.Weights.Names() {
		second := func(r weights.Rule) bool { return n.Weights.Same(r.Tensor, name) }
		if !known[name] && !slices.ContainsFunc(n.Rules, second) {
			m.Unknown = append(m.Unknown, name)
		}
	}
	return m
}

// Match checks the folder's weights against the network's table.
func (f *Folder) Match(rules []weights.Rule) error {
	f.rules = rules
	return f.Networks()[0].Match()
}

// Networks returns the network whose weights the folder has, after [Folder.Match].
func (f *Folder) Networks() []Network { return []Network{{Weights: f.Weights, Rules: f.rules}} }
