package prdc

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"antipode/internal/distance"
	"antipode/internal/must"
	"antipode/internal/near"
	"antipode/metrics/interval"
)

func normal(r *rand.Rand, n, d int, shift, scale float64) [][]float32 {
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, d)
		for c := range rows[i] {
			rows[i][c] = float32(shift + scale*r.NormFloat64())
		}
	}
	return rows
}

func grid(r *rand.Rand, n, d, side int) [][]float32 {
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = make([]float32, d)
		for c := range rows[i] {
			rows[i][c] = float32(r.IntN(side))
		}
	}
	return rows
}

// oracle computes the scores from the definition, with whole distance matrices, over the rows that are taken. Nil
// rows of generated are misses.
func oracle(sets Sets, k int, closed bool, real, generated func(int) bool) Scores {
	var rows, cols [][]float32
	total := 0
	for j, v := range sets.Real {
		if real(j) {
			rows = append(rows, v)
		}
	}
	for i, v := range sets.Generated {
		if generated(i) {
			total++
			if v != nil {
				cols = append(cols, v)
			}
		}
	}
	in := func(d, r float32) bool { return d < r || closed && d == r }
	radius := func(set [][]float32, j int) float32 {
		list := distance.List{K: k}
		for i, v := range set {
			if i != j {
				list.Offer(int32(i), distance.Between(set[j], v))
			}
		}
		return list.Worst()
	}
	held := make([]bool, len(cols))
	covered, pairs, recalled := 0, 0, make([]bool, len(rows))
	for j := range rows {
		r, any := radius(rows, j), false
		for i := range cols {
			if in(distance.Between(rows[j], cols[i]), r) {
				held[i], any = true, true
				pairs++
			}
		}
		if any {
			covered++
		}
	}
	for i := range cols {
		r := radius(cols, i)
		for j := range rows {
			recalled[j] = recalled[j] || len(cols) > k && in(distance.Between(rows[j], cols[i]), r)
		}
	}
	count := func(b []bool) (n float64) {
		for _, x := range b {
			if x {
				n++
			}
		}
		return n
	}
	s := Scores{Precision: math.NaN(), Density: math.NaN(), Recall: math.NaN(),
		Coverage: float64(covered) / float64(len(rows))}
	if total > 0 {
		s.Precision = count(held) / float64(total)
		s.Density = float64(pairs) / float64(k*total)
	}
	if len(cols) > k {
		s.Recall = count(recalled) / float64(len(rows))
	}
	return s
}

func all(int) bool { return true }

func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func equal(a, b Scores) bool {
	return same(a.Precision, b.Precision) && same(a.Coverage, b.Coverage) && same(a.Density, b.Density) &&
		same(a.Recall, b.Recall)
}

func compute(t *testing.T, sets Sets, opts Options) *Result {
	t.Helper()
	return must.Get(Compute(context.Background(), sets, opts, nil))(t)
}

func floats(t *testing.T, text string) []float32 {
	raw := must.Get(base64.StdEncoding.DecodeString(text))(t)
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out
}

func rows(flat []float32, width int) [][]float32 {
	var out [][]float32
	for len(flat) > 0 {
		out, flat = append(out, flat[:width]), flat[width:]
	}
	return out
}

// Scores and radii are those of the reference implementation; testdata/golden.py makes them.
func TestReference(t *testing.T) {
	text := must.Get(os.ReadFile("testdata/golden.json"))(t)
	var cases []struct {
		Name                                 string
		K, Width                             int
		Real, Generated, Radii               string
		Precision, Recall, Density, Coverage float64
	}
	must.Do(t, json.Unmarshal(text, &cases))
	if len(cases) < 8 {
		t.Fatalf("%d cases in golden.json", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			sets := Sets{Real: rows(floats(t, c.Real), c.Width), Generated: rows(floats(t, c.Generated), c.Width)}
			r := compute(t, sets, Options{K: c.K, Recall: true})
			for _, s := range []struct {
				name      string
				got, want float64
			}{{"precision", r.Precision, c.Precision}, {"recall", r.Recall, c.Recall},
				{"density", r.Density, c.Density}, {"coverage", r.Coverage, c.Coverage}} {
				must.Near(t, s.got, s.want, 1e-12, s.name)
			}
			for j, want := range floats(t, c.Radii) {
				must.Equal(t, r.Radii[j], want, "radius of row", j)
			}
		})
	}
}

