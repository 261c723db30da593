package consistency

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"antipode/internal/must"
	"antipode/internal/near"
)

// named returns a set without images.
func named(languages, prompts int) Images {
	p := Images{Vectors: make([][][][]float32, languages)}
	for l := range languages {
		p.Languages = append(p.Languages, fmt.Sprintf("l%02d", l))
		p.Vectors[l] = make([][][]float32, prompts)
	}
	for k := range prompts {
		p.Prompts = append(p.Prompts, fmt.Sprintf("p%04d", k))
	}
	return p
}

func vector(rng *rand.Rand, width int) []float32 {
	v := make([]float32, width)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

// made returns a random set in which the images of a prompt are related and some are missing.
func made(rng *rand.Rand, languages, prompts, n, width int, missing float64) Images {
	p := named(languages, prompts)
	for k := range prompts {
		center := vector(rng, width)
		for l := range languages {
			p.Vectors[l][k] = make([][]float32, n)
			for r := range n {
				if v := vector(rng, width); rng.Float64() >= missing {
					for i := range v {
						v[i] += center[i]
					}
					p.Vectors[l][k][r] = v
				}
			}
		}
	}
	return p
}

// phi is the cosine by its definition.
func phi(a, b []float32) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa) / math.Sqrt(bb)
}

// Identical images: SCWL and SCAL are 1 as means, 2 as printed; DWL is 0. Orthogonal prompts: DWL is 1. Opposite images
// and references: −1. With 31 languages the variants of the overall score differ as their denominators do.
func TestClosedForms(t *testing.T) {
	p := named(31, 2)
	axis := [][]float32{{3, 0}, {0, 0.5}}
	for l := range p.Languages {
		for k := range p.Prompts {
			p.Vectors[l][k] = [][]float32{axis[k], axis[k], axis[k], axis[k]}
		}
	}
	for n, want := range map[PairNormalizer]float64{MeanUnequal: 1, MeanUpper: 1, MeanAll: 1, LiteralPair: 2} {
		pairs := must.Get(ComputeSCAL(p, n))(t)
		must.Near(t, pairs[0][7].Value, want, 1e-12, n)
		must.Near(t, pairs[7][7].Value, want, 1e-12, n)
		var values [][]float64
		for _, s := range pairs {
			values = append(values, valuesOf(s))
		}
		for o, factor := range map[OverallNormalizer]float64{MeanPairs: 1, HalfPairs: 0.5, LiteralOverall: 30} {
			must.Near(t, must.Get(ComputeSCALOverall(values, o))(t), factor*want, 1e-11, o, n)
		}
	}
	for n, want := range map[Normalizer]float64{Mean: 1, Literal: 2} {
		must.Near(t, must.Get(ComputeSCWL(p, n))(t)[3].Value, want, 1e-12, "SCWL", n)
	}
	for _, images := range []DWLImages{"", SameSeed, Centroid, FirstImage} {
		must.Near(t, must.Get(ComputeDWL(p, images, Mean))(t)[0].Value, 1, 1e-12, "DWL of orthogonal prompts", images)
	}
	s, err := ComputeCorrectness(p, [][]float32{{-1, 0}, {0, -7}})
	if err != nil || math.Abs(s[0].Value+1) > 1e-12 {
		t.Errorf("opposite references: %v, %v", s, err)
	}
	for l := range p.Languages {
		p.Vectors[l][1] = p.Vectors[l][0]
	}
	if s, err := ComputeDWL(p, AllImages, Mean); err != nil || math.Abs(s[0].Value) > 1e-12 {
		t.Errorf("DWL of one image: %v, %v", s[0].Value, err)
	}
}

// Images farther from the center of their prompt have lower correctness, SCWL and SCAL, and higher DWL.
func TestDirections(t *testing.T) {
	rng := near.Rand(t, 2)
	p, refs := named(2, 30), make([][]float32, 30)
	shared := vector(rng, 16)
	for k := range p.Prompts {
		refs[k] = vector(rng, 16)
		for i := range refs[k] {
			refs[k][i] += shared[i]
		}
		for l := range 2 {
			for range 4 {
				v := vector(rng, 16) // noise, ten times as much in the second language
				for i := range v {
					v[i] = refs[k][i] + []float32{0.3, 3}[l]*v[i]
				}
				p.Vectors[l][k] = append(p.Vectors[l][k], v)
			}
		}
	}
	c, _ := ComputeCorrectness(p, refs)
	w, _ := ComputeSCWL(p, Mean)
	d, err := ComputeDWL(p, AllImages, Mean)
	if err != nil || !(c[0].Value > c[1].Value && w[0].Value > w[1].Value && d[0].Value < d[1].Value) {
		t.Errorf("correctness %v, SCWL %v, DWL %v, %v", valuesOf(c), valuesOf(w), valuesOf(d), err)
	}
	pairs, err := ComputeSCAL(p, MeanUnequal)
	if err != nil || !(pairs[0][0].Value > pairs[0][1].Value && pairs[0][1].Value > pairs[1][1].Value) {
		t.Errorf("SCAL %v %v, %v", valuesOf(pairs[0]), valuesOf(pairs[1]), err)
	}
}

