package vae

import (
	"reflect"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"antipode/gomlxmodels/archipelago/examples"
	"antipode/gomlxmodels/archipelago/trainer"
	"antipode/test/testbackend"
)

func TestDecoderBatches(t *testing.T) {
	s := trainer.Settings{Steps: 8, Batch: 2, Seed: 1}
	a := decoderBatch(s, 1)
	if !reflect.DeepEqual(a, decoderBatch(s, 1)) {
		t.Error("the same batch drawn twice differs")
	}
	if reflect.DeepEqual(a.pixels, decoderBatch(s, 2).pixels) {
		t.Error("two batches of a run are equal")
	}
	for _, spread := range a.spread {
		if spread < 0 || spread > mostNoise {
			t.Errorf("noise of standard deviation %g", spread)
		}
	}
	if side := examples.Size; len(a.pixels) != 2*side*side*3 || len(a.noise) != 2*side/8*side/8*shape.LatentChannels {
		t.Errorf("%d pixel values, %d values of noise", len(a.pixels), len(a.noise))
	}
}

// A sharp edge is steeper than a blurred one of the same height, wherever in the window it is.
func TestSteepness(t *testing.T) {
	backend := testbackend.Go(t)
	edge := func(at, width int) *tensors.Tensor {
		const side = 9 // one window of differences
		flat := make([]float32, side*side)
		for i := range flat {
			flat[i] = min(max(float32(i%side-at)/float32(width), 0), 1)
		}
		return tensors.FromFlatDataAndDimensions(flat, 1, side, side, 1)
	}
	value := func(x *tensors.Tensor) float32 {
		return tensors.ToScalar[float32](MustExecOnce(backend, func(x *Node) *Node {
			return ReduceAllMean(steepness(x))
		}, x))
	}
	sharp, moved, blurred := value(edge(3, 1)), value(edge(5, 1)), value(edge(3, 4))
	if sharp != moved || !(blurred < 0.6*sharp) { // 4 pixels wide: half
		t.Errorf("sharp %g, elsewhere %g, blurred %g", sharp, moved, blurred)
	}
}
