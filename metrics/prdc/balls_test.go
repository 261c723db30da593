package prdc

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"antipode/internal/must"
)

func line(x ...float32) (rows [][]float32) {
	for _, v := range x {
		if v != v { // NaN stands for an image without a vector
			rows = append(rows, nil)
		} else {
			rows = append(rows, []float32{v})
		}
	}
	return rows
}

func label(prefix string, n int) (labels []Label) {
	for i := range n {
		labels = append(labels, Label{ID: fmt.Sprint(prefix, i), Object: []string{"car", "bag"}[i%2], Region: "N"})
	}
	return labels
}

func manifoldOf(t *testing.T, real, generated [][]float32) *Manifold {
	t.Helper()
	run := must.Get(Compute(t.Context(), Sets{Real: real, Generated: generated},
		Options{K: 1, Members: true}, nil))(t)
	return must.Get(NewManifold(label("r", len(real)), label("g", len(generated)), run))(t)
}

var none = float32(math.NaN())

// Real 0, 1, 3, 7 have radii 1, 1, 2, 4. Generated: 0.5 in balls 0 and 1; 6 and 8 in ball 3 alone; 2.5 in ball 2
// alone; 30 and a miss in none.
func example(t *testing.T) *Manifold {
	return manifoldOf(t, line(0, 1, 3, 7), line(0.5, 6, 8, 2.5, 30, none))
}

func ids(labels []Label) (out []string) {
	for _, l := range labels {
		out = append(out, l.ID)
	}
	return out
}

func TestBook(t *testing.T) {
	b := example(t)
	must.EqualSlices(t, b.Balls[3].Inside, []Hit{{"g1", 1}, {"g2", 1}}, b.Balls[3])
	must.Equal(t, b.Balls[3].Radius, 4, b.Balls[3])
	must.Equal(t, b.Balls[3].Object, "bag", b.Balls[3])
	if want := []Hit{{"r0", 0.5}, {"r1", 0.5}}; !slices.Equal(b.Containing(0), want) || b.Containing(4) != nil ||
		b.Containing(5) != nil {
		t.Errorf("%+v", b.Containing(0))
	}
	run := &Result{Real: 1, Generated: 1, Members: make([][]Member, 1), Radii: make([]float32, 1)}
	for name, err := range map[string]error{
		"no members": second(NewManifold(nil, nil, &Result{})),
		"counts":     second(NewManifold(nil, label("g", 1), run)),
		"twice": second(NewManifold([]Label{{ID: "x"}, {ID: "x"}}, nil,
			&Result{Real: 2, Members: make([][]Member, 2), Radii: make([]float32, 2)})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second(_ *Manifold, err error) error { return err }

func TestOutOfManifold(t *testing.T) {
	b := example(t)
	must.EqualSlices(t, ids(b.OutOfManifold(0, 1, nil)), []string{"g4", "g5"})
	if got := ids(b.OutOfManifold(0, 1, func(l Label) bool { return l.Object == "car" })); !slices.Equal(got,
		[]string{"g4"}) {
		t.Errorf("%v", got)
	}
	far := make([]float32, 40)
	for i := range far {
		far[i] = 100 + float32(i)
	}
	many := manifoldOf(t, line(0, 1, 3, 7), line(far...))
	a, again, other := ids(many.OutOfManifold(9, 5, nil)), ids(many.OutOfManifold(9, 5, nil)),
		ids(many.OutOfManifold(9, 6, nil))
	if len(a) != 9 || !slices.Equal(a, again) || slices.Equal(a, other) {
		t.Errorf("%v, %v, %v", a, again, other)
	}
	slices.Reverse(many.Generated)
	must.EqualSlices(t, a, ids(many.OutOfManifold(9, 5, nil)), "the draw depends on the order")
}

// The hub is ball 3 with two images, which lie nowhere else: 2 of the 4 images in the manifold leave with it.
func TestHubs(t *testing.T) {
	b := example(t)
	hubs := b.Hubs(2, 1)
	if len(hubs) != 2 || hubs[0].ID != "r3" || hubs[1].ID != "r0" {
		t.Errorf("%+v", hubs)
	}
	must.Equal(t, len(b.Hubs(0, 2)), 1)
	got := b.LeaveOut()
	want := []LeaveOut{{"top 1", 0.5, 1, 2, 4}, {"top 5", 1, 4, 4, 4}, {"top 10", 1, 4, 4, 4},
		{"top 1 %", 0.5, 1, 2, 4}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	empty := manifoldOf(t, line(0, 1, 3), line(50))
	if l := empty.LeaveOut()[0]; l.Inside != 0 || !math.IsNaN(l.Share) {
		t.Errorf("%+v", l)
	}
}

// All eight triples occur; each selection takes the ones it names.
func TestTriples(t *testing.T) {
	b := func(mask int) *Manifold {
		out := &Manifold{}
		for i := range 8 {
			ball := Ball{Label: Label{ID: fmt.Sprintf("%03b", i)}} // Full, Obj, BG
			if i&mask != 0 {
				ball.Inside = []Hit{{"g", 1}}
			}
			out.Balls = append(out.Balls, ball)
		}
		return out
	}
	full, object, background := b(4), b(2), b(1)
	background.Balls = append(background.Balls[1:], Ball{Label: Label{ID: "only here"}})
	triples := Triples(full, object, background)
	if len(triples) != 7 || triples[0].ID != "001" {
		t.Fatalf("%+v", triples)
	}
	names := func(t []Triple) (out []string) {
		for _, x := range t {
			out = append(out, x.ID)
		}
		return out
	}
	for _, c := range []struct {
		got  []Triple
		want []string
	}{
		{LowDiversityBackgrounds(triples, false), []string{"010", "110"}},
		{LowDiversityBackgrounds(triples, true), []string{"110"}},
		{LowDiversityObjects(triples, false), []string{"001", "101"}},
		{LowDiversityObjects(triples, true), []string{"001"}},
	} {
		must.EqualSlices(t, names(c.got), c.want)
	}
}

func TestTags(t *testing.T) {
	tags := Tags{"a": {"rusty", "dirty", "rusty"}, "c": {}, "elsewhere": {"rusty"}}
	shares, notSeen := tags.Shares([]Label{{ID: "a"}, {ID: "c"}, {ID: "d"}})
	must.EqualSlices(t, shares, []TagShare{{"dirty", 0.5, 1, 2}, {"rusty", 0.5, 1, 2}})
	must.Equal(t, notSeen, 1)
}
