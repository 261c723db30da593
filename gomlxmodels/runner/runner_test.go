package runner_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/gomlxmodels/nn"
	"antipode/gomlxmodels/runner"
	"antipode/gomlxmodels/weights"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// two is a network of two variables, a and b, and counts how often it was read.
func two(r *runner.Runner, reads *int) *runner.Net {
	return r.Net(func(s *model.Store) error {
		*reads++
		for name, value := range map[string]float32{"a": 2, "b": 3} {
			if _, err := s.RootScope().CreateVariable(name, tensors.FromFlatDataAndDimensions([]float32{value},
				1)); err != nil {
				return err
			}
		}
		return nil
	})
}

// times multiplies its input by variables.
func times(names ...string) func(*model.Scope, []*Node) []*Node {
	return func(s *model.Scope, in []*Node) []*Node {
		x := in[0]
		for _, name := range names {
			x = Mul(x, nn.Param(s, x.Graph(), name, dtypes.Float32, 1))
		}
		return []*Node{x}
	}
}

func input(values ...float32) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(values, len(values))
}

// onBoth runs a test on XLA and on the pure Go backend.
func onBoth(t *testing.T, do func(*testing.T, compute.Backend)) {
	t.Run("XLA", func(t *testing.T) { do(t, testbackend.QuickXLA(t)) })
	t.Run("pure Go", func(t *testing.T) { do(t, testbackend.Go(t)) })
}

func TestCall(t *testing.T) {
	onBoth(t, func(t *testing.T, backend compute.Backend) {
		r, reads := runner.New(backend, "toy", "encoder"), 0
		defer r.Close()
		g := two(r, &reads).Graph("toy/all", times("a", "b"))
		must.Equal(t, r.Bytes(), 0)
		must.Equal(t, reads, 0)
		for _, in := range [][]float32{{1, 2}, {5, 7}, {4}} {
			got := must.Get(g.Call(input(in...)))(t)
			for i, v := range in {
				must.Equal(t, got[0][i], 6*v, in)
			}
		}
		if r.Bytes() != 8 || reads != 1 || r.CompileTime() <= 0 {
			t.Errorf("%d bytes, %d reads, compiled in %v", r.Bytes(), reads, r.CompileTime())
		}
		before := r.CompileTime()
		if err := g.Ready(shapes.Make(dtypes.Float32, 2)); err != nil || r.CompileTime() != before {
			t.Errorf("a shape was compiled twice, or %v", err)
		}
		r.Close()
		r.Close()
		must.Fail(g.Call(input(1)))(t, "toy: the encoder is closed")
		must.Fail(g.Ready(shapes.Make(dtypes.Float32, 2)))(t, "toy: the encoder is closed")
		if r.Bytes() != 0 || r.Closed() == nil {
			t.Errorf("closed, %d bytes", r.Bytes())
		}
	})
}

// TestWeightsAreChecked: none is left unread, none invented, unless two graphs use them together.
func TestWeightsAreChecked(t *testing.T) {
	onBoth(t, func(t *testing.T, backend compute.Backend) {
		r, reads := runner.New(backend, "toy", "encoder"), 0
		defer r.Close()
		net := two(r, &reads)
		a, b := net.Graph("toy/a", times("a")), net.Graph("toy/b", times("b"))
		must.Fail(a.Call(input(1)))(t, "toy/a: 1 loaded weight the graph does not use: /b")
		shape := shapes.Make(dtypes.Float32, 1)
		first := must.Get(a.Compile(shape))(t)
		second, err := b.Compile(shape)
		if err == nil {
			err = weights.Check(net.Store(), first, second)
		}
		if err != nil {
			t.Fatal(err)
		}
		x := input(5)
		for _, g := range []*runner.Graph{a, b} { // what a gives is b's input, on the device
			out := must.Get(g.Run(x))(t)
			x = out[0]
		}
		must.EqualSlices(t, tensors.MustCopyFlatData[float32](x), []float32{30}, "2·3·5")
		must.Fail(net.Graph("toy/c", times("a", "b", "c")).Call(input(1)))(t,
			"toy/c: 1 variable of the graph without weights: /c")
	})
}

// TestGraphClose: a closed graph reports that it is closed, and another of the same network continues.
func TestGraphClose(t *testing.T) {
	onBoth(t, func(t *testing.T, backend compute.Backend) {
		r, reads := runner.New(backend, "toy", "encoder"), 0
		defer r.Close()
		net := two(r, &reads)
		first, second := net.Graph("toy/first", times("a", "b")), net.Graph("toy/second", times("b", "a", "a"))
		for _, g := range []*runner.Graph{first, second} {
			_ = must.Get(g.Call(input(1)))(t)
		}
		first.Close()
		first.Close()
		must.Fail(first.Call(input(1)))(t, "toy/first: the graph is closed")
		must.Fail(first.Run(input(1)))(t, "toy/first: the graph is closed")
		must.Fail(first.Compile(shapes.Make(dtypes.Float32, 2)))(t, "toy/first: the graph is closed")
		must.EqualSlices(t, must.Get(second.Call(input(5, 7)))(t)[0], []float32{60, 84}, "the other graph")
		must.Equal(t, reads, 1, "the other graph")
		r.Close()
		must.Fail(second.Ready(shapes.Make(dtypes.Float32, 1)))(t, "toy: the encoder is closed")
		first.Close()
	})
}

func TestLoadFails(t *testing.T) {
	r := runner.New(nil, "toy", "encoder")
	broken := errors.New("x.safetensors: cut short")
	if err := r.Net(func(*model.Store) error { return broken }).Load(); err != broken || r.Bytes() != 0 {
		t.Errorf("%v, %d bytes", err, r.Bytes())
	}
}

func TestValues(t *testing.T) {
	row := must.Get(runner.Row([]float32{1, 2, 3, 4, 5, 6}, 1, 3))(t)
	must.EqualSlices(t, row, []float32{3, 4}, "row 1 of 3")
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := runner.Row([]float32{1, float32(bad)}, 0, 1)
		must.Fail(err)(t, "the network gave ")
		if !errors.Is(err, runner.ErrNotFinite) {
			t.Errorf("%v is not ErrNotFinite", err)
		}
	}
	d, n := dtypes.InvalidDType, 0
	if err := errors.Join(runner.DType(&d), runner.Count("batch", &n, 8, 9)); err != nil || d != dtypes.Float32 ||
		n != 8 {
		t.Errorf("%v, %d, %v", d, n, err)
	}
	d = dtypes.Int32
	must.Fail(runner.DType(&d))(t, "dtype Int32 is not one")
	for _, n := range []int{-1, 10} {
		must.Fail(runner.Count("batch", &n, 8, 9))(t, "is not between 1 and 9")
	}
	panics := func(v any) (err error) {
		defer runner.Recovered("toy", &err)
		panic(v)
	}
	must.Fail(panics("no"))(t, "toy: no")
	if wrong := errors.New("no"); !errors.Is(panics(wrong), wrong) {
		t.Error("a panic's error is lost")
	}
}