// By hand: real 0, 1, 3, 7 on a line, k = 1: radii 1, 1, 2, 4. Generated 0.5 is in the balls of 0 and 1; 5 lies on
// the boundary of the ball of 3 and in that of 7; 20 in none; a miss counts.
func TestByHand(t *testing.T) {
	line := func(x ...float32) (rows [][]float32) {
		for _, v := range x {
			rows = append(rows, []float32{v})
		}
		return rows
	}
	sets := Sets{Real: line(0, 1, 3, 7), Generated: append(line(0.5, 5, 20), nil)}
	r := compute(t, sets, Options{K: 1, Members: true})
	if r.Precision != 2./4 || r.Coverage != 3./4 || r.Density != 3./4 || r.Misses != 1 || r.Generated != 4 {
		t.Errorf("open: %+v", r)
	}
	must.EqualSlices(t, r.Inside, []int32{1, 1, 0, 1}, "inside")
	must.EqualSlices(t, r.Balls, []int32{2, 1, 0, 0}, "balls")
	if len(r.Members[3]) != 1 || r.Members[3][0] != (Member{1, 2}) || r.Members[2] != nil {
		t.Errorf("members = %v", r.Members)
	}
	if c := compute(t, sets, Options{K: 1, Closed: true}); c.Coverage != 1 || c.Density != 1 || c.Precision != 2./4 {
		t.Errorf("closed: %+v", c)
	}
	dropped := compute(t, Sets{sets.Real, sets.Generated[:3]}, Options{K: 1})
	must.Equal(t, dropped.Precision, 2./3, "with the miss left out precision")
}

func TestOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(near.Seed(t), 1))
	for _, sets := range []Sets{
		{normal(r, 70, 9, 0, 1), normal(r, 50, 9, 0.2, 1.1)},
		{normal(r, 40, 3, 5, 1), append(normal(r, 60, 3, 5, 0.8), nil, nil, nil)},
		{grid(r, 80, 3, 4), grid(r, 90, 3, 5)},
	} {
		for _, closed := range []bool{false, true} {
			for _, k := range []int{1, 3, 5} {
				got := compute(t, sets, Options{K: k, Closed: closed, Recall: true})
				if want := oracle(sets, k, closed, all, all); !equal(got.Scores, want) {
					t.Errorf("k %d, closed %v: %+v, want %+v", k, closed, got.Scores, want)
				}
			}
		}
	}
}

// Every half-sample's scores are those of the half computed directly, also where the neighbor lists are too short.
func TestHalfSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(near.Seed(t), 2))
	for _, sets := range []Sets{
		{normal(r, 61, 6, 0, 1), append(normal(r, 40, 6, 0.3, 1), nil, nil, nil, nil)},
		{grid(r, 70, 2, 5), grid(r, 66, 2, 6)},
	} {
		real := halves(t, "real", len(sets.Real))
		generated := halves(t, "generated", len(sets.Generated))
		for _, closed := range []bool{false, true} {
			for _, keep := range []int{0, 3, 5} {
				got := compute(t, sets, Options{Closed: closed, Recall: true, RealSamples: real,
					GeneratedSamples: generated, Keep: keep})
				for b, s := range got.Samples {
					want := oracle(sets, 3, closed, func(j int) bool { return real.Contains(b, j) },
						func(i int) bool { return generated.Contains(b, i) })
					if !equal(s, want) {
						t.Fatalf("closed %v, keep %d, half-sample %d: %+v, want %+v", closed, keep, b, s, want)
					}
				}
			}
		}
	}
	many, s := normal(r, 340, 3, 0, 1), halves(t, "real", 340) // more neighbors than a byte counts
	o := Options{K: 40, RealSamples: s, GeneratedSamples: s}
	got := compute(t, Sets{many, many}, o).Samples
	o.Keep = 60
	for b, want := range compute(t, Sets{many, many}, o).Samples {
		must.True(t, equal(got[b], want), "k 40, half-sample %d: %+v, want %+v", b, got[b], want)
	}
}

