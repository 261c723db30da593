package runner

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/weights"
)

// Runner is the networks of one model on a backend.
type Runner struct {
	backend    compute.Backend
	name, role string
	nets       []*Net
	compile    time.Duration
	closed     bool
	staging    map[dtypes.DType]any // memory of Stack, a slice by dtype
}

// New makes a runner on the backend, which stays the caller's. Errors begin with the package's name and call the
// runner by the role it has there: "clip: the encoder is closed".
func New(backend compute.Backend, name, role string) *Runner {
	return &Runner{backend: backend, name: name, role: role, staging: map[dtypes.DType]any{}}
}

// Bytes is the memory the loaded weights take.
func (r *Runner) Bytes() int64 {
	var n int64
	for _, net := range r.nets {
		if net.store != nil {
			n += net.store.ByteSize()
		}
	}
	return n
}

// Load reads the weights of all networks now rather than when they are first needed: [Runner.Bytes] counts them then.
func (r *Runner) Load() (err error) {
	defer Recovered(r.name, &err)
	for _, net := range r.nets {
		if err := net.Load(); err != nil {
			return err
		}
	}
	return nil
}

// CompileTime is the time spent compiling so far.
func (r *Runner) CompileTime() time.Duration { return r.compile }

// Closed returns an error after Close, and nil before.
func (r *Runner) Closed() error {
	if r.closed {
		return fmt.Errorf("%s: the %s is closed", r.name, r.role)
	}
	return nil
}

// Close releases weights and compiled graphs. The runner cannot be used afterwards; closing twice is fine.
func (r *Runner) Close() {
	if r.closed {
		return
	}
	r.closed = true
	var ignored error
	defer Recovered(r.name, &ignored)
	for _, net := range r.nets {
		for _, g := range slices.Clone(net.graphs) {
			g.Close()
		}
		if net.store != nil {
			net.store.Finalize()
		}
		net.graphs, net.store = nil, nil
	}
	clear(r.staging)
}

// Net is the weights of one network and the graphs that use them.
type Net struct {
	runner *Runner
	read   func(*model.Store) error
	store  *model.Store // nil = not loaded
	graphs []*Graph
}

// Net adds a network. read fills an empty store with its weights; it is called when they are first needed.
func (r *Runner) Net(read func(*model.Store) error) *Net {
	n := &Net{runner: r, read: read}
	r.nets = append(r.nets, n)
	return n
}

// Load reads the weights now, unless it was done before.
func (n *Net) Load() error {
	if err := n.runner.Closed(); err != nil || n.store != nil {
		return err
	}
	store := model.NewStore()
	if err := n.read(store); err != nil {
		store.Finalize()
		return err
	}
	n.store = store
	return nil
}

// Store is the loaded weights, nil before they are loaded and after [Runner.Close].
func (n *Net) Store() *model.Store { return n.store }

// Graph is one graph of a network.
type Graph struct {
	net     *Net
	name    string
	forward func(*model.Scope, []*graph.Node) []*graph.Node
	exec    *model.Exec     // nil = not needed yet
	ready   map[string]bool // compiled and checked, by the inputs' shapes
	closed  bool
}

// Graph adds a graph, whose errors begin with the name ("clip/image"). The caller sees to it that its inputs come in
// few shapes.
func (n *Net) Graph(name string, forward func(*model.Scope, []*graph.Node) []*graph.Node) *Graph {
	g := &Graph{net: n, name: name, forward: forward, ready: map[string]bool{}}
	n.graphs = append(n.graphs, g)
	return g
}

// Load reads the weights of the graph's network now, unless it was done before.
func (g *Graph) Load() error { return g.net.Load() }

// Close releases what was compiled for the graph, for all shapes. The graph cannot be used afterwards; its network's
// other graphs can, and the weights stay. Closing twice is fine.
func (g *Graph) Close() {
	if g.closed {
		return
	}
	g.closed = true
	g.net.graphs = slices.DeleteFunc(g.net.graphs, func(other *Graph) bool { return other == g })
	if g.exec != nil {
		g.exec.Finalize()
	}
	g.exec, g.ready = nil, nil
}