// Missing images are counted and left out, and a score without terms is NaN.
func TestMissing(t *testing.T) {
	rng := near.Rand(t, 3)
	p := made(rng, 3, 4, 3, 6, 0)
	p.Vectors[0][1] = [][]float32{nil, p.Vectors[0][1][1], nil} // one image left
	p.Vectors[0][2] = nil                                       // none
	p.Vectors[2] = make([][][]float32, 4)                       // a language without images
	refs := [][]float32{vector(rng, 6), vector(rng, 6), vector(rng, 6), nil}
	c, err := ComputeCorrectness(p, refs)
	if err != nil || c[0].Prompts != 2 || c[0].Excluded != 1 || c[0].Images != 7 || c[0].Missing != 5 ||
		c[2].Missing != 12 || !math.IsNaN(c[2].Value) {
		t.Errorf("correctness: %+v, %v", c, err)
	}
	must.Near(t, c[0].Value, (phi(refs[0], p.Vectors[0][0][0])+phi(refs[0], p.Vectors[0][0][1])+phi(refs[0],
		p.Vectors[0][0][2]))/6+phi(refs[1], p.Vectors[0][1][1])/2, 1e-12, "correctness")
	w, err := ComputeSCWL(p, Mean)
	if err != nil || w[0].Prompts != 2 || w[0].Excluded != 1 || !math.IsNaN(w[2].Value) {
		t.Errorf("SCWL: %+v, %v", w, err)
	}
	d, err := ComputeDWL(p, FirstImage, Mean)
	if err != nil || d[0].Prompts != 2 || d[0].Excluded != 1 || !math.IsNaN(d[2].Value) {
		t.Errorf("DWL: %+v, %v", d, err)
	}
	pairs, err := ComputeSCAL(p, MeanUnequal)
	if err != nil || pairs[0][1].Prompts != 2 || pairs[0][1].Excluded != 1 || pairs[0][1].Images != 19 ||
		pairs[0][1].Missing != 5 || !math.IsNaN(pairs[1][2].Value) {
		t.Errorf("SCAL: %+v, %v", pairs[0][1], err)
	}
	must.Equal(t, must.Get(ComputeSCAL(p, MeanAll))(t)[0][1].Prompts, 3, "SCAL, mean_all")
	if v, err := ComputeSCALOverall([][]float64{valuesOf(pairs[0]), valuesOf(pairs[1]), valuesOf(pairs[2])},
		LiteralOverall); err != nil || math.Abs(v-pairs[0][1].Value) > 1e-12 { // two languages: 2·x/2
		t.Errorf("overall without the third language: %v, %v", v, err)
	}
	one := Images{Languages: []string{"en"}, Prompts: []string{"a"}, Vectors: [][][][]float32{{{{1, 0}}}}}
	if d, err := ComputeDWL(one, AllImages, Mean); err != nil || !math.IsNaN(d[0].Value) || d[0].Excluded != 1 {
		t.Errorf("DWL of one prompt: %+v, %v", d, err)
	}
	must.Equal(t, len(must.Get(ComputeSCAL(Images{}, ""))(t)), 0, "nothing")
	if d, n := ComputeDrop(math.NaN(), []float64{1, math.NaN()}); !math.IsNaN(d) || n != 1 {
		t.Errorf("drop without English: %v, %v", d, n)
	}
}

func TestRefused(t *testing.T) {
	rng := near.Rand(t, 4)
	good := func() (Images, [][]float32) {
		return made(rng, 2, 3, 2, 4, 0), [][]float32{vector(rng, 4), vector(rng, 4), vector(rng, 4)}
	}
	for want, harm := range map[string]func(p *Images, refs [][]float32){
		`l01, prompt "p0002", image 1: the vector is all zeros`: func(p *Images,
			_ [][]float32) {
			p.Vectors[1][2][1] = make([]float32, 4)
		},
		"NaN or infinity": func(p *Images,
			_ [][]float32) {
			p.Vectors[0][0][0][3] = float32(math.NaN())
		},
		"vector of 3 numbers, others have 4": func(p *Images,
			_ [][]float32) {
			p.Vectors[1][0][0] = make([]float32, 3)
		},
		`language "l00" occurs twice`: func(p *Images, _ [][]float32) { p.Languages[1] = "l00" },
		`prompt "p0001" occurs twice`: func(p *Images, _ [][]float32) { p.Prompts[0] = "p0001" },
		"l01 has 2 prompts of 3": func(p *Images,
			_ [][]float32) {
			p.Vectors[1] = p.Vectors[1][:2]
		},
		`reference of prompt "p0000": the vector`: func(_ *Images, refs [][]float32) {
			refs[0] = make([]float32,
				4)
		},
		"reference of prompt \"p0001\": vector of 0": func(_ *Images, refs [][]float32) { refs[1] = []float32{} },
	} {
		p, refs := good()
		harm(&p, refs)
		must.Fail(ComputeCorrectness(p, refs))(t, want)
	}
	p, refs := good()
	p.Vectors[0][0] = [][]float32{{1, 0, 0, 0}, {-1, 0, 0, 0}}
	must.Fail(ComputeDWL(p, Centroid, Mean))(t, "no centroid") // images that cancel out
	if _, err := ComputeDWL(p, AllImages, Mean); err != nil {
		t.Errorf("images that cancel out: %v", err)
	}
	must.Fail(ComputeCorrectness(p, refs[:2]))(t) // a reference too few
	_, e1 := ComputeSCAL(p, "sum")
	_, e2 := ComputeSCWL(p, "sum")
	_, e3 := ComputeDWL(p, "last", Mean)
	_, e4 := ComputeSCALOverall([][]float64{{1, 1}, {1, 1}}, "sum")
	for _, err := range []error{e1, e2, e3, e4} {
		must.Fail(err)(t, "it must be ") // an unknown variant
	}
}
