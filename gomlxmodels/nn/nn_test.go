package nn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/attention"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/test/testbackend"
)

// backends are what every block is tested on.
var backends = map[string]func(testing.TB) compute.Backend{"xla": testbackend.QuickXLA, "go": testbackend.Go}

func run(t *testing.T, backend compute.Backend, fn func(*model.Scope, []*Node) []*Node, args ...any) [][]float32 {
	t.Helper()
	store := model.NewStore()
	defer store.Finalize()
	must.Do(t, store.SetRNGStateFromSeed(1))
	out := must.Get(model.CallOnceN(backend, store, fn, args...))(t)
	flat := make([][]float32, len(out))
	for i, o := range out {
		flat[i] = tensors.MustCopyFlatData[float32](o)
	}
	return flat
}

func noise(seed uint64, dims ...int) *tensors.Tensor {
	r := rand.New(rand.NewPCG(seed, 1))
	n := 1
	for _, d := range dims {
		n *= d
	}
	flat := make([]float32, n)
	for i := range flat {
		flat[i] = float32(r.NormFloat64())
	}
	return tensors.FromFlatDataAndDimensions(flat, dims...)
}

// TestAttentionEqualsCore compares with GoMLX's own attention, values and gradients, with and without a mask.
func TestAttentionEqualsCore(t *testing.T) {
	const b, h, q, s, d = 2, 3, 5, 7, 4
	mask := make([]bool, b*q*s)
	r := rand.New(rand.NewPCG(5, 5))
	for i := range mask {
		mask[i] = i%s == 0 || r.IntN(2) == 0
	}
	for name, backend := range backends {
		t.Run(name, func(t *testing.T) {
			got := run(t, backend(t), func(_ *model.Scope, in []*Node) []*Node {
				keep := Reshape(in[3], b, 1, q, s)
				var out []*Node
				for _, k := range []*Node{nil, keep} {
					ours := Attention(in[0], in[1], in[2], AttentionOptions{Keep: k})
					core, _ := attention.Core(in[0], in[1], in[2], attention.LayoutBHSD,
						attention.CoreOptions{AttentionMask: k})
					for _, y := range []*Node{ours, core} {
						out = append(out, y)
						out = append(out, Gradient(ReduceAllSum(Mul(y, Sin(y))), in[0], in[1], in[2])...)
					}
				}
				return out
			}, noise(1, b, h, q, d), noise(2, b, h, s, d), noise(3, b, h, s, d),
				tensors.FromFlatDataAndDimensions(mask, b, q, s))
			for i, what := range []string{"output", "gradient of q", "gradient of k", "gradient of v"} {
				near.Check(t, what+" without mask", got[i], got[4+i], 1e-4, 1e-5)
				near.Check(t, what+" with mask", got[8+i], got[12+i], 1e-4, 1e-5)
			}
			if near.Compare(got[0], got[8], 1e-2, 1e-2) == nil {
				t.Error("the mask changes nothing")
			}
		})
	}
}

// TestAttentionByHand: two keys, values 1 and 3; masks by hand.
func TestAttentionByHand(t *testing.T) {
	k := []float32{0, 0, math.Ln2, 0} // scores 0 and ln 2 for the query (√2, 0): probabilities 1/3, 2/3
	for name, backend := range backends {
		t.Run(name, func(t *testing.T) {
			got := run(t, backend(t), func(_ *model.Scope, in []*Node) []*Node {
				masks := Reshape(in[3], 3, 1, 1, 2)
				at := func(i int) *Node { return Slice(masks, AxisElem(i)) }
				attend := func(o AttentionOptions) *Node { return Attention(in[0], in[1], in[2], o) }
				return []*Node{
					attend(AttentionOptions{}),
					attend(AttentionOptions{Keep: at(0)}),                 // without the second key
					attend(AttentionOptions{Keep: at(1)}),                 // without both
					attend(AttentionOptions{Keep: at(0), ZeroProb: true}), // second key's probability times 0
					attend(AttentionOptions{Keep: at(2), ZeroProb: true}), // everything kept
					attend(AttentionOptions{Bias: Const(in[0].Graph(), [][][][]float32{{{{math.Ln2, 0}}}})}),
				}
			}, tensors.FromFlatDataAndDimensions([]float32{math.Sqrt2, 0}, 1, 1, 1, 2),
				tensors.FromFlatDataAndDimensions(k, 1, 1, 2, 2),
				tensors.FromFlatDataAndDimensions([]float32{1, 10, 3, 30}, 1, 1, 2, 2),
				[]bool{true, false, false, false, true, true})
			for i, want := range [][]float32{{7. / 3, 70. / 3}, {1, 10}, {0, 0}, {1. / 3, 10. / 3}, {7. / 3, 70. / 3},
				{2, 20}} {
				near.Check(t, []string{"plain", "masked", "nothing to attend", "zeroprob", "zeroprob of nothing",
					"bias"}[i],
					got[i], want, 1e-5, 1e-6)
			}
		})
	}
}

