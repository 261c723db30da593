package stereotypes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"antipode/internal/cputime"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics"
)

// paperSized are 40,000 captions of 12 words of 135 identities with 15 images each, and 1,994 attributes, a third
// of two words.
func paperSized(rng *rand.Rand) ([]Caption, Vocabulary) {
	word := func() string { return fmt.Sprint("w", int(4000*math.Pow(rng.Float64(), 2))) }
	var v Vocabulary
	for len(v.Attributes) < 1994 {
		a := word()
		if rng.IntN(3) == 0 {
			a += " " + word()
		}
		v.Attributes = append(v.Attributes, a)
	}
	captions := make([]Caption, 40000)
	for i := range captions {
		words := make([]string, 12)
		for k := range words {
			words[k] = word()
		}
		captions[i] = Caption{fmt.Sprint("id", i%135), fmt.Sprint(i / 135 % 15), strings.Join(words, " ")}
	}
	return captions, v
}

// BenchmarkSalience is tf-idf of 40,000 captions against 1,994 attributes, without and with 1000 bootstrap draws.
func BenchmarkSalience(b *testing.B) {
	captions, v := paperSized(near.Rand(b, 404))
	for _, draws := range []int{0, 1000} {
		b.Run(fmt.Sprint("draws=", draws), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = must.Get(ComputeSalience(captions, v, SalienceVariant{Weighting: Weighting{Alpha: 1},
					Intervals: metrics.Intervals{Resamples: draws}}))(b)
			}
		})
	}
}

// TestSalienceTime: 40,000 captions in under 5 s of a processor.
func TestSalienceTime(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: no timing")
	}
	captions, v := paperSized(near.Rand(t, 404))
	var err error
	took := cputime.Of(func() {
		_, err = ComputeSalience(captions, v,
			SalienceVariant{Weighting: Weighting{Alpha: 1}})
	})
	if err != nil || took > 5*time.Second {
		t.Errorf("%v, %v", took, err)
	}
}

// BenchmarkPulls is 135 identities with 15 default images, 3 stereotypes and 3 other attributes with 30 images
// each, of 512 numbers, 1000 bootstrap draws.
func BenchmarkPulls(b *testing.B) {
	rng := near.Rand(b, 414)
	var images []Embedded
	for id := range 135 {
		add := func(set, attribute string, n int) {
			for range n {
				v := make([]float32, 512)
				for k := range v {
					v[k] = float32(1 + rng.NormFloat64())
				}
				images = append(images, Embedded{fmt.Sprint(id), set, attribute, v})
			}
		}
		add(Default, "", 15)
		for a := range 3 {
			add(Stereotypical, fmt.Sprint(a), 30)
			add(NonStereotypical, fmt.Sprint(a), 30)
		}
	}
	for _, cluster := range []string{"attribute", "image"} {
		b.Run(cluster, func(b *testing.B) {
			for b.Loop() {
				_ = must.Get(ComputePulls(images,
					PullVariant{Cluster: cluster, Intervals: metrics.Intervals{Resamples: 1000}}))(b)
			}
		})
	}
}
