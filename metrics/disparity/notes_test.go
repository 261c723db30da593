package disparity

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"antipode/datasets/table"
)

// What is to be known of several groups is one note with counts, in the words of the columns.
func TestOneNoteForAllGroups(t *testing.T) {
	real, gen := cloud(1, 192, 0), cloud(2, 192, 0)
	unmasked := func(f *table.Frame, n int) *table.Frame {
		vectors, patches := slices.Clone(f.Vectors("object_only")), slices.Clone(f.Numbers("object_patches"))
		for i := range n {
			vectors[i], patches[i] = nil, math.NaN()
		}
		return f.With(table.VectorColumn("object_only", vectors), table.NumberColumn("object_patches", patches))
	}
	few, copies := gen.Pick([]int{0, 1, 2}), real.Pick([]int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1})
	ids := make([]string, copies.Len())
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	copies = copies.With(table.TextColumn("id", ids))
	for name, c := range map[string]struct {
		metric    string
		real, gen *table.Frame
		options   map[string]string
		want      []string
	}{
		"unmasked": {"precision-coverage", real, unmasked(gen, 22), options("vector", "object_only", "resamples", "0",
			"cells", ""),
			[]string{"object_only: 22 of 192 generated images have no mask and count as misses (see " +
				"n_unmasked by group)"}},
		"gaps": {"region-gaps", real, unmasked(gen, 22), options("vector", "object_only", "cells", ""),
			[]string{"object_only: 22 of 192 generated images have no mask and count as misses; by region: " +
				"north, south"}},
		"real": {"precision-coverage", unmasked(real, 1), gen, options("vector", "object_only", "resamples", "0",
			"cells",
			"none"),
			[]string{"object_only: 1 of 192 real images have no mask and are left out; by region: north"}},
		"dropped": {"precision-coverage", real, unmasked(gen, 4), options("vector", "object_only", "resamples", "0",
			"cells", "", "unmasked", "drop"),
			[]string{"object_only: 4 of 192 generated images have no mask and are left out (see " +
				"n_unmasked by group)"}},
		"few": {"precision-coverage", real, few, options("cells", ""),
			[]string{"full: recall is not available: it needs at least 4 generated images with a vector, " +
				"for k = 3; " +
				"by region: north, south",
				"too few images for an interval; by region: south (1 generated)"}},
		"copies": {"precision-coverage", copies, gen, options("resamples", "0", "cells", ""),
			[]string{"full: 10 of 10 real images have radius 0 (3 or more exact copies, or differences below " +
				"1e-22): their balls are empty; remove duplicates first; by region: north, south"}},
	} {
		_, notes, err := evaluate(t, ask{Metric: c.metric, By: []string{"region"}, Options: c.options}, c.real, c.gen)
		if err != nil || !slices.Equal(notes, c.want) {
			t.Errorf("%s: notes %q, %v, want %q", name, notes, err, c.want)
		}
	}
}

// TestCopies: images that are one file, or of tables without images one vector, are counted, and give no interval of no
// width.
func TestCopies(t *testing.T) {
	real, gen := cloud(1, 40, 0), cloud(2, 40, 0)
	rows := make([]int, gen.Len()) // of the first group, all of the same image
	ids := make([]string, len(rows))
	images := make([]table.Image, len(rows))
	for i := range rows {
		if rows[i] = i; gen.Texts("region")[i] == gen.Texts("region")[0] {
			rows[i] = 0
		}
		ids[i] = fmt.Sprint(i)
		images[i] = table.Image{SHA256: fmt.Sprint(rows[i]), Path: ids[i]}
	}
	gen = gen.Pick(rows).With(table.TextColumn("id", ids))
	line := "generated: 20 of 40 images are copies of another one (region: north 20 of 20); a stuck seed or a " +
		"collapsed generator? intervals take copies for independent images"
	for name, gen := range map[string]*table.Frame{"vectors": gen,
		"files": gen.With(table.ImageColumn("image", images))} {
		f, notes, err := evaluate(t, ask{Metric: "precision-coverage", By: []string{"region"},
			Options: options("cells", "none")}, real, gen)
		if err != nil || !slices.Equal(notes, []string{line}) {
			t.Fatalf("%s: %v, notes %q", name, err, notes)
		}
		for _, score := range []string{"precision", "coverage", "density", "recall"} {
			low, high := f.Numbers(score + "_low")[0], f.Numbers(score + "_high")[0]
			if low == high {
				t.Errorf("%s: %s %v has the interval %v to %v", name, score, f.Numbers(score)[0], low, high)
			}
		}
		if low := f.Numbers("precision_low")[1]; math.IsNaN(low) {
			t.Errorf("%s: the other group has no interval", name)
		}
	}
}
