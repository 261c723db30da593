package distribution

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/internal/tabulartest"
)

// images is a table of images of two regions and two objects; south is shifted.
func images(seed uint64, n int, shift float64) *table.Frame {
	r := rand.New(rand.NewPCG(seed, 3))
	var ids, region, object, answer []string
	var full [][]float32
	for i := range n {
		south := i % 3 / 2 // a third
		v := make([]float32, 6)
		for j := range v {
			v[j] = float32(r.NormFloat64() + shift*float64(south))
		}
		ids, region = append(ids, fmt.Sprintf("%d-%d", seed, i)), append(region, []string{"north", "south"}[south])
		object, full = append(object, []string{"bag", "car"}[i/3%2]), append(full, v)
		answer = append(answer, string(rune('a'+r.IntN(3+3*south))))
	}
	return &table.Frame{Columns: []table.Column{table.TextColumn("id", ids), table.TextColumn("region", region),
		table.TextColumn("object", object), table.TextColumn("answer", answer), table.VectorColumn("full", full)}}
}

func permuted(f *table.Frame) *table.Frame { return f.Pick(rand.New(rand.NewPCG(5, 5)).Perm(f.Len())) }

// metric is a metric with the column of its score and the inputs.
type metric struct {
	name, column string
	options      map[string]string
	two          bool
}

var all = []metric{
	{"frechet-distance", "frechet_distance", nil, true}, {"kid", "kid", nil, true}, {"cmmd", "cmmd", nil, true},
	{"image-retrieval", "image_retrieval", nil, true}, {"inception-score", "inception_score", nil, true},
	{"vendi", "vendi", nil, false}, {"hill-numbers", "hill", map[string]string{"column": "answer"}, false},
}

// run computes a metric; options are name, value pairs, and real is the reference table of those that have one.
func (m metric) run(real, generated *table.Frame, options ...string) (*table.Frame, []string, error) {
	given, notes := map[string]string{}, []string(nil)
	for k, v := range m.options {
		given[k] = v
	}
	for i := 0; i < len(options); i += 2 {
		given[options[i]] = options[i+1]
	}
	in := map[string]*table.Frame{"in": generated}
	if m.two {
		in = map[string]*table.Frame{"real": real, "generated": generated}
	}
	f, err := tabulartest.RunOn(m.name, in, given, &notes)
	return f, notes, err
}

// TestTables: all metrics by region have intervals, gaps and counts at equal n; the plain value of all rows without
// resamples; and the same values for rows in another order.
func TestTables(t *testing.T) {
	real, generated := images(1, 240, 0), images(2, 180, 1.5)
	for _, m := range all {
		f, notes := must.Get2(m.run(real, generated, "by", "region", "resamples", "50"))(t)
		value, low, high := f.Numbers(m.column), f.Numbers(m.column+"_low"), f.Numbers(m.column+"_high")
		if strings.Join(f.Texts("region"), " ") != "north south" || len(notes) > 0 ||
			f.Numbers("n_each")[0] != 60 || f.Numbers("n_each")[1] != 60 || f.Numbers("n_used")[0] != 120 {
			t.Errorf("%s: %v, %v, %v", m.name, f.Texts("region"), notes, f.Numbers("n_each"))
		}
		for i := range value {
			if !(low[i] < high[i] && low[i] <= value[i]+0.2*math.Abs(value[i]) && f.Texts("interval")[i] != "") {
				t.Errorf("%s: %v in [%v, %v]", m.name, value[i], low[i], high[i])
			}
		}
		gap := f.Numbers("gap")
		near.Check(t, m.name+", gap", gap, []float64{value[0] - value[1], value[1] - value[0]}, 1e-9, 1e-12)
		if m.name != "inception-score" && f.Texts("flagged")[1] != "yes" {
			t.Errorf("%s: the gap %v in [%v, %v] is not flagged", m.name, gap[1], f.Numbers("gap_low")[1],
				f.Numbers("gap_high")[1])
		}
		again, _ := must.Get2(m.run(permuted(real), permuted(generated), "by", "region", "resamples", "50"))(t)
		for _, column := range []string{m.column, m.column + "_low", m.column + "_high", "gap", "gap_low"} {
			near.Check(t, m.name+" of other rows' order, "+column, again.Numbers(column), f.Numbers(column), 1e-9, 1e-9)
		}
		plain := must.Get(first(m.run(real, generated, "resamples", "0", "by", "region")))(t)
		if n, low := plain.Numbers("n_each"), plain.Numbers(m.column+"_low"); n[0] != 120 || n[1] != 60 ||
			!math.IsNaN(low[0]) || !math.IsNaN(plain.Numbers("gap")[0]) || plain.Texts("interval")[0] != "" {
			t.Errorf("%s without resamples: %v", m.name, n)
		}
		whole := must.Get(first(m.run(real, generated)))(t)
		if whole.Len() != 1 || !math.IsNaN(whole.Numbers("gap")[0]) || whole.Numbers("n_each")[0] != 180 {
			t.Errorf("%s without groups: %v", m.name, whole)
		}
		sized := must.Get(first(m.run(real, generated, "n", "20", "resamples", "0")))(t)
		must.Equal(t, sized.Numbers("n_each")[0], 20, m.name, "of 20 images")
	}
}