// TestSelfAttentionQueries: computing the first rows only gives the rows of the whole.
func TestSelfAttentionQueries(t *testing.T) {
	for _, bias := range []bool{true, false} {
		got := run(t, testbackend.QuickXLA(t), func(s *model.Scope, in []*Node) []*Node {
			o := SelfAttentionOptions{Heads: 2, NoQKVBias: !bias}
			all := SelfAttention(s.At("a"), in[0], o)
			o.Queries = 2
			return []*Node{Slice(all, AxisRange(), AxisRange(0, 2)), SelfAttention(s.At("a"), in[0], o)}
		}, noise(1, 2, 5, 8))
		near.Check(t, "first rows", got[1], got[0], 1e-5, 1e-7)
		if near.Scale(got[0]) == 0 {
			t.Error("all zero")
		}
	}
}

func TestActivations(t *testing.T) {
	x := []float32{-5, -1.3, -0.2, 0, 0.4, 1, 6}
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	tanh := func(x float64) float64 {
		return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
	}
	silu := func(x float64) float64 { return x * sigmoid(x) }
	want := map[string]func(float64) float64{
		"gelu":     func(x float64) float64 { return 0.5 * x * (1 + math.Erf(x/math.Sqrt2)) },
		"gelu_new": tanh, "gelu_tanh": tanh, "gelu_pytorch_tanh": tanh, "gelu_fast": tanh,
		"quick_gelu": func(x float64) float64 { return x * sigmoid(1.702*x) },
		"relu":       func(x float64) float64 { return max(0, x) },
		"silu":       silu, "swish": silu, "tanh": math.Tanh,
	}
	must.Equal(t, len(want), len(activations), "activations", "tested")
	var names []string
	got := run(t, testbackend.QuickXLA(t), func(_ *model.Scope, in []*Node) []*Node {
		var out []*Node
		names = nil
		for name := range want {
			names, out = append(names, name), append(out, Activation(name, in[0]))
		}
		return out
	}, x)
	for i, name := range names {
		for k, v := range x {
			if d := math.Abs(float64(got[i][k]) - want[name](float64(v))); d > 2e-6 {
				t.Errorf("%s(%v) = %v, want %v", name, v, got[i][k], want[name](float64(v)))
			}
		}
	}
	must.Fail(KnownActivation("wow"))(t, `"wow"`) // an unknown activation
}

// TestLayerNorm uses an epsilon that matters, so that a wrong one shows.
func TestLayerNorm(t *testing.T) {
	x := []float32{0.01, 0.03, -0.02, 0.04, 5, 7, 9, 11}
	for _, epsilon := range []float64{1e-3, 1e-12} {
		got := run(t, testbackend.QuickXLA(t), func(s *model.Scope, in []*Node) []*Node {
			return []*Node{LayerNorm(s, in[0], epsilon)}
		}, tensors.FromFlatDataAndDimensions(x, 2, 4))[0]
		for row := range 2 {
			mean, variance := 0.0, 0.0
			for _, v := range x[4*row : 4*row+4] {
				mean += float64(v) / 4
			}
			for _, v := range x[4*row : 4*row+4] {
				variance += (float64(v) - mean) * (float64(v) - mean) / 4
			}
			for i, v := range x[4*row : 4*row+4] {
				want := (float64(v) - mean) / math.Sqrt(variance+epsilon)
				must.Near(t, float64(got[4*row+i]), want, 1e-4, "epsilon", epsilon, "row", row, i)
			}
		}
	}
}