// TestHeldOut: the real images outside a half-sample, as if generated, score as in the definition.
func TestHeldOut(t *testing.T) {
	r := rand.New(rand.NewPCG(near.Seed(t), 31))
	real := normal(r, 41, 3, 0, 1)
	for _, m := range []int{41, 60, 20} {
		s := halves(t, "real", len(real))
		sets := Sets{real, normal(r, m, 3, 0.3, 1)}
		all := compute(t, sets, Options{RealSamples: s, GeneratedSamples: halves(t, "generated", m), HeldOut: true,
			Members: true, Keep: 4})
		got, members := all.HeldOut, compute(t, sets, Options{Members: true}).Members
		for j := range members {
			must.EqualSlices(t, all.Members[j], members[j], "members of", j)
		}
		out := s.Outside(float64(m) / float64(len(real)))
		for b, size := range out.Sizes() {
			want := oracle(Sets{real, real}, 3, false, func(j int) bool { return s.Contains(b, j) },
				func(i int) bool { return out.Contains(b, i) })
			left := len(real) - s.Sizes()[b]
			if want.Recall = nan; !equal(got[b], Scores{want.Precision, want.Coverage, want.Density, nan}) ||
				size != min(left, int(float64(m)/41*float64(left)+0.5)) {
				t.Fatalf("%d generated, half-sample %d of %d held-out images: %+v, want %+v", m, b, size, got[b], want)
			}
		}
	}
}

func halves(t *testing.T, side string, n int) *interval.Samples {
	t.Helper()
	cells := make([]string, n)
	for i := range cells {
		cells[i] = "cell " + strconv.Itoa(i%4)
	}
	o := interval.HalfSampleOptions{Seed: 7, Resamples: 130, Side: side, Cells: cells}
	return must.Get(interval.HalfSample(o))(t)
}

// A set compared with itself: every vector but one with radius 0 covers itself.
func TestIdentity(t *testing.T) {
	set := normal(rand.New(rand.NewPCG(near.Seed(t), 3)), 50, 5, 0, 1)
	if s := compute(t, Sets{set, set}, Options{Recall: true}); s.Precision != 1 || s.Coverage != 1 || s.Recall != 1 {
		t.Errorf("%+v", s.Scores)
	}
}

// The order of rows changes only the order of the results per row.
func TestPermutation(t *testing.T) {
	r := rand.New(rand.NewPCG(near.Seed(t), 4))
	sets := Sets{grid(r, 90, 2, 6), grid(r, 80, 2, 7)}
	before := compute(t, sets, Options{Recall: true})
	perm := r.Perm(len(sets.Real))
	shuffled := Sets{Generated: sets.Generated}
	for _, j := range perm {
		shuffled.Real = append(shuffled.Real, sets.Real[j])
	}
	after := compute(t, shuffled, Options{Recall: true})
	if !equal(before.Scores, after.Scores) {
		t.Errorf("%+v became %+v", before.Scores, after.Scores)
	}
	for i, j := range perm {
		if before.Inside[j] != after.Inside[i] || before.Radii[j] != after.Radii[i] {
			t.Fatalf("row %d", j)
		}
	}
}

