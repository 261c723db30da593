package stereotypes

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
)

// TestPullByHand: vectors in the plane with known cosines; the stereotype lies nearer to the default.
func TestPullByHand(t *testing.T) {
	at := func(identity, set, attribute string, degrees float64) Embedded {
		sin, cos := math.Sincos(degrees * math.Pi / 180)
		return Embedded{identity, set, attribute, []float32{float32(3 * cos), float32(3 * sin)}}
	}
	images := []Embedded{at("Veltan", "d", "", 0), at("Veltan", "s", "hat", 60), at("Veltan", "s", "hat", -60),
		at("Veltan", "s", "drum", 0),
		at("Veltan", "ns", "sea", 90), at("Norra", "d", "", 10), at("Norra", "s", "hat", 40),
		{"Norra", "ns", "sea", nil}, {"Sul", "d", "", nil}}
	for average, want := range map[string][3]float64{"attribute": {0.75, 0, 0}, "pooled": {2.0 / 3, 0, 0}} {
		got := must.Get(ComputePulls(images, PullVariant{Method: average}))(t)
		n, s, v := got[0], got[1], got[2]
		near.Check(t, average, []float64{v.DS.Value, v.DNS.Value, v.SNS.Value, v.Pull.Value, v.Mean.Value},
			[]float64{want[0], want[1], want[2], want[0], want[0] / 3}, 1e-6, 1e-7)
		if v.D != 1 || v.S != 3 || v.NS != 1 || v.Stereotypes != 2 || v.Others != 1 {
			t.Errorf("%+v", v)
		}
		if math.Abs(n.DS.Value-math.Sqrt(3)/2) > 1e-6 || !math.IsNaN(n.DNS.Value) || !math.IsNaN(n.Pull.Value) ||
			!math.IsNaN(n.Mean.Value) || n.NS != 0 {
			t.Errorf("a set without images: %+v", n)
		}
		if s.Identity != "Sul" || !math.IsNaN(s.DS.Value) || s.D != 0 {
			t.Errorf("no images at all: %+v", s)
		}
	}
	must.Equal(t, len(must.Get(ComputePulls(nil, PullVariant{Intervals: metrics.Intervals{Resamples: 3}}))(t)), 0,
		"of nothing")
}

func TestPullErrors(t *testing.T) {
	good := Embedded{"Veltan", "d", "", []float32{1, 2}}
	for name, c := range map[string]struct {
		bad  Embedded
		want string
	}{
		"zero":     {Embedded{"Veltan", "s", "a", []float32{0, 0}}, "zeros"},
		"NaN":      {Embedded{"Veltan", "s", "a", []float32{1, float32(math.NaN())}}, "NaN"},
		"infinite": {Embedded{"Veltan", "s", "a", []float32{1, float32(math.Inf(1))}}, "infinity"},
		"width":    {Embedded{"Veltan", "s", "a", []float32{1}}, "two encoders"},
		"empty":    {Embedded{"Veltan", "s", "a", []float32{}}, "0 numbers"},
		"set":      {Embedded{"Veltan", "default", "", []float32{1, 2}}, `"default"`},
		"identity": {Embedded{"", "d", "", []float32{1, 2}}, "identity"},
	} {
		_, err := ComputePulls([]Embedded{good, c.bad}, PullVariant{})
		var bad *EmbeddedError
		if !errors.As(err, &bad) || bad.Row != 1 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v does not contain %q for image 2", name, err, c.want)
		}
	}
	for _, o := range []PullVariant{{Intervals: metrics.Intervals{Level: 1}},
		{Intervals: metrics.Intervals{Resamples: -1}},
		{Method: "median"}, {Cluster: "prompt"}} {
		must.Fail(ComputePulls([]Embedded{good}, o))(t)
	}
}

func randomImages(rng *rand.Rand) (images []Embedded) {
	for id := range 3 {
		for _, set := range []string{"d", "s", "ns"} {
			for range 2 + rng.IntN(6) {
				p := Embedded{fmt.Sprint("id", id), set, "", make([]float32, 5)}
				if set != "d" {
					p.Attribute = string(rune('a' + rng.IntN(3)))
				}
				for k := range p.Vector {
					p.Vector[k] = float32(rng.NormFloat64())
				}
				images = append(images, p)
			}
		}
	}
	return images
}

// TestPullOrder: neither the images' order nor other identities move a value or an interval.
func TestPullOrder(t *testing.T) {
	rng := near.Rand(t, 412)
	images := randomImages(rng)
	for _, o := range []PullVariant{{Intervals: metrics.Intervals{Resamples: 40, Seed: 3}},
		{Cluster: "image", Intervals: metrics.Intervals{Resamples: 40}},
		{Method: "pooled", Intervals: metrics.Intervals{Resamples: 40}}} {
		first := must.Get(ComputePulls(images, o))(t)
		var shuffled, alone []Embedded
		for _, i := range rng.Perm(len(images)) {
			shuffled = append(shuffled, images[i])
			if images[i].Identity == "id1" {
				alone = append(alone, images[i])
			}
		}
		must.Equal(t, fmt.Sprint(first), fmt.Sprint(must.Get(ComputePulls(shuffled, o))(t)))
		must.Equal(t, fmt.Sprint(must.Get(ComputePulls(alone, o))(t)[0]), fmt.Sprint(first[1]))
	}
}

// TestCopies: sets of copies of one image have intervals without width.
func TestCopies(t *testing.T) {
	var images []Embedded
	for i := range 4 {
		images = append(images, Embedded{"a", "d", "", []float32{1, 0}}, Embedded{"b", "d", "", []float32{3, 4}},
			Embedded{"a", "s", fmt.Sprint(i % 2), []float32{3, 4}}, Embedded{"a", "ns", "x", []float32{0, 1}})
	}
	for _, o := range []PullVariant{{Intervals: metrics.Intervals{Resamples: 25}},
		{Cluster: "image", Intervals: metrics.Intervals{Resamples: 25}},
		{Method: "pooled", Intervals: metrics.Intervals{Resamples: 25}},
		{Method: "pooled", Cluster: "image", Intervals: metrics.Intervals{Resamples: 25}}} {
		p := must.Get(ComputePulls(images, o))(t)
		near.Check(t, "pull", []float64{p[0].Pull.Value, p[0].Pull.Low, p[0].Pull.High, p[0].SNS.Low, p[0].SNS.High},
			[]float64{0.6, 0.6, 0.6, 0.8, 0.8}, 1e-12, 0)
	}
}
