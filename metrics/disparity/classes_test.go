package disparity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/internal/must"
	"antipode/internal/near"
)

// Both filters name the objects that go, in numbers made by hand: bag has enough of both, car lacks images in one
// region, soap masks, lamp is not in one region at all.
func TestClassFilter(t *testing.T) {
	var objects, places, outcomes []string
	add := func(object, region string, n, unmasked int) {
		for i := range n {
			outcome := "ok"
			if i < unmasked {
				outcome = "unmasked"
			}
			objects, places, outcomes = append(objects, object), append(places, region), append(outcomes, outcome)
		}
	}
	for _, region := range []string{"Africa", "Europe"} {
		add("bag", region, 10, 1)
		add("soap", region, 10, map[string]int{"Africa": 2, "Europe": 1}[region])
		add("car", region, map[string]int{"Africa": 9, "Europe": 12}[region], 0)
	}
	add("lamp", "Europe", 20, 0)
	f := &table.Frame{Columns: []table.Column{table.TextColumn("object", objects),
		table.TextColumn("region", places), table.TextColumn("outcome", outcomes)}}
	f = f.Pick(near.Rand(t, 51).Perm(f.Len()))
	got, notes, err := evaluate(t,
		ask{Metric: "class-filter", Options: options("min-images", "10", "max-unmasked", "2", "per-images", "20")}, f)
	if err != nil || got.Len() != 8 || len(notes) != 1 || notes[0] != "3 of 4 objects are left out: car, lamp, soap" {
		t.Fatal(got, notes, err)
	}
	for i, want := range []string{"bag Africa yes 10/1 20/2 ", "bag Europe yes 10/1 20/2 ",
		"car Africa no 9/0 21/0 9 images in Africa", "car Europe no 12/0 21/0 9 images in Africa",
		"lamp Africa no 0/0 20/0 0 images in Africa",
		"lamp Europe no 20/0 20/0 0 images in Africa", "soap Africa no 10/2 20/3 3 of 20 images without a mask",
		"soap Europe no 10/1 20/3 3 of 20 images without a mask"} {
		line := fmt.Sprintf("%s %s %s %v/%v %v/%v %s", got.Texts("object")[i], got.Texts("region")[i],
			got.Texts("kept")[i], got.Numbers("n_images")[i], got.Numbers("n_unmasked")[i],
			got.Numbers("class_images")[i], got.Numbers("class_unmasked")[i], got.Texts("reason")[i])
		must.Equal(t, line, want, "row", i)
	}
	masks := make([]table.Mask, f.Len())
	for i, o := range f.Texts("outcome") {
		if o == "ok" {
			masks[i] = table.Mask{Size: [2]int{1, 1}, Counts: "0"}
		}
	}
	other := &table.Frame{Columns: []table.Column{f.Columns[0], f.Columns[1],
		{ColumnSpec: table.ColumnSpec{Name: "mask", Kind: table.KindMask}, Masks: masks}}}
	same, _, err := evaluate(t,
		ask{Metric: "class-filter", Options: options("min-images", "10", "max-unmasked", "2", "per-images", "20")},
		other)
	if err != nil || datasets.Format(same, 0) != datasets.Format(got, 0) {
		t.Errorf("from masks: %v, %v", same, err)
	}
	bare := &table.Frame{Columns: other.Columns[:2]}
	if _, notes, err := evaluate(t, ask{Metric: "class-filter", Options: options("min-images", "0")},
		bare); err != nil ||
		len(notes) != 1 || !strings.Contains(notes[0], "neither a column") {
		t.Errorf("%v, %v", notes, err)
	}
	must.Fail(evaluate(t, ask{Metric: "class-filter", Options: options("per-images", "0")}, f))(t,
		"per-images is 0; it must be at least 1")
}