func first(f *table.Frame, _ []string, err error) (*table.Frame, error) { return f, err }

// TestCeiling: held-out reference images are as near to the others as images of the same distribution.
func TestCeiling(t *testing.T) {
	real, far, near := images(1, 240, 0), images(2, 180, 3), images(3, 180, 0)
	for _, m := range all[:5] {
		f := must.Get(first(m.run(real, far, "ceiling", "true", "resamples", "40")))(t)
		c, low, high := f.Numbers("ceiling")[0], f.Numbers("ceiling_low")[0], f.Numbers("ceiling_high")[0]
		same := must.Get(first(m.run(real, near, "ceiling", "true", "resamples", "40")))(t)
		if v := same.Numbers(m.column)[0]; !(low < high && v > low-(high-low) && v < high+(high-low)) ||
			f.Numbers("n_each")[0] != 120 {
			t.Errorf("%s: ceiling %v in [%v, %v], of the same distribution %v", m.name, c, low, high, v)
		}
		if m.name != "inception-score" && m.name != "image-retrieval" && f.Numbers(m.column)[0] < 2*c {
			t.Errorf("%s: %v of other images is near the ceiling %v", m.name, f.Numbers(m.column)[0], c)
		}
	}
}

// TestIdentities: the same set, exchanged sets, copies, and the extrapolation.
func TestIdentities(t *testing.T) {
	a, b := images(1, 60, 0).Vectors("full"), images(2, 50, 1).Vectors("full")
	for name, score := range map[string]func(Vectors) (float64, error){
		"frechet": Frechet,
		"kid":     func(v Vectors) (float64, error) { return MMD(v, Polynomial, Unbiased) },
		"cmmd":    func(v Vectors) (float64, error) { return MMD(v, Gaussian, Biased) },
	} {
		one, other := must.Get(score(Vectors{a, b}))(t), must.Get(score(Vectors{b, a}))(t)
		near.Check(t, name+" of exchanged sets", []float64{other}, []float64{one}, 1e-9, 0)
		same := must.Get(score(Vectors{a, a}))(t)
		if limit := map[string]float64{"frechet": 1e-9, "kid": 0.5, "cmmd": 1e-9}[name]; math.Abs(same) > limit ||
			same > 1e-9 || one < 0.1 {
			t.Errorf("%s of the same set is %v, of others %v", name, same, one)
		}
	}
	f := must.Get(first(all[3].run(images(1, 60, 0), images(1, 60, 0), "resamples", "0")))(t)
	must.Equal(t, f.Numbers("image_retrieval")[0], 1)
	must.Equal(t, f.Numbers("image_retrieval_limit")[0], 1)
	for _, order := range []string{"0", "1", "2", "inf"} {
		once := must.Get(Vendi(a, order))(t)
		near.Check(t, "vendi of copies", []float64{must.Get(Vendi(slices.Concat(a, a), order))(t)}, []float64{once},
			1e-9, 0)
		must.Near(t, must.Get(Vendi([][]float32{a[0], a[0], a[0]}, order))(t), 1, 1e-9, "vendi of copies of one image")
	}
	f = must.Get(first(all[0].run(images(1, 60, 0), images(2, 60, 0), "extrapolate", "both")))(t)
	must.True(t, f.Numbers("frechet_distance_low")[0] < 0, "the interval of an extrapolated distance ends at 0")
	big, reference := images(3, 3000, 0).Vectors("full"), images(4, 3000, 0).Vectors("full")
	for of, most := range map[Extrapolation]float64{ExtrapolateGenerated: 0.08, ExtrapolateBoth: 0.06} {
		plain := must.Get(Frechet(Vectors{reference[:600], big[:600]}))(t)
		limit := must.Get(FrechetInfinity(Vectors{reference[:600], big[:600]}, of))(t)
		if math.Abs(limit) > most || limit >= plain {
			t.Errorf("%s: %v for infinitely many images, %v for 600", of, limit, plain)
		}
	}
}

