package metrics

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"antipode/datasets"
	"antipode/datasets/mask"
	"antipode/datasets/table"
	"antipode/metrics/internal/tabular"
	"antipode/metrics/interval"
)

// MaskTrustOptions are the options of [MaskTrust].
type MaskTrustOptions struct {
	By        []string `json:"by,omitempty" help:"text columns that define the groups"`
	Resamples int      `json:"resamples,omitempty" default:"2000" none:"-1" min:"0" help:"bootstrap resamples of the images"`
	Level     float64  `json:"level,omitempty" default:"0.95" min:">0" max:"<1" help:"confidence level of the intervals"`
	Seed      int64    `json:"seed,omitempty" help:"seed of the bootstrap"`
}

// MaskTrustRow is a row of the result of [MaskTrust]: a group of images.
type MaskTrustRow struct {
	Group     Group
	Unmasked  Estimate `column:"unmasked" unit:"share of images" range:"[0, 1]" help:"images without a mask"`
	Agreement Estimate `column:"agreement" unit:"IoU" range:"[0, 1]" help:"mean intersection over union with the other masks; 0 where only one has a mask"`
	Stability float64  `column:"stability" range:"[0, 1]" help:"mean stability_score"`
	Score     float64  `column:"score" help:"mean mask_score"`
	Border    float64  `column:"touches_border" unit:"share of masks" range:"[0, 1]" help:"masks that reach the image's border"`
	Images    int      `column:"n_images" unit:"images"`
	Compared  int      `column:"n_compared" unit:"images" help:"images that have a mask in at least one of the two tables"`
	Excluded  int      `column:"n_excluded" unit:"images" help:"refused, failed or skipped"`
	Interval  string   `column:"interval"`
}

var maskTrust = Define(Definition[MaskTrustOptions, MaskTrustRow]{
	Name: "mask-trust", Version: 1,
	Title: "how far the masks of each group can be trusted", Unit: "share of images; IoU", Range: "[0, 1]",
	Direction: "fewer unmasked images, a higher agreement and a higher stability are better",
	Citation:  "stability: Kirillov et al. 2023 (arXiv 2304.02643), section 5; agreement: Jaccard index",
	Inputs: []Input{
		{Role: "in", Columns: datasets.Columns("id:text", "mask:mask"), About: "the images with their masks"},
		{Role: "other", Optional: true, Columns: datasets.Columns("id:text", "mask:mask"),
			About: "the same images with another segmenter's masks"},
	},
	Compute: computeMaskTrust,
})

// MaskTrust is the metric mask-trust: for each group the share of images without a mask, the agreement with the masks
// of another segmenter (the mean intersection over union of the images' two masks, matched by id), the mean stability
// and score of the masks where their columns exist (see gomlxmodels.Segment), and the share that reaches the image's
// border. A difference between groups in these is a difference of the segmentation, which the scores of segmented
// images inherit; [GapSensitivity] shows which gaps can be explained by it. Images that neither table has a mask of are
// not compared. Intervals are bootstrap intervals over images. other may be a zero Table.
func MaskTrust(images, other datasets.Table, options ...MaskTrustOptions) datasets.Table {
	return maskTrust.Table(map[string]datasets.Table{"in": images, "other": other}, options...)
}

