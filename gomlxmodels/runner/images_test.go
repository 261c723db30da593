package runner_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/dtypes/bfloat16"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"antipode/gomlxmodels/runner"
	"antipode/internal/must"
	"antipode/test/testbackend"
)

// Numbers rounded on the way to the device are those that the device rounds, and memory used again holds the new ones.
func TestStack(t *testing.T) {
	onBoth(t, func(t *testing.T, backend compute.Backend) {
		r := runner.New(backend, "toy", "encoder")
		defer r.Close()
		for seed := range uint64(3) {
			random := rand.New(rand.NewPCG(seed, 1))
			items := make([][]float32, 2)
			for i := range items {
				for range 1000 {
					items[i] = append(items[i], float32(random.NormFloat64()))
				}
			}
			items[0][0], items[0][1] = 1+1./256, 1+3./256 // halfway: to the even one
			own := must.Get(runner.Stack(r, dtypes.BFloat16, items, 3, 10, 100))(t)
			exact := must.Get(runner.Stack(r, dtypes.Float32, items, 3, 10, 100))(t)
			want := slices.Concat(items[0], items[1], items[1])
			must.EqualSlices(t, tensors.MustCopyFlatData[float32](exact), want,
				"the float32 tensor differs from the items")
			rounded := must.Get(CallOnce(backend,
				func(x *Node) *Node { return ConvertDType(x, dtypes.BFloat16) }, exact))(t)
			must.EqualSlices(t, tensors.MustCopyFlatData[bfloat16.BFloat16](own),
				tensors.MustCopyFlatData[bfloat16.BFloat16](rounded), "rounding differs from the device's")
		}
		flags := must.Get(runner.Stack(r, dtypes.Bool, [][]bool{{true, false}}, 2, 2))(t)
		must.Equal(t, fmt.Sprint(flags.Value()), "[[true false] [true false]]")
	})
}

func TestBatches(t *testing.T) {
	r, reads := runner.New(testbackend.QuickXLA(t), "toy", "encoder"), 0
	defer r.Close()
	g := two(r, &reads).Graph("toy/all", times("a", "b"))
	var got []float32
	broken := errors.New("broken")
	run := func(ctx context.Context, inputs, take error) error {
		got = nil
		return r.Batches(ctx, 5, 2, func(from, to int) ([]*tensors.Tensor, error) {
			if from == 2 && inputs != nil {
				return nil, inputs
			}
			if from == 4 && to != 5 {
				panic("the last batch has one item")
			}
			return []*tensors.Tensor{input(float32(from), float32(to))}, nil
		}, func(inputs []*tensors.Tensor, from, to int) error {
			results, err := g.Call(inputs...)
			if err == nil {
				got = append(got, results[0]...)
			}
			return cmp.Or(err, take)
		})
	}
	if err := run(t.Context(), nil, nil); err != nil || !slices.Equal(got, []float32{0, 12, 12, 24, 24, 30}) {
		t.Errorf("%v, %v", got, err)
	}
	if err := run(t.Context(), broken, nil); !errors.Is(err, broken) || len(got) != 2 {
		t.Errorf("inputs that fail: %v, %v", got, err)
	}
	if err := run(t.Context(), nil, broken); !errors.Is(err, broken) || len(got) != 2 {
		t.Errorf("results that are refused: %v, %v", got, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(over, nil, nil); !errors.Is(err, context.Canceled) || got != nil {
		t.Errorf("canceled: %v, %v", got, err)
	}
	err := r.Batches(t.Context(), 1, 1, func(int, int) ([]*tensors.Tensor, error) { panic("a wrong shape") }, nil)
	must.Fail(err)(t, "toy: a wrong shape") // a panic in another goroutine
}