// TestNames: groups of several columns are told apart, and can be named; a score of few images is at most n.
func TestNames(t *testing.T) {
	f := images(1, 24, 3)
	must.Get2(all[5].run(nil, f, "by", "region,object", "against", "north/bag"))(t)
	region, object := slices.Clone(f.Texts("region")), slices.Clone(f.Texts("object"))
	for i, name := range region {
		if region[i], object[i] = "a, b", "c"; name == "south" {
			region[i], object[i] = "a", "b, c"
		}
	}
	f = f.With(table.TextColumn("region", region), table.TextColumn("object", object))
	v, _ := must.Get2(all[5].run(nil, f, "by", "region,object", "n", "5"))(t)
	must.True(t, v.Numbers("vendi")[0] != v.Numbers("vendi")[1], "two groups have the same images")
	f = f.Pick([]int{0, 1, 2, 3}).With(table.VectorColumn("full", [][]float32{{1, 0, 0, 0}, {0.5, 1, 0, 0},
		{0, 0, 1, 0}, {0, 0, 0, 1}}))
	v, _ = must.Get2(all[5].run(nil, f))(t)
	must.Equal(t, v.Numbers("vendi_high")[0], 4)
}

// TestSubsets: the mean of subsets of stated size estimates the kernel distance of all images.
func TestSubsets(t *testing.T) {
	real, generated := images(1, 200, 0), images(2, 200, 1.5)
	whole := must.Get(first(all[1].run(real, generated)))(t).Numbers("kid")[0]
	mean := must.Get(first(all[1].run(real, generated, "n", "50", "samples", "400", "resamples", "0")))(t)
	must.Near(t, mean.Numbers("kid")[0], whole, 0.05*whole, "of 50 images on average, of all")
}