// usable returns an error after Close of the graph or its runner.
func (g *Graph) usable() error {
	if err := g.net.runner.Closed(); err != nil || !g.closed {
		return err
	}
	return g.wrap(errors.New("the graph is closed"))
}

// open makes the graph's exec, with the weights loaded.
func (g *Graph) open() error {
	if err := cmp.Or(g.usable(), g.net.Load()); err != nil || g.exec != nil {
		return err
	}
	exec, err := model.NewExec(g.net.runner.backend, g.net.store, g.forward)
	if err != nil {
		return g.wrap(err)
	}
	g.exec = exec.WithName(g.name).SetMaxCache(-1)
	return nil
}

func (g *Graph) wrap(err error) error { return fmt.Errorf("%s: %w", g.name, err) }

// Compile compiles the graph for inputs of these shapes, and does not check it; see [Graph.Ready].
func (g *Graph) Compile(inputs ...shapes.Shape) (*graph.Graph, error) {
	if err := g.open(); err != nil {
		return nil, err
	}
	start := time.Now()
	built, err := g.exec.Compile(inputs...)
	if err != nil {
		return nil, g.wrap(err)
	}
	g.net.runner.compile += time.Since(start)
	return built, nil
}

// Ready compiles the graph for inputs of these shapes and holds the network's weights against it, unless it was done
// before.
func (g *Graph) Ready(inputs ...shapes.Shape) error {
	if err := g.usable(); err != nil {
		return err
	}
	key := fmt.Sprint(inputs)
	if g.ready[key] {
		return nil
	}
	built, err := g.Compile(inputs...)
	if err != nil {
		return err
	}
	if err := weights.Check(g.net.store, built); err != nil {
		return g.wrap(err)
	}
	g.ready[key] = true
	return nil
}

// Run runs the graph, unchecked where it is not [Graph.Ready], and leaves its results on the device. Inputs and
// results are the caller's to finalize.
func (g *Graph) Run(inputs ...*tensors.Tensor) ([]*tensors.Tensor, error) {
	if err := g.open(); err != nil {
		return nil, err
	}
	args := make([]any, len(inputs))
	for i, in := range inputs {
		args[i] = in
	}
	out, err := g.exec.Call(args...)
	if err != nil {
		return nil, g.wrap(err)
	}
	return out, nil
}

// Call is [Graph.Values] and releases the inputs.
func (g *Graph) Call(inputs ...*tensors.Tensor) (flat [][]float32, err error) {
	defer Release(inputs...)
	return g.Values(inputs...)
}

// Results makes the graph ready, runs it and leaves its results on the device. Inputs and results are the caller's to
// release.
func (g *Graph) Results(inputs ...*tensors.Tensor) ([]*tensors.Tensor, error) {
	of := make([]shapes.Shape, len(inputs))
	for i, t := range inputs {
		of[i] = t.Shape()
	}
	if err := g.Ready(of...); err != nil {
		return nil, err
	}
	return g.Run(inputs...)
}

// Values is [Graph.Results] and copies the results, float32 all of them, to the host.
func (g *Graph) Values(inputs ...*tensors.Tensor) (flat [][]float32, err error) {
	results, err := g.Results(inputs...)
	if err != nil {
		return nil, err
	}
	defer Release(results...)
	for _, r := range results {
		values, err := Numbers(r)
		if err != nil {
			return nil, g.wrap(err)
		}
		flat = append(flat, values)
	}
	return flat, nil
}

// Numbers copies the float32 of a tensor on the device to the host, once: the tensor itself would copy them to memory
// of its own first.
func Numbers(t *tensors.Tensor) ([]float32, error) {
	backend, err := t.Backend()
	if err != nil {
		return nil, err
	}
	buffer, err := t.Buffer(backend, 0)
	if err != nil {
		return nil, err
	}
	if t.DType() != dtypes.Float32 {
		return nil, fmt.Errorf("the result is of %s, not Float32", t.DType())
	}
	values := make([]float32, t.Size())
	return values, buffer.ToFlatData(values)
}

// Release frees tensors on host and device; nil is none.
func Release(list ...*tensors.Tensor) {
	for _, t := range list {
		if t != nil {
			t.FinalizeAll()
		}
	}
}