// All copies of a vector are marked, also where −0 stands for 0; rows without a vector stay.
func TestDuplicateVectors(t *testing.T) {
	minus := float32(0)
	minus = -minus
	f := &table.Frame{Columns: []table.Column{table.TextColumn("id", []string{"a", "b", "c", "d", "e", "f"}),
		table.VectorColumn("full", [][]float32{{1, 0}, {2, 0}, {1, minus}, nil, nil, {1, 0}})}}
	got, notes := must.Get2(evaluate(t, ask{Metric: "duplicate-vectors"}, f))(t)
	must.EqualSlices(t, got.Texts("kept"), []string{"no", "yes", "no", "yes", "yes", "no"})
	must.EqualSlices(t, got.Numbers("copies"), []float64{3, 1, 3, 1, 1, 3})
	must.Equal(t, len(notes), 1)
	must.Fail(evaluate(t, ask{Metric: "duplicate-vectors", Options: options("vector", "other")},
		f))(t, `"other"`)
}

// Both definitions of a score per object give a row for each of 24 objects and each component (row 12 of the
// checklist).
func TestObjectsByBothDefinitions(t *testing.T) {
	split := func(f *table.Frame) *table.Frame {
		objects := make([]string, f.Len())
		for i := range objects {
			objects[i] = fmt.Sprintf("object %02d", i/10%24)
		}
		return f.With(table.TextColumn("object", objects))
	}
	real, gen := split(cloud(1, 480, 0)), split(cloud(2, 480, 0.5))
	for _, vector := range []string{"object_only", "background_only"} {
		o := options("vector", vector, "resamples", "0", "k", "2")
		pooled, _, err := evaluate(t, ask{Metric: "precision-coverage", By: []string{"object"}, Options: o}, real,
			gen)
		if err != nil || pooled.Len() != 24 {
			t.Fatal(pooled, err)
		}
		apart, _, err := evaluate(t, ask{Metric: "precision-coverage", By: []string{"object", "region"}, Options: o},
			real, gen)
		if err != nil || apart.Len() != 48 {
			t.Fatal(apart, err)
		}
		means, _, err := evaluate(t, ask{Metric: "object-means"}, apart)
		if err != nil || means.Len() != 24 || means.Numbers("n_regions")[0] != 2 {
			t.Fatal(means, err)
		}
		want := (apart.Numbers("precision")[0] + apart.Numbers("precision")[1]) / 2
		near.Check(t, "", []float64{means.Numbers("precision")[0]}, []float64{want}, 0, 1e-12)
	}
}

// TestMissingReferenceImages: rows whose image is missing change neither the scores nor the filter of classes.
func TestMissingReferenceImages(t *testing.T) {
	real, gen := cloud(1, 80, 0), cloud(2, 80, 0)
	n := real.Len()
	ids, outcome := make([]string, n), make([]string, n)
	for i := range ids {
		ids[i], outcome[i] = fmt.Sprintf("r%03d", i), "ok"
	}
	for _, i := range []int{3, 40} {
		outcome[i] = "failed"
		for _, c := range real.Columns {
			if c.Kind == table.KindVector {
				c.Vectors[i] = nil
			}
		}
	}
	real = real.With(table.TextColumn("id", ids), table.TextColumn("outcome", outcome))
	var rows []int
	for i, o := range outcome {
		if o == "ok" {
			rows = append(rows, i)
		}
	}
	present := real.Pick(rows)
	for _, vector := range []string{"full", "object_only", "background_only"} {
		o := options("vector", vector, "resamples", "0", "k", "2")
		want, _ := must.Get2(evaluate(t, ask{Metric: "precision-coverage", Options: o}, present, gen))(t)
		got, notes, err := evaluate(t, ask{Metric: "precision-coverage", Options: o}, real, gen)
		if err != nil || !strings.Contains(strings.Join(notes, "\n"), "2 of 80 reference rows have no image") {
			t.Fatalf("%s: notes %q, %v", vector, notes, err)
		}
		for _, column := range []string{"precision", "coverage", "n_real", "n_used"} {
			must.Equal(t, got.Numbers(column)[0], want.Numbers(column)[0], vector, column, "with missing images")
		}
	}
	objects := table.TextColumn("object", slices.Repeat([]string{"bag"}, n))
	got, notes, err := evaluate(t, ask{Metric: "class-filter", Options: options("min_images", "1")}, real.With(objects))
	if err != nil || !strings.Contains(strings.Join(notes, "\n"), "2 rows without an image") {
		t.Fatalf("%q, %v", notes, err)
	}
	sum := 0.0
	for _, images := range got.Numbers("n_images") {
		sum += images
	}
	must.Equal(t, sum, 78, "of 78 images count")
}