// TestErrors: what cannot be scored is an error that names the table, row and column, or a note about the group.
func TestErrors(t *testing.T) {
	real, generated := images(1, 60, 0), images(2, 60, 1)
	vectors := func(f *table.Frame, row int, v ...float32) *table.Frame {
		c := slices.Clone(f.Vectors("full"))
		c[row] = v
		return f.With(table.VectorColumn("full", c))
	}
	nan := float32(math.NaN())
	for _, m := range all[:6] {
		for want, f := range map[string]*table.Frame{
			"row 5": vectors(generated, 4, 1, 2, nan, 4, 5, 6), "row 7": vectors(generated, 6, 1, 2),
			"nothing to score": generated.Pick(nil),
		} {
			against := real
			if f.Len() == 0 {
				against = real.Pick(nil)
			}
			must.Fail(m.run(against, f))(t, want)
		}
		must.Fail(m.run(real, generated, "n", "100"))(t, "100")
	}
	for _, m := range all[:4] {
		only := real.Pick([]int{0, 1, 3, 4, 6, 7}) // north
		must.Fail(m.run(only, generated, "by", "region"))(t, `region "south" has 0 reference images`)
	}
	for _, m := range all[:6] {
		north := generated.Pick([]int{0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16, 18, 19, 21, 22})
		f, notes, err := m.run(real, vectors(north, 3), "by", "region")
		missing := slices.ContainsFunc(notes, func(n string) bool {
			return strings.Contains(n, "1 images of the table") && strings.Contains(n, "north")
		})
		if err != nil || f.Numbers("n_unmasked")[0] != 1 || f.Numbers("n_used")[0] != 15 || !missing {
			t.Errorf("%s with a missing vector: %v, %v", m.name, notes, err)
		}
		if m.two && m.name != "inception-score" && (f.Len() != 2 || !math.IsNaN(f.Numbers(m.column)[1])) {
			t.Errorf("%s without generated images: %v", m.name, f.Numbers(m.column))
		}
		one, notes, err := m.run(real, generated.Pick([]int{0}))
		if v := one.Numbers(m.column)[0]; err != nil || len(notes) == 0 ||
			math.IsNaN(v) != (m.name != "vendi" && m.name != "image-retrieval") {
			t.Errorf("%s of one image: %v, %v, %v", m.name, v, notes, err)
		}
		constant := slices.Repeat([][]float32{{1, 1, 1, 1, 1, 1}}, generated.Len())
		f, _, err = m.run(real, generated.With(table.VectorColumn("full", constant)))
		if err != nil || math.IsNaN(f.Numbers(m.column)[0]) {
			t.Errorf("%s of constant vectors: %v, %v", m.name, f, err)
		}
	}
	for i, options := range [][]string{{"extrapolate", "generated"}, {"splits", "4"}} { // need four images
		f, notes, err := all[4*i].run(real, generated.Pick([]int{0, 1, 2}), options...)
		if err != nil || !strings.Contains(strings.Join(notes, "\n"), "fewer than 4") ||
			!math.IsNaN(f.Numbers(all[4*i].column)[0]) {
			t.Errorf("%s of three images: %v, %v, %v", all[4*i].name, f, notes, err)
		}
	}
	must.Fail(Frechet(Vectors{Real: real.Vectors("full")}))(t, "0 vectors")
	zero := vectors(generated, 2, 0, 0, 0, 0, 0, 0)
	for _, m := range []metric{all[2], all[5]} {
		must.Fail(m.run(real, zero))(t, "all zeros")
	}
	blank := slices.Clone(generated.Texts("answer"))
	for i := range blank {
		if generated.Texts("region")[i] == "south" || i == 0 {
			blank[i] = ""
		}
	}
	f, notes, err := all[6].run(nil, generated.With(table.TextColumn("answer", blank)), "by", "region", "order", "0,1")
	if err != nil || f.Len() != 4 || !math.IsNaN(f.Numbers("hill")[1]) || f.Numbers("n_missing")[1] != 20 ||
		!slices.ContainsFunc(notes, func(n string) bool { return strings.Contains(n, "no image has a category") }) {
		t.Errorf("blank categories: %v, %v, %v", f, notes, err)
	}
	must.Fail(all[6].run(nil, generated, "column", "label"))(t, "label") // no such column
	// a group to compare with that does not exist
	must.Fail(all[4].run(nil, generated, "by", "region", "against", "west"))(t)
	must.Fail(Vendi(generated.Vectors("full"), "3"))(t) // order 3
	for _, options := range [][]string{{"n", "5", "at", "coverage"}, {"n", "5", "at", "infinity"},
		{"coverage", "0.9"}, {"coverage", "0.9", "at", "infinity"}} {
		must.Fail(all[6].run(nil, generated, options...))(t, "option "+options[0], "at=")
	}
	must.Fail(all[5].run(nil, generated, "cells", "objects"))(t, `"objects"`)
	_, notes, err = all[0].run(real, generated.Pick([]int{0, 1, 2, 3, 4, 5, 6, 7}))
	if err != nil || !strings.Contains(strings.Join(notes, "\n"), "below twice the 6") {
		t.Errorf("few images: %v, %v", notes, err)
	}
}

// TestAtCoverage: groups of one population and different n have equal Hill numbers at equal coverage, not plain ones.
func TestAtCoverage(t *testing.T) {
	var region, answer []string
	rng := rand.New(rand.NewPCG(1, 1))
	for region_, n := range map[string]int{"small": 60, "large": 900} {
		for range n {
			region = append(region, region_)
			answer = append(answer, fmt.Sprint(min(rng.IntN(40), rng.IntN(40))))
		}
	}
	f := &table.Frame{Columns: []table.Column{table.TextColumn("region", region), table.TextColumn("answer", answer)}}
	for at, far := range map[string]bool{"coverage": false, "infinity": false, "size": false, "plain": true} {
		options := []string{"by", "region", "order", "0", "at", at}
		if at == "plain" {
			options = []string{"by", "region", "order", "0", "resamples", "0"}
		}
		hill := must.Get(first(all[6].run(nil, f, options...)))(t).Numbers("hill")
		must.Equal(t, (math.Abs(hill[0]-hill[1]) > 0.2*hill[0]), far, at, hill)
	}
}
