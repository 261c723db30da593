package metrics

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"antipode/datasets"
	"antipode/kernel/client"
	"antipode/metrics/regions"
)

// ClassFilter says which objects the paper's two filters keep, and why the others go: a row for each object and region with n_images and n_unmasked, and for the object in every row
// class_images, class_unmasked, kept (yes or no) and reason. An object goes that has fewer than need images in a region (170 in the paper), or whose share of images without a mask
// is above failures of (100 of 1020). images has object and region; an image has no mask where its outcome is unmasked, or where the column mask is there and empty.
// Settings: [Need], [FailuresOf]. Appendix C of the paper.
func ClassFilter(images datasets.Table, settings ...Setting) datasets.Table {
	return Score(newArgs("class-filter", settings), map[string]datasets.Table{"in": images})
}

// Need is the least number of images of an object in a region; 0 = any.
func Need(n int) Setting { return set("need", strconv.Itoa(n)) }

// FailuresOf is how many images of an object may come without a mask: failures of every so many.
func FailuresOf(failures, of int) Setting {
	return func(a *Args) { a.Options["failures"], a.Options["of"] = strconv.Itoa(failures), strconv.Itoa(of) }
}

// DuplicateVectors says of every image whether its vector equals another's exactly: kept is no for all of them, as in the public code, not for all but one; copies is how many there are of it.
// Rows without a vector are kept. Join it by id, keep kept == "yes", then balance.
func DuplicateVectors(images datasets.Table, vector string) datasets.Table {
	return Score(newArgs("duplicate-vectors", []Setting{set("vector", vector)}), map[string]datasets.Table{"in": images})
}

func init() {
	Register(Metric{
		Info:    Info{Name: "class-filter", Title: "which objects have enough images and masks, and why the others do not", Unit: "images", Range: "[0, ∞)", Direction: "none", Citation: "Sureddy et al. 2024 (Decomposed-DIG), appendix C"},
		Version: 1, Inputs: []Input{{Role: "in", Columns: datasets.Columns("object:text", "region:text"), About: "the images; also outcome or mask"}},
		Options: []Option{{Name: "need", Default: "170", About: "the least images of an object in a region; 0 = any"}, {Name: "failures", Default: "100", About: "images without a mask that an object may have"},
			{Name: "of", Default: "1020", About: "in so many images"}},
		Columns: func(Args) []client.ColumnSpec {
			return datasets.Columns("object:text", "region:text", "kept:text", "reason:text", "n_images:number", "n_unmasked:number", "class_images:number", "class_unmasked:number")
		},
		Compute: computeClasses,
	})
	Register(Metric{
		Info:    Info{Name: "duplicate-vectors", Title: "images whose vectors are exactly equal", Unit: "images", Range: "[1, ∞)", Direction: "none", Citation: "Sureddy et al. 2024 (Decomposed-DIG), public code"},
		Version: 1, Inputs: []Input{{Role: "in", Columns: datasets.Columns("id:text"), About: "the images with their vector"}},
		Options: []Option{{Name: "vector", Default: "full", About: "the vector column that is compared"}},
		Columns: func(Args) []client.ColumnSpec { return datasets.Columns("id:text", "kept:text", "copies:number") },
		Compute: computeDuplicates,
	})
}

func computeClasses(_ context.Context, call Call) (*client.Frame, error) {
	numbers := map[string]int{}
	for _, name := range []string{"need", "failures", "of"} {
		n, err := strconv.Atoi(call.Options[name])
		if err != nil || n < 0 || name == "of" && n == 0 {
			return nil, fmt.Errorf("option %s=%q: give a whole number", name, call.Options[name])
		}
		numbers[name] = n
	}
	f := call.Inputs["in"]
	l := regions.Labels{Objects: f.Texts("object"), Regions: f.Texts("region"), IDs: make([]string, f.Len())}
	outcome, masks, unmasked := f.Texts("outcome"), f.Masks("mask"), make([]bool, f.Len())
	if outcome == nil && masks == nil {
		call.note("there is neither a column outcome nor mask: no image counts as without a mask")
	}
	for i := range unmasked {
		unmasked[i] = outcome != nil && outcome[i] == "unmasked" || masks != nil && masks[i] == (client.Mask{})
	}
	table, err := regions.Failures(l, unmasked, regions.FailureLimit{Failures: numbers["failures"], Of: numbers["of"]})
	if err != nil {
		return nil, err
	}
	counts, err := regions.CountCells(l)
	if err != nil {
		return nil, err
	}
	failed := map[[2]string]int{}
	reasons := map[string][]string{}
	totals := map[string]regions.ClassFailures{}
	for _, c := range table {
		totals[c.Object] = c
		if c.Excluded {
			reasons[c.Object] = append(reasons[c.Object], fmt.Sprintf("%d of %d images without a mask", c.Failed, c.Total))
		}
		for _, r := range c.Regions {
			failed[[2]string{c.Object, r.Region}] = r.Failed
		}
	}
	for _, c := range counts {
		if c.Rows < numbers["need"] {
			reasons[c.Object] = append(reasons[c.Object], fmt.Sprintf("%d images in %s", c.Rows, c.Region))
		}
	}
	out := newRows([]string{"object", "region", "kept", "reason"})
	for _, c := range counts {
		kept := "yes"
		if len(reasons[c.Object]) > 0 {
			kept = "no"
		}
		out.text(c.Object, c.Region, kept, strings.Join(reasons[c.Object], "; "))
		out.number("n_images", float64(c.Rows))
		out.number("n_unmasked", float64(failed[[2]string{c.Object, c.Region}]))
		out.number("class_images", float64(totals[c.Object].Total))
		out.number("class_unmasked", float64(totals[c.Object].Failed))
	}
	var gone []string
	for i, c := range counts {
		if (i == 0 || counts[i-1].Object != c.Object) && len(reasons[c.Object]) > 0 {
			gone = append(gone, c.Object)
		}
	}
	if len(gone) > 0 {
		call.note("%d of %d objects are left out: %s", len(gone), len(table), strings.Join(gone, ", "))
	}
	return out.frame(), nil
}

func computeDuplicates(_ context.Context, call Call) (*client.Frame, error) {
	f := call.Inputs["in"]
	c, err := f.Need(call.Options["vector"], client.Vector)
	if err != nil {
		return nil, fmt.Errorf("table %q: %w", "in", err)
	}
	out := newRows([]string{"id", "kept"})
	twins, ids := 0, f.Texts("id")
	for i, n := range regions.Copies(c.Vectors) {
		kept := "yes"
		if n > 1 {
			kept = "no"
			twins++
		}
		out.text(ids[i], kept)
		out.number("copies", float64(n))
	}
	if twins > 0 {
		call.note("%d of %d images have a vector that another has too; all of them are marked", twins, f.Len())
	}
	return out.frame(), nil
}
