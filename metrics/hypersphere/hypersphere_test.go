package hypersphere

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"antipode/metrics/prdc"
)

func line(x ...float32) (rows [][]float32) {
	for _, v := range x {
		if v != v { // NaN stands for a picture without a vector
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

func book(t *testing.T, real, generated [][]float32) *Book {
	t.Helper()
	run, err := prdc.Compute(t.Context(), prdc.Sets{Real: real, Generated: generated}, prdc.Options{K: 1, Members: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewBook(label("r", len(real)), label("g", len(generated)), run)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var none = float32(math.NaN())

// Real 0, 1, 3, 7 have radii 1, 1, 2, 4. Generated: 0.5 in balls 0 and 1; 6 and 8 in ball 3 alone; 2.5 in ball 2 alone; 30 and a miss in none.
func example(t *testing.T) *Book {
	return book(t, line(0, 1, 3, 7), line(0.5, 6, 8, 2.5, 30, none))
}

func ids(labels []Label) (out []string) {
	for _, l := range labels {
		out = append(out, l.ID)
	}
	return out
}

func TestBook(t *testing.T) {
	b := example(t)
	if want := []Hit{{"g1", 1}, {"g2", 1}}; !slices.Equal(b.Balls[3].Inside, want) || b.Balls[3].Radius != 4 || b.Balls[3].Object != "bag" {
		t.Errorf("%+v", b.Balls[3])
	}
	if want := []Hit{{"r0", 0.5}, {"r1", 0.5}}; !slices.Equal(b.Holders(0), want) || b.Holders(4) != nil || b.Holders(5) != nil {
		t.Errorf("%+v", b.Holders(0))
	}
	run := &prdc.Result{Real: 1, Generated: 1, Members: make([][]prdc.Member, 1), Radii: make([]float32, 1)}
	for name, err := range map[string]error{
		"no members": second(NewBook(nil, nil, &prdc.Result{})),
		"counts":     second(NewBook(nil, label("g", 1), run)),
		"twice": second(NewBook([]Label{{ID: "x"}, {ID: "x"}}, nil,
			&prdc.Result{Real: 2, Members: make([][]prdc.Member, 2), Radii: make([]float32, 2)})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second(_ *Book, err error) error { return err }

func TestOutOfManifold(t *testing.T) {
	b := example(t)
	if got := ids(b.OutOfManifold(0, 1, nil)); !slices.Equal(got, []string{"g4", "g5"}) {
		t.Errorf("%v", got)
	}
	if got := ids(b.OutOfManifold(0, 1, func(l Label) bool { return l.Object == "car" })); !slices.Equal(got, []string{"g4"}) {
		t.Errorf("%v", got)
	}
	far := make([]float32, 40)
	for i := range far {
		far[i] = 100 + float32(i)
	}
	many := book(t, line(0, 1, 3, 7), line(far...))
	a, again, other := ids(many.OutOfManifold(9, 5, nil)), ids(many.OutOfManifold(9, 5, nil)), ids(many.OutOfManifold(9, 6, nil))
	if len(a) != 9 || !slices.Equal(a, again) || slices.Equal(a, other) {
		t.Errorf("%v, %v, %v", a, again, other)
	}
	slices.Reverse(many.Generated)
	if got := ids(many.OutOfManifold(9, 5, nil)); !slices.Equal(a, got) {
		t.Errorf("the draw depends on the order: %v, %v", a, got)
	}
}

// The hub is ball 3 with two pictures, which lie nowhere else: 2 of the 4 pictures in the manifold leave with it.
func TestHubs(t *testing.T) {
	b := example(t)
	hubs := b.Hubs(2, 1)
	if len(hubs) != 2 || hubs[0].ID != "r3" || hubs[1].ID != "r0" {
		t.Errorf("%+v", hubs)
	}
	if all := b.Hubs(0, 2); len(all) != 1 {
		t.Errorf("%+v", all)
	}
	got := b.LeaveOut()
	want := []LeaveOut{{"top 1", 1, 2, 4, 0.5}, {"top 5", 4, 4, 4, 1}, {"top 10", 4, 4, 4, 1}, {"top 1 %", 1, 2, 4, 0.5}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	empty := book(t, line(0, 1, 3), line(50))
	if l := empty.LeaveOut()[0]; l.Inside != 0 || !math.IsNaN(l.Share) {
		t.Errorf("%+v", l)
	}
}

// All eight triples occur; each selection takes the ones it names.
func TestTriples(t *testing.T) {
	b := func(mask int) *Book {
		out := &Book{}
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
		{LowDiversityBackgrounds(triples, false), []string{"010", "110"}}, {LowDiversityBackgrounds(triples, true), []string{"110"}},
		{LowDiversityObjects(triples, false), []string{"001", "101"}}, {LowDiversityObjects(triples, true), []string{"001"}},
	} {
		if !slices.Equal(names(c.got), c.want) {
			t.Errorf("%v, want %v", names(c.got), c.want)
		}
	}
}

func TestComparePrompts(t *testing.T) {
	var labels []Label
	for i := range 10 {
		for _, template := range []string{"orig", "new", "third"} {
			labels = append(labels, Label{fmt.Sprint(template, i), "N", "car", template})
		}
	}
	labels = append(labels, Label{"alone", "S", "car", "orig"})
	pairs := ComparePrompts(labels, "orig", "new", 3, 1)
	if len(pairs) != 1 || pairs[0].Region != "N" || len(pairs[0].A) != 3 || len(pairs[0].B) != 3 || pairs[0].OfA != 10 {
		t.Fatalf("%+v", pairs)
	}
	for _, l := range pairs[0].B {
		if l.Template != "new" {
			t.Errorf("%+v", l)
		}
	}
	if !reflect.DeepEqual(pairs, ComparePrompts(labels, "orig", "new", 3, 1)) {
		t.Error("equal seeds, other pictures")
	}
}

func TestTags(t *testing.T) {
	labels := Inspect([]Label{{ID: "c", Object: "car", Region: "N"}, {ID: "a", Object: "car", Region: "N"}, {ID: "b", Object: "bag", Region: "N"}, {ID: "d", Object: "car", Region: "N"}}, "car", "N")
	if !slices.Equal(ids(labels), []string{"a", "c", "d"}) {
		t.Fatalf("%v", labels)
	}
	tags := Tags{"a": {"rusty", "dirty", "rusty"}, "c": {}, "elsewhere": {"rusty"}}
	check := func(tags Tags) {
		t.Helper()
		shares, notSeen := tags.Shares(labels)
		if want := []TagShare{{"dirty", 1, 2, 0.5}, {"rusty", 1, 2, 0.5}}; !slices.Equal(shares, want) || notSeen != 1 {
			t.Errorf("%+v, %d", shares, notSeen)
		}
	}
	check(tags)
	var file bytes.Buffer
	if err := tags.Write(&file); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(file.String(), "id,tag\na,dirty\na,rusty\n") {
		t.Error(file.String())
	}
	again, err := ReadTags(strings.NewReader("\ufeff"+file.String()), "tags.csv")
	if err != nil {
		t.Fatal(err)
	}
	check(again)
	for _, text := range []string{"", "id,label\n", "id,tag\na\n", "id,tag\na,\"b\n"} {
		if _, err := ReadTags(strings.NewReader(text), "tags.csv"); err == nil || !strings.Contains(err.Error(), "tags.csv") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
