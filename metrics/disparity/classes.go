package disparity

import (
	"antipode/metrics"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"antipode/datasets"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
)

// ClassFilterOptions are the options of [ClassFilter].
type ClassFilterOptions struct {
	MinImages   int `json:"min_images,omitempty" default:"170" min:"1" none:"-1" help:"minimum number of images of an object in a region"`
	MaxUnmasked int `json:"max_unmasked,omitempty" default:"100" min:"1" none:"-1" help:"images without a mask that an object may have, of per-images"`
	PerImages   int `json:"per_images,omitempty" default:"1020" min:"1" help:"the number of images that max-unmasked refers to"`
}

// classFilterRow is a row of the result of [ClassFilter]: an object in a region.
type classFilterRow struct {
	Object        string `column:"object"`
	Region        string `column:"region"`
	Kept          bool   `column:"kept"`
	Reason        string `column:"reason"`
	Images        int    `column:"n_images" unit:"images"`
	Unmasked      int    `column:"n_unmasked" unit:"images"`
	ClassImages   int    `column:"class_images" unit:"images" help:"in all regions"`
	ClassUnmasked int    `column:"class_unmasked" unit:"images" help:"in all regions"`
}

var classFilter = datasets.Define(datasets.Operation[ClassFilterOptions, classFilterRow]{
	Name: "class-filter", Version: 2,
	Title:    "which objects have enough images and masks, and why the others do not",
	Citation: "Sureddy et al. 2024 (Decomposed-DIG), appendix C",
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("object:text", "region:text"),
		About: "the images; also outcome or mask"}},
	Compute: computeClasses,
})

// ClassFilter applies the two filters of appendix C of Decomposed-DIG: a row for each object and region, with its
// counts and whether the object is kept in all regions. An object is dropped if it has fewer than MinImages images
// in a region, or if its share of images without a mask is above MaxUnmasked / PerImages. An image has no mask
// where its outcome is unmasked, or where the table has a column mask and it is empty. Rows without an image do not
// count.
func ClassFilter(images datasets.Table, options ...ClassFilterOptions) datasets.Table {
	return classFilter.Of(images, options...)
}

// DuplicateVectorsOptions are the options of [DuplicateVectors].
type DuplicateVectorsOptions struct {
	Vector string `json:"vector,omitempty" default:"full" help:"vector column to compare"`
}

// duplicateVectorRow is a row of the result of [DuplicateVectors].
type duplicateVectorRow struct {
	ID     string `column:"id"`
	Kept   bool   `column:"kept" help:"no where another image has the same vector"`
	Copies int    `column:"copies" unit:"images" range:"[1, ∞)"`
}

var duplicateVectors = datasets.Define(datasets.Operation[DuplicateVectorsOptions, duplicateVectorRow]{
	Name: "duplicate-vectors", Version: 1,
	Title:    "images whose vectors are exactly equal",
	Citation: "Sureddy et al. 2024 (Decomposed-DIG), public code",
	Inputs: []metrics.Input{{Role: "in", Columns: datasets.Columns("id:text"),
		About: "the images with their vector"}},
	Compute: computeDuplicates,
})

// DuplicateVectors finds images whose vectors are exactly equal. As in the public code, kept is no for all of them,
// not for all but one. Images without a vector are kept. Join the result by id, keep kept == "yes", then balance.
func DuplicateVectors(images datasets.Table, options ...DuplicateVectorsOptions) datasets.Table {
	return duplicateVectors.Of(images, options...)
}

func computeClasses(_ context.Context, call *metrics.Call, o ClassFilterOptions) (out []classFilterRow, err error) {
	f := call.Inputs["in"]
	rows, _ := withImage(f, tabular.Read(call, "in").Groups(nil)[0].Rows)
	if missing := f.Len() - len(rows); missing > 0 {
		call.Notef("%d rows without an image do not count (see outcome)", missing)
		f = f.Pick(rows)
	}
	objects, regions := f.Texts("object"), f.Texts("region")
	outcome, masks := f.Texts("outcome"), f.Masks("mask")
	if outcome == nil && masks == nil {
		call.Notef("the table has neither a column outcome nor mask: every image counts as having a mask")
	}
	type count struct{ images, unmasked int }
	classes, cells := map[string]count{}, map[[2]string]count{}
	for i, object := range objects {
		class, cell := classes[object], cells[[2]string{object, regions[i]}]
		class.images, cell.images = class.images+1, cell.images+1
		if outcome != nil && outcome[i] == "unmasked" || masks != nil && masks[i] == (table.Mask{}) {
			class.unmasked, cell.unmasked = class.unmasked+1, cell.unmasked+1
		}
		classes[object], cells[[2]string{object, regions[i]}] = class, cell
	}
	names := slices.Compact(slices.Sorted(slices.Values(regions)))
	var dropped []string
	for _, object := range slices.Sorted(maps.Keys(classes)) {
		var why []string
		class := classes[object]
		if class.unmasked*o.PerImages > o.MaxUnmasked*class.images {
			why = append(why, fmt.Sprintf("%d of %d images without a mask", class.unmasked, class.images))
		}
		for _, region := range names {
			if n := cells[[2]string{object, region}].images; n < o.MinImages {
				why = append(why, fmt.Sprintf("%d images in %s", n, region))
			}
		}
		for _, region := range names {
			cell := cells[[2]string{object, region}]
			out = append(out, classFilterRow{Object: object, Region: region, Kept: len(why) == 0,
				Reason: strings.Join(why, "; "), Images: cell.images, Unmasked: cell.unmasked,
				ClassImages: class.images, ClassUnmasked: class.unmasked})
		}
		if len(why) > 0 {
			dropped = append(dropped, object)
		}
	}
	if len(dropped) > 0 {
		call.Notef("%d of %d objects are left out: %s", len(dropped), len(classes), strings.Join(dropped, ", "))
	}
	return out, nil
}

func computeDuplicates(_ context.Context, call *metrics.Call, o DuplicateVectorsOptions) (out []duplicateVectorRow,
	err error) {
	in := tabular.Read(call, "in")
	vectors := in.Vectors(o.Vector)
	if in.Err != nil {
		return nil, in.Err
	}
	f, duplicates := in.Frame, 0
	for i, n := range vectorCopies(vectors) {
		out = append(out, duplicateVectorRow{ID: f.Texts("id")[i], Kept: n < 2, Copies: n})
		if n > 1 {
			duplicates++
		}
	}
	if duplicates > 0 {
		call.Notef("%d of %d images have the vector of another image; all of them are marked", duplicates, f.Len())
	}
	return out, nil
}

// vectorCopies returns for each row the number of rows with exactly the same vector, including itself; −0 equals 0.
// A nil row has no copies.
func vectorCopies(vectors [][]float32) []int {
	keys, count := make([][sha256.Size]byte, len(vectors)), map[[sha256.Size]byte]int{}
	var buf []byte
	for i, v := range vectors {
		if v == nil {
			continue
		}
		buf = buf[:0]
		for _, x := range v {
			if x == 0 {
				x = 0 // −0 equals 0
			}
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		keys[i] = sha256.Sum256(buf)
		count[keys[i]]++
	}
	copies := make([]int, len(vectors))
	for i, v := range vectors {
		if copies[i] = 1; v != nil {
			copies[i] = count[keys[i]]
		}
	}
	return copies
}