// Real and generated are not exchangeable: a narrow generated set is realistic and not diverse.
func TestDirection(t *testing.T) {
	r := rand.New(rand.NewPCG(near.Seed(t), 5))
	wide, narrow := normal(r, 150, 8, 0, 1), normal(r, 150, 8, 0, 0.3)
	s := compute(t, Sets{Real: wide, Generated: narrow}, Options{Recall: true})
	if s.Precision < 0.9 || s.Recall > 0.5 {
		t.Errorf("narrow generated set: %+v", s.Scores)
	}
	o := compute(t, Sets{Real: narrow, Generated: wide}, Options{Recall: true})
	if o.Precision > 0.5 || o.Recall != s.Precision || o.Precision != s.Recall {
		t.Errorf("exchanged: %+v, before %+v", o.Scores, s.Scores)
	}
}

func TestErrors(t *testing.T) {
	ok := [][]float32{{0}, {1}, {2}, {4}}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range map[string]struct {
		sets Sets
		opts Options
		want string
	}{
		"few":  {Sets{ok[:3], ok}, Options{}, "3 real vectors, at least 4"},
		"none": {Sets{nil, ok}, Options{}, "0 real vectors"},
		"nan": {Sets{[][]float32{{0}, {nan}, {2}, {4}}, ok}, Options{},
			"real row 2: number 1 of the vector is NaN"},
		"inf": {Sets{ok, [][]float32{{0}, nil, {inf}}}, Options{},
			"generated row 3: number 1 of the vector is +Inf"},
		"width":        {Sets{ok, [][]float32{{0, 1}}}, Options{}, "generated row 1: 2 numbers"},
		"null":         {Sets{[][]float32{{0}, nil, {2}, {4}}, ok}, Options{}, "real row 2: there is no vector"},
		"empty":        {Sets{ok, [][]float32{{}}}, Options{}, "generated row 1: there is no vector"},
		"k":            {Sets{ok, ok}, Options{K: -1}, "k = -1"},
		"half-samples": {Sets{ok, ok}, Options{RealSamples: halves(t, "real", 4)}, "half-samples of both sets"},
		"lengths": {Sets{ok, ok},
			Options{RealSamples: halves(t, "real", 4), GeneratedSamples: halves(t, "generated", 5)},
			"half-samples of 4 real and 5"},
		"half": {Sets{ok, ok}, Options{RealSamples: halves(t, "real", 4), GeneratedSamples: halves(t, "generated", 4)},
			"half-sample"},
	} {
		must.Fail(Compute(context.Background(), c.sets, c.opts, nil))(t, c.want)
	}
	var few *ErrTooFewSamples
	if _, err := Compute(context.Background(), Sets{ok[:3], ok}, Options{}, nil); !errors.As(err, &few) ||
		few.Have != 3 || few.Need != 4 {
		t.Errorf("%v", err)
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Compute(stopped, Sets{ok, ok}, Options{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestLimits: no generated images, misses only, radii of 0, and too few generated vectors for recall.
func TestLimits(t *testing.T) {
	line := [][]float32{{0}, {1}, {2}, {4}}
	if r := compute(t, Sets{Real: line}, Options{}); !math.IsNaN(r.Precision) || r.Coverage != 0 {
		t.Errorf("M = 0: %+v", r.Scores)
	}
	if r := compute(t, Sets{line, [][]float32{nil, nil}}, Options{}); r.Precision != 0 || r.Coverage != 0 {
		t.Errorf("misses only: %+v", r.Scores)
	}
	copies := Sets{[][]float32{{0}, {0}, {5}, {9}, {12}}, [][]float32{{0}}}
	if r := compute(t, copies, Options{K: 1}); r.ZeroRadii != 2 || r.Inside[0] != 0 {
		t.Errorf("duplicates: %+v", r)
	}
	if r := compute(t, Sets{line, line[:2]}, Options{Recall: true}); !math.IsNaN(r.Recall) {
		t.Errorf("recall = %v", r.Recall)
	}
}