func computeMaskTrust(_ context.Context, call *Call, o MaskTrustOptions) (out []MaskTrustRow, err error) {
	in := tabular.Read(call, "in")
	in.UniqueIDs()
	ids, groups := in.Texts("id"), in.Groups(o.By)
	if in.Err != nil {
		return nil, in.Err
	}
	f, others := in.Frame, map[string]table.Mask{}
	if other := call.Inputs["other"]; other != nil {
		second := tabular.Read(call, "other")
		if second.UniqueIDs(); second.Err != nil {
			return nil, second.Err
		}
		for i, id := range other.Texts("id") {
			others[id] = other.Masks("mask")[i]
		}
	}
	masks, done := f.Masks("mask"), 0
	mean := func(values []float64) (Estimate, error) {
		if o.Resamples < 1 || len(values) < 2 {
			return Exact(average(values)), nil
		}
		clusters := make([]string, len(values))
		for i := range clusters {
			clusters[i] = strconv.Itoa(i)
		}
		v, err := interval.BootstrapMean(values, clusters, interval.BootstrapOptions{Seed: uint64(o.Seed),
			Resamples: o.Resamples, Level: o.Level})
		return Estimate{Value: v.Value, Low: v.Low, High: v.High}, err
	}
	for _, g := range groups {
		row := MaskTrustRow{Group: g.By}
		var unmasked, agreement, stability, score, border []float64
		for _, i := range g.Rows {
			call.Report("compare masks", done, f.Len())
			if done++; tabular.Outcome(f, i) != "" {
				row.Excluded++
				continue
			}
			row.Images++
			var b mask.Bitmap
			if masks[i].Counts != "" {
				if b, err = mask.Decode(masks[i]); err != nil {
					return nil, tabular.BadRow(f, i, "mask", "%v", err)
				}
			}
			has := b.Area() > 0
			if unmasked = append(unmasked, share(!has)); has {
				border = append(border, share(b.TouchesBorder()))
				stability, score = with(stability, f, "stability_score", i), with(score, f, "mask_score", i)
			}
			second, known := others[ids[i]]
			switch {
			case call.Inputs["other"] == nil:
				continue
			case !known:
				return nil, tabular.BadRow(f, i, "id", "the table other has no image %q", ids[i])
			}
			overlap, err := mask.IoU(masks[i], second)
			if err != nil {
				return nil, tabular.BadRow(f, i, "mask", "image %q: %v", ids[i], err)
			}
			if !math.IsNaN(overlap) {
				agreement = append(agreement, overlap)
			}
		}
		row.Compared = len(agreement)
		if row.Unmasked, err = mean(unmasked); err != nil {
			return nil, err
		}
		if row.Agreement, err = mean(agreement); err != nil {
			return nil, err
		}
		row.Stability, row.Score, row.Border = average(stability), average(score), average(border)
		if !math.IsNaN(row.Unmasked.Low) {
			row.Interval = tabular.Bootstrap(o.Resamples, o.Level, "images")
		}
		out = append(out, row)
	}
	return out, nil
}

