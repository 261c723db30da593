package trainer

import (
	"context"
	"errors"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/internal/must"
	"antipode/test/testbackend"
)

func TestRate(t *testing.T) {
	s := Settings{Steps: 100, Rate: 1}
	if s.rate(0) != 0.2 || s.rate(4) != 1 || s.rate(5) != 1 {
		t.Errorf("warm-up: %v %v %v", s.rate(0), s.rate(4), s.rate(5))
	}
	for k := 6; k < 100; k++ {
		if s.rate(k) >= s.rate(k-1) || s.rate(k) <= 0 {
			t.Fatalf("rate of step %d is %v after %v", k, s.rate(k), s.rate(k-1))
		}
	}
}

// lineJob fits y = slope · x + shift to 3x + 1, the shift being frozen at 1.
func lineJob(steps int) *Job {
	return &Job{
		Settings: Settings{Steps: steps, Batch: 2, Seed: 1, Rate: 0.1},
		Losses:   []string{"square"},
		Batch: func(step int) ([]*tensors.Tensor, error) {
			x := float32(step%5) - 2
			return []*tensors.Tensor{tensors.FromFlatDataAndDimensions([]float32{x, x + 0.5}, 2)}, nil
		},
		Loss: func(scope *model.Scope, in []*Node) (total, parts *Node) {
			g := in[0].Graph()
			slope := scope.VariableWithValue("slope", float32(0)).NodeValue(g)
			shift := scope.VariableWithValue("shift", float32(1)).NodeValue(g)
			total = ReduceAllMean(Square(Sub(Add(Mul(slope, in[0]), shift), AddScalar(MulScalar(in[0], 3), 1))))
			return total, Reshape(total, 1)
		},
		Start: func(store *model.Store) error {
			store.VariableWithValue("/shift", float32(1)).SetTrainable(false)
			return nil
		},
	}
}

func value(t *testing.T, store *model.Store, path string) float32 {
	t.Helper()
	v := store.GetVariable(path)
	if v == nil || v.DType() != dtypes.Float32 {
		t.Fatalf("no variable %s", path)
	}
	return tensors.ToScalar[float32](v.MustValue())
}

// Variables that Start froze stay frozen in a resumed run, and useAverage replaces the weights by their averages.
func TestFrozen(t *testing.T) {
	backend := testbackend.XLA(t)
	folder := Folder(t.TempDir())
	var store *model.Store
	for _, until := range []int{20, 200} {
		job := lineJob(200)
		must.Do(t, folder.Open(job.Settings))
		var err error
		if store, _, err = job.Run(context.Background(), backend, folder, until); err != nil {
			t.Fatal(err)
		}
	}
	slope, average := value(t, store, "/slope"), value(t, store, AverageScope+"/slope")
	if slope < 2.7 || slope > 3.05 || value(t, store, "/shift") != 1 || slope == average {
		t.Errorf("slope %v (average %v), shift %v; want about 3 and exactly 1", slope, average,
			value(t, store, "/shift"))
	}
	must.Do(t, useAverage(store))
	must.Equal(t, value(t, store, "/slope"), average, "the slope", "its average")
}

func TestFolderOfAnotherRun(t *testing.T) {
	folder := Folder(t.TempDir())
	must.Do(t, folder.Open(Settings{Steps: 4}))
	must.Fail(folder.Open(Settings{Steps: 8}))(t, "other settings") // a folder of another run
}

// An error in a batch and a loss of NaN end the run with an error.
func TestFailures(t *testing.T) {
	backend := testbackend.XLA(t)
	job := lineJob(4)
	draw := job.Batch
	job.Batch = func(step int) ([]*tensors.Tensor, error) {
		if step == 1 {
			return nil, errors.New("the sea is closed")
		}
		return draw(step)
	}
	// a batch that fails
	must.Fail(job.Run(context.Background(), backend, Folder(t.TempDir()), 4))(t, "batch 2: the sea is closed")
	job = lineJob(4)
	job.Loss = func(scope *model.Scope, in []*Node) (total, parts *Node) {
		slope := scope.VariableWithValue("slope", float32(-1)).NodeValue(in[0].Graph())
		total = Mul(Sqrt(slope), ReduceAllSum(in[0]))
		return total, Reshape(total, 1)
	}
	// a loss of NaN
	must.Fail(job.Run(context.Background(), backend, Folder(t.TempDir()), 4))(t, "the loss square is NaN")
}