// TestDense: y = x·Wᵀ + b, and the values variables start with.
func TestDense(t *testing.T) {
	store := model.NewStore()
	defer store.Finalize()
	store.Scope("/d").CreateVariable("weights", tensors.FromFlatDataAndDimensions([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	store.Scope("/d").CreateVariable("bias", tensors.FromFlatDataAndDimensions([]float32{10, 20}, 2))
	must.Do(t, store.SetRNGStateFromSeed(1))
	out := must.Get(model.CallOnceN(testbackend.Go(t), store, func(s *model.Scope, in []*Node) []*Node {
		return []*Node{Dense(s.At("d"), in[0], 2, true), MLP(s.At("new"), in[0], 400, "gelu")}
	}, tensors.FromFlatDataAndDimensions([]float32{1, 0, -1}, 1, 1, 3)))(t)
	near.Check(t, "dense", tensors.MustCopyFlatData[float32](out[0]), []float32{8, 18}, 1e-6, 0)
	start := tensors.MustCopyFlatData[float32](store.GetVariable("/new/fc1/weights").MustValue())
	must.Near(t, near.Scale(start), InitialDeviation, 0.1*InitialDeviation, "weights start with deviation")
	must.Equal(t, near.Scale(tensors.MustCopyFlatData[float32](store.GetVariable("/new/fc1/bias").MustValue())), 0,
		"biases start at")
}

// TestBFloat16 keeps the dtype of what comes in.
func TestBFloat16(t *testing.T) {
	got := run(t, testbackend.QuickXLA(t), func(s *model.Scope, in []*Node) []*Node {
		x := ConvertDType(in[0], dtypes.BFloat16)
		y := SelfAttention(s.At("a"), LayerNorm(s.At("n"), x, 1e-6), SelfAttentionOptions{Heads: 2})
		must.Equal(t, y.DType(), dtypes.BFloat16, "dtype")
		return []*Node{ConvertDType(y, dtypes.Float32)}
	}, noise(1, 1, 4, 8))
	if s := near.Scale(got[0]); s == 0 || math.IsNaN(s) {
		t.Errorf("scale %v", s)
	}
}

// TestLayerNormNoGain compares with a layer norm whose gains are 1.
func TestLayerNormNoGain(t *testing.T) {
	for name, backend := range backends {
		got := run(t, backend(t), func(s *model.Scope, in []*Node) []*Node {
			offset := Add(in[0], ZerosLike(in[0]))
			return []*Node{LayerNormNoGain(s.At("bare"), offset, 1e-3), LayerNorm(s.At("gains"), offset, 1e-3)}
		}, noise(7, 2, 3, 8))
		near.Check(t, name, got[0], got[1], 1e-6, 1e-6)
	}
}

// TestConvolve3x3 compares every way of a 3×3 convolution with the operation of XLA: few places of many channels, wide
// images whose sides are no multiples of 4, small channels.
func TestConvolve3x3(t *testing.T) {
	for name, backend := range backends {
		for _, c := range []struct{ h, w, in, out int }{{5, 7, 256, 256}, {11, 12, 256, 260}, {13, 10, 257, 256},
			{13, 10, 130, 128}, {6, 9, 3, 8}} {
			got := run(t, backend(t), func(s *model.Scope, in []*Node) []*Node {
				rounded := func(x *Node) *Node { return ConvertDType(x, dtypes.BFloat16) }
				exact := func(x *Node) *Node { return ConvertDType(x, dtypes.Float32) }
				direct := func(x, kernel *Node) *Node {
					return Convolve(x, kernel).PaddingPerDim([][2]int{{1, 1}, {1, 1}}).Done()
				}
				x, kernel := in[0], Reshape(in[1], 3, 3, c.in, c.out)
				return []*Node{Convolve3x3(x, kernel), direct(x, kernel),
					exact(Convolve3x3(rounded(x), rounded(kernel))), direct(exact(rounded(x)), exact(rounded(kernel)))}
			}, noise(7, 2, c.h, c.w, c.in), noise(8, 9, c.in, c.out))
			near.Check(t, fmt.Sprint(name, c), got[0], got[1], 0, 2e-5*near.Scale(got[1]))
			near.Check(t, fmt.Sprint(name, c, " in bfloat16"), got[2], got[3], 0x1p-8, 1e-4*near.Scale(got[3]))
		}
	}
}

// TestAtOnce: attention of some queries at a time gives what all at once give, the last part shorter.
func TestAtOnce(t *testing.T) {
	const b, h, q, s, d = 2, 3, 7, 5, 4
	for name, backend := range backends {
		got := run(t, backend(t), func(_ *model.Scope, in []*Node) (out []*Node) {
			for _, scores := range []int{0, 3 * b * h * s, 1} {
				out = append(out, Attention(in[0], in[1], in[2], AttentionOptions{AtOnce: scores}))
			}
			return out
		}, noise(1, b, h, q, d), noise(2, b, h, s, d), noise(3, b, h, s, d))
		near.Check(t, name+": three queries at once", got[1], got[0], 1e-5, 1e-6)
		near.Check(t, name+": one query at once", got[2], got[0], 1e-5, 1e-6)
	}
}