func share(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// with appends the value of a number column, if there is one.
func with(values []float64, f *table.Frame, column string, row int) []float64 {
	if v := f.Numbers(column); v != nil && !math.IsNaN(v[row]) {
		values = append(values, v[row])
	}
	return values
}

// average is the mean, NaN of no values.
func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// GapSensitivityOptions are the options of [GapSensitivity].
type GapSensitivityOptions struct {
	By string `json:"by,omitempty" default:"region" help:"text column of the groups, as in Gaps"`
}

// GapSensitivityRow is a row of the result of [GapSensitivity]: a gap.
type GapSensitivityRow struct {
	Group   string   `column:"{by}"`
	Vector  string   `column:"vector"`
	Score   string   `column:"score"`
	Verdict string   `column:"verdict" help:"holds, segmentation can explain it, appears with other masks, no gap"`
	Gap     Estimate `column:"gap" unit:"difference of shares" range:"[-1, 1]"`
	Eroded  float64  `column:"gap_eroded" unit:"difference of shares" range:"[-1, 1]"`
	Dilated float64  `column:"gap_dilated" unit:"difference of shares" range:"[-1, 1]"`
	Other   float64  `column:"gap_other" unit:"difference of shares" range:"[-1, 1]"`
	Change  float64  `column:"change" unit:"difference of shares" range:"[0, 2]" help:"the largest difference from the gap"`
}

// GapVariants are the gaps computed again with other masks; a zero Table was not computed. One at least is required.
type GapVariants struct {
	Eroded  datasets.Table // of eroded masks, see datasets.Table.GrowMasks
	Dilated datasets.Table // of dilated ones
	Other   datasets.Table // of another segmenter's
}

var gapColumns = datasets.Columns("vector:text", "score:text", "flagged:text", "gap:number", "gap_low:number",
	"gap_high:number")

var gapSensitivity = datasets.Define(datasets.Operation[GapSensitivityOptions, GapSensitivityRow]{
	Name: "gap-sensitivity", Version: 1, Title: "gaps that errors of the segmentation can explain",
	Citation: "docs/archipelago.md",
	Inputs: []Input{{Role: "in", Columns: gapColumns, About: "gaps, a result of region-gaps"},
		{Role: "eroded", Optional: true, Columns: gapColumns, About: "the same gaps of eroded masks"},
		{Role: "dilated", Optional: true, Columns: gapColumns, About: "the same gaps of dilated masks"},
		{Role: "other", Optional: true, Columns: gapColumns, About: "the same gaps of another segmenter's masks"}},
	Compute: computeGapSensitivity,
})

// GapSensitivity compares gaps with the same gaps computed again with other masks, and says of each whether it depends
// on where the segmentation draws the border:
//
//   - "holds": flagged, and flagged in the same direction with all other masks;
//   - "segmentation can explain it": flagged, but not so with some other masks;
//   - "appears with other masks": not flagged, but flagged with some other masks;
//   - "no gap": flagged nowhere.
//
// gaps and the variants are results of [Gaps] or [GapsToControls] with the same options; a gap that a variant lacks is
// an error.
func GapSensitivity(gaps datasets.Table, variants GapVariants, options ...GapSensitivityOptions) datasets.Table {
	return gapSensitivity.Table(map[string]datasets.Table{"in": gaps, "eroded": variants.Eroded,
		"dilated": variants.Dilated, "other": variants.Other}, options...)
}

func computeGapSensitivity(_ context.Context, call *Call, o GapSensitivityOptions) ([]GapSensitivityRow, error) {
	read := func(role string) (rows []GapSensitivityRow, flagged []bool, err error) {
		f := tabular.Read(call, role)
		groups, vectors, scores, marks := f.Texts(o.By), f.Texts("vector"), f.Texts("score"), f.Texts("flagged")
		gaps, low, high := f.Numbers("gap"), f.Numbers("gap_low"), f.Numbers("gap_high")
		if f.Err != nil {
			return nil, nil, f.Err
		}
		for i, g := range groups {
			rows = append(rows, GapSensitivityRow{Group: g, Vector: vectors[i], Score: scores[i],
				Gap:    Estimate{Value: gaps[i], Low: low[i], High: high[i]},
				Eroded: missing, Dilated: missing, Other: missing})
			flagged = append(flagged, marks[i] == "yes")
		}
		return rows, flagged, nil
	}
	out, flagged, err := read("in")
	if err != nil {
		return nil, err
	}
	holds, appears, variants := slices.Repeat([]bool{true}, len(out)), make([]bool, len(out)), 0
	for _, role := range []string{"eroded", "dilated", "other"} {
		if call.Inputs[role] == nil {
			continue
		}
		variants++
		rows, marks, err := read(role)
		if err != nil {
			return nil, err
		}
		for i := range out {
			row := &out[i]
			k := slices.IndexFunc(rows, func(r GapSensitivityRow) bool {
				return r.Group == row.Group && r.Vector == row.Vector && r.Score == row.Score
			})
			if k < 0 {
				return nil, fmt.Errorf("%s: no gap of %s for %s %q, vector %s", role, row.Score, o.By, row.Group,
					row.Vector)
			}
			v := rows[k].Gap.Value
			*map[string]*float64{"eroded": &row.Eroded, "dilated": &row.Dilated, "other": &row.Other}[role] = v
			row.Change = max(row.Change, math.Abs(v-row.Gap.Value))
			holds[i] = holds[i] && marks[k] && v*row.Gap.Value > 0
			appears[i] = appears[i] || marks[k]
		}
	}
	if variants == 0 {
		return nil, fmt.Errorf("give the gaps of other masks: eroded, dilated or other")
	}
	for i := range out {
		switch {
		case flagged[i] && holds[i]:
			out[i].Verdict = "holds"
		case flagged[i]:
			out[i].Verdict = "segmentation can explain it"
		case appears[i]:
			out[i].Verdict = "appears with other masks"
		default:
			out[i].Verdict = "no gap"
		}
	}
	return out, nil
}
