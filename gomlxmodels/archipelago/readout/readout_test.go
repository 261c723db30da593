package readout

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/compute/gobackend"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"antipode/datasets/archipelago"
	"antipode/gomlxmodels/archipelago/examples"
	"antipode/internal/must"
)

func TestAnswers(t *testing.T) {
	var a Answers
	a.Add(archipelago.Image{Island: "Velmora", Scene: "shore", Object: "drum", Variant: "barrel"})
	a.Add(archipelago.Image{Island: "Velmora", Scene: "shore", Figure: &archipelago.Figure{People: "Tulvane",
		Crest: archipelago.Pointed, Banner: archipelago.LightBanner, Attributes: []string{"belt"}}})
	thing, figure := a.named[:len(examples.Properties)], a.named[len(examples.Properties):]
	if drum := slices.Index(examples.World.Objects(), "drum"); int(thing[0]) != drum || thing[3] < 0 ||
		slices.Max(thing[4:]) != -1 {
		t.Errorf("of a drum: %v", thing)
	}
	if figure[0] != -1 || figure[3] != -1 || figure[4] != int32(slices.Index(archipelago.PeopleNames(), "Tulvane")) ||
		figure[5] != -1 || figure[7] != 1 || figure[8] != 0 {
		t.Errorf("of a figure: %v", figure)
	}
	n := len(archipelago.AttributeNames())
	must.Equal(t, slices.Max(a.worn[:n]), -1, "attributes")
	must.Equal(t, a.worn[n+slices.Index(archipelago.AttributeNames(), "belt")], 1, "attributes")
	must.Equal(t, slices.Min(a.worn[n:]), 0, "attributes")
}

// The loss of probes of zeros is that of chance; properties without a label in a batch do not contribute.
func TestLossOfNothing(t *testing.T) {
	backend := must.Get(gobackend.New("ops_sequential"))(t)
	defer backend.Finalize()
	var a Answers
	f := &archipelago.Figure{People: "Tulvane", Crest: archipelago.Round, Banner: archipelago.DarkBanner}
	a.Add(archipelago.Image{Island: "Velmora", Scene: "shore", Figure: f})
	store := model.NewStore()
	defer store.Finalize()
	exec := must.Get(model.NewExec(backend, store, func(scope *model.Scope, in []*Node) []*Node {
		patches, class := Loss(scope, in[0], in[1], in[2])
		return []*Node{patches, class}
	}))(t)
	defer exec.Finalize()
	in := []any{tensors.FromFlatDataAndDimensions(make([]float32, 5*8), 1, 5, 8)}
	for _, x := range a.Tensors() {
		in = append(in, x)
	}
	out := must.Get(exec.Exec(in...))(t)
	want := 2 * math.Ln2 // the attributes
	for i, q := range examples.Properties {
		if a.named[i] >= 0 {
			want += math.Log(float64(len(q.Values)))
		}
	}
	want /= float64(len(examples.Properties) + 2)
	for i, o := range out {
		must.Near(t, float64(tensors.ToScalar[float32](o)), want, 3e-3, "readers", i, "loss")
	}
}
